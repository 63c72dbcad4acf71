# The committed studies: their files hold together, quick ones run, and the roofline's figures are those of pencil and paper. Whether
# verdicts and pages are still those of validate/CLAIMS.md and results/studies says validate/tools/stale.py.
# tier: gate
. validate/tests/golden/common
studies=$(grep -l '^study: 1' configs/studies/*.yaml)
# shellcheck disable=SC2086
"$NPUSIM" study --dry-run $studies >"$TMP/commands" && echo "all studies can be read: $(echo "$studies" | wc -l), of which $(grep -l '^claims:' $studies | wc -l) have claims, $(grep -c '^## ' validate/CLAIMS.md) of those in CLAIMS.md, and $(grep -l '^asks:' $studies | wc -l) questions"
awk '/^\| [0-9]+ \|/ { n++; if (match($0, /\*\*(right|in part|wrong|open|arithmetic|cannot be asked)\*\*/)) v[substr($0, RSTART + 2, RLENGTH - 4)]++
		if (!/`npusim / && !/cannot be asked|arithmetic/) bare++ }
	END { printf "%d claims: %d right, %d in part, %d wrong, %d open, %d arithmetic, %d cannot be asked\n", n, v["right"], v["in part"], v["wrong"], v["open"], v["arithmetic"], v["cannot be asked"] > head
		print (n >= 60 ? "at least 60" : "fewer than 60"), (bare == 0 ? "and each that is judged with a command" : "and some that are judged without a command") }' head="$TMP/count" validate/CLAIMS.md
[ "$(cat "$TMP/count")" = "$(sed -n '3s/\. `npusim.*//p' validate/CLAIMS.md)" ] && echo "its head counts them" || cat "$TMP/count"
for s in report-tables l4-attention h100-attention; do
	"$NPUSIM" study configs/studies/$s.yaml --markdown "$TMP/c.md" --page "$TMP/$s.html" >/dev/null
	echo "$s: $(grep -c '^| [0-9]* |' "$TMP/c.md") claims"
done
# Pages of questions: fail where an answer no longer holds.
for s in ask-kernels ask-review ask-h100 ask-l4; do
	"$NPUSIM" study configs/studies/$s.yaml --page "$TMP/$s.html" >"$TMP/$s.txt" && echo "$s: $(grep -c '^- ask:' configs/studies/$s.yaml) questions answered"
done
# Each product of the roofline page: 2 m n k over activations and results of 2 bytes and weights of 4 bits with a byte of scale for
# 16; in 8 bits a scale of 2 bytes for each row and column.
"$NPUSIM" trace ops workloads/ops/gb200-roofline.csv --format csv >"$TMP/ops.csv"
awk -F, 'NR == FNR { if ($1 == "gemm") { m[$2] = $3; n[$2] = $4; k[$2] = $5; b[$2] = $6 ? $6 : 1; w[$2] = $17; d[$2] = $16 } next }
	FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ x = $at["name"] }
	x in m { act = d[x] == "fp8_e4m3" ? 1 : 2; weight = w[x] == "nvfp4" ? 0.5 + 1 / 16 : act
		bytes = b[x] * (m[x] * k[x] * act + k[x] * n[x] * weight + m[x] * n[x] * 2 + (act == 1 ? 2 * (m[x] + n[x]) : 0))
		hand = 2 * b[x] * m[x] * n[x] * k[x] / bytes
		if (hand / $at["flop_per_byte"] - 1 > 1e-5 || hand / $at["flop_per_byte"] - 1 < -1e-5) print x, hand, $at["flop_per_byte"]
		count++; if (x ~ / b1$/ && hand >= 4) above++; if (x ~ / b128$/ && hand >= (act == 1 ? 562.5 : w[x] == "nvfp4" ? 1125 : 281.25)) above++ }
	END { printf "%d products by hand, %d of decode above their ridge\n", count, above }' workloads/ops/gb200-roofline.csv "$TMP/ops.csv"
