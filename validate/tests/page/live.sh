#!/bin/sh
# live.sh - the page of npusim page in a real browser, moves held against the program (live.js). Where the browser, npm or the module
# of `make live` is missing, the test says so and does not count.
#
# From the Makefile: NPUSIM, the program; REPORT, where run.sh keeps what drives the browser.
set -u

: "${NPUSIM:?the program to test}" "${REPORT:?the folder of the page}"
here=$(dirname "$0")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME="$work/config" XDG_CACHE_HOME="$work/cache" NPUSIM

missing() { echo "not run: $1"; exit 0; }

sh validate/tools/deps.sh browser || missing "npusim page wants npm and chromium"
[ -f "$(dirname "$NPUSIM")/npusim-live.wasm" ] || missing "npusim page has no module here: 'make live' makes it"
driver=$REPORT/driver
if ! cmp -s results/report/package-lock.json "$driver/fetched.json"; then
	mkdir -p "$driver" && cp results/report/package.json results/report/package-lock.json "$driver/" || exit 1
	(cd "$driver" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error) >"$driver/npm.log" 2>&1 </dev/null ||
		{ cat "$driver/npm.log"; missing "npm could not get playwright-core, which drives the browser"; }
	cp results/report/package-lock.json "$driver/fetched.json"
fi
"$NPUSIM" page -c array-128 -m qwen3-0.6b --layers 1 --context 64 -o "$work/bench.html" || exit 1
size=$(wc -c <"$work/bench.html")
[ "$size" -lt 1000000 ] || { echo "FAILED a page of $size bytes"; exit 1; }
# A stored run's own page: its machine was changed before it ran.
"$NPUSIM" run -c array-128 --set dram.channels=3 -m qwen3-0.6b --layers 1 --context 64 -o "$work/r.db" >"$work/said.txt" || exit 1
"$NPUSIM" explain "$work/r.db" --format json >"$work/explained.json" || exit 1
"$NPUSIM" report "$work/r.db" -o "$work/lead.html" || exit 1
size=$(wc -c <"$work/lead.html")
[ "$size" -lt 1000000 ] || { echo "FAILED a run's page of $size bytes"; exit 1; }
NODE_PATH=$driver/node_modules node "$here/live.js" "$work"
