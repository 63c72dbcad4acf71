#!/bin/sh
# same.sh gate|nightly|N BUILD - random machines (10, 1000 or N) are asked of the command line, the library, Python and, where
# `make live` made it, the WebAssembly of a page: the answers are identical (same.py). What is not here is left out, and a line says so.
set -u

[ $# = 2 ] || { echo "usage: same.sh gate|nightly|N BUILD" >&2; exit 2; }
case $1 in gate) n=10 ;; nightly) n=1000 ;; *) n=$1 ;; esac
build=$(cd "$2" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=/usr/bin/python3
[ -x "$python" ] || python=$(command -v python3) || { echo "not run: there is no python3"; exit 0; }
[ -e "$build/libnpusim.so" ] || { echo "not run: there is no shared library here"; exit 0; }
# shellcheck disable=SC2086
${CC:-cc} -std=c11 -Wall -Wextra -I. -o "$work/library" validate/tests/same/library.c -L"$build" -lnpusim -Wl,-rpath,"$build" || exit 1
export NPUSIM="$build/npusim" NPUSIM_LIBRARY="$build/libnpusim.so.0" PYTHONPATH="$PWD/results/python" PYTHONDONTWRITEBYTECODE=1
page=
if [ -e "$build/npusim-live.wasm" ] && command -v node >/dev/null 2>&1; then
	page=$work/page.html
	"$NPUSIM" page -c array-128 -m qwen3-0.6b --layers 1 --context 64 -o "$page" || exit 1
else
	echo "not asked: WebAssembly ('make live' and node)"
fi
"$python" validate/tests/same/same.py "$n" "$work/library" $page
