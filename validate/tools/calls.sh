#!/bin/sh
# calls.sh RULES OBJECTS [ROOT] | --self-test - checks what the compiled files of a build (OBJECTS: its folder) use of
# each other, by nm, against the layers file: prints each call or table of a higher level or of a sibling, and each
# circle of modules. So it sees what layers.sh cannot: a function that is declared where it is called. The other way
# round, calls that are compiled away (static inline, macros) are seen by their includes alone. Tests are left out, and
# objects whose source has gone.
# V=1: prints the circles of files inside one module too, which are allowed.
set -eu

here=$(dirname "$0")

symbols() { # OBJECTS ROOT: "file.c name type", a line a symbol
	(cd "$1" && find . -name '*.o' | LC_ALL=C sort) | sed 's|^[.]/||' | while IFS= read -r o; do
		case $o in validate/tests/*) continue ;; esac
		[ ! -f "$2/${o%.o}.c" ] || printf '%s\n' "$1/$o"
	done | xargs nm -A -P -g | sed "s|^$1/||; s|[.]o: |.c |"
}

check() { # RULES OBJECTS ROOT
	(cd "$3" && find sim arch workloads traces results validate -name '*.[ch]' 2>/dev/null | sed 's/^/source /') >"$work/all"
	symbols "$2" "$3" >>"$work/all"
	awk -v rules="$1" -v objects="$2" -v verbose="${V-}" "$(cat "$here/layers.awk")"'
	BEGIN { read_rules() }
	$1 == "source" { know_file($2); next }
	{ if (!($1 in compiled)) { compiled[$1] = 1; files++ } }
	$3 ~ /^[A-TV-Z]$/ { home[$2] = $1; next }
	{ user[++n] = $1; used[n] = $2 }
	function look(i,   from, to, f, t) {
		f = user[i]; t = home[used[i]]
		from = row_of(f); to = row_of(t)
		if (!from || !to) { complain(from ? t : f, "no row of the layers file knows it"); return }
		if (group[from] != group[to] && level[to] >= level[from])
			complain(f, "L" level[from] " " group[from] " uses " used[i] " of " t ", which is L" level[to] " " group[to])
		arrow(module_of(f), module_of(t), f " uses " used[i])
	}
	END {
		for (i = 1; i <= n; i++) if (used[i] in home && home[used[i]] != user[i]) look(i)
		if (!files) complain(objects, "no objects of the tree found: build first")
		bad += print_circles("modules use each other in a circle")
		forget_arrows()
		for (i = 1; i <= n && verbose == 1; i++)
			if (used[i] in home && module_of(user[i]) == module_of(home[used[i]]))
				arrow(user[i], home[used[i]], used[i])
		if (verbose == 1) print_circles("inside a module, which is allowed")
		exit bad > 0
	}' "$work/all" >&2
}

self_test() {
	dir=$work/tree
	objects=$work/objects
	mkdir -p "$dir/sim" "$dir/arch/mem" "$dir/traces" "$objects/sim" "$objects/arch/mem" "$objects/traces"
	printf '0 base sim/err sim/str\n3 mem arch/mem/*\n3 traces traces/*\n5 cli sim/cli\n' >"$work/rules"
	failures=0
	object() { # NAME TEXT
		printf '%s\n' "$2" >"$dir/$1.c"
		${CC:-cc} -c -o "$objects/$1.o" "$dir/$1.c"
	}
	expect() { # NAME TEXT MESSAGE
		object "$1" "$2"
		if check "$work/rules" "$objects" "$dir" 2>"$work/out" || ! grep -q "$3" "$work/out"; then
			echo "calls: '$2' in $1.c is not found out" >&2
			failures=$((failures + 1))
		fi
		rm "$dir/$1.c"
	}
	object sim/str 'int str_n; int str(void) { return 0; }'
	object arch/mem/dram 'int str(void), dram_map(void); int dram(void) { return str() + dram_map(); }'
	object arch/mem/dram_map 'int dram(void); int dram_map(void) { return dram(); }'
	object arch/mem/l2 'int dram(void); int l2(void) { return dram(); }'
	object sim/cli 'int l2(void); extern int str_n; int cmd(void) { return l2() + str_n; }'
	check "$work/rules" "$objects" "$dir" || { echo "calls: a good tree fails" >&2; failures=1; }
	V=1 check "$work/rules" "$objects" "$dir" 2>&1 | grep -q 'arch/mem/dram_map.c -> arch/mem/dram.c' ||
		{ echo "calls: V=1 prints no circle inside a module" >&2; failures=$((failures + 1)); }
	expect sim/err 'int cmd(void); int err(void) { return cmd(); }' 'sim/err.c: L0 base uses cmd of sim/cli.c, which is L5 cli'
	expect traces/kineto 'int l2(void); int kineto(void) { return l2(); }' 'L3 traces uses l2 of arch/mem/l2.c, which is L3 mem'
	expect arch/mem/dram_map 'int l2(void); int dram_map(void) { return l2(); }' 'arch/mem/dram -> arch/mem/l2  arch/mem/dram_map.c uses l2'
	[ "$failures" = 0 ]
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
case ${1-} in
--self-test) self_test ;;
'') echo "usage: calls.sh RULES OBJECTS [ROOT] | --self-test" >&2; exit 2 ;;
*) check "$1" "$2" "${3:-.}" ;;
esac
