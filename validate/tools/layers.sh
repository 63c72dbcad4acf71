#!/bin/sh
# layers.sh RULES [ROOT] | --picture|--dot RULES [ROOT] | --self-test - checks every #include of the tree against the
# layers file (its header says how to read it): prints file:line for each include that looks up or sideways, each file
# that no row knows, and each circle of modules. --picture prints the levels with their files and arrows instead, --dot
# the same for graphviz. --self-test shows on a small tree that it can fail. What the compiled files call is calls.sh's.
set -eu

here=$(dirname "$0")

# The tree's includes, walked: check_include and the end are the caller's.
walk='
	function exists(path,   line, rc) {
		if (!(path in seen)) { rc = (getline line < (root "/" path)); close(root "/" path); seen[path] = rc >= 0 }
		return seen[path]
	}
	function found(file, name,   dir) { # the file that an include names
		if (exists(name)) return name
		dir = file; sub(/[^\/]*$/, "", dir)
		return exists(dir name) ? dir name : name
	}
	function walk(file,   line, number, name) {
		while ((getline line < (root "/" file)) > 0) {
			number++
			if (line !~ /^[ \t]*#[ \t]*include[ \t]*["<]/) continue
			name = line; sub(/^[^"<]*["<]/, "", name); sub(/[">].*/, "", name)
			if (line !~ /"/) on_system_header(file, number, name)
			else if (name != "suites.inc") on_include(file, number, found(file, name))
		}
		close(root "/" file)
	}
	BEGIN { read_rules() }
	{ file_list[++files] = $0; know_file($0) }
'

sources() { # ROOT
	( cd "$1" && find sim arch workloads traces results validate \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null |
		LC_ALL=C sort )
}

check() { # RULES ROOT
	sources "$2" | awk -v rules="$1" -v root="$2" "$(cat "$here/layers.awk")$walk"'
	function limited(file, line, header,   i) { # by an only or never row
		for (i = 1; i <= limits; i++)
			if (limit_header[i] == header && (file ~ limit_pattern[i]) == (limit_kind[i] == "never"))
				complain(file ":" line, header " is not for this file (" limit_kind[i] " row of the layers file)")
	}
	function on_include(file, line, name,   from, to) {
		limited(file, line, "\"" name "\"")
		from = row_of(file); to = row_of(name)
		if (!to) { complain(file ":" line, "includes \"" name "\", which no row of the layers file knows"); return }
		if (group[from] != group[to] && level[to] >= level[from])
			complain(file ":" line, "L" level[from] " " group[from] " includes \"" name "\", which is L" level[to] " " group[to])
		arrow(module_of(file), module_of(name), file ":" line)
	}
	function on_system_header(file, line, name) { limited(file, line, "<" name ">") }
	END {
		for (i = 1; i <= files; i++)
			if (row_of(file_list[i])) walk(file_list[i]); else complain(file_list[i], "no row of the layers file knows it")
		if (!files) complain(root, "no sources found")
		bad += print_circles("modules include each other in a circle")
		exit bad > 0
	}' >&2
}

# The groups from the roof down: their folders, files and lines, and how many of their includes are of which group
# below; or the same as a graph for graphviz, without the tests, which look at everything.
picture() { # text|dot RULES ROOT
	sources "$3" | awk -v form="$1" -v rules="$2" -v root="$3" "$(cat "$here/layers.awk")$walk"'
	function on_include(file, line, name,   from, to) {
		from = group[row_of(file)]; to = group[row_of(name)]
		if (from != to) uses[from, to]++
	}
	function on_system_header(file, line, name) {}
	function lines_of(file,   line, n) {
		while ((getline line < (root "/" file)) > 0) n++
		close(root "/" file)
		return n
	}
	function folders_of(g,   i, f, text) {
		for (i = 1; i <= rows; i++) {
			f = folder[i]; sub(/\/[^\/]*$/, "", f)
			if (group[i] == g && index(text " ", " " f " ") == 0) text = text " " f
		}
		return substr(text, 2)
	}
	function row(g, text,   room, i, word, line) {
		room = 118
		for (i = rows; i >= 1; i--) {
			if (first[group[i]] != i || !uses[g, group[i]]) continue
			word = group[i] " " uses[g, group[i]]
			if (line != "" && length(line ", " word) > room - length(text)) {
				print text line ","
				text = sprintf("%" length(text) "s", ""); line = ""
			}
			line = line (line == "" ? "" : ", ") word
		}
		print (line == "" ? substr(text, 1, length(text) - 2) : text line)
	}
	function draw(g,   i) {
		printf "\t%s [label=\"%s\\n%d file%s, %d lines\"];\n", g, g, n[g], n[g] == 1 ? "" : "s", size[g]
		for (i = 1; i <= rows; i++)
			if (first[group[i]] == i && uses[g, group[i]]) printf "\t%s -> %s;\n", g, group[i]
	}
	function show(g) {
		if (form == "dot") draw(g)
		else row(g, sprintf("%4d  %-9s %-22s %5d %6d  ", level[first[g]], g, short(folders_of(g)), n[g], size[g]))
	}
	function short(text) { return length(text) > 22 ? substr(text, 1, 19) "..." : text }
	END {
		for (i = 1; i <= rows; i++) {
			if (!(group[i] in first)) first[group[i]] = i
			if (level[i] > top) top = level[i]
		}
		for (i = 1; i <= files; i++) {
			g = group[row_of(file_list[i])]
			n[g]++; size[g] += lines_of(file_list[i])
			walk(file_list[i])
		}
		if (form == "dot") print "digraph layers {\n\tnode [shape=box, fontname=\"sans-serif\"];"
		else print "level group     folder                 files  lines  includes of lower levels, as many as that"
		for (l = form == "dot" ? top - 1 : top; l >= 0; l--) {
			same = ""
			for (i = rows; i >= 1; i--)
				if (level[i] == l && first[group[i]] == i) { show(group[i]); same = same " " group[i] ";" }
			if (form == "dot" && same != "") print "\t{ rank=same;" same " }"
		}
		if (form == "dot") print "}"
	}'
}

self_test() {
	dir=$(mktemp -d)
	mkdir -p "$dir/sim/base" "$dir/sim/cli" "$dir/arch/mem" "$dir/traces/db" "$dir/traces/read"
	cat >"$dir/rules" <<'RULES'
0 base sim/base/*
3 mem arch/mem/*
3 traces traces/**
5 cmd sim/cli/cmd
only <sqlite3.h> sim/base/db.c
only "sim/base/db.h" sim/base/db traces/db/*
RULES
	for f in sim/base/err sim/base/str sim/base/db arch/mem/dram arch/mem/l2 sim/cli/cmd; do : >"$dir/$f.h"; done
	printf '#include "sim/base/err.h"\n#include "arch/mem/dram.h"\n' >"$dir/arch/mem/l2.c"
	printf '#include <sqlite3.h>\n#include "db.h"\n' >"$dir/sim/base/db.c"
	echo '#include "sim/base/db.h"' >"$dir/traces/db/rows.c"
	failures=0
	check "$dir/rules" "$dir" || { echo "layers: a good tree fails" >&2; failures=1; }
	expect() { # NAME TEXT MESSAGE
		printf '%s\n' "$2" >"$dir/$1"
		if check "$dir/rules" "$dir" 2>"$dir/out" || ! grep -q "$3" "$dir/out"; then
			echo "layers: '$2' in $1 is not found out" >&2
			failures=$((failures + 1))
		fi
		rm "$dir/$1"
	}
	expect sim/base/err.c '#include "sim/cli/cmd.h"' 'sim/base/err.c:1: L0 base includes "sim/cli/cmd.h", which is L5 cmd'
	expect traces/read/kineto.c '# include "arch/mem/dram.h"' 'L3 traces includes "arch/mem/dram.h", which is L3 mem'
	expect arch/mem/dram.c '#include <sqlite3.h>' 'arch/mem/dram.c:1: <sqlite3.h>'
	expect traces/read/nsys.c '#include "sim/base/db.h"' 'traces/read/nsys.c:1: "sim/base/db.h" is not for this file'
	expect sim/base/str.c '#include "db.h"' 'sim/base/str.c:1: "sim/base/db.h" is not for this file'
	expect sim/cli/run.c '' 'sim/cli/run.c: no row'
	expect arch/mem/noc.c '#include "sim/gone.h"' 'which no row'
	# A circle may be closed by a part of the module, and by a name without its folder.
	expect arch/mem/dram_map.c '#include "l2.h"' 'arch/mem/dram -> arch/mem/l2  arch/mem/dram_map.c:1'
	echo '#include "sim/base/err.h"' >"$dir/sim/base/str.h"
	expect sim/base/err.c '#include "sim/base/str.h"' 'sim/base/err -> sim/base/str'
	printf '#include "arch/mem/dram_int.h"\n' >"$dir/arch/mem/dram_map.c"
	: >"$dir/arch/mem/dram_int.h"
	check "$dir/rules" "$dir" || { echo "layers: parts of one module may not include each other" >&2; failures=$((failures + 1)); }
	echo '#include "arch/mem/dram_cfg.h"' >"$dir/arch/mem/dram.h"
	echo 'module arch/mem/l2_cfg' >>"$dir/rules"
	echo '#include "arch/mem/l2_cfg.h"' >"$dir/arch/mem/dram_cfg.h"
	: >"$dir/arch/mem/l2_cfg.h"
	check "$dir/rules" "$dir" || { echo "layers: a module row makes no module" >&2; failures=$((failures + 1)); }
	picture text "$dir/rules" "$dir" | grep -q '^   3  mem .* base 1$' || { echo "layers: no picture" >&2; failures=$((failures + 1)); }
	rm -rf "$dir"
	[ "$failures" = 0 ]
}

case ${1-} in
--self-test) self_test ;;
--picture) picture text "$2" "${3:-.}" ;;
--dot) picture dot "$2" "${3:-.}" ;;
'') echo "usage: layers.sh [--picture|--dot] RULES [ROOT] | --self-test" >&2; exit 2 ;;
*) check "$1" "${2:-.}" ;;
esac
