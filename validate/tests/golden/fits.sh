# Every help topic, every list and what limits prints fits 80 columns; a line too long for that is printed.
. validate/tests/golden/common
wide() {
	"$NPUSIM" "$@" 2>&1 | awk -v what="$*" 'length($0) > 80 { print what ": " $0 } END { if (!NR) print what ": nothing" }'
}
"$NPUSIM" help | awk '/^commands:/ { on = 1; next } /^$/ { on = 0 } on && /^  [a-z]/ { print substr($0, 3, 15) }' >"$TMP/topics"
for group in trace workload probe plot config sweep-file requests; do echo "$group"; done >>"$TMP/topics"
[ "$(wc -l <"$TMP/topics")" -gt 60 ] || echo "few topics: $(wc -l <"$TMP/topics")"
wide help
while read -r topic; do
	# shellcheck disable=SC2086
	wide help $topic
done <"$TMP/topics"
wide workload list
wide workload list --quant
wide workload list --architectures
wide workload options
wide limits -c tpu-v6e -m tinyllama-1.1b --layers 1
wide limits -c dsocr -m tinyllama-1.1b --layers 1 --pairs 0 --fidelity analytic
echo "all fits"
