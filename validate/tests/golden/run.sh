#!/bin/sh
# run.sh [--tier check|gate|nightly] [--update] [-j N] [NAME...] - whole runs of the program, compared as text.
#
# NAME.sh is a case, NAME.out is what it must print. A case runs from the top of the source tree with NPUSIM set to the
# program and TMP to an empty folder of its own. Stdout and stderr count, and so does an exit status other than 0 (a last
# line "exit N"). Cases run side by side, N at once, and none may depend on another. What they say comes in the order of
# their names. A case that prints only "not run: REASON" is counted apart. --update rewrites the .out files: read the diff.
#
# Texts hold structure: keys, units, order, words, exit codes. Both texts go through `masked` below before they are compared.
# A figure that matters stands in validate/figures.csv instead. A case whose numbers are no result of a model (an importer's
# counts, arithmetic over parameters) says "# figures: shown" in its first lines, and its text is compared as it is.
#
# Tiers: "# tier: gate" or "# tier: nightly" in a case's first lines makes it a slow one. --tier check (as without a tier)
# runs all others, gate runs the slow ones of the gate alone, nightly runs every case. A case that is named always runs.
#
# No text depends on where the tree is: cases see it and the program through links in a short temporary folder, so its path
# may have spaces and quotes in it. In the output the folder reads TMP, and the tree's real path reads ROOT.
set -u

here=$(cd "$(dirname "$0")" && pwd)
: "${NPUSIM:?the program to test}"

# Masks figures. Of a number: one with a decimal point, an exponent or five digits, or before a unit, is a figure and becomes
# "#". Small whole numbers stay: they count things, say yes (1) or no (0), and name lines of files. A number that is part of
# a name stays, too (l2, llama-3.2-1b). Ids in hexadecimal become HEX. Columns are as wide as their figures, so spaces
# collapse, and so do the dashes of a table's rule.
masked() {
	awk '
	function unit(s) {
		if (s ~ /^x([^A-Za-z0-9_]|$)/) return 1
		sub(/^ /, "", s)
		return s ~ /^(%|us|ms|ns|ps|s|min|h|W|kW|mW|uW|J|kJ|mJ|uJ|nJ|pJ|fJ|B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB|B\/s|GB\/s|TB\/s|MHz|GHz|TFLOPS|tokens\/s|requests\/s|mm2|USD|dollars|points\/s|cycles)([^A-Za-z0-9_]|$)/
	}
	{
		if (/^\$ npusim/) { print; next } # a command as it was typed
		if (/found with another build of the GPU model/) next # until the accuracy is measured again
		line = $0
		out = ""
		while (match(line, /[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+/)) {
			word = substr(line, RSTART, RLENGTH)
			before = out substr(line, 1, RSTART - 1)
			line = substr(line, RSTART + RLENGTH)
			if (word ~ /[0-9]/ && word ~ /[a-f]/ && before !~ /[A-Za-z0-9_.]$/ && line !~ /^[A-Za-z0-9_.+]/) word = "HEX"
			out = before word
		}
		line = out line
		out = ""
		while (match(line, /[0-9]+(,[0-9][0-9][0-9])*(\.[0-9]+)*([eE][-+]?[0-9]+)?/)) {
			before = out substr(line, 1, RSTART - 1)
			number = substr(line, RSTART, RLENGTH)
			rest = substr(line, RSTART + RLENGTH)
			last = substr(before, length(before))
			grouped = 0
			if (match(number, /,/)) { # thousands, or fields of CSV
				grouped = (last == "" || last ~ /[ (~=+-]/) && (rest == "" || rest ~ /^[ );:x%]/ || rest ~ /^, /) && number ~ /^[0-9][0-9]?[0-9]?,/
				if (!grouped) {
					rest = substr(number, RSTART) rest
					number = substr(number, 1, RSTART - 1)
				}
			}
			name = last ~ /[A-Za-z_.]/ || (before ~ /[A-Za-z_0-9]-$/ && before !~ /(^|[^A-Za-z_0-9.])[0-9.]+-$/)
			if (!name && (grouped || number ~ /[.eE]/ || length(number) > 4 || unit(rest))) {
				if (before ~ /(^|[ (:,=[])[-+]$/) before = substr(before, 1, length(before) - 1)
				number = "#"
			}
			out = before number
			line = rest
		}
		line = out line
		gsub(/[0-9]+ to #/, "# to #", line) # a range has figures at both its ends
		gsub(/# to [0-9]+/, "# to #", line)
		gsub(/\([0-9]+ to [0-9]+\)/, "(# to #)", line)
		if (line ~ /^[-+| ]*--[-+| ]*$/) gsub(/--+/, "-", line)
		gsub(/ +/, " ", line)
		sub(/^ /, "", line)
		sub(/ $/, "", line)
		print line
	}'
}

# Replaces each NAME=TEXT's TEXT by NAME; a text is no pattern, so it may have anything in it. Where it is a part of a longer
# name it stays: a tree at /q is not in TMP/q.yaml.
renamed() { # NAME VARIABLE...
	awk 'BEGIN { for (i = 1; i < ARGC; i += 2) { name[++n] = ARGV[i]; text[n] = ENVIRON[ARGV[i + 1]] } ARGC = 1 }
	{
		for (i = 1; i <= n; i++) {
			out = ""
			while (text[i] != "" && (at = index($0, text[i]))) {
				before = substr(out substr($0, 1, at - 1), length(out) + at - 1, 1)
				behind = substr($0, at + length(text[i]), 1)
				inside = before ~ /[A-Za-z0-9_]/ || behind ~ /[A-Za-z0-9_.-]/
				out = out substr($0, 1, at - 1) (inside ? text[i] : name[i])
				$0 = substr($0, at + length(text[i]))
			}
			$0 = out $0
		}
		print
	}' "$@"
}

says() { # CASE TEXT: whether its first lines have that one
	head -n 5 "$here/$1.sh" | grep -qx "# $2"
}
compared() { # CASE: its output on stdin
	if says "$1" 'figures: shown'; then cat; else masked; fi
}

# One case: what it says and its verdict are files in $work.
one() { # NAME
	TMP=$work/$1
	export TMP
	mkdir "$TMP"
	(cd "$work/tree" && exec sh "validate/tests/golden/$1.sh") >"$work/$1.raw" 2>&1 </dev/null
	rc=$?
	[ "$rc" = 0 ] || echo "exit $rc" >>"$work/$1.raw"
	renamed TMP TMP ROOT tree ROOT real <"$work/$1.raw" | compared "$1" >"$work/$1.got"
	rm -rf "$TMP"
	if [ "$(wc -l <"$work/$1.got")" -eq 1 ] && grep -q '^not run: ' "$work/$1.got"; then
		echo "$1: $(cat "$work/$1.got")"
		verdict=skipped
	elif [ "$update" = yes ]; then
		verdict=same
		cmp -s "$work/$1.got" "$here/$1.out" || { cp "$work/$1.got" "$here/$1.out"; echo "$1: rewritten"; verdict=changed; }
	elif [ ! -f "$here/$1.out" ]; then
		echo "$1: there is no $1.out (make golden-update writes it)"
		verdict=failed
	elif compared "$1" <"$here/$1.out" >"$work/$1.want" && diff -u --label "$1.out" --label "this build" "$work/$1.want" "$work/$1.got"; then
		verdict=passed
	else
		echo "$1: differs"
		verdict=failed
	fi
	echo "$verdict" >"$work/$1.verdict"
}
if [ "${1-}" = --one ]; then
	one "$2" >"$work/$2.said" 2>&1
	exit 0
fi
if [ "${1-}" = --mask ]; then # for those who want to see it
	masked
	exit
fi

update=no jobs=$(nproc 2>/dev/null || echo 2) tier=check
while [ $# -gt 0 ]; do
	case $1 in
	--update) update=yes ;;
	-j) jobs=${2:?-j wants a number}; shift ;;
	--tier) tier=${2:?--tier wants check, gate or nightly}; shift ;;
	-*) echo "run.sh: there is no option '$1'" >&2; exit 2 ;;
	*) break ;;
	esac
	shift
done
in_tier() { # CASE
	of=check
	says "$1" 'tier: gate' && of=gate
	says "$1" 'tier: nightly' && of=nightly
	[ "$tier" = nightly ] || [ "$of" = "$tier" ]
}
case $tier in check | gate | nightly) ;; *) echo "run.sh: --tier is check, gate or nightly, not '$tier'" >&2; exit 2 ;; esac
if [ $# = 0 ]; then
	# shellcheck disable=SC2046 # their names are plain
	set -- $(cd "$here" && for f in *.sh; do [ "$f" = run.sh ] || ! in_tier "${f%.sh}" || echo "${f%.sh}"; done)
fi

# The temporary folder's own name must be plain, too.
case ${TMPDIR-/tmp} in *[!A-Za-z0-9/._-]*) TMPDIR=/tmp ;; esac
export TMPDIR="${TMPDIR-/tmp}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
real=$(cd "$here/../../.." && pwd -P) tree=$work/tree
ln -s "$real" "$tree"
ln -s "$NPUSIM" "$work/npusim"
NPUSIM=$work/npusim
export work update here real tree NPUSIM
export LC_ALL=C LANG=C TZ=UTC NO_COLOR=1 TERM=dumb COLUMNS=100
unset NPUSIM_DATA CDPATH

printf '%s\n' "$@" | xargs -P "$jobs" -n 1 sh "$here/run.sh" --one

count() { # VERDICT
	n=0
	for name in $all; do [ "$(cat "$work/$name.verdict" 2>/dev/null)" = "$1" ] && n=$((n + 1)); done
	echo $n
}
all=$*
for name in "$@"; do
	[ -f "$work/$name.verdict" ] || { echo "$name: it did not end"; echo failed >"$work/$name.verdict"; }
	[ ! -f "$work/$name.said" ] || cat "$work/$name.said"
done
passed=$(count passed) failed=$(count failed) skipped=$(count skipped) changed=$(count changed)
for out in "$here"/*.out; do
	[ -e "$out" ] || continue
	[ -f "${out%.out}.sh" ] || { echo "$(basename "$out"): no script writes it"; failed=$((failed + 1)); }
done

if [ "$update" = yes ]; then
	echo "$changed of $# texts rewritten"
else
	echo "$passed passed, $failed failed$([ "$skipped" = 0 ] || echo ", $skipped not run")"
fi
[ "$failed" = 0 ]
