#!/bin/sh
# run.sh - build and run the GPU measurements; one CSV a group and method, device.txt, checks.txt
#
# usage: sh validate/cuda/run.sh [-o DIR] [--quick] [--no-build] [--trace] [--only NAME]...
#
# --trace: the runs by activity record also write NAME.json.gz, which `npusim trace import` reads.
#
# From the root of the tree. The clocks are read, never set. Exit 1 when a kernel failed its check.
set -u
out=build/cuda/out quick= build=1 only= trace=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	--quick) quick=--quick ;;
	--no-build) build= ;;
	--trace) trace=1 ;;
	--only) only="$only $2"; shift ;;
	*) echo "usage: $0 [-o DIR] [--quick] [--no-build] [--trace] [--only NAME]..." >&2; exit 2 ;;
	esac
	shift
done
bin=${BUILD:-build}/cuda
[ -z "$build" ] || make --no-print-directory cuda || exit
[ -x "$bin/device" ] || { echo "$bin/device is not there: make cuda needs nvcc" >&2; exit 4; }
mkdir -p "$out"

clocks() {
	command -v nvidia-smi >/dev/null 2>&1 || return 0
	nvidia-smi --query-gpu=driver_version,clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv,noheader -i 0 2>/dev/null |
		sed "s/^/$1 (driver, SM clock, memory clock, power, temperature): /"
}

rc=0
"$bin/device" >"$out/device.txt" || exit
clocks before >>"$out/device.txt"
: >"$out/checks.txt"
# name and methods: `kernels` has times by slope and again by activity records, `inside` brings its own clocks
for row in latency:inside launch:kernels stream:inside pipe:inside wgmma:inside bulk:inside \
           gemv:kernels gemm:kernels decode:kernels rows:kernels move:kernels \
           graph:kernels attention:kernels tiled:inside small:kernels addnorm:kernels batched:kernels copies:kernels experts:kernels mla:kernels mlp:kernels \
           paged:kernels product:kernels quant:kernels rope:kernels sort:kernels warpgroup:kernels matmul:kernels tiles:kernels ampere:kernels; do
	name=${row%:*}
	case " ${only:-$name} " in *" $name "*) ;; *) continue ;; esac
	for prog in "$bin/micro_$name" "$bin/ref_$name" "$bin/lib_$name"; do
		[ -x "$prog" ] || continue
		for method in slope cupti; do
			flag= file=$name
			if [ $method = cupti ]; then
				[ "${row#*:}" = kernels ] && [ -e "$bin/.cupti" ] || continue
				flag=--cupti file=${name}_cupti
				[ -z "$trace" ] || flag="$flag --trace $out/$name.json"
			fi
			start=$(date +%s)
			"$prog" $quick $flag >"$out/$file.csv" 2>"$out/$file.err"
			r=$?
			grep -E '^(PASS|FAIL) ' "$out/$file.err" >>"$out/checks.txt"
			grep -vE '^PASS ' "$out/$file.err" >&2
			rm -f "$out/$file.err"
			[ ! -e "$out/$name.json" ] || gzip -9nf "$out/$name.json"
			echo "$file: $(($(wc -l <"$out/$file.csv") - 1)) rows, $(($(date +%s) - start)) s, exit $r" >&2
			[ $r -eq 0 ] || rc=1
		done
	done
done
clocks after >>"$out/device.txt"
echo "$(grep -c '^PASS' "$out/checks.txt") passed, $(grep -c '^FAIL' "$out/checks.txt") failed" >&2
exit $rc
