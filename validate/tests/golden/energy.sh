# Board power: measured energy against the model, the clock under a cap, constants of nodes, and what is refused. Figures of the
# model may change, and are bounded.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([0-9.]*\),*\$/\1/p" "$2" | head -n 1; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { print (a != "" && a + 0 < b + 0) }'; }
GPU=configs/gpu/h200.yaml
table=$TMP/h200.csv
grep -v '^step' traces/h200/energy/h200.csv >"$table" # steps take seconds
"$NPUSIM" validate -c $GPU --energy $table --format json >"$TMP/v"
echo "energy of 85 cases within 5 %: $(below "$(sed -n '/"energy": {/,/}/s/^ *"mape": \([0-9.]*\),*$/\1/p' "$TMP/v")" 5)"
echo "clock under the cap within 4 %: $(below "$(sed -n '/"clock": {/,/}/s/^ *"mape": \([0-9.]*\),*$/\1/p' "$TMP/v" | head -n 1)" 4)"
"$NPUSIM" validate -c $GPU --energy $table --format csv | cut -d, -f1 | head -n 3

echo "a table of ops with measured energy"
printf 'op,m,n,k,elements,dtype,measured_us,measured_uj,measured_mhz\n' >"$TMP/o.csv"
printf 'gemm,512,14336,4096,,bf16,100.071,69937.186,1635\nelementwise:add,,,,268435456,bf16,366.0974,222153.843,1980\n' >>"$TMP/o.csv"
"$NPUSIM" validate -c $GPU -t "$TMP/o.csv" --format json | sed -n '/"energy": {/,/}/p' | sed -n '/"n"/p'
printf 'op,m,n,k,measured_us,measured_uj\ngemm,1,64,64,5,-3\n' >"$TMP/b.csv"
try validate -c $GPU -t "$TMP/b.csv"

echo "a run: parts sum to the energy, and a cap makes it slower and no less true"
quiet trace import $TRACE -o "$TMP/t.db"
run() { "$NPUSIM" run -c $GPU -t "$TMP/t.db" --range decode_step_1 --format json "$@"; }
run >"$TMP/a"
run --set 'power.cap=170 W' >"$TMP/c"
run --set 'power.idle=0' --set 'power.idle_low=0' >"$TMP/n"
awk -v all="$(number energy_uj "$TMP/a")" '/"energy_parts_uj"/ { in_parts = 1; next } in_parts && /}/ { in_parts = 0 }
	in_parts { gsub(/[",]/, ""); sum += $2 } END { print "parts are all of it: " (sum > 0.999999 * all && sum < 1.000001 * all) }' "$TMP/a"
echo "capped below $(number clock_mhz "$TMP/a") MHz: $(below "$(number clock_mhz "$TMP/c")" 1980), power at most 170 W: $(below "$(number power_w "$TMP/c")" 170)"
echo "slower: $(below "$(number total_us "$TMP/a")" "$(number total_us "$TMP/c")")"
grep -E '^  "(energy_uj|power_w|clock_mhz)"' "$TMP/n"
[ "$(number total_us "$TMP/n")" = "$(number total_us "$TMP/a")" ] && echo "without power the same time"

echo "validate has the clock that run has"
for cap in 700 170; do
	"$NPUSIM" run -c $GPU -t "$TMP/t.db" --set "power.cap=$cap W" --format json >"$TMP/r"
	"$NPUSIM" validate -c $GPU -t "$TMP/t.db" --set "power.cap=$cap W" --worst 0 --format csv |
		awk -F, -v run="$(number total_us "$TMP/r")" 'NR > 1 { sum += $(NF-8) } END { print sum, run }'
done | awk '{ v[NR] = $1; r[NR] = $2 } END {
	longer = v[2] / v[1]
	same = (longer > 1.01 && longer > 0.999 * r[2] / r[1] && longer < 1.001 * r[2] / r[1])
	print "under 170 W a profile takes longer by as much as a run does: " same }'

echo "refused"
try config check $GPU --set 'power.cap=70 W'
try config check $GPU --set 'power.cap=70'
try run -c $GPU -t "$TMP/t.db" --set 'power.mac=1.5 fJ'
try config tech n6 2>&1 | sed 's/tried.*/tried .../'
try validate -c $GPU --energy $TRACE 2>&1 | cut -c 1-120
printf 'kind,shape,watts,us\ngemm_bf16,"M=1,N=2",5,1\n' >"$TMP/e.csv"
try validate -c $GPU --energy "$TMP/e.csv"
try calibrate -c $GPU --energy "$TMP/e.csv" -p configs/calibrate/h200.yaml
try calibrate --energy traces/h200/energy/h200.csv
try validate -c $CONFIG --energy traces/h200/energy/h200.csv
"$NPUSIM" config tech n5 --format csv | sed -n '1p;/int8_multiply/p'
