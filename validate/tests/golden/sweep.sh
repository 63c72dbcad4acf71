# A sweep of the traced step: its tables, that they do not depend on workers, shards, kills or where the trace comes from.
# tier: gate
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
axes:
  l2.size: [64 MiB, 1 GiB, 100 KiB]
  kv_buffer.size: [0 B, 64 MiB]
columns:
  unbounded: latency_us > 0 and roofline_us <= latency_us and dram_bytes == dram_read_bytes + dram_write_bytes
  on_chip_mib: (l2.size + kv_buffer.size) / 1 MiB
objectives: [cores, {name: chip, maximize: on_chip_mib}]
constraints: on_chip_mib <= 1 GiB / 1 MiB
EOF
# Times move with every better model, so none stands here: which columns and rows there are, and what must hold.
sweep() { "$NPUSIM" sweep "$TMP/s.yaml" "$@" 2>"$TMP/said" || echo "exit $?"; }
said() { sed 's/, about .*//' "$TMP/said"; }
sweep -j1 --format csv -o "$TMP/one.db" >"$TMP/one.csv"
said
head -n 1 "$TMP/one.csv"
grep -v ^point "$TMP/one.csv" | cut -d, -f1-4,31-35,37-
sweep -j2 --format csv >"$TMP/two.csv"
cmp "$TMP/one.csv" "$TMP/two.csv" && echo "two workers make the same rows"
sweep -j2 --format csv -t "$TMP/t.db" >"$TMP/db.csv"
cmp "$TMP/one.csv" "$TMP/db.csv" && echo "a trace database gives the same rows as the profile"
for i in 3 1 4 2; do sweep --shard $i/4 -o "$TMP/$i.db" >"$TMP/table"; said; done
try merge "$TMP/all.db" "$TMP"/[1234].db --format csv
try merge "$TMP/all.db" "$TMP"/[1234].db --format csv
sweep -o "$TMP/all.db" --format csv >"$TMP/all.csv"
cmp "$TMP/one.csv" "$TMP/all.csv" && echo "four shards merged are the same rows"
sweep -o "$TMP/one.db" --format csv >"$TMP/again.csv"
cmp "$TMP/one.csv" "$TMP/again.csv" && echo "nothing is run twice"
# A study that grows runs what is new: the same rows as if it had never been smaller, also where an axis is new.
sed 's/^  l2.size.*/  l2.size: [64 MiB, 1 GiB]/' "$TMP/s.yaml" >"$TMP/small.yaml"
"$NPUSIM" sweep "$TMP/small.yaml" -o "$TMP/grown.db" >"$TMP/table" 2>"$TMP/said"
sweep --format csv -o "$TMP/grown.db" >"$TMP/grown.csv"
said
cmp "$TMP/one.csv" "$TMP/grown.csv" && echo "grown: the same rows"
sed 's/^axes:/axes:\n  dispatch.queue: [64, 32]/' "$TMP/s.yaml" >"$TMP/wider.yaml"
"$NPUSIM" sweep "$TMP/wider.yaml" -o "$TMP/grown.db" --format csv 2>"$TMP/said" >"$TMP/wider.csv"
said
"$NPUSIM" sweep "$TMP/wider.yaml" --format csv 2>/dev/null | cmp - "$TMP/wider.csv" && echo "an axis more: the same rows as alone"
# Another fidelity, seed or build is another question.
{ cat "$TMP/small.yaml"; echo 'fidelity: analytic'; } >"$TMP/other.yaml"
"$NPUSIM" sweep "$TMP/other.yaml" -o "$TMP/grown.db" >"$TMP/table" 2>"$TMP/said"; said
{ cat "$TMP/small.yaml"; echo 'seed: 2'; } >"$TMP/other.yaml"
"$NPUSIM" sweep "$TMP/other.yaml" -o "$TMP/grown.db" >"$TMP/table" 2>"$TMP/said"; said
of_another=$TMP/grown.db # without sqlite3 nobody can make it another build's
if command -v sqlite3 >/dev/null; then sqlite3 "$TMP/grown.db" "update build set text = 'another build'"; else of_another=$TMP/new.db; fi
sed 's/^  l2.size.*/  l2.size: [64 MiB]/' "$TMP/s.yaml" >"$TMP/small.yaml"
"$NPUSIM" sweep "$TMP/small.yaml" -o "$of_another" >"$TMP/table" 2>"$TMP/said"; said
# Objectives may change without a new run.
sed 's/^objectives.*/objectives: l2.size/; s/^constraints.*//' "$TMP/s.yaml" >"$TMP/s2.yaml"
"$NPUSIM" sweep "$TMP/s2.yaml" -o "$TMP/one.db" 2>"$TMP/said" | grep least
said
sweep --dry-run --format csv
# Killed from outside, wherever it may be by then, it goes on.
for i in 1 2 3; do
	"$NPUSIM" sweep "$TMP/s.yaml" -o "$TMP/killed.db" >/dev/null 2>&1 &
	sleep 0.0$i
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
done
sweep -o "$TMP/killed.db" --format csv >"$TMP/killed.csv"
cmp "$TMP/one.csv" "$TMP/killed.csv" && echo "killed and gone on: the same rows"
# The same points in closed form: other rows, whatever the workers.
echo 'fidelity: analytic' >>"$TMP/s.yaml"
sweep -j1 --format csv >"$TMP/a1.csv"
sweep -j2 --format csv >"$TMP/a2.csv"
cmp "$TMP/a1.csv" "$TMP/a2.csv" && echo "two workers make the same analytic rows"
cmp -s "$TMP/one.csv" "$TMP/a1.csv" || echo "they are not those of events"
# The promising ones again with events: those rows are the ones a sweep with events has, and what is there is not run twice.
sweep -j1 --again 0.5 --format csv -o "$TMP/again.db" >"$TMP/b1.csv"
sweep -j2 --again 0.5 --format csv -o "$TMP/again.db" >"$TMP/b2.csv"
cmp "$TMP/b1.csv" "$TMP/b2.csv" && echo "again is the same"
head -n 1 "$TMP/b1.csv"
awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) col[FILENAME, $i] = i; next }
	FILENAME ~ /one/ { event[$1] = $col[FILENAME, "latency_us"]; next }
	FILENAME ~ /a1/ { closed[$1] = $col[FILENAME, "latency_us"]; next }
	{ n++; right += $col[FILENAME, "event_us"] == event[$1] && $col[FILENAME, "analytic_us"] == closed[$1] }
	END { print n, "of 4 points again,", right, "as in the sweeps of either fidelity" }' "$TMP/one.csv" "$TMP/a1.csv" "$TMP/b1.csv"
sed 's/^fidelity.*//' "$TMP/s.yaml" >"$TMP/s3.yaml"
try sweep "$TMP/s3.yaml" --again 0.1
try sweep "$TMP/s.yaml" --again 2
try sweep "$TMP/s.yaml" --again 0.1 --shard 1/2
