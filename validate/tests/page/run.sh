#!/bin/sh
# run.sh gate | nightly | shots - the pages of `npusim report` in a real browser: made as README.md says, then looked at by
# browse.js. Where the browser or npm is missing and cannot be installed, the test says so and does not count; on CI, where
# the variable CI is true, that is a failure.
#
# From the Makefile: NPUSIM, the program; REPORT, the folder of the page's parts; BUILD and MAKE_COMMAND where the program
# without npm is to be tested too.
set -u

: "${NPUSIM:?the program to test}" "${REPORT:?the folder of the page}"
mode=${1:-gate}
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache"
passed=0 failed=0

missing() {
	echo "not run: $1"
	[ "${CI-}" != true ] || { echo "on CI that is a failure"; exit 1; }
	exit 0
}

# claim WHAT COMMAND...: one test
claim() {
	what=$1
	shift
	if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)) && echo "FAILED $what"; fi
}

sh validate/tools/deps.sh browser || missing "the page of npusim report wants npm and chromium"
driver=$REPORT/driver
if ! cmp -s results/report/package-lock.json "$driver/fetched.json"; then
	mkdir -p "$driver" && cp results/report/package.json results/report/package-lock.json "$driver/" || exit 1
	(cd "$driver" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$driver/npm.log" 2>&1 </dev/null ||
		{ cat "$driver/npm.log"; missing "npm could not get playwright-core, which drives the browser"; }
	cp results/report/package-lock.json "$driver/fetched.json"
fi

quiet() {
	"$@" >"$work/log" 2>&1 || { echo "failed: $*"; cat "$work/log"; exit 1; }
}

step=traces/h200/kineto_dsocr_b1_c1024.json.gz
quiet "$NPUSIM" trace import "$step" --wall '11.34 ms' -o "$work/t.db"
quiet "$NPUSIM" run -c configs/npu/dsocr.yaml -t "$work/t.db" --range decode_step_1 -o "$work/r.db"
quiet "$NPUSIM" limits -c configs/npu/dsocr.yaml -t "$work/t.db" --range decode_step_1 -o "$work/r.db"
quiet "$NPUSIM" run -c configs/gpu/h200.yaml -t "$work/t.db" --range decode_step_1 -o "$work/r.db"
quiet "$NPUSIM" sweep configs/studies/l2-bandwidth.yaml -j 2 -o "$work/study.db"
(cd "$work" && "$NPUSIM" report r.db -o run.html --title 'A decode step of DeepSeek-OCR' &&
	"$NPUSIM" report study.db -o sweep.html --title 'L2 size against DRAM bandwidth') >"$work/said" 2>&1
rc=$?
# Built without npm, or where it could not get the library: said already by bundle.sh.
if [ "$rc" = 4 ] && grep -q 'is not in this build' "$work/said"; then cat "$work/said"; missing "this build has no page"; fi
cat "$work/said"
[ "$rc" = 0 ] || exit 1
printf 'arrival_s,prompt,output,measured_ttft_ms,measured_total_ms\n0,50,8,20,100\n1,60,8,25,110\n' >"$work/log.csv"
quiet "$NPUSIM" serve -c edge -m qwen2-0.5b -r "$work/log.csv" -o "$work/serve.html"
quiet "$NPUSIM" serve -c edge -m qwen2-0.5b --curve --number 8 --prompt 50 --output 8 --max-batch 4 -o "$work/curve.html"
quiet "$NPUSIM" design -c dsocr --mix 'llama-3.2-1b:3,layers=1,context=64, llama-3.2-1b:prefill,layers=1,tokens=32' --fidelity analytic -n 40 \
	--axis cores=x0.25,x0.5,x1 --axis dram.channels=16,32,48,64 --axis l2.size=x0.125,x0.5,x1 --axis matrix.cols=x0.25,x1 \
	--reach 'mix.worst_ns <= 300000' --within 'power_w <= 300' -o "$work/design.html"

if [ "$mode" = shots ]; then
	NODE_PATH=$driver/node_modules node "$here/browse.js" shots "$work" || exit 1
	# 64 colours are enough for lines and letters, and a fourth of the bytes.
	if command -v pngquant >/dev/null 2>&1; then pngquant --force --ext .png 64 "$work"/report-*.png || exit 1; fi
	cp "$work"/report-*.png results/examples/
	exit 0
fi

claim "a report says nothing" test ! -s "$work/said"
(cd "$work" && "$NPUSIM" report r.db -o again.html --title 'A decode step of DeepSeek-OCR')
claim "a report is the same to the byte" cmp "$work/run.html" "$work/again.html"
# A trace of a stranger, and a machine of one.
sed -e 's|"name": "no_call_kernel"|"name": "</script><script>window.owned=1</script><img src=x onerror=window.owned=2>"|' \
	-e 's|"name": "gemm_kernel<float>"|"name": "gemm_kernel<!--<script>window.owned=3</script>"|' \
	-e 's|"name": "step_1"|"name": "</title><script>window.owned=4</script>"|' \
	validate/tests/data/kineto/small.json >"$work/hostile.json"
sed 's/^name: .*/name: "<img src=x onerror=window.owned=5>"/' configs/npu/dsocr.yaml >"$work/hostile.yaml"
quiet "$NPUSIM" trace import "$work/hostile.json" -o "$work/h.db"
"$NPUSIM" run -c "$work/hostile.yaml" -t "$work/h.db" --allow-opaque -o "$work/hostile.db" >/dev/null 2>&1
"$NPUSIM" run -c "$work/hostile.yaml" -t "$work/h.db" --range '</title><script>window.owned=4</script>' --allow-opaque -o "$work/hostile.db" >/dev/null 2>&1
quiet "$NPUSIM" report "$work/hostile.db" -o "$work/hostile.html" --title '</title><script>window.owned=6</script>'

NODE_PATH=$driver/node_modules node "$here/browse.js" "$mode" "$work" >"$work/browsed" 2>&1
cat "$work/browsed" | grep -v ' passed, '
counts=$(grep -Eo '[0-9]+ passed, [0-9]+ failed' "$work/browsed" | tail -n 1)
case $counts in
'') failed=$((failed + 1)) ;;
*) passed=$((passed + ${counts%% *})) tail=${counts##*, } && failed=$((failed + ${tail%% *})) ;;
esac

# The design that was copied from the page runs, and takes as long as the page says (JSON has nine digits).
if [ -s "$work/copied.yaml" ]; then
	quiet "$NPUSIM" run -c "$work/copied.yaml" -t "$work/t.db" --range decode_step_1 --format json
	claim "the copied design takes as long as the page says" awk -v says="$(cat "$work/copied.us")" '
		/^  "total_us":/ { v = $2 + 0; found = (v - says) / says }
		END { exit !(v > 0 && found < 1e-6 && found > -1e-6) }' "$work/log"
fi

# The same sources where there is no npm: everything is built, and report says what is missing.
if [ -n "${MAKE_COMMAND-}" ] && [ -n "${BUILD-}" ]; then
	own=$work/without
	mkdir -p "$own/bin" && cp -Rp "$(dirname "$NPUSIM")" "$own/release" && rm -f "$own/release/npusim"
	IFS=:
	for dir in $PATH; do
		for f in "$dir"/*; do
			case ${f##*/} in node | nodejs | npm | npx) ;; *) [ -e "$own/bin/${f##*/}" ] || ln -s "$f" "$own/bin/" ;; esac
		done
	done
	unset IFS
	MAKEFLAGS=$(printf '%s\n' "${MAKEFLAGS-}" | sed 's/-j[0-9]*//; s/--jobserver-[a-z]*=[^ ]*//') PATH=$own/bin \
		"$MAKE_COMMAND" -s --no-print-directory BUILD="$own" REPORT="$own/report" PROFILE=release WERROR="${WERROR-}" DEPS=ok all >"$work/log" 2>&1
	claim "it builds without npm" test -x "$own/release/npusim"
	"$own/release/npusim" report "$work/r.db" -o "$work/none.html" >"$work/log" 2>&1
	rc=$?
	claim "without npm a report is an error" test "$rc" = 4
	claim "it says what is missing in a line" sh -c '[ "$(wc -l <"$1")" = 1 ] && grep -q "no npm when it was built" "$1"' - "$work/log"
	claim "and writes no page" test ! -e "$work/none.html"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
