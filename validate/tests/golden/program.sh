# A tile program as text: by hand, written and read again in the same time, and refused with its line.
. validate/tests/golden/common

try run -c $CONFIG --program-in workloads/programs/mlp.txt --all --ops 0
# Each way: what is written of a measured step takes, read again, the time that it took.
for how in "--fidelity event" "--fidelity analytic --start cold"; do
	# shellcheck disable=SC2086
	"$NPUSIM" run -c $CONFIG -t $TRACE --range decode_step_1 $how --program "$TMP/p.txt" --format json | grep '"total_us"\|"cycles"'
	# shellcheck disable=SC2086
	"$NPUSIM" run -c $CONFIG --program-in "$TMP/p.txt" $how --format json | grep '"total_us"\|"cycles"'
done
sed -n '/^# command 23:/,/^# command 25:/p' "$TMP/p.txt"
quiet run -c $CONFIG --program-in workloads/programs/mlp.txt --program "$TMP/1.txt" -o "$TMP/r.db" --timeline "$TMP/t.json"
quiet run -c $CONFIG --program-in "$TMP/1.txt" --program "$TMP/2.txt"
cmp "$TMP/1.txt" "$TMP/2.txt" && echo "written again it is the same"
printf 'program 1\ncommand tiles=2\n  tile gemv gemv spann=4ns\n' >"$TMP/bad.txt"
try run -c $CONFIG --program-in "$TMP/bad.txt"
try run -c $CONFIG --program-in workloads/programs/mlp.txt --set sram.size=8KiB
try run -c $CONFIG --program-in workloads/programs/mlp.txt -t $TRACE
try run -c configs/gpu/h200.yaml --program-in workloads/programs/mlp.txt
try run -c $CONFIG --program-in "$TMP/none.txt"
