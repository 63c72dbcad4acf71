# npusim probe kernel and occupancy: kernels by their description, beside what was published and measured of them.
# tier: gate
. validate/tests/golden/common
try probe kernel
try probe kernel -c h100 l4-v6a h100-phase4x --format csv
try probe kernel h100-phase4x --format json
try probe occupancy
try probe occupancy -c l4 --threads 160 --registers 60 --shared '70 KiB' --format csv
try probe kernel -c h100 --beside traces/h100/micro/tiled.csv | tail -5
try probe kernel -c h100 --beside traces/h100/micro/described_cupti.csv | tail -24
try probe kernel -c h200 --beside traces/h200/micro/described_cupti.csv --format json | sed -n '/kernels/,/^    }/p' | head -20
try probe kernel -c h200 --beside traces/h200/micro/attention.json.gz --format json | head -18

cat >"$TMP/gemm.yaml" <<'END'
kernel: gemm
problem: {op: gemm, m: 4096, n: 4096, k: 4096, dtype: bf16}
tile: {m: 128, n: 128, k: 32}
warps: 8
stages: 4
registers: 128
copy: async
math: mma
swizzle: yes
END
try probe kernel -c h100 "$TMP/gemm.yaml"
try probe kernel "$TMP/gemm.yaml"

# What cannot be: one line each, with its place.
bad() { # LINE...: the kernel with these lines more
	printf 'kernel: bad\nproblem: {heads: 8, q_len: 512, head_dim: 64}\n' >"$TMP/bad.yaml"
	printf '%s\n' "$@" >>"$TMP/bad.yaml"
	try probe kernel -c h100 "$TMP/bad.yaml"
}
bad 'shared: 240 KiB'
bad 'warps: 16' 'registers: 255' 'tile: {m: 256}'
bad 'registers: 300'
bad 'tile: {m: 40}'
bad 'math: wgmma' 'warps: 6' 'tile: {m: 128}'
bad 'math: tensor'
bad 'stagse: 2'
bad 'copy: async' 'copy_bytes: 2'
bad 'form: product' 'grid: 16'
bad 'form: walk'
bad 'form: walk' 'grid: 16x'
try probe kernel -c l4 h100-phase5
try probe kernel l4-v7
try probe kernel -c dsocr l4-v6a
try probe kernel --beside traces/h100/micro/tiled.csv
try probe kernel -c h100 --beside traces/h200/micro/latency.csv
printf 'name,params,reps,min,median,max\ntiled,heads=8;len=512,1,1,1,1\n' >"$TMP/short.csv"
try probe kernel -c h100 --beside "$TMP/short.csv"
printf 'name,params,reps,min,median,max\nref-rope,problem.rows=4;problem.colz=8,1,1,1,1\n' >"$TMP/row.csv"
try probe kernel -c h100 --beside "$TMP/row.csv"
try probe occupancy -c h100 --registers 64
try probe occupancy --threads 64
