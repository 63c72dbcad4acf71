# Every GPU that comes with npusim says what its board takes: a prompt of Llama 1B and a step of one sequence fit
# under its cap, and take more than the board at rest; a higher cap is never slower; every number says where it is from.
# tier: nightly
. validate/tests/golden/common
number() { sed -n "s/^  \"$1\": \(-\{0,1\}[0-9.]*\).*/\1/p" "$2"; }
step() { # GPU PHASE OPTION...
	gpu=$1 phase=$2
	shift 2
	"$NPUSIM" run -c "$gpu" -m llama-3.2-1b --phase "$phase" --context 1024 "$@" --format json 2>/dev/null
}
watts() { # KEY FILE
	"$NPUSIM" config show "$2" --format csv | awk -F, -v k="$1" '$1 == k { print $2 * ($2 ~ / kW/ ? 1000 : 1) }'
}
for f in configs/gpu/*.yaml; do
	g=$(basename "$f" .yaml)
	quiet config check --sources "$f"
	cap=$(watts power.cap "$f")
	step "$g" prefill --tokens 1024 >"$TMP/p"
	step "$g" decode >"$TMP/d"
	step "$g" prefill --tokens 1024 --set "power.cap=$((cap * 2)) W" >"$TMP/c"
	awk -v g="$g" -v cap="$cap" -v low="$(watts power.idle_low "$f")" -v p="$(number power_w "$TMP/p")" \
		-v d="$(number power_w "$TMP/d")" -v slow="$(number total_us "$TMP/p")" -v fast="$(number total_us "$TMP/c")" 'BEGIN {
		fits = p <= cap ? "yes" : "no: " p
		less = d <= cap ? "yes" : "no: " d
		rest = (d > low && p > low) ? "yes" : "no"
		soon = fast <= slow ? "yes" : "no"
		printf "%s: cap %d W; a prompt under it %s, a step %s, both more than rest %s, twice the cap no slower %s\n",
			g, cap, fits, less, rest, soon }'
done
