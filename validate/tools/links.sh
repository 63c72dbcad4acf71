#!/bin/sh
# links.sh [ROOT] - names that lead nowhere: in every .md file relative links, their #sections, and file names in `backticks`;
# in these and in the comments of sources every path below a top-level folder. A path may be a file, a folder, a module
# (sim/map/map: map.c or map.h), may have stars, and a word in capitals stands for any (configs/dram/NAME.yaml).
# Prints file:line for each. `--self-test` shows on a small tree that it can fail.
set -eu

check() { # ROOT
	(
		cd "$1" && find . -name .git -prune -o -path ./build -prune -o -name node_modules -prune -o -type f -print |
			sed 's|^\./||' | LC_ALL=C sort
	) | awk -v root="$1" '
	function complain(text) { printf "%s:%d: %s\n", file, line, text; bad++ }
	function pattern(p) { # as a regular expression
		gsub(/[.]/, "[.]", p); gsub(/\*/, ".*", p); gsub(/[A-Z][A-Z]+/, "[^/]*", p)
		return p
	}
	function matches(re,   i) {
		if (!(re in asked)) {
			asked[re] = 0
			for (i = 1; i <= files && !asked[re]; i++) if (name[i] ~ re) asked[re] = 1
		}
		return asked[re]
	}
	function there(p) { # a path from the top
		sub(/\/$/, "", p)
		return p in known || matches("^" pattern(p) "([.][a-z]+)?$")
	}
	# What a path from the folder of this file is from the top.
	function from_here(p,   dir) {
		dir = file
		if (!sub(/\/[^\/]*$/, "", dir)) dir = ""
		while (p ~ /^\.\.?(\/|$)/) {
			if (p ~ /^\.\./ && !sub(/\/?[^\/]*$/, "", dir)) return "?"
			if (!sub(/^\.\.?\//, "", p)) p = ""
		}
		return dir == "" ? p : p == "" ? dir : dir "/" p
	}
	function slug(h) { # of a heading, as GitHub has it
		h = tolower(h); gsub(/[^a-z0-9 _-]/, "", h); gsub(/ /, "-", h)
		return h
	}
	function note_sections(md,   text) {
		while ((getline text < (root "/" md)) > 0) if (text ~ /^#+ /) section_of[md, slug(substr(text, index(text, " ") + 1))] = 1
		close(root "/" md)
	}
	function link(to,   section) {
		if (to ~ /^[a-z]+:/) return
		if (split(to, part, "#") > 1) section = part[2]
		to = part[1] == "" ? file : from_here(part[1])
		sub(/\/$/, "", to)
		if (!(to in known)) complain("the link to " to " leads nowhere")
		else if (section != "" && !((to, section) in section_of)) complain(to " has no section #" section)
	}
	function links(text) {
		while (match(text, /\]\([^) ]+\)/)) { link(substr(text, RSTART + 2, RLENGTH - 3)); text = substr(text, RSTART + RLENGTH) }
	}
	function paths(text,   p, before) {
		while (match(text, /(sim|arch|workloads|traces|configs|validate|results)\/[A-Za-z0-9_.*\/-]*/)) {
			before = RSTART > 1 ? substr(text, RSTART - 1, 1) : " "
			p = substr(text, RSTART, RLENGTH)
			text = substr(text, RSTART + RLENGTH)
			if (text ~ /^</) p = p "*" # unit_<name>.c
			sub(/[.\/-]+$/, "", p)
			if (before !~ /[A-Za-z0-9_.\/@-]/ && !there(p)) complain(p " is not there")
		}
	}
	function quoted(text,   n, i, w) {
		n = split(text, w, "`")
		for (i = 2; i <= n; i += 2)
			if (w[i] ~ /^[A-Za-z0-9_.*\/-]+[.](c|h|cu|cuh|sh|py|js|md|txt|csv|yaml|gz|png)$/ && !matches("(^|/)" pattern(w[i]) "$"))
				complain(w[i] " is not there")
	}
	# What of a source line is a comment.
	function comment(text,   s) {
		if (file ~ /[.](c|h|cu|cuh|js|css)$/) {
			if (inside) { s = text; if (text ~ /\*\//) inside = 0; return s }
			if (!match(text, /\/\*|\/\//)) return ""
			if (text ~ /\/\*/ && text !~ /\*\//) inside = 1
			return substr(text, RSTART)
		}
		return match(text, /(^|[ \t])#/) ? substr(text, RSTART) : ""
	}
	function read_one(   text, md, fence) {
		md = file ~ /[.]md$/
		line = inside = 0
		while ((getline text < (root "/" file)) > 0) {
			line++
			if (!md) { paths(comment(text)); continue }
			if (text ~ /^[ \t]*```/) { fence = !fence; continue }
			paths(text)
			if (!fence) { links(text); quoted(text) }
		}
		close(root "/" file)
	}
	{
		name[++files] = known[$0] = $0
		for (p = $0; sub(/\/[^\/]*$/, "", p) && !(p in known);) name[++files] = known[p] = p
	}
	END {
		for (i = 1; i <= files; i++) if (name[i] ~ /[.]md$/) note_sections(name[i])
		for (i = 1; i <= files; i++) {
			file = name[i]
			if (file ~ /(^|\/)Makefile$|[.](md|c|h|cu|cuh|S|sh|py|js|css|yaml|txt)$/ && file !~ /^configs\/bad\/|\/(data|corpus)\/|\/links[.]sh$/) read_one()
		}
		exit bad != 0
	}'
}

self_test() {
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	mkdir -p "$work/sim/base" "$work/configs"
	printf '/* err.h - see sim/base/err.c and configs/*.yaml. */\n' >"$work/sim/base/err.h"
	printf '/* sim/base/err */\n' >"$work/sim/base/err.c"
	printf 'a: 1 # sim/base\n' >"$work/configs/one.yaml"
	printf '# Top\n\n## A section\n\n[one](sim/base/err.h) [two](#a-section) `err.h` `configs/NAME.yaml` [x](https://example.org)\n' >"$work/README.md"
	printf '# Sim\n[up](../README.md#a-section) sim/base/err\n' >"$work/sim/README.md"
	check "$work" || { echo "links.sh: a tree in order is refused" >&2; return 1; }
	failed=0
	while IFS='|' read -r file text; do
		cp "$work/$file" "$work/kept"
		printf '%s\n' "$text" >>"$work/$file"
		if check "$work" >/dev/null; then echo "links.sh: does not see '$text' in $file" >&2; failed=1; fi
		mv "$work/kept" "$work/$file"
	done <<-'END'
		README.md|[gone](sim/base/gone.h)
		README.md|[no section](#another)
		sim/README.md|[no section](../README.md#another)
		sim/README.md|[from the top](sim/base/err.h)
		README.md|sim/gone
		README.md|`gone.h`
		README.md|configs/NAME.csv
		sim/base/err.c|/* arch/gone.h */
		configs/one.yaml|b: 1 # sim/base/gone.h
	END
	[ "$failed" = 0 ]
}

case ${1-} in
--self-test) self_test ;;
*) check "${1:-.}" ;;
esac
