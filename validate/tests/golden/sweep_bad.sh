# Sweeps that must not start, each with the place of the fault, and what they leave: nothing.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
bad() { # LINE... of the file after its head
	{ printf 'sweep: 1\nbase: %s\nrange: decode_step_1\n' $CONFIG; printf '%s\n' "$@"; } >"$TMP/s.yaml"
	echo "--- $*"
	"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/r.db" || echo "exit $?"
}
bad 'axes: {l2.sise: [64 MiB]}'
bad 'axes: {l2.size: []}'
bad 'axes: {l2.size: [64]}'
bad 'axes: {l2.size: {from: 64 MiB, to: 1 GiB}}'
bad 'axes: {cores: {from: 1, to: 1000, steps: 1000}, l2.mshrs: {from: 1, to: 1000, steps: 1000}, dispatch.queue: {from: 1, to: 1000, steps: 1000}}'
bad 'axes: {cores: [1, 2]}' 'where: cores > 2 and cores < 2'
bad 'axes: {cores: [1, 2]}' 'where: [l2.size > 1 GiB]'
bad 'axes: {cores: [1, 2]}' 'where: dram_bytes > 1'
bad 'axes: {cores: [1, 2]}' 'constraints: [cores > 2, latency_us < 600]'
bad 'axes: {cores: [1, 2]}' 'constraints: latancy_us < 600'
bad 'axes: {cores: [1, 2]}' 'constraints: latency_us < 600 &&'
bad 'axes: {cores: [1, 2]}' 'constraints: l2.hit_bites > 1'
bad 'axes: {cores: [1, 2]}' 'objectives: [latency_us, energy_nj]'
bad 'axes: {cores: [1, 2]}' 'fidelity: analytical'
bad 'axes: {cores: [1, 2]}' 'sample: random'
bad 'axes: {cores: [1, 2]}' 'smaple: grid'
bad 'axes: {cores: [1, 2], l2.banks: [8, 16, 32]}' 'link: [[cores, l2.banks]]'
bad 'axes: {l2.size: [100 kB, 200 kB]}'
# The whole file and the command line.
good='axes: {cores: [1, 2]}'
try sweep
try sweep "$TMP/absent.yaml"
try sweep $CONFIG
printf 'sweep: 2\n' >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\n%s\n' "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\nbase: absent.yaml\n%s\n' "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\nbase: dsorc\n%s\n' "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\nbase: dsocr\n%s\n' "$good" >"$TMP/s.yaml"; "$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" --dry-run 2>/dev/null
printf 'sweep: 1\nbase: %s\n%s\n' $CONFIG "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\nbase: %s\ntrace: absent.gz\n%s\n' $CONFIG "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml"
printf 'sweep: 1\nbase: %s\nrange: decode_step_9\n%s\n' $CONFIG "$good" >"$TMP/s.yaml"; try sweep "$TMP/s.yaml" -t "$TMP/t.db"
printf 'sweep: 1\nbase: %s\nrange: decode_step_1\n%s\n' $CONFIG "$good" >"$TMP/s.yaml"
for shard in 0/4 5/4 1 1/0 a/b 1/2x; do try sweep "$TMP/s.yaml" -t "$TMP/t.db" --shard $shard; done
try sweep "$TMP/s.yaml" -t "$TMP/t.db" --max 1
cp "$TMP/t.db" "$TMP/trace.db"; try sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/trace.db"
try sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/absent/r.db"
try merge "$TMP/r.db"
try merge "$TMP/r.db" "$TMP/absent.db"
try merge "$TMP/r.db" "$TMP/t.db"
ls "$TMP" | grep -v -e quiet -e -wal -e -shm
# A disk that fills up on the way: one error, and what was done is there for the next time.
limit() { trap '' XFSZ; ulimit -f "$1"; }
printf 'sweep: 1\nbase: %s\nrange: decode_step_1\nfidelity: analytic\naxes: {dispatch.queue: {from: 2, to: 64, steps: 32}}\n' $CONFIG >"$TMP/s.yaml"
# One worker: several rows a transaction make a smaller journal, and all of them might fit.
(limit 1000 && "$NPUSIM" sweep "$TMP/s.yaml" -j 1 -t "$TMP/t.db" -o "$TMP/full.db" --format csv 2>"$TMP/said"; echo "exit $?"; tail -n 1 "$TMP/said")
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/full.db" --format csv 2>"$TMP/said" >"$TMP/a.csv"
grep -q 'were there already' "$TMP/said" && echo "it goes on"
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" --format csv 2>/dev/null | cmp - "$TMP/a.csv" && echo "the same rows"
# Shards of different builds do not mix unless told, and nothing of them is taken then.
if command -v sqlite3 >/dev/null; then
	for i in 1 2; do "$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" --shard $i/16 -o "$TMP/shard$i.db" >/dev/null 2>&1; done
	sqlite3 "$TMP/shard1.db" "update build set text = 'a release'"
	sqlite3 "$TMP/shard2.db" "update build set text = 'b release'"
	try merge "$TMP/mixed.db" "$TMP/shard1.db" "$TMP/shard2.db"
	"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/shard1.db" 2>&1 | tail -n 1 | sed 's/this is .*)/this is BUILD)/'
	try merge "$TMP/mixed.db" "$TMP/shard1.db" "$TMP/shard2.db" --mixed-builds --format csv
	# A database that another process holds: it is waited for, and what was there stays.
	cp "$TMP/full.db" "$TMP/held.db"
	mkfifo "$TMP/holds" "$TMP/lets-go"
	{
		printf "%s\n" "begin immediate; update sweep set points = points;" ".shell echo >'$TMP/holds'"
		cat "$TMP/lets-go"
	} | sqlite3 "$TMP/held.db" &
	cat "$TMP/holds" >/dev/null
	{ sleep 1; : >"$TMP/lets-go"; } &
	"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" -o "$TMP/held.db" --format csv 2>/dev/null | cmp - "$TMP/a.csv" && echo "waited, and the same rows"
	wait
fi
