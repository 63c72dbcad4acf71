#!/bin/sh
# measure.sh - a card's own rates and latencies, as a plan of npusim calibrate
#
# usage: sh validate/cuda/measure.sh [-o DIR] [--quick] [--from DIR]
#
# From the root of the tree, on a machine with an NVIDIA GPU and nvcc. Runs the programs of run.sh that a card's parameters
# are read off (latencies, launches, streams, products; with activity records where CUPTI is), two minutes, one with --quick.
#   DIR/card.csv      a row a parameter, by the rules below (build/cuda/out unless -o says another folder)
#   DIR/card.yaml     the plan that reads it: npusim calibrate -c CONFIG -p DIR/card.yaml -o my.yaml
#   DIR/*.json.gz     the products as traces, which npusim validate holds the card's model against
# --from DIR runs nothing: it reads what an earlier run left there.
set -u
out=build/cuda/out quick= from=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=$2; shift ;;
	--quick) quick=--quick ;;
	--from) from=$2; shift ;;
	*) echo "usage: $0 [-o DIR] [--quick] [--from DIR]" >&2; exit 2 ;;
	esac
	shift
done
if [ -z "$from" ]; then
	only= arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 2>/dev/null | tr -d '. ')
	for name in latency launch stream gemv gemm; do only="$only --only $name"; done
	make --no-print-directory -j "$(nproc 2>/dev/null || echo 2)" cuda ${arch:+CUDA_ARCH=$arch} \
		CUDA_PROGRAMS='device micro_latency micro_launch micro_stream ref_gemv lib_gemm' || exit
	# shellcheck disable=SC2086
	sh validate/cuda/run.sh -o "$out" --no-build --trace $quick $only || exit
	from=$out
fi
launch=$from/launch.csv # an empty kernel's own time, where activity records have it
[ ! -s "$from/launch_cupti.csv" ] || launch=$from/launch_cupti.csv
for file in "$from/latency.csv" "$from/stream.csv" "$launch"; do
	[ -s "$file" ] || { echo "$file is not there: 'sh validate/cuda/run.sh' writes it" >&2; exit 4; }
done
mkdir -p "$out" || exit

# What each parameter is read off. Rows are name,params,reps,min,median,max,unit,method; a parameter without its rows is
# left out. Whole device: the most SMs that any row has.
#   clock           SM clock under one thread's loads
#   gpu.launch      an empty kernel of one block
#   gpu.cta_rate    blocks a second between the two largest grids of up to 256 threads without shared memory
#   gpu.barrier     of 128 threads; step_l2, step_dram: the median of a dependent step of 32, 128 and 256 threads
#   gpu.dram_read   the fastest read by the whole device; dram_write: what a copy's writes then take, fastest copy
#   gpu.sm_rate_dram, sm_rate_l2       what one SM reads with 64 KiB in flight
#   gpu.l2_rate     the fastest read of 16 MiB by the whole device: less would come from the L1s
#   l2.latency      median of the chases from 256 KiB to 8 MiB, less the two ways through the network (noc.latency)
{
	echo name,params,reps,min,median,max,unit,method
	awk -F, -v noc="${NOC_NS:-20}" '
		function par(key,   n, v, i, f) {
			n = split($2, v, ";")
			for (i = 1; i <= n; i++) if (split(v[i], f, "=") == 2 && f[1] == key) return f[2]
			return ""
		}
		function tb() { return $7 == "GB/s" ? $5 / 1000 : $5 + 0 }
		function median(v, n,   i, k, t) {
			for (i = 1; i < n; i++) for (k = i + 1; k <= n; k++) if (v[k] < v[i]) { t = v[i]; v[i] = v[k]; v[k] = t }
			return n ? v[int((n + 1) / 2)] : 0
		}
		function row(key, from, value, unit) { if (value > 0) printf "%s,%s,1,%.5g,%.5g,%.5g,%s,derived\n", key, from, value, value, value, unit }
		$1 == "sm_clock" { clock = $5 }
		$1 == "empty_node" && par("grid") == 1 && par("block") == 128 && par("state") == "idle" { launch = $5 }
		$1 == "cta_launch" && par("block") <= 256 && par("smem") == 0 {
			g = par("grid") + 0; b = par("block")
			if (g > big[b]) { small[b] = big[b]; small_us[b] = big_us[b]; big[b] = g; big_us[b] = $5 }
			else if (g > small[b]) { small[b] = g; small_us[b] = $5 }
		}
		$1 == "step_ns" && par("mode") == "barrier" && par("threads") == 128 { barrier = $5 }
		$1 == "step_ns" && par("mode") == "load+barrier" && par("threads") <= 256 {
			if (par("where") == "l2" && par("footprint") == 16777216) l2[++n_l2] = $5
			if (par("where") == "dram") dram[++n_dram] = $5
		}
		$1 == "chase_ns" && par("path") == "l2" && par("sm") == 0 && par("bytes") >= 262144 && par("bytes") <= 8388608 { chase[++n_chase] = $5 }
		($1 == "stream_dram" || $1 == "stream_l2") && par("sms") + 0 > sms { sms = par("sms") + 0 }
		$1 == "stream_dram" && !(par("sms") == 1 && par("flight_per_sm") != 65536) { d_sms[++nd] = par("sms"); d_mode[nd] = par("mode"); d[nd] = tb() }
		$1 == "stream_l2" && par("mode") == "read" && !(par("sms") == 1 && par("per_sm") != 1) { c_sms[++nc] = par("sms"); c_window[nc] = par("window"); c[nc] = tb() }
		END {
			for (b in big) if (small[b] && big_us[b] > small_us[b]) {
				v = (big[b] - small[b]) / ((big_us[b] - small_us[b]) * 1e-6)
				if (v > ctas) ctas = v
			}
			for (i = 1; i <= nd; i++) {
				if (d_sms[i] == sms && d_mode[i] == "read" && d[i] > read) read = d[i]
				if (d_sms[i] == sms && d_mode[i] == "copy" && d[i] > copy) copy = d[i]
				if (d_sms[i] == 1 && d_mode[i] == "read" && d[i] > one) one = d[i]
			}
			for (i = 1; i <= nc; i++) {
				if (c_sms[i] == sms && c_window[i] == 16777216 && c[i] > all) all = c[i]
				if (c_sms[i] == 1 && c[i] > one_l2) one_l2 = c[i]
			}
			row("clock", "one thread", clock, "MHz")
			row("gpu.launch", "empty kernel", launch, "us")
			if (ctas > 0) printf "gpu.cta_rate,largest grids,1,%.0f,%.0f,%.0f,,derived\n", ctas, ctas, ctas
			row("gpu.barrier", "128 threads", barrier, "ns")
			row("gpu.step_l2", "32 to 256 threads", median(l2, n_l2), "ns")
			row("gpu.step_dram", "32 to 256 threads", median(dram, n_dram), "ns")
			row("gpu.dram_read", "fastest read", read, "TB/s")
			if (copy > 0 && 2 / copy > 1 / read) row("gpu.dram_write", "fastest copy less its reads", 1 / (2 / copy - 1 / read), "TB/s")
			row("gpu.sm_rate_dram", "one SM", one, "TB/s")
			row("gpu.sm_rate_l2", "one SM", one_l2, "TB/s")
			row("gpu.l2_rate", "16 MiB", all, "TB/s")
			if (n_chase) row("l2.latency", "chase of 256 KiB to 8 MiB", median(chase, n_chase) - noc, "ns")
		}' "$from/latency.csv" "$launch" "$from/stream.csv"
} >"$out/card.csv" || exit

{
	echo "# Written by measure.sh: what was measured on this card; configs/calibrate/h200.yaml shows what may be fitted beside it."
	echo "calibrate: 1"
	echo "measured:"
	awk -F, 'NR > 1 { printf "- {key: %s, csv: card.csv, name: %s, params: \"%s\"}\n", $1, $1, $2 }' "$out/card.csv"
} >"$out/card.yaml" || exit
echo "$(($(wc -l <"$out/card.csv") - 1)) parameters in $out/card.csv; next:" >&2
echo "  npusim calibrate -c rtx5090 -p $out/card.yaml -o my.yaml    # the configuration of your card, or the nearest" >&2
