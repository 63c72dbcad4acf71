# npusim pareto, best and sensitivity over objectives made of parameters alone, so that the answers are known: of
# l2.size + cores over a grid, the variance is 72 % of the one and 28 % of the other, and nothing is left for both together.
# figures: shown
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
fidelity: analytic
axes:
  l2.size: [64 MiB, 128 MiB]
  cores: [16, 32, 64]
columns: {mib: l2.size / 1 MiB}
objectives: [{name: size, minimize: mib}, {name: work, maximize: cores * mib}]
constraints: [cores * mib < 8000, latency_us > 0]
EOF
quiet sweep "$TMP/s.yaml" -o "$TMP/r.db"
try pareto "$TMP/r.db"
try pareto "$TMP/r.db" --minimize mib --maximize cores --minimize 'abs(cores - 32)' --format csv
try best "$TMP/r.db" -n 3
try best "$TMP/r.db" --maximize cores --format json -n 1
try sensitivity "$TMP/r.db" --of 'mib + cores'
echo "points that miss a constraint count for what matters, also where none meets it"
sed 's/^constraints.*/constraints: [latency_us < 1]/' "$TMP/s.yaml" >"$TMP/none.yaml"
"$NPUSIM" sweep "$TMP/none.yaml" -o "$TMP/n.db" >"$TMP/quiet.out" 2>&1
try sensitivity "$TMP/n.db" --of 'mib + cores'
"$NPUSIM" plot tornado "$TMP/n.db" --of 'mib + cores' --script | grep -o 'means over [0-9]* points'
try sensitivity "$TMP/n.db" --where "cores < 0"
try best "$TMP/n.db"
sed 's/^constraints.*//' "$TMP/s.yaml" >"$TMP/all.yaml"
quiet sweep "$TMP/all.yaml" -o "$TMP/r.db"
try sensitivity "$TMP/r.db" --of 'mib + cores'
try sensitivity "$TMP/r.db" --of '(mib - 96) * (cores - 112 / 3)' --format csv | cut -d, -f1,2
echo "of several --where all hold"
try best "$TMP/r.db" --where 'cores > 16' --where 'l2.size < 128 MiB'
try best "$TMP/r.db" --where 'cores > 16' --where 'cores < 32'
try pareto "$TMP/r.db" --where 'cores != 16' --format csv
try sensitivity "$TMP/r.db" --of 'mib + cores' --where 'cores == 16'
try best "$TMP/r.db" --where 'coars > 16'
try pareto "$TMP/r.db" --minimize energy_nj
try pareto "$TMP/r.db" --minimize 1/0
try pareto "$TMP/r.db" --sweep 9
try sensitivity "$TMP/r.db" --of latancy_us
try best "$TMP/absent.db"
echo "a sweep's own columns stand beside its objectives, and an optimum on the end of an axis is said"
cat >"$TMP/e.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
fidelity: analytic
axes: {dram.channels: [32, 48, 64], dispatch.queue: [63, 64], vector.div_cycles: [1, 8]}
columns: {half: dram.channels / 2}
EOF
quiet sweep "$TMP/e.yaml" -o "$TMP/e.db"
"$NPUSIM" best "$TMP/e.db" -n 1 --format csv | cut -d, -f1-2,6
"$NPUSIM" best "$TMP/e.db" -n 1 | grep ' is best at '
"$NPUSIM" best "$TMP/e.db" -n 1 --minimize 'abs(dram.channels - 48)' | grep ' is best at ' || echo "in the middle: nothing is said"
