# configs/bad/: each file must fail with exit code 3, and with the message on its first line.
. validate/tests/golden/common
for f in configs/bad/*.yaml; do
	want=$(sed -n '1s/^# expect: //p' "$f")
	"$NPUSIM" config check "$f" >"$TMP/said" 2>&1
	code=$?
	[ "$code" = 3 ] || echo "$f: exit $code"
	[ -n "$want" ] || echo "$f: its first line expects nothing"
	grep -qF -- "$want" "$TMP/said" || echo "$f: does not say: $want"
	sed "s|, '[^']*/share/npusim'||" "$TMP/said"
done
# The first fault does not hide those of the other files, and the good file is still said to be good.
try config check configs/bad/missing_unit.yaml $CONFIG configs/bad/out_of_range.yaml --format csv 2>&1 | sed 's/,[0-9a-f]*$/,HASH/'
# Published tables may disagree with themselves by rounding: a warning, and the probe runs.
try probe dram -c configs/dram/hbm3-6400.yaml -n 4000 --channels 1 --set dram.t_rc=46ns --format csv 2>&1

# Files of real devices say where each number is from.
printf 'name: x\nkind: npu\ncores: 4\nl2: {size: {value: 1 MiB, source: "a sheet"}}\n' >"$TMP/unsourced.yaml"
"$NPUSIM" config check --sources "$TMP/unsourced.yaml"; echo "exit $?"
for f in configs/npu/tpu-*.yaml configs/npu/rk*.yaml configs/npu/h200-twin.yaml configs/gpu/*.yaml; do
	"$NPUSIM" config check --sources "$f" >/dev/null || echo "$f"
done
