# What the configuration commands say; the numbers of the machines themselves are in their files.
. validate/tests/golden/common
"$NPUSIM" config check configs/npu/*.yaml configs/gpu/*.yaml --format csv | cut -d, -f1-3
echo
try config explain l2.size weights
try config explain l2.size -c configs/npu/edge.yaml
try config explain sm.registers
try config explain kv --format json
try config explain l2.siz
try config explain size
try config explain frobnicator
echo "one row a parameter, and none without help, range or source:"
"$NPUSIM" config explain --format csv >"$TMP/all.csv"
"$NPUSIM" config show $CONFIG --format csv >"$TMP/show.csv"
[ "$(wc -l <"$TMP/all.csv")" = "$(wc -l <"$TMP/show.csv")" ] && echo "as many as in a machine"
"$NPUSIM" config explain --format json | grep -E '"(help|source|range)": ""'
echo
echo "a dump reads back to the same machine:"
for f in configs/npu/*.yaml configs/gpu/*.yaml; do
	"$NPUSIM" config show "$f" >"$TMP/dump.yaml"
	"$NPUSIM" config diff "$f" "$TMP/dump.yaml"
	a=$("$NPUSIM" config check "$f" --format csv | tail -n 1 | sed 's/.*,//')
	b=$("$NPUSIM" config check "$TMP/dump.yaml" --format csv | tail -n 1 | sed 's/.*,//')
	[ "$a" = "$b" ] || echo "$f: hash $a became $b"
done
echo
printf 'name: one\nl2: {size: 4 MiB}\ncores: 4\n' >"$TMP/one.yaml"
printf 'name: two\nl2: {size: 4096 KiB}\ncores: 8\ngemv: {units: 2}\n' >"$TMP/two.yaml"
try config diff "$TMP/one.yaml" "$TMP/two.yaml"
try config diff "$TMP/one.yaml" "$TMP/two.yaml" --exit-code --format json
try config diff "$TMP/one.yaml" "$TMP/one.yaml" --exit-code
"$NPUSIM" config show "$TMP/one.yaml" --set 'l2.size = 8 MiB' --set cores=2 --format csv | grep -E '^(key|name|cores|l2.size|clock),'
echo
try config check "$TMP/one.yaml" --set l2.size=8
try config check "$TMP/one.yaml" --set l2.size
try config check "$TMP/one.yaml" --set 'l2.sizes=8 MiB'
try config check "$TMP/absent.yaml"
echo "values in configs/gpu without a source:"
grep -E '^ *[a-z_0-9]+: *[^ {]' configs/gpu/*.yaml | grep -vE 'yaml:(name|kind): '
echo
echo
echo "other GPUs have today's values of the H200, by their rules:"
sh validate/tools/carry.sh "$NPUSIM" --check && echo "all"
try config peaks configs/gpu/gb200.yaml configs/gpu/h200.yaml configs/npu/array-128.yaml
try config peaks configs/npu/array-128.yaml --set matrix.w4a16=true --format csv
