# Products take it where it is the fastest, and its time, energy and area appear, under its own name, everywhere.
step() { run run -c edge -m llama-3.2-1b --layers 1 --format json --set dot.units=8 --set dot.lanes=4096 "$@"; }
for fidelity in event analytic; do
	step --fidelity $fidelity >"$TMP/run.json"
	for figure in dot.busy_ps dot.macs dot.mac_bf16; do
		got=$(of_file $figure "$TMP/run.json")
		holds "the run has $figure, $fidelity: '$got'" more "$got" 0
	done
	got=$(of_file gemv.macs "$TMP/run.json")
	holds "no other takes the products of one row, $fidelity: gemv '$got'" [ "$got" = 0 ]
done
none=$(value dot.macs run -c edge -m llama-3.2-1b --layers 1 --format json --fidelity analytic)
holds "a machine without the unit does nothing on it: '$none'" [ "$none" = 0 ]
prints '"resource": "dot"' run -c edge -m llama-3.2-1b --layers 1 --format json --fidelity analytic --set dot.units=1 --set dot.lanes=8 \
	--set mapping.unit=dot
prints 'edge  *dot .*dot-product units' config area edge --set dot.units=8
prints 'dot.lanes' config explain dot
prints 'dot.units' limits -c edge -m llama-3.2-1b --layers 1 --fidelity analytic --pairs 0 --set dot.units=1 --set mapping.unit=dot
prints '^dot.lanes=' completion query -- run -c edge --set dot.l
refuses dot.lanes config check edge --set dot.lane=4
run run -c edge -m llama-3.2-1b --layers 1 --set dot.units=8 --set dot.lanes=4096 --program "$TMP/program.txt" >/dev/null
holds "the program has its instruction" grep -q 'tile dot dot ' "$TMP/program.txt"
suites t_unit_dot
