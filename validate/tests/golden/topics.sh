# What is found without its exact name: machines that come with npusim, parameters by a word; and the language of a sweep file.
. validate/tests/golden/common
echo "a machine that comes with npusim, by its name alone; a file of that name goes first"
"$NPUSIM" config show dsocr | sed -n 1p
"$NPUSIM" run -c edge -m llama-3.2-1b --fidelity analytic --format json | grep '"config"'
"$NPUSIM" run -c h200 -m llama-3.2-1b --format json | grep '"config"'
(cd "$TMP" && printf 'name: mine\nkind: npu\n' >dsocr && "$NPUSIM" config show dsocr | grep '^name')
try run -c dsocrr -m llama-3.2-1b
try run -c ../npu/dsocr -m llama-3.2-1b
try config show dscor
try config show h20O
try config show edge.yaml
try config show configs/npu/dscor.yaml
try config show nothing-alike
echo "parameters by a word"
"$NPUSIM" config explain victim | cut -c1-60
"$NPUSIM" config explain bandwidth --format csv | cut -d, -f1 | grep -c bandwidth
"$NPUSIM" config explain nonsenseword
echo "exit $?"
"$NPUSIM" config explain l2.sise
echo "exit $?"
echo "every key of a sweep file is in its help"
"$NPUSIM" help sweep-file >"$TMP/help"
for f in sim/study/sweep_load.c sim/study/sweep_axis.c sim/study/sweep_expr.c; do
	sed -n '/static const char \*const keys\[\] = {/,/};/p' $f | grep -o '"[a-z_]*"' | tr -d '"'
done | sort -u | while read -r key; do grep -qw -- "$key" "$TMP/help" || echo "missing: $key"; done
sed -n '/^an example/,$p' "$TMP/help" | sed '1d; s/^  //' >"$TMP/example.yaml"
"$NPUSIM" sweep "$TMP/example.yaml" --dry-run 2>/dev/null | tail -n 1
try help sweep-files
echo "lists of requests: the example is one"
"$NPUSIM" help requests | sed -n '/^an example/,$p'
"$NPUSIM" help requests | awk 'length > 100'
