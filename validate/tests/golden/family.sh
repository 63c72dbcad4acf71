# How sure a time is where no silicon of the machine's family was met: by class of op, and said so. One sequence on a Tenstorrent
# n150, as tt-metal's PERF.md tells it (8 bits, another family than any rows here): 84.7, 47.6 and 25.2 tokens/s. The interval of a
# TPU's rows held none of them.
# tier: gate
. validate/tests/golden/common

within() { # PUBLISHED MODEL
	"$NPUSIM" run -c wormhole -m "$2" --quant fp8 --context 128 --format json >"$TMP/j.json"
	awk -v p="$1" -v m="$2" '
		/"tokens_per_s"/ { t = $2 + 0 } /"step_us":/ && !us { us = $2 + 0 }
		/"slow_corner"/ { in_corner = 1 } in_corner && /"step_us"/ && !c { c = $2 + 0; next }
		/"interval"/ { on = 1 } on && /"low"/ && !l { l = $2 + 0 } on && /"high"/ && !h { h = $2 + 0 }
		END { print m ": " p " tokens/s is " (p <= t * us / l && p >= t * us / h ? "" : "not ") "within, " \
			sprintf("%.3g to %.3g", l / us, h / us) " of the time; slow corner " \
			(p >= t * us / c ? "below it" : "above it") }' "$TMP/j.json"
}
within 84.7 llama-3.2-1b
within 47.6 llama-3.2-3b
within 25.2 llama-3.1-8b
sed -n '/"of": "step_us"/,/^  }/p' "$TMP/j.json" | head -n 8

# The second line, and the classes of the page: by family, as the file names it.
said() { # OPTIONS...
	echo "\$ npusim run $*"
	"$NPUSIM" run "$@" >"$TMP/page"
	sed -n '2p; /^interval/,/^[^ i]/p' "$TMP/page" | grep -v '^[Mmwe][a-z]* ' | sed 's/[0-9.]*x ([^)]*)/N/'
	"$NPUSIM" run "$@" --all --ops 0 | grep -c '^interval'
}
# Two machines of that family: what is its own cancels.
"$NPUSIM" run -c wormhole,blackhole-p150 -m llama-3.2-1b --quant fp8 --fidelity analytic | head -n 8

printf 'name: mine\nkind: npu\n' >"$TMP/mine.yaml"
printf 'name: mine\nkind: npu\nfamily: xdna\n' >"$TMP/xdna.yaml"
said -c tpu-v3 -m qwen2-0.5b --fidelity analytic
said -c rk3588 -m qwen2-0.5b --quant w8a8 --style rkllm --fidelity analytic
said -c "$TMP/mine.yaml" -m qwen2-0.5b --fidelity analytic
said -c "$TMP/xdna.yaml" -m qwen2-0.5b --fidelity analytic
said -c h200 -m qwen2-0.5b --fidelity analytic
"$NPUSIM" run -c "$TMP/mine.yaml" -m qwen2-0.5b --phase prefill --tokens 4096 --fidelity analytic |
	sed -n '/^interval/,/^[^ i]/p' | grep -v '^[we]' | tr -s ' \n' ' ' | sed 's/[0-9]* %/N %/g'
echo

# A run that was kept says the same.
"$NPUSIM" run -c "$TMP/mine.yaml" -m qwen2-0.5b --fidelity analytic -o "$TMP/r.db" | head -n 2 >"$TMP/said"
"$NPUSIM" report "$TMP/r.db" --still -o "$TMP/r.html" >"$TMP/quiet.out"
while read -r line; do
	grep -qF "$line" "$TMP/r.html" && echo "on the page, too"
done <"$TMP/said"

# A part of a model makes no tokens: not on any page, in no format, nor kept, nor served.
part="-c configs/npu/dsocr.yaml -m llama-3.2-1b --layers 4"
"$NPUSIM" run $part --fidelity analytic --all | grep -c 'tokens/s\|tokens a second\|a token\|a joule'
"$NPUSIM" run $part --fidelity analytic --format json | grep '"tokens_per_s"\|"part'
"$NPUSIM" run $part --fidelity analytic --format csv | cut -d, -f18 | sort | uniq -c | sed 's/^ *//'
"$NPUSIM" run $part --fidelity analytic -o "$TMP/p.db" | head -n 1 >"$TMP/said"
"$NPUSIM" report "$TMP/p.db" --still -o "$TMP/p.html" >"$TMP/quiet.out"
grep -qF "$(cat "$TMP/said")" "$TMP/p.html" && echo "the page has: $(sed 's/[0-9][0-9,.]* [um]s/N us/g' "$TMP/said")"
"$NPUSIM" limits $part --pairs 0 --fidelity analytic -o "$TMP/l.db" >"$TMP/quiet.out"
"$NPUSIM" report "$TMP/l.db" --still -o "$TMP/l.html" >"$TMP/quiet.out"
grep -qF "$(cat "$TMP/said")" "$TMP/l.html" && echo "and that of limits"
"$NPUSIM" serve $part --rate 100/s --number 4 --prompt 64 --output 8 >"$TMP/page"
sed -n '1s/in .*/in N s/p' "$TMP/page"
grep -c 'tokens/s\|a token,' "$TMP/page"
"$NPUSIM" serve $part --rate 100/s --number 4 --prompt 64 --output 8 --format json | grep '"part"\|_per_s"\|per_token'

# A machine whose file tells the rows it was calibrated on is as sure as these, in the classes they are of.
printf 'name: mine\nkind: npu\nfamily: xdna\ncalibrated: {decode_rows: 10, decode_error: 9 %%}\n' >"$TMP/own.yaml"
said -c "$TMP/own.yaml" -m qwen2-0.5b --fidelity analytic
"$NPUSIM" run -c "$TMP/own.yaml" -m qwen2-0.5b --phase prefill --tokens 512 --fidelity analytic | sed -n '2p'
"$NPUSIM" run -c "$TMP/own.yaml" -m qwen2-0.5b --fidelity analytic --format json | sed -n 's/^ *"from": //p' | head -n 1
