#!/bin/sh
# accuracy.sh NPUSIM WORK [PART] - what validation finds, as the tables of validate/ACCURACY.md (between its two accuracy marks),
# and as configs/accuracy/h200.yaml and tpu-v6e*.yaml, which npusim run tells. WORK holds operators.db and sweep.db.
# With PART (a name of $parts below) the rows of that part go to the output and files into WORK: nothing of the project is
# written (validate/tools/stale.py).
#
# Published tables lie in SHARED/data/public (default ../shared) and are not part of the project. Where one is absent its
# rows are said to be missing and validate/ACCURACY.md stays as it is.
set -eu

npusim=$1 work=$2 part=${3-}
parts='classes public engines profiles worst energy described steps published npus silicon serving'
written=configs/accuracy
[ -z "$part" ] || written=$work
public=${SHARED:-../shared}/data/public
tpu=${SHARED:-../shared}/data/tpu
page=validate/ACCURACY.md
table=$work/accuracy.md
missing=0
for mark in '<!-- accuracy -->' '<!-- end of accuracy -->'; do
	grep -qx -- "$mark" "$page" || { echo "accuracy.sh: $page has no line '$mark'" >&2; exit 1; }
done

# scores ARGUMENT...: npusim validate, its class table only
scores() { "$npusim" validate --worst 0 "$@" | sed -n '/^class/,/^$/p'; }

# graph_us CONFIG PROFILE: the middle step of a profile, which is left in WORK/step.db, simulated under a graph
graph_us() {
	rm -f "$work/step.db"
	"$npusim" trace import "$2" -o "$work/step.db" >/dev/null
	"$npusim" run -c "configs/gpu/$1.yaml" -t "$work/step.db" --range decode_step_1 --format json |
		sed -n 's/^ *"wall_graph_us": \([0-9.]*\),*$/\1/p'
}

# row DEVICE WHAT SPLIT CLASS [FILE]: the table's line of that class
row() {
	awk -v d="$1" -v w="$2" -v s="$3" -v c="$4" '$1 == c { printf "| %s | %s | %s | %d | %.1f | %.1f | %.1f | %+.1f |\n", d, w, s, $2, $3, $4, $7, $6 }' "$5"
}

# rows DEVICE SPLIT-OF-ALL SPLIT FILE CLASS...: the line of all operators, and those of the classes
rows() {
	device=$1 split=$3 file=$4
	row "$device" 'all operators' "$2" all "$file"
	shift 4
	for c; do row "$device" "$c" "$split" "$c" "$file"; done
}

# cases CONFIG NAME PROFILE...: the profiles' errors, in WORK/NAME.txt
cases() {
	config=$1 name=$2
	shift 2
	rm -f "$work/$name.db"
	"$npusim" trace import "$@" -o "$work/$name.db" >/dev/null
	scores -c "configs/gpu/$config.yaml" -t "$work/$name.db" >"$work/$name.txt"
}

# classes DEVICE SPLIT ARGUMENT...: a line a class. A class may be several words: columns are counted from the end.
classes() {
	device=$1 split=$2
	shift 2
	scores "$@" >"$work/other.txt"
	awk -v d="$device" -v s="$split" 'NR > 2 && NF > 9 && $1 != "all" {
		c = $1
		for (i = 2; i <= NF - 9; i++) c = c " " $i
		printf "| %s | %s | %s | %d | %.1f | %.1f | %.1f | %+.1f |\n", d, c, s, $(NF-8), $(NF-7), $(NF-6), $(NF-3), $(NF-4) }' "$work/other.txt"
}

# engines: the committed tables of serving engines: configuration, file, device, and which classes something was chosen on
engines=validate/data/engines
engines() {
	cat <<-LIST
		h200 experts_h200_sxm.csv H200 cutlass|marlin|oaitriton
		rtx-pro-6000 experts_rtx_pro_6000_server.csv RTX-PRO-6000 cutlass|marlin
		h100 decode_attn_h100_sxm.csv H100 fa3
		b200 decode_attn_b200_sxm.csv B200 trtllm
		rtx-pro-6000 prefill_attn_rtx_pro_6000_server.csv RTX-PRO-6000 fiprefill|triton_attn,
		h200 prefill_attn_h200_sxm.csv H200 -
		b200 gemm_m1-64_b200_sxm.csv B200 .
		h100 gemm_m1-64_h100_sxm.csv H100 -
	LIST
}

# by_error: lines of the first table, the worst first
by_error() { LC_ALL=C sort -t'|' -k6,6nr -k2,3; }

# worst_first: engines, the table with the largest mean error first
worst_first() {
	engines | while read -r config file name chosen; do
		echo "$(scores -c "configs/gpu/$config.yaml" --table "$engines/$file" | awk '$1 == "all" { print $3 }') $config $file $name"
	done | LC_ALL=C sort -k1,1nr | cut -d' ' -f2-
}

# profiles: an H200's that others may have measured, each with the class that is most time off, the worst first
profiles() {
	shared=${SHARED:-../shared}/data/h200
	for f in stages stock; do
		[ -d "$shared/$f" ] || { echo "not run: $shared/$f is absent" >&2; missing=1; return 0; }
	done
	echo
	echo '| device | profile in sight, and its class that is most time off | kernels | MAPE | time-weighted | bias | class | n | MAPE | bias |'
	echo '|---|---|---|---|---|---|---|---|---|---|'
	for f in "$shared"/stages/*.json.gz "$shared"/stock/*.json.gz; do
		cases h200 profile "$f"
		awk -v f="$(basename "$f" .json.gz)" '
			NR < 3 || NF < 10 { next }
			$1 == "all" { all = sprintf("%d | %.1f | %.1f | %+.1f", $2, $3, $7, $6); next }
			{ off = $7 * $9; if (off > most) { most = off; worst = sprintf("%s | %d | %.1f | %+.1f", $1, $2, $3, $6) } }
			END { sub(/^kineto_/, "", f); printf "| H200 | %s | %s | %s |\n", f, all, worst }' "$work/profile.txt"
	done | LC_ALL=C sort -t'|' -k5,5nr
}

# npu_errors CONFIG LABEL START TABLE WHAT: the table's errors by kind, by rows and by measured time
npu_errors() {
	"$npusim" validate -c "configs/npu/$1.yaml" --start "$3" -t "$tpu/$4" --worst 0 |
		awk -v d="$2" -v w="$5" '
			/^error by kind/ { part = ""; on = 1 } /^(products )?by their rows/ { part = "rows: " } /^by their measured/ { part = "measured: " }
			!on || NF < 12 || $1 ~ /^(kind|rows|measured|-)/ { next }
			{	# a class may be several words: columns are counted from the end
				c = $1
				for (i = 2; i <= NF - 11; i++) c = c " " $i
				printf "| %s | %s | %s%s | %d | %.1f | %.1f | %.1f | %+.1f | %.1f |\n", d, w, part, c, $(NF-10), $(NF-9), $(NF-8), $(NF-7), $(NF-6), $(NF-4) }'
}

# left_out CONFIG PLAN ARGUMENT...: what a fit finds, and says of folds and tables that it was not given
left_out() {
	config=$1 plan=$2
	shift 2
	"$npusim" calibrate -c "configs/npu/$config.yaml" -p "configs/calibrate/$plan.yaml" --folds 5 "$@" | tail -3
}

npus() {
	for f in v6e_ops v6e_sdpa v6e_blocks v6e_vmem; do
		[ -f "$tpu/$f.csv" ] || { echo "not run: $f.csv is absent" >&2; missing=1; return 0; }
	done
	echo
	echo '| NPU | table | rows | n | MAPE | median | 90th percentile | bias | roofline MAPE |'
	echo '|---|---|---|---|---|---|---|---|---|'
	for c in tpu-v6e tpu-v6e-calibrated; do
		label='TPU v6e, data sheet'; [ "$c" = tpu-v6e ] || label='TPU v6e, calibrated'
		npu_errors "$c" "$label" cold v6e_ops.csv 'products and attention of models'
		npu_errors "$c" "$label" cold v6e_sdpa.csv "a framework's attention"
		npu_errors "$c" "$label" cold v6e_blocks.csv 'feed-forward blocks'
		npu_errors "$c" "$label" resident v6e_vmem.csv 'products on chip'
	done
	echo
	echo '| TPU v6e, calibrated: the ten worst | measured us | simulated us | error |'
	echo '|---|---|---|---|'
	"$npusim" validate -c configs/npu/tpu-v6e-calibrated.yaml -t "$tpu/v6e_ops.csv" -t "$tpu/v6e_sdpa.csv" -t "$tpu/v6e_blocks.csv" \
		--format csv | awk -F, 'NR > 1 { e = $6 < 0 ? -$6 : $6; printf "%.3f|%s|%.1f|%.1f|%+.1f\n", e, $1, $4, $5, $6 }' |
		sort -t'|' -k1,1nr -k2,2 | awk -F'|' 'NR <= 10 { printf "| %s | %s | %s | %s %% |\n", $2, $3, $4, $5 }'
	echo
	echo '| TPU v6e, in closed form, fitted to | mean error on them | five folds | each table by a fit to the others |'
	echo '|---|---|---|---|'
	left_out tpu-v6e tpu-v6e -t "$tpu/v6e_ops.csv" --resident "$tpu/v6e_vmem.csv" --kind gemm | folds 'products, cold and on chip, 4 parameters'
	left_out tpu-v6e-calibrated tpu-v6e-attention -t "$tpu/v6e_ops.csv" -t "$tpu/v6e_sdpa.csv" --kind attention | folds 'attention, 4 parameters'
	for c in tpu-v6e tpu-v6e-calibrated; do
		"$npusim" validate -c "configs/npu/$c.yaml" -t "$tpu/v6e_ops.csv" -t "$tpu/v6e_sdpa.csv" -t "$tpu/v6e_blocks.csv" --worst 0 \
			-o "$written/$c.yaml" >/dev/null
	done
}

folds() {
	awk -v w="$1" '/^mean absolute error/ { sub(/,/, "", $6); m = $6; f = $(NF - 1) } /^each table/ { l = $(NF - 1) }
		END { printf "| %s | %s %% | %s %% | %s |\n", w, m, f, l ? l " %" : "-" }'
}

part_classes() {
	echo '| device | samples | split | n | MAPE | median | time-weighted | bias |'
	echo '|---|---|---|---|---|---|---|---|'
	most='gemm gemv attention elementwise convert concat reduce norm softmax argmax topk sort scan'
	scores -c configs/gpu/h200.yaml -t "$work/operators.db" -t "$work/sweep.db" --split held-out >"$work/held-out.txt"
	rows H200 held-out held-out "$work/held-out.txt" $most
	cases h200 blind traces/h200/blind/sealed2_*.json.gz
	rows H200 'blind, copies mended since' blind "$work/blind.txt" $most
	cases h200 seen traces/h200/blind/sealed_*.json.gz
	rows H200 'once blind' - "$work/seen.txt"
	cases h100 h100 traces/h100/operators/*.json.gz
	rows H100 'other hardware' 'other hardware' "$work/h100.txt" gemm gemv attention elementwise reduce norm softmax
}

part_public() {
	while read -r config file rows name; do
		if [ -f "$public/$file" ]; then
			only=$([ "$rows" = - ] || echo "--rows $rows")
			# shellcheck disable=SC2086
			classes "$name" 'other hardware' -c "configs/gpu/$config.yaml" --table "$public/$file" --every 4 --others $only
			# shellcheck disable=SC2086
			classes "$name" 'one in four, chosen on' -c "configs/gpu/$config.yaml" --table "$public/$file" --every 4 $only
		else
			echo "not run: $file is absent" >&2
			missing=1
		fi
	done <<-LIST
		h100 kernel_times.csv H100-SXM H100
		h200 kernel_times.csv H200-SXM H200
		b200 kernel_times.csv B200-SXM B200
		gb200 kernel_times.csv GB200 GB200
		rtx-pro-6000 gemm_m1-64_rtx_pro_6000_server.csv.gz - RTX-PRO-6000
		rtx-pro-6000 decode_attn_rtx_pro_6000_server.csv.gz - RTX-PRO-6000
		a100 gemm_m1-64_a100_sxm.csv.gz - A100
		a100 decode_attn_a100_sxm.csv.gz - A100
		l40s gemm_m1-64_l40s.csv.gz - L40S
		l40s decode_attn_l40s.csv.gz - L40S
	LIST
}

part_engines() {
	{
		engines | while read -r config file name chosen; do
			classes "$name" 'all, in sight' -c "configs/gpu/$config.yaml" --table "$engines/$file" |
				awk -F'|' -v OFS='|' -v chosen="$chosen" 'chosen != "-" && $3 ~ chosen { $4 = " all, in sight, chosen on " } 1'
		done
		"$npusim" validate -c rtx5090 -t "$engines/gemm_square_rtx5090.csv" --worst 0 | awk '$1 == "gemm" {
			printf "| RTX 5090 | gemm, squares of 1,024 to 16,384 | all, in sight | %d | %.1f | %.1f | %.1f | %+.1f |\n", $2, $3, $4, $7, $6; exit }'
	} | by_error
}

part_worst() {
	echo
	echo '| device | the ten worst rows of a table in sight | measured us | simulated us | error |'
	echo '|---|---|---|---|---|'
	worst_first | while read -r config file name; do
		"$npusim" validate -c "configs/gpu/$config.yaml" --table "$engines/$file" --format csv |
			sed -e ':a' -e 's/^\(\([^"]*"[^"]*"\)*[^"]*"[^",]*\),/\1;/' -e ta | # commas of texts
			awk -F, -v d="$name" 'NR > 1 {
				e = $(NF-7); c = $2
				gsub(/"/, "", c); gsub(/"/, "", $1)
				if (c ~ /^gemm/) c = ""
				printf "%.3f|%s|%s %s|%.1f|%.1f|%+.0f\n", e < 0 ? -e : e, d, c, $1, $(NF-11), $(NF-8), e }' |
			sort -t'|' -k1,1nr -k3,3 | awk -F'|' 'NR <= 10 { sub(/^ /, "", $3); printf "| %s | %s | %s | %s | %s %% |\n", $2, $3, $4, $5, $6 }'
	done
}

part_energy() {
	echo
	echo '| device | energy of cases, at measured times | n | MAPE | 90th percentile | energy-weighted | bias | capped | clock MAPE |'
	echo '|---|---|---|---|---|---|---|---|---|'
	for d in h200 h100; do
		"$npusim" validate -c "configs/gpu/$d.yaml" --energy "traces/$d/energy/$d.csv" --worst 0 >"$work/energy.txt"
		awk -v d="$(echo "$d" | tr a-z A-Z)" '/^$/ { exit } NR > 3 && NF > 8 {
			c = $1
			for (i = 2; i <= NF - 8; i++) c = c " " $i
			printf "| %s | %s | %d | %.1f | %.1f | %.1f | %+.1f | %d | %s |\n", d, c, $(NF-7), $(NF-6), $(NF-4), $(NF-2), $(NF-3), $(NF-1), $NF }' "$work/energy.txt"
	done
}

part_described() {
	echo
	echo '| device | our kernels by their descriptions | n | MAPE | bias | worst | order right |'
	echo '|---|---|---|---|---|---|---|'
	for d in h100 h200; do
		"$npusim" probe kernel -c "$d" --beside "traces/$d/micro/described_cupti.csv" |
			awk -v d="$(echo "$d" | tr a-z A-Z)" '/order_pct$/ { on = 1; next } /^rows / { on = 0 } $1 == "all" { n = $2; m = $3 }
				on && NF == 6 && $2 + 0 { printf "| %s | %s | %d | %.1f | %+.1f | %+.1f | %s |\n", d, $1, $2, $3, $4, $5, $6 == "-" ? "-" : $6 " %" }
				END { printf "| %s | all | %d | %.1f | - | - | - |\n", d, n, m }'
	done
}

part_steps() {
	echo
	echo '| device | decode step | split | kernels | measured us | simulated us | error | under a graph: measured, simulated us |'
	echo '|---|---|---|---|---|---|---|---|'
	for f in traces/h200/kineto_*.json.gz traces/h200/steps/kineto_*.json.gz traces/h100/steps/kineto_*.json.gz; do
		device=${f#traces/}; device=${device%%/*}
		split='whole model'; [ "$device" = h200 ] || split='other hardware'
		name=$(basename "$f" .json.gz); name=${name#kineto_}
		wall=$(graph_us "$device" "$f")
		"$npusim" validate -c "configs/gpu/$device.yaml" -t "$work/step.db" --groups --worst 0 |
			awk -v d="$(echo "$device" | tr a-z A-Z)" -v s="$split" -v n="$name" -v wall="$wall" \
				-v graph="$(awk -v m="${name%%_b*}" -v b="${name#*_b}" -F'[:,}]' '
					{ split(b, x, "_c"); gsub(/[ "]/, "") } $2 == m && $4 == x[1] && $6 == x[2] && $9 == "graph_ms" { printf "%.0f", $10 * 1000 }' "traces/$device/steps.jsonl")" \
				'$1 == "decode_step_1" { printf "| %s | %s | %s | %d | %.0f | %.0f | %+.1f %% | %s |\n", d, n, s, $2, $(NF - 1), $NF, 100 * ($NF - $(NF - 1)) / $(NF - 1), graph ? sprintf("%s, %.0f (%+.1f %%)", graph, wall, 100 * (wall - graph) / graph) : "-" }'
	done
	"$npusim" validate -c configs/gpu/rtx5090.yaml -t traces/rtx5090/dsocr.yaml --profile traces/rtx5090/dsocr_decode.csv --steps 64 \
		--worst 0 >"$work/profile.txt"
	awk '$1 == "gemv" { g = $7; h = $8 } $1 == "all" { printf "| RTX 5090 | dsocr, published profile, replayed | other hardware | %d | %.0f | %.0f | %+.1f %% | - (GEMV share %s %% measured, %s %% simulated) |\n", $2, $4, $5, $6, g, h }' "$work/profile.txt"
}

part_published() {
	# Whole models that others timed with other frameworks, beside steps of our unfused traces laid out for that device.
	if [ -f "$public/decode_tps.csv" ]; then
		echo
		echo '| device | model, bf16 or fp16, batch 1 | published by | published ms | unfused PyTorch step, simulated under a graph, ms | ratio |'
		echo '|---|---|---|---|---|---|'
		while IFS='|' read -r config trace gpu model context framework; do
			awk -F, -v g="$gpu" -v m="$model" -v c="$context" -v f="$framework" -v us="$(graph_us "$config" "$trace")" '
				$1 == g && $3 == m && $5 == 1 && index($6, c) == 1 && index($10, f) == 1 && $4 ~ /^B?F(P)?16/ && !done++ {
					printf "| %s | %s, %s | %s | %.2f | %.2f | %.2f |\n", g, m, c, $10, $9, us / 1000, us / 1000 / $9 }' "$public/decode_tps.csv"
		done <<-LIST
			rtx4090|traces/h200/steps/kineto_llama8b_b1_c2048.json.gz|4090 24GB|Llama-3-8B|tg4096 (avg ctx ~2048)|llama.cpp
			l40s|traces/h200/steps/kineto_llama8b_b1_c2048.json.gz|L40S 48GB|Llama-3-8B|tg4096 (avg ctx ~2048)|llama.cpp
			a100|traces/h200/steps/kineto_llama8b_b1_c2048.json.gz|A100 SXM 80GB|Llama-3-8B|tg4096 (avg ctx ~2048)|llama.cpp
			a100|traces/h200/steps/kineto_llama8b_b1_c2048.json.gz|A100-SXM-80GB (330W cap)|Llama-3.1-8B|5 prompt + 200|gpt-fast
			rtx4090|traces/h200/steps/kineto_mistral7b_b1_c1024.json.gz|RTX 4090|Mistral-7B-v0.2|~120 avg|calm
			rtx4090|traces/h200/steps/kineto_mistral7b_b1_c1024.json.gz|RTX 4090|Mistral-7B-v0.2|~120 avg|llama.cpp
			rtx5090|traces/h200/kineto_llama1b_b1_c256.json.gz|RTX 5090|llama 1B|pp512 ub1|llama.cpp
		LIST
	else
		echo "not run: decode_tps.csv is absent" >&2
		missing=1
	fi
}

part_silicon() {
	echo
	sh validate/tools/silicon.sh "$npusim" decode
}

part_serving() {
	echo
	sh validate/tools/serving.sh "$npusim" "$work"
}

run_part() {
	case $1 in
	profiles | npus) "$1" ;;
	*) "part_$1" ;;
	esac
}

if [ -n "$part" ]; then
	case " $parts " in *" $part "*) run_part "$part"; exit ;; esac
	echo "accuracy.sh: no part '$part': they are $parts" >&2
	exit 2
fi
for p in $parts; do run_part "$p"; done >"$table"
"$npusim" validate -c configs/gpu/h200.yaml -t "$work/operators.db" -t "$work/sweep.db" --split held-out --worst 0 \
	-o configs/accuracy/h200.yaml >/dev/null

# How wide intervals are; of an NPU by the nearest silicon's file, which npus wrote.
sh validate/tools/totals.sh "$npusim" "$work" >configs/accuracy/totals.csv
# Whole feed-forward blocks, each of which is its products but for a little.
blocks=
if [ -f "$tpu/v6e_blocks.csv" ]; then
	"$npusim" validate -c configs/npu/tpu-v6e.yaml -t "$tpu/v6e_blocks.csv" --format csv 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "device,model,step,way,measured_us,simulated_us,classes"; next }
			{ printf "tpu-v6e,%s,%s,block,%s,%s,gemm:1\n", $1, $1, $at["measured_us"], $at["simulated_us"] }' >"$work/blocks.csv"
	blocks="--npu-totals $work/blocks.csv"
else
	echo "not run: v6e_blocks.csv is absent" >&2
	missing=1
fi
{
	echo
	echo '| intervals found on | totals | held by their 80 % intervals | half width, median |'
	echo '|---|---|---|---|'
	"$npusim" validate --totals configs/accuracy/totals.csv $blocks -o configs/accuracy/intervals.yaml --format csv |
		awk -F, 'NR > 1 { printf "| %s | %d | %d (%.0f %%) | %.1f %% |\n", $1, $2, $3, $4, $5 }'
} >>"$table"
cat "$table"
if [ "$missing" = 0 ]; then
	awk -v file="$table" '/<!-- accuracy -->/ { print; print ""; while ((getline line < file) > 0) print line; print ""; skip = 1 }
		/<!-- end of accuracy -->/ { skip = 0 } !skip && !/<!-- accuracy -->/ { print }' "$page" >"$work/page.md"
	cat "$work/page.md" >"$page"
fi
