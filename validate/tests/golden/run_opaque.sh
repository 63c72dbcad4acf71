# Kernels that no rule knows are carried along: said so, in every ratio of the whole, and exit code 1 above 5 % of the time.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db" --wall '11.34 ms'
rules() { # NAME KERNEL
	printf 'rules:\n- {name: %s, kernel: "%s", kind: opaque, family: %s, friendly: %s, library: none}\nbase: pytorch-cuda\n' \
		"$1" "$2" "$1" "$1" >"$TMP/$1.yaml"
}
case_of() { # NAME
	echo "$1:"
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --rules "$TMP/$1.yaml" --format json >"$TMP/a.json"
	echo "exit $?"
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --rules "$TMP/$1.yaml" --format json --allow-opaque >"$TMP/b.json"
	echo "exit $? with --allow-opaque"
	cmp "$TMP/a.json" "$TMP/b.json"
	for f in measured_us carried_us; do
		echo "$f $(field $f "$TMP/a.json")"
	done
	echo "ops carried: $(grep -c '^      "carried": true' "$TMP/a.json"), with a null time: $(grep -c '^      "start_us": null' "$TMP/a.json")"
	# More than half of it: what is left is no answer, and stands under another name.
	if [ "$(field total_us "$TMP/a.json")" = null ]; then
		echo "total_us null, step_us $(field step_us "$TMP/a.json"), ratios $(field speedup_kernels "$TMP/a.json") $(field speedup_wall "$TMP/a.json"), the part: $(field simulated_part_us "$TMP/a.json" | awk '{ print ($1 > 0) }')"
		return
	fi
	# Both ratios are of the whole step (what is carried may hold sets beside its kernels).
	awk -v total="$(field total_us "$TMP/a.json")" -v carried="$(field carried_us "$TMP/a.json")" -v wall="$(field measured_wall_us "$TMP/a.json")" \
		-v kernels="$(field measured_us "$TMP/a.json")" -v rk="$(field speedup_kernels "$TMP/a.json")" -v rw="$(field speedup_wall "$TMP/a.json")" 'BEGIN {
		whole = total + carried
		w = wall / whole
		print "ratios with it:", (rk * whole < kernels + 0.01 && rk * whole > kernels - carried - 0.01), (w - rw < 1e-6 && rw - w < 1e-6)
	}'
}
rules silu silu_kernel
case_of silu
rules products '^nvjet_'
case_of products
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --rules "$TMP/products.yaml" --allow-opaque --all | grep -E '^(carried|opaque)'
