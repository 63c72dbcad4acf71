# tier: gate
# What is said first of a run: tokens a second by hand arithmetic on three machines, both ratios, one page, and nothing where
# most of the time is not simulated.
. validate/tests/golden/common
J=$TMP/run.json

# Llama-3.2-1B has 1,235.8 million weights of two bytes, of which a decode step reads all but the table of embeddings, which is
# its output head as well: 2,471.6 MB a step, less what stays on chip (no more than 256 MiB on any of the three). A machine cannot
# make more tokens a second than that goes over its pins; a good one comes near.
echo "batch 1: tokens/s are 1e6 over the step, and below what the pins let through"
for c in npu/dsocr:2457.6 npu/edge:102.4 npu/tpu-v6e:1638.4; do
	"$NPUSIM" run -c configs/${c%:*}.yaml -m llama-3.2-1b --context 1024 --fidelity analytic --format json >"$J"
	awk -v name="${c%:*}" -v pins="${c#*:}" -v rate="$(field tokens_per_s "$J")" -v us="$(field step_us "$J")" -v total="$(field total_us "$J")" 'BEGIN {
		most = pins * 1e9 / (2471.6e6 - 256 * 1048576)
		print name ":", "1e6/us", (rate * us > 999999 && rate * us < 1000001), "one step", (us == total), "below the pins", (rate < most), "above half of it", (rate > most / 2)
	}'
done
echo "batch 16: sixteen tokens a step"
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --context 1024 --batch 16 --fidelity analytic --format json >"$J"
awk -v rate="$(field tokens_per_s "$J")" -v us="$(field step_us "$J")" 'BEGIN { printf "%.4f\n", rate * us / 1e6 }'

quiet trace import $TRACE -o "$TMP/t.db" --wall '11.34 ms'
echo "a trace tells its tokens by its attention; without a range its steps are counted, and not added up"
for r in "--range decode_step_1" ""; do
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" $r --format json >"$J"
	awk -v rate="$(field tokens_per_s "$J")" -v us="$(field step_us "$J")" -v steps="$(field steps "$J")" -v total="$(field total_us "$J")" 'BEGIN {
		printf "steps %d, tokens a step %.4f, total over steps %.4f\n", steps, rate * us / 1e6, total / steps / us }'
done

echo "both ratios of one run, of the step as measured and of the same GPU fused, whose kernels are fewer:"
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format json >"$J"
awk '/^  "speedup/ { key = $1 } key && /"value"/ { gsub(/,/, ""); v[key] = $2 } key && /"of"/ { sub(/^ *"of": /, ""); print key, $0; key = "" }
	END { print "fused is less than measured:", (v["\"speedup_fused\":"] < v["\"speedup\":"] && v["\"speedup_fused\":"] > 1) }' "$J"
head -n 2 "$J"

echo "a page of 40 lines and 80 columns, and the same first lines with everything:"
for o in "-c $CONFIG -t $TMP/t.db --range decode_step_1" "-c configs/npu/edge.yaml -t $TMP/t.db" "-c $CONFIG -m llama-3.1-8b --batch 16" \
	"-c $CONFIG -m llama-3.2-1b --phase prefill" "-c configs/gpu/h200.yaml -t $TMP/t.db --range decode_step_1"; do
	case $o in *-m*) form="--fidelity analytic" ;; *) form= ;; esac # nothing of a page's form depends on it
	"$NPUSIM" run $o $form >"$TMP/page"
	"$NPUSIM" run $o $form --all >"$TMP/all"
	awk -v o="${o#-c configs/}" 'length($0) > w { w = length($0) } END { print o ":", (NR <= 40 ? "one page" : NR " lines"), (w <= 80 ? "80 columns" : w " columns") }' "$TMP/page" | sed "s|$TMP|TMP|"
	n=$(sed -n '/^$/q; p' "$TMP/page" | wc -l)
	[ "$n" -le 5 ] && head -n "$n" "$TMP/all" | cmp -s - "$TMP/page" 2>/dev/null || head -n "$n" "$TMP/page" | cmp - "$TMP/all" 2>&1 | grep -v EOF
done

echo "what to buy is what 'limits' says, an amount and a switch, and what they take:"
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --format json | sed -n '/"next_buy"/,/}/p; /"next_switch"/,/}/p' | grep -oE '"(key|then)".*|"(mm2|w)"'
"$NPUSIM" limits -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --pairs 0 --fidelity analytic | sed -n 's/^buys most *\([a-z._]*\).*/\1/p; s/^as a switch *\([a-z._]*\).*-> \([a-z0-9]*\):.*/\1 \2/p'
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --phase prefill --fidelity analytic --format json | sed -n '/"next_buy"/,/}/p' | grep -oE '"(mm2|w)": -?[0-9]' | cut -d: -f1

echo "mostly not simulated: no answer"
printf 'rules:\n- {name: p, kernel: "^nvjet_", kind: opaque, family: p, friendly: p, library: none}\nbase: pytorch-cuda\n' >"$TMP/rules.yaml"
for all in "" --all; do
	"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --rules "$TMP/rules.yaml" --allow-opaque $all | sed -n '1p; /^simulated/p; /^carried  /p' | cut -c1-80
done
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --rules "$TMP/rules.yaml" --allow-opaque --format json | grep -E '^  "(tokens_per_s|step_us|speedup)"'
