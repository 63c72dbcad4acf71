# A study's figures are those that the command prints: also what is only worked out where it is asked, in one process or more.
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<'Y'
study: 1
title: One run, asked for more and for less
runs:
- name: all
  command: run -c edge -m llama-3.2-1b --layers 2 --context {n} --fidelity analytic
  for: {n: [64, 128]}
  take: {us: total_us, low: interval.low, next: next_buy.key, saves: next_buy.saves, lines: "verdict[*].#", last: "verdict[4]", gemm: "by_kind[kind=gemm].us"}
- name: less
  command: run -c edge -m llama-3.2-1b --layers 2 --context 64 --fidelity analytic --seed 1
  take: {us: total_us, low: interval.low, gemm: "by_kind[kind=gemm].us"}
- name: gpu
  command: run -c h100 -m llama-3.2-1b --layers 2 --context 64
  take: {us: total_us, next: next_buy}
- name: opaque
  command: run -c dsocr -t traces/h200/kineto_dsocr_b1_c1024.json.gz --range decode_step_1 --rules NONE --fidelity analytic
  may_fail: yes
  take: {us: total_us, carried: carried_us}
claims:
- {says: the same, right: all.n64.us == less.us and all.n64.low == less.low and all.n64.gemm == less.gemm, why: both}
Y
sed -i "s|NONE|$TMP/none.yaml|" "$TMP/s.yaml"
printf "rules:\n- {name: none, kernel: '^no such$', kind: copy, family: none, friendly: none, library: none}\n" >"$TMP/none.yaml"
for j in 1 3; do
	"$NPUSIM" study "$TMP/s.yaml" -j $j --format json >"$TMP/$j.json" || echo "exit $?"
done
cmp "$TMP/1.json" "$TMP/3.json" && echo "as many jobs as one likes: the same"
"$NPUSIM" run -c edge -m llama-3.2-1b --layers 2 --context 64 --fidelity analytic --format json >"$TMP/r.json"
tr -d '\n' <"$TMP/1.json" | sed 's/"claims".*//; s/}/\n/g' >"$TMP/runs"
figure() { # NAME RUN: of the study
	grep "\"name\": \"$2\"" "$TMP/runs" | grep -o "\"$1\": [^,}]*" | sed 's/.*: //; s/ *$//'
}
printed() { # KEY of the run, the first
	grep -m 1 "\"$1\": " "$TMP/r.json" | sed 's/.*": //; s/,$//'
}
same() { # FIGURE KEY RUN
	[ "$(figure "$1" "$3")" = "$(printed "$2")" ] && echo "$3.$1 is what is printed" || echo "$3.$1 is $(figure "$1" "$3"), printed is $(printed "$2")"
}
same us total_us all.n64
same us total_us less
same saves saves all.n64
[ -n "$(figure next all.n64)" ] && [ "$(figure next all.n64)" != null ] && echo "what to buy next is there where it is asked"
[ "$(figure lines all.n64)" = "$(sed -n '/"verdict": \[/,/\]/p' "$TMP/r.json" | grep -c '^    "')" ] && echo "as many lines of a verdict"
echo "a GPU buys nothing: $(figure next gpu)"
echo "a bound that does not hold is no failure: $(grep -A 9 "\"opaque\"" "$TMP/1.json" | grep -E "failed|carried" | tr -d " ,\n")"
grep -m 1 verdict "$TMP/1.json" | tr -d ' ,'
