#!/bin/sh
# python.sh gate|nightly|N BUILD - the tests of results/python/npusim next to the program and the shared library of a build,
# BUILD/npusim. The size is how many random machines are compared: 30 in gate, 200 in nightly, or N; all else is the same.
# Without Python it says so and does not count. Debian's own Python is asked first: deps.sh installs packages for that one.
set -u

[ $# = 2 ] || { echo "usage: python.sh gate|nightly|N BUILD" >&2; exit 2; }
case $1 in gate) machines=30 ;; nightly) machines=200 ;; *) machines=$1 ;; esac
case $2 in /*) build=$2 ;; *) build=$PWD/$2 ;; esac
python=${PYTHON:-}
for p in /usr/bin/python3 python3; do
	[ -n "$python" ] || ! command -v "$p" >/dev/null 2>&1 || python=$p
done
[ -n "$python" ] || { echo "not run: there is no python3, which results/python is for"; exit 0; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "not run: $python is older than 3.9"; exit 0; }
MACHINES=$machines NPUSIM=$build/npusim NPUSIM_LIBRARY=$build/libnpusim.so.0 PYTHONPATH=$PWD/results/python PYTHONDONTWRITEBYTECODE=1 \
	exec "$python" -W error::ResourceWarning validate/tests/python/test_npusim.py
