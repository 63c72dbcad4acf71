# npusim calibrate of a GPU by every key of its plans, each alone: the error it tells is the one that npusim validate finds of the file
# it writes, on the fitted split; a key that moves no sample is refused. Each key stands below with a profile in which there are
# kernels that it is of; those of h200-attention.yaml move those of micro/attention.json.gz alone, which take minutes: not held here.
# tier: nightly
. validate/tests/golden/common
keys_of() {
	case $1 in
	operators/train_0560) echo product.store_rate product.sm_dram product.tensor attention.setup attention.setup_dim attention.tile ;;
	operators/train_0480) echo product.scaled ;;
	operators/own_fp32) echo product.dot product.fma_step ;;
	operators/own_prefill) echo attention.many_setup attention.many_block attention.many_softmax attention.many_tensor ;;
	operators/train_0320) echo stream.spread stream.spread_bytes stream.write_buffer rows.resident ;;
	esac
}
one_key() { # KEY, as the plan that has it says
	printf 'calibrate: 1\nfit:\n'
	grep -h "^- {key: $1, from: " configs/calibrate/h200.yaml configs/calibrate/h200-attention.yaml
}
for t in operators/train_0560 operators/train_0480 operators/own_fp32 operators/own_prefill operators/train_0320; do
	db=$TMP/$(basename $t).db
	"$NPUSIM" trace import traces/h200/$t.json.gz -o "$db" >/dev/null 2>&1
	for key in $(keys_of $t); do
		echo "$key" >>"$TMP/held"
		one_key "$key" >"$TMP/plan.yaml"
		"$NPUSIM" calibrate -c h200 -p "$TMP/plan.yaml" -t "$db" --folds 0 -o "$TMP/found.yaml" >"$TMP/said" 2>"$TMP/why" ||
			{ echo "$key: $(cat "$TMP/why")"; continue; }
		told=$(awk '/^mean absolute error/ { print $6 }' "$TMP/said")
		found=$("$NPUSIM" validate -c "$TMP/found.yaml" -t "$db" --split fitted --worst 0 2>/dev/null | awk '$1 == "all" && !n++ { print $3 }')
		[ -n "$told" ] && [ "$told" = "$found" ] && echo "$key: told as found" || echo "$key: told $told, found $found"
	done
done
grep -h '^- {key: .*from: ' configs/calibrate/h200*.yaml | sed 's/^- {key: \([^,]*\),.*/\1/' | sort >"$TMP/all"
sort "$TMP/held" | comm -3 - "$TMP/all" | sed 's/^/not held, or of no plan: /'

one_key flash.store >"$TMP/plan.yaml"
try calibrate -c h200 -p "$TMP/plan.yaml" -t "$TMP/own_prefill.db" --folds 0
