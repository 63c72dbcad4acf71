#!/bin/sh
# layers.sh RULES [ROOT] - checks every #include of the tree against the layers file (its header says how to read it).
# Prints file:line for each include that looks up or sideways, and each file that no row knows. `--self-test` shows on
# a small tree that it can fail.
set -eu

check() { # RULES ROOT
	( cd "$2" && find sim arch workloads traces results validate \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null |
		LC_ALL=C sort ) | awk -v rules="$1" -v root="$2" '
	function glob(p,   r) { # a pattern as a regular expression
		if (p !~ /[.*]/) return "^" p "(_[^/]*)?[.][^/.]*$"
		gsub(/\./, "[.]", p); gsub(/\*\*/, "\001", p); gsub(/\*/, "[^/]*", p); gsub("\001", ".*", p)
		return "^" p "$"
	}
	function complain(where, text) { printf "%s: %s\n", where, text; bad++ }
	function row_of(file,   i) {
		if (!(file in known)) {
			known[file] = 0
			for (i = 1; i <= rows && !known[file]; i++) if (file ~ pattern[i]) known[file] = i
		}
		return known[file]
	}
	function exists(path,   line, rc) {
		if (!(path in seen)) { rc = (getline line < (root "/" path)); close(root "/" path); seen[path] = rc >= 0 }
		return seen[path]
	}
	function limited(file, line, header,   i) { # by an only or never row
		for (i = 1; i <= limits; i++)
			if (limit_header[i] == header && (file ~ limit_pattern[i]) == (limit_kind[i] == "never"))
				complain(file ":" line, header " is not for this file (" limit_kind[i] " row of the layers file)")
	}
	function ours(file, line, name,   dir, from, to) {
		if (!exists(name)) { dir = file; sub(/[^\/]*$/, "", dir); if (exists(dir name)) name = dir name }
		if (name == "suites.inc") return
		limited(file, line, "\"" name "\"")
		from = row_of(file); to = row_of(name)
		if (!to) { complain(file ":" line, "includes \"" name "\", which no row of the layers file knows"); return }
		if (group[from] == group[to] || level[to] < level[from]) return
		complain(file ":" line, "L" level[from] " " group[from] " includes \"" name "\", which is L" level[to] " " group[to])
	}
	BEGIN {
		while ((getline line < rules) > 0) {
			sub(/#.*/, "", line)
			n = split(line, w, /[ \t]+/)
			if (n && w[n] == "") n--
			if (n == 0) continue
			if (w[1] == "only" || w[1] == "never") {
				any = ""
				for (i = 3; i <= n; i++) any = any (any == "" ? "" : "|") glob(w[i])
				limit_kind[++limits] = w[1]; limit_header[limits] = w[2]; limit_pattern[limits] = any
				continue
			}
			for (i = 3; i <= n; i++) { pattern[++rows] = glob(w[i]); level[rows] = w[1] + 0; group[rows] = w[2] }
		}
		if (!rows) complain(rules, "no rows, or not readable")
	}
	{
		file = $0; files++
		if (!row_of(file)) { complain(file, "no row of the layers file knows it"); next }
		number = 0
		while ((getline line < (root "/" file)) > 0) {
			number++
			if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
			name = line; sub(/^[^"<]*["<]/, "", name); sub(/[">].*/, "", name)
			if (line ~ /"/) ours(file, number, name); else limited(file, number, "<" name ">")
		}
		close(root "/" file)
	}
	END { if (!files) complain(root, "no sources found"); exit bad > 0 }' >&2
}

self_test() {
	dir=$(mktemp -d)
	mkdir -p "$dir/sim/base" "$dir/sim/cmd" "$dir/arch/mem" "$dir/traces/db" "$dir/traces/read"
	cat >"$dir/rules" <<'RULES'
0 base sim/base/*
3 mem arch/mem/*
3 traces traces/**
5 cmd sim/cmd/cmd
only <sqlite3.h> sim/base/db.c
only "sim/base/db.h" sim/base/db traces/db/*
RULES
	echo '#include "sim/base/err.h"' >"$dir/arch/mem/dram.c"
	printf '#include <sqlite3.h>\n#include "db.h"\n' >"$dir/sim/base/db.c"
	echo '#include "sim/base/db.h"' >"$dir/traces/db/rows.c"
	: >"$dir/sim/base/err.h"; : >"$dir/sim/base/db.h"; : >"$dir/arch/mem/dram.h"; : >"$dir/sim/cmd/cmd.h"
	check "$dir/rules" "$dir" || { echo "layers: a good tree fails" >&2; return 1; }
	failures=0
	expect() { # NAME TEXT MESSAGE
		printf '%s\n' "$2" >"$dir/$1"
		if check "$dir/rules" "$dir" 2>"$dir/out" || ! grep -q "$3" "$dir/out"; then
			echo "layers: '$2' in $1 is not found out" >&2
			failures=$((failures + 1))
		fi
		rm "$dir/$1"
	}
	expect sim/base/err.c '#include "sim/cmd/cmd.h"' 'sim/base/err.c:1: L0 base includes "sim/cmd/cmd.h", which is L5 cmd'
	expect traces/read/kineto.c '# include "arch/mem/dram.h"' 'L3 traces includes "arch/mem/dram.h", which is L3 mem'
	expect arch/mem/l2.c '#include <sqlite3.h>' 'arch/mem/l2.c:1: <sqlite3.h>'
	expect traces/read/nsys.c '#include "sim/base/db.h"' 'traces/read/nsys.c:1: "sim/base/db.h" is not for this file'
	expect sim/base/str.c '#include "db.h"' 'sim/base/str.c:1: "sim/base/db.h" is not for this file'
	expect sim/cmd/run.c '' 'sim/cmd/run.c: no row'
	expect arch/mem/noc.c '#include "sim/gone.h"' 'which no row'
	rm -rf "$dir"
	[ "$failures" = 0 ]
}

case ${1-} in
--self-test) self_test ;;
'') echo "usage: layers.sh RULES [ROOT] | --self-test" >&2; exit 2 ;;
*) check "$1" "${2:-.}" ;;
esac
