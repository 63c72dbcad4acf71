# README.md: the output it shows is what the demo's run prints, every line of its second block; and the npusim commands it tells a
# newcomer to type, its ```sh blocks, all work. Those that take long are asked here of two layers, few tokens and requests, and in
# closed form; with README=whole, as readme_whole has it, all are asked as they stand.
"$NPUSIM" trace import traces/h200/kineto_dsocr_b1_c1024.json.gz --wall 11.34ms -o "$TMP/t.db" >/dev/null
"$NPUSIM" run -c configs/npu/dsocr.yaml -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db" | sed 's/ *$//' >"$TMP/run"
awk '/^```/ { n++; next } n == 3 && $0 != "..."' README.md | sed '/^$/d' >"$TMP/shown"
missing=$(awk 'NR == FNR { have[$0] = 1; next } !($0 in have) { print "not printed by the run: " $0 }' "$TMP/run" "$TMP/shown")
[ -s "$TMP/shown" ] || echo "README.md shows no output"
[ -z "$missing" ] && echo "README.md shows what the run prints" || echo "$missing"

smaller() {
	sed -E -e 's/ +#.*//' \
		-e '/ (run|serve) .*-m /{/ -t | --pp | --stages | --layers /!s/$/ --layers 2/}' \
		-e '/ (run|serve) -c (configs\/npu|dsocr).* -m |^npusim (limits|ablate) /{/ --fidelity /!s/$/ --fidelity analytic/}' \
		-e '/ serve /{s/--number [0-9]+/--number 8/; s/$/ --check 0/}' -e "s/--tokens [0-9]+/--tokens 32/; s/image=1024/image=640/" -e '/ limits /s/$/ --pairs 0/' |
		sed "s|-r workloads/requests/chat.csv|-r $TMP/few.csv|"
}
head -n 3 workloads/requests/chat.csv >"$TMP/few.csv"

# A picture needs Node.js and a page npm when it is built: said by the program, and no fault of the command.
lacking='is not in PATH|is not in this build'
rm -f "$TMP"/*.db
mkdir "$TMP/bin" "$TMP/tmp" && ln -s "$NPUSIM" "$TMP/bin/npusim"
awk '/^```/ { inside = $0 == "```sh" && !inside; next } inside && /^npusim /' README.md | sed "s|/tmp/|$TMP/tmp/|g" |
	if [ "${README-}" = whole ]; then cat; else smaller; fi >"$TMP/typed"
tried=0
while read -r line; do
	tried=$((tried + 1))
	(PATH=$TMP/bin:$PATH && eval "$line") >"$TMP/said" 2>&1 </dev/null || grep -qE "$lacking" "$TMP/said" ||
		{ echo "\$ $line"; cat "$TMP/said"; }
done <"$TMP/typed"
[ "$tried" -ge 20 ] && echo "its commands work" || echo "only $tried commands"
