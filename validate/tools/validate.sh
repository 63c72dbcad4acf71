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
	if command -v node >/dev/null; then
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
# errors DEVICE FILE [all]: the rows of a table of errors by class (or the one over all), the device before each. A class
# may be several words, so columns are counted from the end.
errors() {
	awk -v d="$1" -v all="${3:-}" 'NR > 3 && NF == 0 { exit }
		NR > 3 && (all == "") == ($1 != "all") {
			c = $1
			for (i = 2; i <= NF - 9; i++) c = c " " $i
			printf "%-13s %-36s %6d %7.1f %7.1f %7.1f %7.1f %9.1f\n", d, c, $(NF-8), $(NF-7), $(NF-6), $(NF-5), $(NF-4), $(NF-3)
		}' "$2"
}
error_head() { printf '%-13s %-36s %6s %7s %7s %7s %7s %9s\n' device class n mean median p90 bias weighted; }

echo "Kernels of the H200 that nothing was fitted to, errors in percent; the worst: $OUT/h200.txt"
rm -f "$OUT/h200.db"
part "the H200's operators" "$OUT/import.txt" trace import traces/h200/operators/*.json.gz -o "$OUT/h200.db" &&
	part "the H200's operators" "$OUT/h200.txt" validate -c configs/gpu/h200.yaml -t "$OUT/h200.db" --split held-out &&
	{ error_head; errors h200 "$OUT/h200.txt"; errors h200 "$OUT/h200.txt" all; }
echo

# An NPU cannot be held against a GPU: it has no blocks, waves and launches, and its clock does not fall. Where it is more than
# 20 % faster than the GPU's kernels, one of these must be why, or the NPU is too optimistic.
echo "An NPU with the H200's resources (configs/npu/h200-twin.yaml), each op alone, over the GPU's kernels: times, and their ratio"
part "the twin" "$OUT/twin.csv" validate -c configs/npu/h200-twin.yaml -t "$OUT/h200.db" --twin --fidelity analytic --format csv &&
	awk -F, '
		NR > 1 {
			part = $4 < 20 ? "below 20 us" : "longer"
			key = $2 (part == "longer" ? "1" : "0")
			n[key]++; m[key] += $4; s[key] += $5; name[key] = $2; size[key] = part
			if (!($2 in seen)) { seen[$2] = 1; order[++kinds] = $2 }
		}
		function why(kind, longer, ratio) {
			if (ratio >= 0.8) return ""
			if (!longer) return "a launch: 2 to 5 us of a kernel are no work"
			if (kind == "gemm") return "clock: 1380 to 1750 of 1980 MHz under power; fp32 products have no tensor core"
			if (kind == "attention") return "clock, and quantisation: 132 SMs and tiles of 64 or 128 queries"
			if (kind ~ /^(elementwise|convert|copy|concat|gather)$/) return "results stay in the L2, written behind"
			if (kind ~ /^(norm|softmax|reduce)$/) return "the framework: its row kernels reach a fifth to a half of the pins, no best library"
			return "passes and dependent steps that the NPU has not: it is too optimistic here"
		}
		END {
			printf "%-12s %-12s %5s %12s %12s %6s  %s\n", "kind", "measured", "n", "measured_us", "twin_us", "ratio", "faster because of"
			for (i = 1; i <= kinds; i++) for (l = 0; l < 2; l++) {
				key = order[i] l
				if (n[key]) printf "%-12s %-12s %5d %12.1f %12.1f %6.2f  %s\n", name[key], size[key], n[key], m[key], s[key], s[key] / m[key], why(order[i], l, s[key] / m[key])
			}
		}' "$OUT/twin.csv"
echo

echo "An RTX 5090 by data sheet: kernels of a DeepSeek-OCR token, from the H200's trace of the same model (us)"
rm -f "$OUT/dsocr.db"
part "the H200's trace" "$OUT/import.txt" trace import traces/h200/kineto_dsocr_b1_c1024.json.gz -o "$OUT/dsocr.db" &&
	part "the RTX 5090" "$OUT/rtx5090.txt" validate -c configs/gpu/rtx5090.yaml -t "$OUT/dsocr.db" --range decode_step_1 \
		--profile traces/rtx5090/dsocr_decode.csv --steps 64 && sed -n '2,$p' "$OUT/rtx5090.txt"
rm -f "$OUT/import.txt"
echo

# Published tables are not in the tree: DEVICE FILE GPU, GPU being the rows' where a file has several.
echo "Other devices by data sheet, against tables that others published: error by class, percent; launches are a library's"
absent=0
error_head
while read -r d file gpu; do
	f=../shared/data/public/$file
	[ -f "$f" ] || { absent=$((absent + 1)); continue; }
	o=$OUT/$d-${file%%.*}.txt
	part "$d against $file" "$o" validate -c "configs/gpu/$d.yaml" --table "$f" ${gpu:+--rows "$gpu"} || continue
	errors "$d" "$o"
done <<'EOF'
a100 gemm_m1-64_a100_sxm.csv.gz
a100 decode_attn_a100_sxm.csv.gz
l40s gemm_m1-64_l40s.csv.gz
l40s decode_attn_l40s.csv.gz
rtx-pro-6000 gemm_m1-64_rtx_pro_6000_server.csv.gz
rtx-pro-6000 decode_attn_rtx_pro_6000_server.csv.gz
h100 kernel_times.csv H100-SXM
b200 kernel_times.csv B200-SXM
gb200 kernel_times.csv GB200
h200 kernel_times.csv H200-SXM
EOF
[ "$absent" = 0 ] || echo "not run: $absent files absent"
echo
rm -f "$OUT/plot.log"
echo "$failed parts could not run, $beyond have rows beyond a bound; whole tables in $OUT"
[ "$failed" = 0 ]
