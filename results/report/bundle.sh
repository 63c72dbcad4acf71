#!/bin/sh
# bundle.sh OUT - makes the page of `npusim report`: page.html with its style, and packed (pack.js) its scripts and the chart library
# (Vega, Vega-Lite, vega-tooltip: the versions of package-lock.json, by npm; charts.js says what of them), in one text, which embed.S
# puts into the program.
# bundle.sh live OUT - the same of live.html, the page of `npusim page`, which has no charts of that library and needs no npm.
#
# Without npm, or where it cannot get the library, OUT is one line that says so; the program builds all the same, and
# `npusim report` prints that line. `make report-page` tries again.
set -eu

page=page
[ "$1" != live ] || { page=live && shift; }
out=$1
dir=$(dirname "$out")
here=$(dirname "$0")

without() {
	printf '%s' "$1" >"$out"
	printf 'note: npusim report will not draw: %s\n' "$1" >&2
	exit 0
}

# fill PAGE: its lines, with what they name.
fill() {
	while IFS= read -r line; do
		case $line in
		"@licences") licences ;;
		"@file "*) cat "$here/${line#@file }" ;;
		"@packed")
			printf '<script type="text/plain" id="script">%s</script>\n' "$(fill "$here/page_script.js" | "$esbuild" --minify --charset=utf8 --log-level=error | node "$here/pack.js")"
			printf '<script type="text/plain" id="library">%s</script>\n' "$(node "$here/pack.js" <"$dir/charts.min.js")" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$1"
}

# A library that spelled the end of its element would end it.
finish() {
	[ "$(grep -oi '</script' "$out.new" | wc -l)" -eq "$(grep -c '^<script' "$out.new")" ] || { echo "$0: '</script' inside a script" >&2; exit 1; }
	mv "$out.new" "$out"
}

mkdir -p "$dir"
if [ $page = live ]; then
	fill "$here/live.html" >"$out.new"
	finish
	exit 0
fi
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

cp "$here/charts.js" "$here/charts_vega.js" "$dir/"
esbuild=$dir/node_modules/.bin/esbuild
"$esbuild" "$dir/charts.js" --bundle --minify --legal-comments=none --log-level=error \
	--alias:vega="$(cd "$dir" && pwd)/charts_vega.js" --outfile="$dir/charts.min.js" || without "esbuild could not bundle the chart library when it was built"

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

fill "$here/page.html" >"$out.new"
finish
