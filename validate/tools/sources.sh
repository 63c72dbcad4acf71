#!/bin/sh
# sources.sh LISTED... - every .c file of the tree is in a list of the Makefile, and every listed file is there: a
# test file that nobody lists would silently never run.
set -eu

bad=0
found=$(find sim arch workloads traces results validate -name '*.c' | LC_ALL=C sort)
for f in $found; do
	case " $* " in
	*" $f "*) ;;
	*) echo "$f: in no list of the Makefile" >&2; bad=$((bad + 1)) ;;
	esac
done
for f in "$@"; do
	[ -f "$f" ] || { echo "$f: listed in the Makefile, but not there" >&2; bad=$((bad + 1)); }
done
[ "$bad" = 0 ]
