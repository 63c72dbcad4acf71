# What an NPU takes: beside the GPU's board, by block, under a cap, raced and paced, in sweeps. Figures of the model may change,
# and are bounded.
. validate/tests/golden/common
number() { sed -n "s/^ *\"$1\": \([0-9.e+]*\),*\$/\1/p" "$2" | head -n 1; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { print (a != "" && a + 0 < b + 0) }'; }
quiet trace import $TRACE -o "$TMP/t.db" --wall '11.34 ms'
run() { # FILE ARGUMENT...
	file=$1
	shift
	"$NPUSIM" run -t "$TMP/t.db" --range decode_step_1 --format json "$@" >"$TMP/$file"
}
run npu -c $CONFIG
run closed -c $CONFIG --fidelity analytic
run gpu -c configs/gpu/h200.yaml
echo "the same rows of both machines: $(grep -c '"dram.dram_read":' "$TMP/npu") $(grep -c '"dram.dram_read":' "$TMP/gpu")"
echo "the NPU takes less: $(less "$(number energy_uj "$TMP/npu")" "$(number energy_uj "$TMP/gpu")")"
for f in npu closed; do
	awk -v all="$(number energy_uj "$TMP/$f")" '/"energy_parts_uj"/ { in_parts = 1; next } in_parts && /}/ { in_parts = 0 }
		in_parts { gsub(/[",]/, ""); sum += $2 } END { print "parts are all of it: " (sum > 0.999999 * all && sum < 1.000001 * all) }' "$TMP/$f"
done
echo "closed form within 2 %: $(awk -v a="$(number energy_uj "$TMP/closed")" -v b="$(number energy_uj "$TMP/npu")" 'BEGIN { print (a > 0.98 * b && a < 1.02 * b) }')"
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 | sed -n '/^energy/s/[0-9.]\{1,\}/N/gp'
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --all --ops 1 | sed -n '/^energy by block/,/^all/p' | awk '{ print $1 }'

echo "a cap, pace and gates"
run cap -c $CONFIG --set 'power.cap=180 W'
run race -c $CONFIG --set 'power.latency_target=1 ms'
run pace -c $CONFIG --set 'power.latency_target=1 ms' --set power.mode=pace
run loose -c $CONFIG --set power.clock_gating=false
echo "power under the cap: $(less "$(number power_w "$TMP/cap")" 180.001); clock lowered: $(less "$(number clock_mhz "$TMP/cap")" "$(number clock_mhz "$TMP/npu")"); slower: $(less "$(number total_us "$TMP/npu")" "$(number total_us "$TMP/cap")")"
echo "paced in time: $(less "$(number total_us "$TMP/pace")" 1000.001); at less power than raced: $(less "$(number power_w "$TMP/pace")" "$(number power_w "$TMP/race")")"
echo "raced as fast as ever: $(less "$(number total_us "$TMP/race")" "$(number total_us "$TMP/pace")"); its energy until then is more than of the run: $(less "$(number energy_uj "$TMP/race")" "$(number energy_period_uj "$TMP/race")")"
echo "ungated takes more: $(less "$(number energy_uj "$TMP/npu")" "$(number energy_uj "$TMP/loose")")"

echo "more context, more tokens: more energy"
before=0
for w in '--context 512' '--context 2048' '--context 2048 --batch 4' '--context 8192 --batch 4'; do
	# shellcheck disable=SC2086
	"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --layers 2 $w --fidelity analytic --format json >"$TMP/m"
	now=$(number energy_uj "$TMP/m")
	echo "$w: $(less "$before" "$now")"
	before=$now
done

echo "a sweep"
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
range: decode_step_1
fidelity: analytic
axes: {clock: [700 MHz, 1.4 GHz]}
objectives: [latency_us, energy_uj, edp]
EOF
"$NPUSIM" sweep "$TMP/s.yaml" -t "$TMP/t.db" --format csv 2>/dev/null | sed -n '1s/,/\n/gp' | grep -E '^(energy_uj|edp|energy_period_uj)$'

echo "refused"
try config check $CONFIG --set 'power.cap=20 W' 2>&1 | sed 's/takes [0-9.]* W/takes N W/'
try config check $CONFIG --set die.node=n6 2>&1 | sed 's/ in .ROOT.*, while/ ..., while/'
printf 'tech: half\nfrom: n7\npoints:\n- {clock: 1 GHz}\n' >"$TMP/half.yaml"
try config check $CONFIG --set "die.node=$TMP/half.yaml"
try config check $CONFIG --set power.mode=pace
try config check $CONFIG --set die.node=none --set 'power.cap=100 W'
try run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --set 'power.cap=50 W' 2>&1 | sed 's/takes [0-9.]* W/takes N W/'
"$NPUSIM" config explain power.mac_bf16 power.dram_read -c $CONFIG | grep -E '^power|source|from'
