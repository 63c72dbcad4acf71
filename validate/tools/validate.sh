#!/bin/sh
# validate.sh - holds the blocks and machines against better models and real devices, and prints how far apart they are.
#
# NPUSIM is the program, OUT the folder for the whole tables and pictures. It ends with what it found beyond a bound, and
# fails only where a part could not run: an error that is known and printed is a result.
set -u

: "${NPUSIM:?the program}" "${OUT:?where the tables go}"
mkdir -p "$OUT"
failed=0 beyond=0

# part NAME FILE COMMAND...: runs it into FILE; exit 1 is a bound that does not hold.
part() {
	name=$1 file=$2
	shift 2
	"$NPUSIM" "$@" >"$file" 2>"$file.err"
	rc=$?
	case $rc in
	0) rm -f "$file.err"; return 0 ;;
	1) beyond=$((beyond + 1)); return 0 ;;
	*) failed=$((failed + 1)); echo "$name: npusim $* ended with $rc"; cat "$file.err"; return 1 ;;
	esac
}

echo "DRAM command path against Ramulator 2, DRAMsim3 and DRAMSys; every row: $OUT/dram.txt"
part dram "$OUT/dram.txt" probe dram --reference validate/data/dram/reference.csv &&
	{ sed -n '/^counted rows/,$p' "$OUT/dram.txt"; [ ! -f "$OUT/dram.txt.err" ] || cat "$OUT/dram.txt.err"; }
echo

# The measured curve of a device.
curve() {
	[ "$1" = h200 ] && echo traces/h200/micro/latency.csv || echo "validate/data/latency/$1.csv"
}

# field PATTERN FILE: the first number behind that key
field() { sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" "$2" | sed -n "${3:-1}p"; }

echo "Pointer chase on GPUs, simulated and measured (ns; errors in %); every footprint: $OUT/latency-DEVICE.json"
printf '%-13s %7s %8s %7s %8s %7s %7s %7s  %s\n' device L2 measured DRAM measured median mean largest at
for c in configs/gpu/*.yaml; do
	d=$(basename "$c" .yaml)
	[ -f "$(curve "$d")" ] || continue
	f=$OUT/latency-$d.json
	part "latency of $d" "$f" probe latency -c "$c" --beside "$(curve "$d")" --format json || continue
	printf '%-13s %7.1f %8.1f %7.1f %8.1f %7.1f %7.1f %7.1f  %s\n' "$d" \
		"$(field simulated_ns "$f" 1)" "$(field measured_ns "$f" 1)" "$(field simulated_ns "$f" 2)" \
		"$(field measured_ns "$f" 2)" "$(field median_ape "$f")" "$(field mape "$f")" "$(field max_ape "$f")" \
		"$(field max_ape_bytes "$f" | awk '{ printf "%.1f MiB", $1 / 1048576 }')"
	if command -v gnuplot >/dev/null; then
		part "plot of $d" "$OUT/plot.log" plot latency -c "$c" --beside "$(curve "$d")" -o "$OUT/latency-$d.svg"
	fi
done
echo

echo "Bandwidth far beyond the caches; of the peak, and the difference in points"
for c in configs/gpu/*.yaml; do
	d=$(basename "$c" .yaml)
	grep -q "^$d," validate/data/stream.csv || continue
	part "stream on $d" "$OUT/stream-$d.csv" probe stream -c "$c" --beside validate/data/stream.csv --format csv &&
		awk -v d="$d" -F, 'NR == 1 && d == "a100" { printf "%-13s %-6s %9s %9s %7s\n", "device", "kernel", "measured", "simulated", "points" }
			NR > 1 { printf "%-13s %-6s %8.1f%% %8.1f%% %+7.1f\n", d, $1, $3, $5, $6 }' "$OUT/stream-$d.csv"
done
echo
rm -f "$OUT/plot.log"
echo "$failed parts could not run, $beyond have rows beyond a bound; whole tables in $OUT"
[ "$failed" = 0 ]
