# npusim ablate: the study of the report's recommendations, a small file as a table, and what is refused.
# tier: gate
. validate/tests/golden/common
STUDY=configs/studies/npu-recommendations.yaml

# Every bullet has a mechanism, and none is judged on a workload of its own choice alone: in closed form, on the quick workloads.
set -- --fidelity analytic -w 'DeepSeek-OCR decode' -w 'Llama-1B decode' -w 'Llama-8B batch 16' -w 'small model'
"$NPUSIM" ablate $STUDY "$@" --format csv --page "$TMP/a.html" >"$TMP/a.csv"
echo "recommendations of the report with a bullet: $(sed -n 's/^- .*name: \([1-9]\) .*/\1/p' $STUDY | sort -u | tr '\n' ' ')"
awk '/^- name: /{n++} /^  mechanism: /{m++} /^  pays: /{p++} END { print "bullets:", n, "with a mechanism:", m, "with a workload of their own:", p }' $STUDY
grep -c '<article>' "$TMP/a.html"
"$NPUSIM" ablate $STUDY "$@" --format csv -j 1 | cmp - "$TMP/a.csv" && echo "with one worker the same to the byte"
"$NPUSIM" ablate $STUDY "$@" --format json >"$TMP/a.json"
echo "rulings: $(tr -d '\n' <"$TMP/a.json" | sed 's/.*"court"//; s/"suites".*//' | grep -c '"verdict": "\(right\|in part\|wrong\|open\)"')"
for j in 1 3; do
	"$NPUSIM" ablate $STUDY -w 'small model' -w 'Llama-1B decode w8a8' -j $j --format csv >"$TMP/both.$j"
done
cmp "$TMP/both.1" "$TMP/both.3" && echo "and where some are run with events"
head -n 1 "$TMP/both.1"
awk -F, '$4 != "" { n[$11]++ } END { print "by events:", (n["event"] > 0) }' "$TMP/both.1"
awk -F'[:,]' '/"tokens_per_s"/ { n++ } END { print "tokens a second of every run:", (n > 30) }' "$TMP/a.json"

cat >"$TMP/m.yaml" <<'END'
name: m
kind: npu
cores: 16
gemv: {units: 4, lanes: 64}
l2: {size: 0 B}
dma: {tile: 1 MiB}
sram: {size: 1 MiB}
dram: {kind: fixed, fixed_bandwidth: 100 GB/s, fixed_latency: 1 ns}
END
cat >"$TMP/ops.csv" <<'END'
op,name,m,n,k,dtype
gemm,head,1,8192,4096,bf16
END
file() { # CHANGES...: an ablation of the machine above
	printf 'ablation: 1\nbase: m.yaml\nstart: cold\nworkloads:\n- {name: one product, trace: ops.csv}\nchanges:\n' >"$TMP/a.yaml"
	for c; do printf -- '- %s\n' "$c" >>"$TMP/a.yaml"; done
}
file '{name: wide, says: "twice the <bandwidth>", set: {dram.fixed_bandwidth: 200 GB/s}, mechanism: DRAM holds it}' \
	'{name: lanes, set: {gemv.lanes: 128}}' '{name: links, not_modelled: a machine is one chip}'
"$NPUSIM" ablate "$TMP/a.yaml" --fidelity analytic --page "$TMP/page.html" | sed 's/[0-9][0-9]*\.[0-9]/N/g; s/  *N/ N/g; s/--*/-/g'
"$NPUSIM" ablate "$TMP/a.yaml" | sed '/^what/,$d;s/[0-9][0-9]*\.[0-9]/N/g;s/  *N/ N/g;s/--*/-/g'
grep -o '<blockquote>.*</blockquote>' "$TMP/page.html"
echo "the page opens with what to build, and the sentences of npusim explain:"
sed -n 's|<h2>\(.*\)</h2><table.*|\1|p' "$TMP/page.html" | head -n 1
grep -o 'data-k="one product"><span class="c"><span class="v [a-z]*">[^<]*' "$TMP/page.html" | sed 's/.*"v //; s/[0-9.]\{3,\}/N/'
"$NPUSIM" ablate "$TMP/a.yaml" --fidelity analytic --format json >"$TMP/e.json"
"$NPUSIM" explain "$TMP/e.json" | grep -E '^ *[0-9]+  ' | sed 's/[0-9][0-9]* %/N %/g'
"$NPUSIM" explain "$TMP/e.json" --format json | sed -n 's/.*"text": "\(.*\)",*$/\1/p' >"$TMP/said"
sed "s/&#39;/'/g; s/&quot;/\"/g" "$TMP/page.html" >"$TMP/page.txt"
while read -r line; do grep -qF "$line" "$TMP/page.txt" || echo "the page lacks: $line"; done <"$TMP/said"
echo "what is refused"
try ablate
try ablate "$TMP/absent.yaml"
try ablate "$TMP/a.yaml" -w nothing
try ablate "$TMP/a.yaml" --fidelity exact
file '{name: a, set: {l2.sise: 1 MiB}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {cores: 16}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {l1.size: 3 B}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {cores: 8}, over: b}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {cores: 8}, suites: [decode]}'; try ablate "$TMP/a.yaml"
file '{name: a, parts: true}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {kind: gpu}}'; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, trace: ops.csv}]\nchanges: []\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, trace: none.csv}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, model: lama-3.2-1b}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: configs/gpu/h200.yaml\nworkloads: [{name: w, trace: ops.csv}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
try ablate configs/studies/l2-size.yaml
