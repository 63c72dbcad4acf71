#!/bin/sh
# counters.sh - bytes, L2 hits and tensor use of the reference kernels, by Nsight Compute's hardware counters
#
# usage: sh validate/cuda/counters.sh [-o DIR] [NAME]...
#
# Each program runs its short list once a case (--quick --once), first alone, for the cases' names, then under ncu: the
# whole program again for each pass, so that a cold case is cold in every pass; nothing flushed, no clock touched by ncu.
# DIR/counters.csv: a row a kernel. DIR/NAME_ncu.csv.gz: ncu's own page, which `npusim trace import` reads.
set -u
out=build/cuda/out names=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	-*) echo "usage: $0 [-o DIR] [NAME]..." >&2; exit 2 ;;
	*) names="$names $1" ;;
	esac
	shift
done
bin=${BUILD:-build}/cuda
command -v ncu >/dev/null 2>&1 || { echo "ncu is not in PATH; it comes with NVIDIA's Nsight Compute" >&2; exit 4; }
mkdir -p "$out"
metrics=gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,lts__t_sectors_op_read.sum,lts__t_sectors_op_write.sum
metrics=$metrics,lts__t_sectors_lookup_hit.sum,lts__t_sectors_lookup_miss.sum,smsp__inst_executed.sum,sm__cycles_active.avg
metrics=$metrics,sm__cycles_elapsed.max,sm__warps_active.avg.per_cycle_active
metrics=$metrics,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,l1tex__data_bank_conflicts_pipe_lsu.sum
echo "name,params,kernel,of,$metrics,method" >"$out/counters.csv"
for name in ${names:-attention gemv decode rows move small}; do
	for prog in "$bin/ref_$name" "$bin/lib_$name"; do
		[ -x "$prog" ] || continue
		start=$(date +%s)
		"$prog" --quick --once >"$out/$name.once" 2>/dev/null || { echo "$name: failed" >&2; continue; }
		timeout "${LIMIT:-300}" ncu --profile-from-start off --clock-control none --cache-control none --replay-mode application \
			--csv --page raw --print-units base --metrics "$metrics" --log-file "$out/${name}_ncu.csv" \
			"$prog" --quick --once >/dev/null 2>&1
		r=$?
		# Rows of ncu: every field in quotes, thousands by commas; the first two are names and units.
		grep '^"' "$out/${name}_ncu.csv" >"$out/$name.page"
		awk -F'","' -v metrics="$metrics" -v once="$out/$name.once" '
			function unquote(s) { gsub(/"/, "", s); return s }
			NR == 1 { for (i = 1; i <= NF; i++) col[unquote($i)] = i; n = split(metrics, want, ","); next }
			NR == 2 { while ((getline line < once) > 0) {
					split(line, f, ",")
					for (k = 1; k <= f[4] && f[8] == "once"; k++)
						is[++rows] = f[1] "," f[2] "," k "," f[4]
				}
				next
			}
			{ line = is[++seen]
			  for (i = 1; i <= n; i++) { v = want[i] in col ? unquote($col[want[i]]) : ""; gsub(/,/, "", v); line = line "," v }
			  print line ",ncu" }' "$out/$name.page" >>"$out/counters.csv"
		echo "$name: $(($(wc -l <"$out/$name.page") - 2)) kernels, $(($(date +%s) - start)) s, ncu's exit $r" >&2
		rm -f "$out/$name.once" "$out/$name.page"
		gzip -9nf "$out/${name}_ncu.csv"
	done
done
