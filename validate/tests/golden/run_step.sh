# What must hold of a run whatever its numbers are: they may move with every better model, so none stands here.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db" --wall '11.34 ms'
step() { "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 "$@"; }
for f in table csv json; do
	step --format $f --explain-fusion --all >"$TMP/a.$f"
	step --format $f --explain-fusion --all >"$TMP/b.$f"
	cmp "$TMP/a.$f" "$TMP/b.$f" && echo "$f: two runs are the same to the byte"
done
J=$TMP/a.json
for f in measured_us measured_wall_us carried_us energy_uj fidelity range start expert_reuse expert_reuse_assumed seed passes; do
	echo "$f $(field $f "$J")"
done
awk -v total="$(field total_us "$J")" -v roof="$(field roofline_us "$J")" -v reads="$(field dram_read_bytes "$J")" \
	-v writes="$(field dram_write_bytes "$J")" -v dram="$(field dram_bytes "$J")" -v need="$(field compulsory_bytes "$J")" 'BEGIN {
	print "roofline at most the total:", (roof <= total)
	print "dram bytes are reads and writes:", (dram == reads + writes)
	print "reads at least the compulsory ones:", (reads >= need)
}'
# Of every op: a bound, shares that sum to 1, a time; all times sum to the total.
awk -v total="$(field total_us "$J")" '
	/^  "ops":/ { list = 1 }
	/^  \]/ { list = 0 }
	!list { next }
	/^      "us":/ { ops++; us += $2 + 0 }
	/^      "bound": "/ { bounds++ }
	/^      "stalls": \{/ { inside = 1; sum = 0; next }
	inside && /^      \}/ { inside = 0; if (sum < 0.9999999 || sum > 1.0000001) wrong++; next }
	inside { sum += $2 + 0 }
	END {
		print "ops:", ops, "with a bound:", bounds, "with shares that do not sum to 1:", wrong + 0
		print "times sum to the total:", (us - total < 0.01 && total - us < 0.01)
	}' "$J"
echo "ops in csv: $(($(wc -l <"$TMP/a.csv") - 1))"
echo "the last table:"
tail -n 3 "$TMP/a.table" | cut -c1-38
grep -c 'not validated yet' "$TMP/a.table"
# Another seed is another choice of experts, not another amount of work; all kept is fewer bytes than all drawn anew.
step --format json --seed 2 >"$TMP/c.json"
[ "$(field flops "$J")" = "$(field flops "$TMP/c.json")" ] && echo "same work with another seed"
step --format json --expert-reuse 1 >"$TMP/kept.json"
step --format json --expert-reuse 0 >"$TMP/new.json"
awk -v kept="$(field compulsory_bytes "$TMP/kept.json")" -v new="$(field compulsory_bytes "$TMP/new.json")" \
	'BEGIN { print "experts kept need no more bytes than experts drawn anew:", (kept <= new) }'
# The machine in closed form: the same workload, its own roofline, the same to the byte.
for f in table csv json; do
	step --format $f --fidelity analytic >"$TMP/d.$f"
	step --format $f --fidelity analytic >"$TMP/e.$f"
	cmp "$TMP/d.$f" "$TMP/e.$f" && echo "$f: two analytic runs are the same to the byte"
done
for f in measured_us carried_us fidelity events passes; do
	echo "$f $(field $f "$TMP/d.json")"
done
[ "$(field flops "$J")" = "$(field flops "$TMP/d.json")" ] && echo "same work in closed form"
awk -v total="$(field total_us "$TMP/d.json")" -v roof="$(field roofline_us "$TMP/d.json")" \
	'BEGIN { print "roofline at most the closed form:", (roof <= total) }'
# The stored accuracy names its configuration from the top of the data: the same answer wherever one stands.
here=$PWD
echo "accuracy, from here and from elsewhere:"
for place in . "$TMP"; do
	(cd "$place" && "$NPUSIM" run -c "$here/$CONFIG" -t "$TMP/t.db" --range decode_step_1 --all --ops 0) | sed -n 's/^accuracy *\(nearest NPU on silicon, [^,]*\),.*/\1/p; /another build/p; /other configurations/p; s/.*\(error on an h200\), .*/\1/p'
done
