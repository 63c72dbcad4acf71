#!/bin/sh
# ablation.sh NPUSIM DEVICE T.db - asynchronous copy off against on, measured on a device (h200, h100) and simulated, for our
# tensor-core attention (validate/cuda ref_attention), from npusim validate's samples. Ratios above 1: the copy helps.
set -eu

"$1" validate -c "configs/gpu/$2.yaml" -t "$3" --rules configs/rules/reference-cuda.yaml \
	--cases configs/cases/reference.yaml --format csv | awk -F, '
NR == 1 { next }
{
	# The sample is quoted, for it has commas; what follows it has none.
	line = $0; quote = index(substr(line, 2), "\""); name = substr(line, 2, quote - 1)
	n = split(substr(line, quote + 3), f, ",")
	on = name ~ /async=1$/; sub(/,async=[01]$/, "", name)
	us[name, on] = f[4]; sim[name, on] = f[7]; bound[name, on] = f[9]
	if (!(name in seen)) { seen[name] = 1; order[++count] = name }
}
function median(list, n,   i, j, t) {
	for (i = 2; i <= n; i++) for (j = i; j > 1 && list[j] < list[j - 1]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
	return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
}
function field(name, key) { return match(name, "[ ,]" key "=[^,]*") ? substr(name, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
END {
	printf "asynchronous copy off / on: time without over time with it\n"
	printf "%-22s %-8s %-6s  %10s %10s %9s %9s  %s\n", "shape", "tile", "stages", "off us", "on us", "measured", "simulated", "bound, off / on (simulated)"
	for (i = 1; i <= count; i++) {
		name = order[i]
		if (!((name, 0) in us) || !((name, 1) in us)) continue
		pairs++
		m = us[name, 0] / us[name, 1]; s = sim[name, 0] / sim[name, 1]
		same += (m > 1.02) == (s > 1.02)
		k = bound[name, 1] (field(name, "stages") == 1 ? ", one stage" : ", two or three stages")
		if (!(k in size)) kinds[++n_kinds] = k
		size[k]++; ms[k, size[k]] = m; ss[k, size[k]] = s
		warm = name ~ /_warm /; h = field(name, "h"); d = field(name, "d"); l = field(name, "lq")
		if (!warm || field(name, "causal") != 0 || d != 64 || !((h == 8 && l == 512) || (h == 256 && l == 2048) || (h == 128 && l == 2048))) continue
		printf "h=%-4d len=%-5d d=%-4d %-8s %-6s  %10.2f %10.2f %9.2f %9.2f  %s / %s\n", h, l, d, field(name, "tile"), field(name, "stages"), us[name, 0], us[name, 1], m, s, bound[name, 0], bound[name, 1]
	}
	printf "\nall pairs, medians by what the model says bounds the kernel with asynchronous copy\n"
	printf "%-36s %6s %9s %9s\n", "bound, stages", "pairs", "measured", "simulated"
	for (i = 1; i <= n_kinds; i++) {
		k = kinds[i]
		for (j = 1; j <= size[k]; j++) { a[j] = ms[k, j]; b[j] = ss[k, j] }
		printf "%-36s %6d %9.2f %9.2f\n", k, size[k], median(a, size[k]), median(b, size[k])
	}
	printf "the model says whether the copy helps by more than 2 %% in %d of %d pairs as measured\n", same, pairs
}'
