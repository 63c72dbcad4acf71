# promises.sh - what a toy's promise.sh is written in. recipes.sh reads this first, with NPUSIM, NPUSIM_TEST, TMP and TOY set,
# and in the toy's tree. A promise that does not hold prints a line and is counted in `broken`.
broken=0

complain() { printf '    %s: %s\n' "$TOY" "$*"; broken=$((broken + 1)); }

run() { timeout 300 "$NPUSIM" "$@"; }

# The first number of that name in a document: of a file, and of a command's.
of_file() { # NAME FILE
	sed -n "s/^ *\"$1\": \([0-9][0-9.e+-]*\),*\$/\1/p" "$2" | head -n 1
}
value() { # NAME ARGUMENT...
	name=$1
	shift
	run "$@" >"$TMP/value.json" 2>"$TMP/value.err" || cat "$TMP/value.err" >&2
	of_file "$name" "$TMP/value.json"
}

holds() { # WHAT COMMAND...
	what=$1
	shift
	"$@" || complain "not so: $what"
}
more() { # NUMBER... each more than the next
	echo "$*" | awk -v n=$# '{ for (i = 2; i <= NF; i++) if (!($(i - 1) + 0 > $i + 0)) exit 1; exit NF != n }'
}

prints() { # PATTERN ARGUMENT...
	pattern=$1
	shift
	if ! run "$@" >"$TMP/out" 2>"$TMP/err" || ! grep -q -e "$pattern" "$TMP/out"; then
		complain "'npusim $*' does not print '$pattern':"
		head -n 5 "$TMP/err" "$TMP/out"
	fi
}
refuses() { # PATTERN ARGUMENT...: with a message that has it
	pattern=$1
	shift
	if run "$@" >"$TMP/out" 2>"$TMP/err" || ! grep -q -e "$pattern" "$TMP/err"; then
		complain "'npusim $*' is not refused with '$pattern':"
		head -n 5 "$TMP/err"
	fi
}
suites() { # PATTERN...
	"$NPUSIM_TEST" "$@" >"$TMP/out" 2>&1 || { complain "npusim-test $*:"; tail -n 20 "$TMP/out"; }
}
