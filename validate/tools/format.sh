#!/bin/sh
# format.sh check|apply FILE... - the style of .clang-format. `check` prints each file that differs, and fails; where the
# version that the style is written for is not installed it says so and holds nothing.
set -eu

want=14 mode=$1
shift
tool=
for t in "clang-format-$want" clang-format; do
	if command -v "$t" >/dev/null && "$t" --version | grep -q "version $want\."; then tool=$t && break; fi
done
if [ -z "$tool" ]; then
	echo "format: clang-format $want is not installed (Debian: clang-format-$want); the style is not checked"
	[ "$mode" = check ]
	exit
fi
if [ "$mode" = apply ]; then
	exec "$tool" -i "$@"
fi
different=0
for f; do
	if ! "$tool" "$f" | cmp -s - "$f"; then
		echo "$f: differs from .clang-format; 'make format' mends it" >&2
		different=1
	fi
done
exit $different
