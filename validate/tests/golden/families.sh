# What configs/accuracy/families.yaml records of NPUs when they were new, beside what their sheets' configurations are off today: true
# time over simulated (10th, 50th and 90th percentile), by class. The record stays as it was found, before anyone had seen a row; a
# configuration or an engine that moves is seen here, and says by how much it has come nearer since.
# tier: nightly
. validate/tests/golden/common
record() { # MACHINE CLASS
	awk -v m="machine: $1," -v c="$2" '/^families:/ { exit } /^- [{]/ { on = index($0, m) > 0 }
		on && match($0, c ": [{][^}]*[}]") { s = substr($0, RSTART, RLENGTH); gsub(/[^0-9. ]/, "", s); split(s, v, " "); print v[1], v[2], v[3]; exit }' \
		configs/accuracy/families.yaml
}
machine() { # MACHINE CONFIG TABLE...
	name=$1 config=$2
	shift 2
	for t; do "$NPUSIM" validate -c "$config" -t "workloads/ops/silicon/$t.csv" --fidelity analytic --format csv 2>/dev/null; done |
		awk -F, '$1 == "op" { for (i = 1; i <= NF; i++) at[$i] = i; next }
			{ g = $at["rows"]; c = $at["kind"] == "attention" ? "attention" : g == "1" || g == "2-64" ? "decode" : "prefill"
			  printf "%s %.4f\n", c, $at["measured_us"] / $at["simulated_us"] }' | sort -k1,1 -k2,2n >"$TMP/rows"
	for class in decode prefill attention; do
		today=$(awk -v c=$class '$1 == c { v[n++] = $2 }
			function q(p, x, i) { x = (n - 1) * p; i = int(x); return v[i] + (i + 1 < n ? (v[i + 1] - v[i]) * (x - i) : 0) }
			END { if (n) printf "%.2f %.2f %.2f of %d rows", q(0.1), q(0.5), q(0.9), n }' "$TMP/rows")
		was=$(record "$name" $class)
		[ -z "$today$was" ] || echo "$name, $class: recorded ${was:-nothing}; today ${today:-no row here}"
	done
}
machine 'Wormhole n150' wormhole wormhole-bf16-hifi2 wormhole-bf16-hifi2-tuned wormhole-bfp8-lofi wormhole-bfp4-lofi
machine 'Blackhole' blackhole-p150 blackhole-p150-bfp8-hifi2
machine 'XDNA2' xdna2 xdna2-gemv xdna2-gemm xdna2-attention
machine 'Arc Pro B60' b60 b60-gemm b60-attention
machine 'Gaudi 2' gaudi2 gaudi2-gemm
machine 'Ascend 910B2' ascend910b ascend910-gemm ascend910-attention
