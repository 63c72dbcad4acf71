#!/bin/sh
# bundle.sh OUT - makes the page of `npusim report`: page.html with its style, its scripts and the chart library (Vega,
# Vega-Lite, vega-embed: the versions of package-lock.json, by npm) in one text, which embed.S puts into the program.
#
# Without npm, or where it cannot get the library, OUT is one line that says so; the program builds all the same, and
# `npusim report` prints that line. `make report-page` tries again.
set -eu

out=$1
dir=$(dirname "$out")
here=$(dirname "$0")

without() {
	printf '%s' "$1" >"$out"
	printf 'note: npusim report will not draw: %s\n' "$1" >&2
	exit 0
}

mkdir -p "$dir"
if ! command -v npm >/dev/null 2>&1 || ! command -v node >/dev/null 2>&1; then
	without "there was no npm when it was built; install Node.js with npm ('make deps' on Debian) and run make again"
fi

# The same lock file is the same library: nothing is fetched again.
if ! cmp -s "$here/package-lock.json" "$dir/fetched.json"; then
	rm -f "$dir/fetched.json"
	cp "$here/package.json" "$here/package-lock.json" "$dir/"
	(cd "$dir" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error) >"$dir/npm.log" 2>&1 </dev/null ||
		without "npm could not get the chart library when it was built ($dir/npm.log); 'make report-page' tries again"
	cp "$here/package-lock.json" "$dir/fetched.json"
fi

# A library's own build for browsers, without the place of a source map that nobody has.
library() {
	sed '/^\/\/# sourceMappingURL=/d' "$dir/node_modules/$1/build/$1.min.js"
}

# Licences of all that those builds hold; a text that several packages share stands once.
licences() {
	for package in "$dir"/node_modules/vega* "$dir"/node_modules/d3-* "$dir"/node_modules/topojson-client \
		"$dir"/node_modules/delaunator "$dir"/node_modules/robust-predicates "$dir"/node_modules/internmap \
		"$dir"/node_modules/fast-json-patch "$dir"/node_modules/json-stringify-pretty-compact "$dir"/node_modules/semver; do
		for text in "$package"/LICEN[CS]E*; do
			[ -f "$text" ] && printf '%s %s %s\n' "$(cksum <"$text" | tr ' ' -)" "$(basename "$package")" "$text"
		done
	done | LC_ALL=C sort | awk '
		$1 != last { if (text) { show() } last = $1; text = $3; names = $2; next }
		{ names = names ", " $2 }
		function show(   line) {
			print "--- " names "\n"
			while ((getline line < text) > 0)
				print line
			close(text)
			print ""
		}
		END { if (text) show() }'
}

while IFS= read -r line; do
	case $line in
	"@library "*) library "${line#@library }" ;;
	"@licences") licences ;;
	"@file "*) cat "$here/${line#@file }" ;;
	*) printf '%s\n' "$line" ;;
	esac
done <"$here/page.html" >"$out.new"

# A library that spelled the end of its element would end it.
scripts=$(grep -c '^<script' "$here/page.html")
[ "$(grep -oi '</script' "$out.new" | wc -l)" -eq "$scripts" ] || { echo "$0: '</script' inside a script" >&2; exit 1; }
mv "$out.new" "$out"
