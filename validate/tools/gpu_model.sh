#!/bin/sh
# gpu_model.sh FILE... - FILE... (GPU_MODEL in the Makefile) is all that the GPU model is made of, so that its fingerprint
# changes with each of its parts: every source of its folders is there, with what each includes of ours, but for the ground
# that no time comes from. `--self-test FILE...` shows that it can fail.
set -eu

folders="arch/gpu arch/mem workloads sim/lower"
# Errors, text and numbers in it, memory, files and statistics; a trace as plain data; names of resources; who looks on; the configuration,
# which has a hash of its own.
ground="sim/base/err.h sim/base/str.h sim/base/arena.h sim/base/pages.h sim/base/cfg.h sim/base/yaml.h sim/base/path.h sim/base/source.h sim/base/stat.h sim/base/re.h
	traces/text/decimal.h traces/trace.h arch/res.h arch/units.h arch/watch.h arch/machine/machine_cfg.h"

check() { # FILE...
	bad=0
	listed=" $* "
	# Described models (workloads/model) are something to run, as a trace is.
	for f in $(find $folders -name '*.[ch]' ! -path 'workloads/model/*' | LC_ALL=C sort) configs/kernels/*.yaml configs/rules/*.yaml; do
		case $listed in *" $f "*) ;; *) echo "$f: a part of the GPU model that its fingerprint leaves out" >&2; bad=1 ;; esac
	done
	for f in "$@"; do
		[ -f "$f" ] || { echo "$f: in GPU_MODEL, but not there" >&2; bad=1; continue; }
		case $f in *.[ch]) ;; *) continue ;; esac
		for i in $(sed -n 's/^#include "\(.*\)"$/\1/p' "$f"); do
			case " $listed $(echo $ground) " in *" $i "*) continue ;; esac
			echo "$f includes \"$i\", which is neither in GPU_MODEL nor ground that no time comes from" >&2
			bad=1
		done
	done
	[ "$bad" = 0 ]
}

without() { # FILE LISTED...: the list without FILE
	gone=$1
	shift
	for f; do [ "$f" = "$gone" ] || echo "$f"; done
}

if [ "${1-}" = --self-test ]; then
	shift
	for f in arch/gpu/gpu_geometry.c arch/gpu/gpu_work.c arch/gpu/host.c arch/mem/cache_tags.c workloads/work.c \
		sim/base/clock.h configs/kernels/cuda.yaml; do
		# shellcheck disable=SC2046
		if check $(without $f "$@") 2>/dev/null; then
			echo "gpu_model.sh: nothing is said of a list without $f" >&2
			exit 1
		fi
	done
	exit 0
fi
check "$@"
