# npusim ablate: the study of the report's recommendations, a small file as a table, and what is refused.
. validate/tests/golden/common
STUDY=configs/studies/npu-recommendations.yaml

# Whatever the figures are: every bullet that is modelled pays in the workload it names, and no bullet without a model is judged.
# In closed form, as with events it takes minutes; and all of it once, as most of its time is the mapping of long prompts.
"$NPUSIM" ablate $STUDY --fidelity analytic --format csv --page "$TMP/a.html" >"$TMP/a.csv"
echo "recommendations of the report with a bullet: $(sed -n 's/^- .*name: \([1-9]\) .*/\1/p' $STUDY | sort -u | tr '\n' ' ')"
awk '
	function value(s) { sub(/^[^:]*: */, "", s); return s }
	FNR == NR {
		if (/^- .*name: [1-9] /) { name = $0; sub(/^.*name: /, "", name); sub(/, says.*/, "", name); bullets++; if (/not_modelled/) absent++ }
		if (/^  pays: /) { pays[name] = value($0) }
		if (/^  not_modelled: /) { absent++ }
		if (/^  mechanism: /) { mechanisms++ }
		next
	}
	{ split($0, f, ","); at[f[2] "|" f[1]] = f[3]; if (f[3] == "not modelled") never[f[2]]++ }
	END {
		for (b in pays) if (at[b "|" pays[b]] !~ /^(right|together)$/) print "does not pay in " pays[b] ": " b " (" at[b "|" pays[b]] ")"
		for (b in pays) n++
		print "modelled:", n, "with a mechanism:", mechanisms, "not modelled:", absent, "of", bullets
	}' $STUDY "$TMP/a.csv"
grep -c '<article>' "$TMP/a.html"
set -- --fidelity analytic -w 'DeepSeek-OCR decode' -w 'Llama-1B decode'
"$NPUSIM" ablate $STUDY "$@" --format csv >"$TMP/some.csv"
grep -Fvxf "$TMP/a.csv" "$TMP/some.csv" # its rows are those of the whole
"$NPUSIM" ablate $STUDY "$@" --format csv -j 1 | cmp - "$TMP/some.csv" && echo "with one worker the same to the byte"
"$NPUSIM" ablate $STUDY --fidelity analytic -w 'DeepSeek-OCR decode' --format json >"$TMP/a.json"
for j in 1 3; do
	"$NPUSIM" ablate $STUDY -w 'small model' -w '4-bit decode' -j $j --format csv >"$TMP/both.$j"
done
cmp "$TMP/both.1" "$TMP/both.3" && echo "and where some are run with events"
head -n 1 "$TMP/both.1"
awk -F, '$4 != "" { n[$11]++ } END { print "by events:", (n["event"] > 0), "and in closed form:", (n["analytic"] > 0) }' "$TMP/both.1"
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
echo "what is refused"
try ablate
try ablate "$TMP/absent.yaml"
try ablate "$TMP/a.yaml" -w nothing
try ablate "$TMP/a.yaml" --fidelity exact
file '{name: a, set: {l2.sise: 1 MiB}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {cores: 16}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {l1.size: 3 B}}'; try ablate "$TMP/a.yaml"
file '{name: a, set: {kind: gpu}}'; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, trace: ops.csv}]\nchanges: []\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, trace: none.csv}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: m.yaml\nworkloads: [{name: w, model: lama-3.2-1b}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
printf 'ablation: 1\nbase: configs/gpu/h200.yaml\nworkloads: [{name: w, trace: ops.csv}]\nchanges: [{name: a, set: {cores: 8}}]\n' >"$TMP/a.yaml"; try ablate "$TMP/a.yaml"
try ablate configs/studies/l2-size.yaml
