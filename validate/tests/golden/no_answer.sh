# What is no answer says so first and is an error: kernels of which no rule knows any, whatever they took, beside copies that took
# long and of spans of nothing. What is a part of a model says which part.
. validate/tests/golden/common
profile() { # NAME KERNEL_US COPY_US
	sed "s/KERNEL_US/$2/; s/COPY_US/$3/" >"$TMP/$1.json" <<-'END'
		{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132, "computeMajor": 9, "computeMinor": 0}],
		"traceEvents": [
		{"ph": "X", "cat": "kernel", "name": "strange_kernel", "pid": 0, "tid": 7, "ts": 10, "dur": KERNEL_US, "args": {"device": 0, "stream": 7, "correlation": 1, "grid": [1, 1, 1], "block": [32, 1, 1]}},
		{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "pid": 0, "tid": 7, "ts": 99, "dur": COPY_US, "args": {"device": 0, "stream": 7, "correlation": 2, "bytes": 1048576}}]}
	END
}
profile whole 5 1
profile copies 1 900
profile nothing 0 0
for p in whole copies nothing; do
	for c in $CONFIG configs/gpu/h200.yaml; do
		echo "$p on $c:"
		"$NPUSIM" run -c $c -t "$TMP/$p.json" >"$TMP/page" 2>"$TMP/err"
		echo "exit $?"
		head -n 2 "$TMP/page"
		sed 's/[0-9.]* %/N %/g' "$TMP/err"
		"$NPUSIM" run -c $c -t "$TMP/$p.json" --allow-opaque --format json >"$TMP/j.json"
		for f in total_us step_us tokens_per_s speedup speedup_kernels speedup_wall speedup_fused held_by next_buy; do
			echo "$f $(field $f "$TMP/j.json")"
		done | grep -v ' null$'
	done
done
try limits -c $CONFIG -t "$TMP/copies.json"
# Nor when it is read back: copies took most of this one's time, so no share of it tells.
"$NPUSIM" run -c $CONFIG -t "$TMP/copies.json" --allow-opaque -o "$TMP/r.db" >"$TMP/page"
"$NPUSIM" report "$TMP/r.db" --still -o "$TMP/r.html" >"$TMP/quiet.out"
grep -o 'no answer: no rule knows any of its kernels' "$TMP/r.html"
grep -c 'tokens/s: ' "$TMP/r.html"

echo "a part of a model:"
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --layers 4 | head -n 1 | sed 's/[0-9][0-9,.]* us/N us/g'
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --layers 4 --format json | grep '^  "part"'
"$NPUSIM" run -c $CONFIG -m qwen3-30b-a3b --layers 2 --experts 16 --format json | grep '^  "part"'
"$NPUSIM" run -c $CONFIG -m llama-3.2-1b --layers 16 --format json | grep '^  "part"'
"$NPUSIM" limits -c $CONFIG -m llama-3.2-1b --layers 4 --pairs 0 --fidelity analytic | head -n 1 | sed 's/[0-9][0-9,.]* us/N us/g'
