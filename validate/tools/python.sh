#!/bin/sh
# python.sh BUILD - the tests of results/python/npusim beside the program and the shared library of a build, BUILD/npusim.
# Without Python it says so and does not count. Debian's own Python is asked first: deps.sh installs packages for that one.
set -u

[ $# = 1 ] || { echo "usage: python.sh BUILD" >&2; exit 2; }
case $1 in /*) build=$1 ;; *) build=$PWD/$1 ;; esac
python=${PYTHON:-}
for p in /usr/bin/python3 python3; do
	[ -n "$python" ] || ! command -v "$p" >/dev/null 2>&1 || python=$p
done
[ -n "$python" ] || { echo "not run: there is no python3, which results/python is for"; exit 0; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "not run: $python is older than 3.9"; exit 0; }
NPUSIM=$build/npusim NPUSIM_LIBRARY=$build/libnpusim.so.0 PYTHONPATH=$PWD/results/python PYTHONDONTWRITEBYTECODE=1 \
	exec "$python" -W error::ResourceWarning validate/tests/python/test_npusim.py
