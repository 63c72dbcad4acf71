#!/bin/sh
# format.sh check|apply FILE... - the style of .clang-format. `check` prints each place that differs, and fails. Where the version
# that the style is written for is not installed it says so and checks nothing.
set -eu

want=14 mode=$1
shift
tool=
for t in "clang-format-$want" clang-format; do
	if command -v "$t" >/dev/null && "$t" --version | grep -q "version $want\."; then tool=$t && break; fi
done
if [ -z "$tool" ]; then
	echo "not run: format: clang-format $want is not installed (Debian: clang-format-$want); the style is not checked"
	[ "$mode" = check ]
	exit
fi
case $mode in
apply) exec "$tool" -i "$@" ;;
# One process for all files: starting it takes longer than what it does.
check) "$tool" --dry-run -Werror --ferror-limit=1 "$@" || { echo "'make format' mends it" >&2; exit 1; } ;;
esac
