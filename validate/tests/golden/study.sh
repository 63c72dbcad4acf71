# A study: commands run, figures taken, claims judged; what it may not run, and each fault of a file at its place.
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<'Y'
study: 1
title: Does a larger batch pay?
question: Of Llama 3.2 1B in decode, by the closed form.
answer: "Sixteen sequences are {dec.b16.gain; 1} times the tokens: {dec.b1.tok; 0} to {dec.b16.tok; 0} a second."
runs:
- name: dec
  command: run -c rtx5090 -m llama-3.2-1b --batch {b} --fidelity analytic
  for: {b: [1, 16]}
  table: A decode step
  take: {tok: {at: tokens_per_s, as: tokens/s, digits: 0, bar: yes}, bound: {at: roofline_bound, as: bound},
         norms: "by_kind[kind=norm].us", ops: "ops[*].#", all: "by_kind[*].ops"}
  make: {gain: {is: tok / first.tok, as: gain, digits: 1}}
- name: big
  command: run -c edge -m llama-3.1-70b
  may_fail: yes
  table: A model that does not fit
  take: {tok: {at: tokens_per_s, as: tokens/s}}
claims:
- {says: ten times the tokens, at: a report, right: dec.b16.gain >= 10, why: "{dec.b16.gain; 1} times, bound by {dec.b16.bound}"}
- {says: sixteen times the tokens, right: dec.b16.gain >= 16, in_part: dec.b16.gain > 8, why: "{dec.b16.gain; 1} times"}
- {says: <b>slower</b> | with `it`, right: dec.b16.tok < dec.b1.tok, why: "{dec.b1.ops} ops of {dec.b1.all}"}
- {says: cheaper, cannot: prices are no part of it}
Y
try study "$TMP/s.yaml" --page "$TMP/p.html" --markdown "$TMP/c.md"
cat "$TMP/c.md"
try study "$TMP/s.yaml" --format csv -j 1
"$NPUSIM" study "$TMP/s.yaml" --format json | grep -E '"(name|verdict|failed|gain)"'
echo "the page opens with what came out wrong: $(grep -oE 'What came out wrong|class="v (bad|good|mid)">|<table' "$TMP/p.html" | sed 's/class="v //; s/">//' | tr '\n' ' ')"
echo "of strangers, unescaped on the page: $(grep -c '<b>slower' "$TMP/p.html"); paths of this machine: $(grep -c "$TMP" "$TMP/p.html" "$TMP/c.md" | cut -d: -f2 | tr '\n' ' ')"
bad() { # SED: the file with one thing changed
	sed "$1" "$TMP/s.yaml" >"$TMP/b.yaml"
	try study "$TMP/b.yaml"
}
bad 's/^study: 1/study: 2/'
bad 's/^title:/titel:/'
bad 's/run -c rtx5090/trace record/'
bad 's/--fidelity analytic/-o x.db/'
bad 's/--fidelity analytic/-ao x.db/'
bad 's/--fidelity analytic/--timeline=x.json/'
bad 's/--fidelity analytic/--format csv/'
bad 's/run -c rtx5090.*/merge x.db y.db/'
bad 's/run -c rtx5090.*/study s.yaml/'
bad 's/run -c rtx5090.*/trace record -o x.db -- true/'
bad "s/--fidelity analytic/--set 'a/"
bad 's/--batch {b}/--batch {c}/'
bad 's/b: \[1, 16\]/b: [1, 1]/'
bad 's/take: {tok: {at: tokens_per_s, as: tokens\/s}}/take: {tok: tokens_per_s}/'
bad 's/  may_fail: yes//'
bad 's/at: roofline_bound/at: roofline_bind/'
bad 's/kind=norm/kind=nrom/; s/sixteen times the tokens, right: dec.b16.gain/of norms, right: dec.b16.norms/'
bad 's/right: dec.b16.gain >= 10/right: dec.b17.gain >= 10/'
bad 's/right: dec.b16.gain >= 10/right: dec.b16.gian >= 10/'
bad 's/why: "{dec.b16.gain; 1} times"/why: "{dec.b16.gain +}"/'
bad 's/, right: dec.b16.gain >= 10//'
bad 's/tok \/ first.tok/tok \/ first.tick/'
bad 's/- {says: cheaper.*/- {says: Ten Times the tokens!, right: dec.b16.gain >= 1000, why: no}/'
bad 's/- {says: cheaper.*/- {from: dec}/'
bad 's/- {says: cheaper.*/- {from: dek}/'
# Questions in place of claims: answers of figures alone, with the tables that show them; words that no longer hold fail the study.
sed '/^claims:/,$d' "$TMP/s.yaml" >"$TMP/q.yaml"
cat >>"$TMP/q.yaml" <<'Y'
asks:
- ask: How many tokens more do 16 sequences give?
  answer: "Nearly as many times: {dec.b16.gain; 1}, held by {dec.b16.bound} of the RTX."
  holds: dec.b16.gain > 10
  shows: [dec]
- {ask: Does <i>70B</i> fit?, answer: "{dec.b1.ops} ops do.", holds: dec.b1.ops > 0}
Y
sed -i 's/^answer:.*/answer: "{dec.b16.gain; 1} times the tokens."/' "$TMP/q.yaml"
try study "$TMP/q.yaml" --page "$TMP/q.html" --markdown "$TMP/c.md"
cat "$TMP/c.md"
echo "headings: $(grep -o '<h2>[^<]*' "$TMP/q.html" | wc -l), unescaped: $(grep -c '<i>70B' "$TMP/q.html"), typed 16 in a name: $(grep -c 'How many tokens more do 16' "$TMP/q.html")"
"$NPUSIM" study "$TMP/q.yaml" --format json | sed -n '/"asks"/,/"runs"/p'
try study "$TMP/q.yaml" --format csv
worse() { # SED: its questions with one thing changed
	sed "$1" "$TMP/q.yaml" >"$TMP/b.yaml"
	try study "$TMP/b.yaml"
}
worse 's/Nearly as many/16/'
worse 's/the RTX/RTX 5090/'
worse 's/{dec.b16.gain; 1} times the/{16; 0} times the/'
worse 's/^answer: .*/answer: 16 times the tokens/'
worse 's/gain > 10/gain > 100/'
worse '/holds: dec.b16/d'
worse 's/shows: \[dec\]/shows: [dek]/'
worse 's/shows: \[dec\]/shows: dec/'
worse 's/^asks:/asked:/'
try study "$TMP/absent.yaml"
# A machine beside the study's file is that one, wherever the command is given.
mkdir -p "$TMP/beside"
printf 'name: own\n' >"$TMP/beside/own.yaml"
cat >"$TMP/beside/study.yaml" <<'END'
study: 1
title: beside
runs:
- name: dec
  command: run -c own.yaml -m llama-3.2-1b --layers 1
  table: A step
  take: {us: {at: total_us, as: us, digits: 0}}
asks:
- ask: Is it read?
  answer: "It is: {dec.us > 0; 0}."
  holds: dec.us > 0
  shows: [dec]
END
(cd / && "$NPUSIM" study "$TMP/beside/study.yaml") >"$TMP/beside/out"
echo "from another folder: exit $?"
