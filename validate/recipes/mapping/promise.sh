# A machine that names it has another program than by search, at another time and never under its roofline, and the name is known.
step() { run run -c edge -m llama-3.2-1b --layers 1 --phase prefill --tokens 512 --format json --set 'sram.size=128 KiB' "$@"; }
for fidelity in event analytic; do
	step --fidelity $fidelity --set mapping.policy=widest >"$TMP/widest.json"
	step --fidelity $fidelity >"$TMP/search.json"
	ours=$(of_file total_us "$TMP/widest.json") search=$(of_file total_us "$TMP/search.json") floor=$(of_file roofline_us "$TMP/widest.json")
	holds "it is not the fastest, $fidelity: $ours, $search us" more "$ours" "$search" "$floor"
done
prints 'widest: of the nests' config explain mapping.policy
prints mapping.policy=widest completion query -- run -c edge --set mapping.policy=
refuses widest config check edge --set mapping.policy=none
