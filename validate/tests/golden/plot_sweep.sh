# npusim plot sweep: lines over an axis or an expression, and what is refused. What is drawn here is made of parameters alone,
# so that no model's number stands in the text.
# figures: shown
. validate/tests/golden/common
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
axes:
  l2.size: [64 MiB, 1 GiB, 100 KiB, 256 MiB]
  l2.policy: [lru, drrip]
columns:
  chip_mib: (l2.size + kv_buffer.size) / 1 MiB
  half_pct: 50 * l2.size / l2.size
EOF
quiet sweep "$TMP/s.yaml" -o "$TMP/r.db" --format csv
if "$NPUSIM" plot sweep "$TMP/r.db" --x l2.size --by l2.policy --script 2>&1 | grep -q "is not in this build"; then echo "not run: this build has no page"; exit 0; fi
plot() { try plot sweep "$TMP/r.db" "$@" --script; }
given sweep "$TMP/r.db" --x l2.size --y chip_mib --by l2.policy --mark '120 MiB=KV' --title 'A title'
given sweep "$TMP/r.db" --x chip_mib --y chip_mib,half_pct --percent --where "l2.policy == 'lru'"
given sweep "$TMP/r.db" --x l2.size --y chip_mib --by l2.policy --linear | grep '"scale"'
plot
plot --x l2.sise
plot --x l2.policy
plot --x l2.size --y chip_mib
plot --x l2.size --y chip_mip --by l2.policy
plot --x l2.size --y 'chip_mib +' --by l2.policy
plot --x l2.size --by l2.polcy
echo "of several --where all hold: 256 MiB of lru alone is drawn"
given sweep "$TMP/r.db" --x l2.size --y chip_mib --where "l2.policy == 'lru'" --where 'l2.size > 64 MiB' \
	--where 'l2.size < 1 GiB' | grep '"x"'
plot --x l2.size --where 'l2.size > 4 GiB' --by l2.policy
plot --x l2.size --where 'l2.size > 64 MiB' --where 'l2.size < 64 MiB' --by l2.policy
plot --x l2.size --where "l2.policy == 'lru'" --where 'l2.sise > 0'
plot --x l2.size --by l2.policy --mark 'x=here'
plot --x l2.size --by l2.policy --mark 'l2.size=here'
plot --x l2.size --by l2.policy --sweep 7
try plot sweep "$TMP/r.db" --x l2.size --by l2.policy
try plot sweep "$TMP/absent.db" --x l2.size --script
