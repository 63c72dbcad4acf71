#!/bin/sh
# kills.sh gate|nightly|N NPUSIM DIES [SEED] - kills npusim N times and looks at what is left. DIES is the library of
# validate/tests/dies.c. Needs the programs sqlite3 and timeout.
#
# Commands that write are killed in turn: import into a new database and into one that has a trace, run with two files and a
# database beside them, sweep by its grid and guided, merge into a new database and into one of the shards, report, calibrate,
# serve with a list and a timeline, a study with its page and claims, export, and a model's table of ops. And commands that write
# nothing: probe kernel, of a description and beside a table.
# By KILL, TERM or INT; the process alone or with its workers; half of them at a change of a file (dies.c), the others at a
# moment of the time that the command took undisturbed. All is drawn from SEED (1). `gate` kills 18 times and only at changes of
# files, since a busy host moves moments of time; so it leaves out the commands that write nothing. `nightly` kills 100 times.
#
# After each kill: no process goes on; every database is sound; an output that was there before has the bytes of before, or
# all of the new. Then the same command runs again, and ends well; what it prints, its outputs and every row of its databases
# are those of the undisturbed command; and nothing else lies in its folder or in that of temporary files.
set -u
[ $# -ge 3 ] || { echo "usage: kills.sh gate|nightly|N NPUSIM DIES [SEED]" >&2; exit 2; }
MOMENTS=
case $1 in gate) n=18 MOMENTS=changes ;; nightly) n=100 ;; *) n=$1 ;; esac
npusim=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
dies=$(cd "$(dirname "$3")" && pwd)/$(basename "$3")
seed=${4:-1}
for tool in sqlite3 timeout; do
	command -v $tool >/dev/null || { echo "not run: there is no $tool program"; exit 0; }
done
work=$(mktemp -d)
# The command lines below are split at blanks, and LD_PRELOAD too: names without them stand for what may have some.
case $work in *[[:space:]]*) rmdir "$work" && work=$(TMPDIR=/tmp mktemp -d) ;; esac
ln -s "$(pwd)" "$work/root" && cp "$dies" "$work/dies.so" || exit 1
root=$work/root dies=$work/dies.so
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
export TMPDIR="$work/tmp" LC_ALL=C NO_COLOR=1
config=$root/configs/npu/dsocr.yaml gpu=$root/configs/gpu/h200.yaml
trace=$root/traces/h200/kineto_llama1b_b1_c256.json.gz

# --- draws ---------------------------------------------------------------------------------------------------------------

# $draw becomes 0 to $1 - 1: the high bits of a linear congruence (Knuth, TAOCP 2, 3.3.4).
draw() {
	seed=$(((seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff))
	draw=$(((seed >> 20) % $1))
}

# --- the commands: what is there before, and what is typed -------------------------------------------------------------

cases='import_new import_more run sweep guided merge_new merge_into report calibrate serve study export build'
[ "$MOMENTS" = changes ] || cases="$cases kernel beside"

before() { # CASE: fills the folder it runs in
	case $1 in
	import_more) cp "$work/in/ops.db" t.db ;;
	run)
		cp "$work/in/r.db" r.db
		echo old >timeline.json
		echo old >program.txt
		;;
	merge_into) cp "$work/in/shard1.db" m.db ;;
	report) echo old >page.html ;;
	calibrate) echo old >fitted.yaml ;;
	serve)
		echo old >requests.csv
		echo old >timeline.json
		;;
	study)
		echo old >page.html
		echo old >claims.md
		;;
	export | build) echo old >rows.csv ;;
	esac
}

words() { # CASE: the command line, whose words have no blanks
	case $1 in
	import_new | import_more) echo "trace import $trace -o t.db" ;;
	run) echo "run -c $config -t $work/in/t.db --range decode_step_1 -o r.db --timeline timeline.json --program program.txt --format json" ;;
	sweep) echo "sweep $work/in/s.yaml -t $work/in/t.db -j 2 -o s.db --format csv" ;;
	guided) echo "sweep $work/in/s.yaml -t $work/in/t.db -j 2 -o s.db --format csv --guided 6" ;;
	merge_new | merge_into) echo "merge m.db $work/in/shard1.db $work/in/shard2.db" ;;
	report) echo "report $work/in/r.db -o page.html" ;;
	calibrate) echo "calibrate -c $gpu -p $work/in/plan.yaml -t $work/in/ops.db -o fitted.yaml" ;;
	serve) echo "serve -c $config -m llama-3.2-1b --rate 4/s --number 40 --prompt 64 --output 8 --check 0 -j 2 --write-requests requests.csv --timeline timeline.json --format json" ;;
	study) echo "study $work/in/q.yaml -j 2 --page page.html --markdown claims.md --format json" ;;
	kernel) echo "probe kernel $root/workloads/kernels/h100-phase4x.yaml --format json" ;;
	beside) echo "probe kernel -c h100 --beside $root/traces/h100/micro/tiled.csv --format json" ;;
	export) echo "export $work/in/r.db ops -o rows.csv" ;;
	build) echo "workload build llama-3.2-1b -o rows.csv" ;;
	esac
}

prepare() {
	mkdir "$work/in" "$work/tmp" "$work/want" "$work/at"
	cd "$work/in" || exit 2
	printf 'sweep: 1\nbase: %s\nrange: decode_step_1\nfidelity: analytic\naxes: {cores: [1, 2, 4], l2.size: [8 MiB, 16 MiB, 32 MiB]}\nobjectives: [latency_us, dram_bytes]\n' \
		"$config" >s.yaml
	printf 'calibrate: 1\nfit:\n- {key: gpu.launch, from: 100 ns, to: 4000 ns, start: 1000 ns, reason: "one is enough here"}\n' >plan.yaml
	printf 'study: 1\ntitle: T\nruns:\n- {name: r, command: "run -c dsocr -m llama-3.2-1b --layers 2 --batch {b} --fidelity analytic", for: {b: [1, 2, 4, 8]}, take: {us: total_us}}\nclaims:\n- {says: more takes longer, right: r.b8.us > r.b1.us, why: "{r.b8.us}"}\n' >q.yaml
	"$npusim" trace import "$trace" -o t.db &&
		"$npusim" trace import "$root/traces/h200/operators/train2_0000.json.gz" -o ops.db &&
		"$npusim" run -c "$config" -t t.db --range decode_step_1 -o r.db &&
		"$npusim" sweep s.yaml -t t.db --shard 1/2 -o shard1.db && "$npusim" sweep s.yaml -t t.db --shard 2/2 -o shard2.db
}

# --- looking -------------------------------------------------------------------------------------------------------------

# Every row, without the time that the host took; of a copy, so that nobody but npusim mends the database itself.
rows() { # DATABASE
	rm -f "$work"/copy*
	for end in '' -wal -journal; do [ ! -e "$1$end" ] || cp "$1$end" "$work/copy$end"; done
	sqlite3 "$work/copy" "update run set host_us = 0" 2>/dev/null
	sqlite3 "$work/copy" .dump
}

sound() { # DATABASE
	rm -f "$work"/copy*
	for end in '' -wal -journal; do [ ! -e "$1$end" ] || cp "$1$end" "$work/copy$end"; done
	[ "$(sqlite3 "$work/copy" 'pragma integrity_check; pragma foreign_key_check')" = ok ]
}

# Outputs as they are, databases as rows, and the names of all there is, into a folder.
keep() { # FOLDER
	mkdir -p "$1"
	for f in *; do
		case $f in
		*.db) rows "$f" >"$1/$f" ;;
		*) [ ! -e "$f" ] || cp "$f" "$1/$f" ;;
		esac
	done
	ls -A >"$1.names"
}

# Processes of the command that was started in this folder.
going_on() {
	for p in /proc/[0-9]*; do
		[ "$(readlink "$p/cwd" 2>/dev/null)" != "$work/at" ] || [ "$(readlink "$p/exe" 2>/dev/null)" != "$npusim" ] || return 0
	done
	return 1
}

begin() { # CASE
	rm -rf "$work/at" "$work/tmp" && mkdir "$work/at" "$work/tmp" && cd "$work/at" && before "$1"
}

# What the command prints and leaves when it is run once; and once more, for a kill may come after its last change. How long it
# takes, and how many changes it makes.
undisturbed() { # CASE
	want=$work/want/$1
	begin "$1"
	from=$(date +%s%N)
	# shellcheck disable=SC2046
	DIES_TO="$want.changes" LD_PRELOAD="$dies" "$npusim" $(words "$1") >"$want.out" 2>"$want.err" || { cat "$want.err"; return 1; }
	echo $((($(date +%s%N) - from) / 1000)) >"$want.us"
	keep "$want.once"
	# shellcheck disable=SC2046
	"$npusim" $(words "$1") >/dev/null 2>"$want.err" || { cat "$want.err"; return 1; }
	keep "$want.twice"
}

# --- one kill ------------------------------------------------------------------------------------------------------------

# The host's seconds in what is printed.
plain() { sed '/"host_/d; /^ *"run": /d; /^stored /d; s/ in [0-9.]* s$//' "$1"; }

fail() {
	echo "$case, $how: $*"
	bad=yes
}

after_kill() {
	for wait in 1 2 3 4 5 6 7 8 9 10; do
		going_on || break
		sleep 0.3
	done
	! going_on || fail "a process goes on"
	for f in *.db; do
		[ ! -s "$f" ] || sound "$f" || fail "$f is damaged"
	done
	for f in *.json *.txt *.html *.yaml *.csv *.md; do
		[ ! -e "$work/want/$case.once/$f" ] || [ "$(cat "$f")" = old ] || cmp -s "$f" "$work/want/$case.once/$f" || fail "$f is torn"
	done
}

after_rerun() { # CODE
	want=$work/want/$case
	[ "$1" = 0 ] || fail "exit $1 when run again: $(tail -n 1 "$work/err")"
	case $case in
	run | import_* | merge_*) ;; # they say what of it was there already
	*) plain "$want.out" >"$work/x" && plain "$work/out" | cmp -s - "$work/x" || fail "prints something else when run again" ;;
	esac
	keep "$work/got"
	diff -r "$work/got" "$want.once" >"$work/diff" || diff -r "$work/got" "$want.twice" >/dev/null ||
		fail "leaves something else: $(cut -c 1-200 "$work/diff" | head -n 4)"
	cmp -s "$work/got.names" "$want.once.names" || fail "leaves $(diff "$work/got.names" "$want.once.names" | sed -n 's/^< //p' | tr '\n' ' ')"
	[ -z "$(ls -A "$work/tmp")" ] || fail "leaves in the folder of temporary files: $(ls -A "$work/tmp")"
	rm -rf "$work/got"
}

# Below a shell of its own, whose word on it ("Killed") nobody asked for.
quietly() { sh -c 'out=$1 err=$2; shift 2; "$@" >"$out" 2>"$err"; exit $?' sh "$work/out" "$work/err" "$@" 2>/dev/null; }

# By a moment of its time: 124 and 137 are timeout's for a command that was ended.
kill_in_time() {
	us=$(cat "$work/want/$case.us")
	draw 1000
	moment=$((us * (draw + 1) / 1000))
	draw 2
	[ "$draw" = 0 ] && alone=--foreground || alone=
	how="SIG$signal at $moment us${alone:+, alone}"
	# shellcheck disable=SC2046,SC2086
	quietly timeout $alone -s $signal "$((moment / 1000000)).$(printf %06d $((moment % 1000000)))" "$npusim" $(words "$case")
	code=$?
	[ "$code" = 124 ] || [ "$code" = 137 ]
}

# By a change; 128 and the signal are the shell's.
kill_at_change() {
	draw "$(cat "$work/want/$case.changes")"
	how="SIG$signal at change $((draw + 1))"
	case $signal in KILL) number=9 ;; TERM) number=15 ;; INT) number=2 ;; esac
	# shellcheck disable=SC2046
	quietly env DIES_AT=$((draw + 1)) DIES_BY=$number LD_PRELOAD="$dies" "$npusim" $(words "$case")
	[ $? = $((128 + number)) ]
}

# A moment after its end is none, and another is drawn: how fast it is changes, and how often a sweep stores.
kill_once() { # COUNT
	draw 3
	case $draw in 0) signal=KILL ;; 1) signal=TERM ;; 2) signal=INT ;; esac
	way=kill_in_time
	[ "$(cat "$work/want/$case.changes")" = 0 ] || { [ "$MOMENTS" != changes ] && [ $(($1 / n_cases % 2)) != 0 ]; } || way=kill_at_change
	for try in 1 2 3 4 5 6 7 8 9 10; do
		begin "$case"
		$way && return
	done
	return 1
}

prepare >"$work/said" 2>&1 || { cat "$work/said"; echo "kills.sh: what the commands read could not be made"; exit 1; }
for case in $cases; do
	undisturbed "$case" || { echo "kills.sh: $case fails undisturbed"; exit 1; }
	# What changes no file dies by the clock alone.
	[ "$MOMENTS" = changes ] && [ "$(cat "$work/want/$case.changes")" = 0 ] || killed="${killed-} $case"
done
cases=$killed
passed=0 failed=0 missed=0 done=0
n_cases=$(echo $cases | wc -w)
while [ $done -lt "$n" ]; do
	# Each case meets both ways to die, one after the other.
	case=$(echo $cases | cut -d ' ' -f $((done % n_cases + 1)))
	bad=no how=
	done=$((done + 1))
	if kill_once $((done - 1)); then
		after_kill
		# shellcheck disable=SC2046
		"$npusim" $(words "$case") >"$work/out" 2>"$work/err"
		after_rerun $?
	elif [ "$(cat "$work/want/$case.changes")" = 0 ]; then
		# A few milliseconds, and no change of a file to die at: on a busy host it may have ended each time.
		missed=$((missed + 1))
		continue
	else
		fail "was not killed"
	fi
	[ "$bad" = yes ] && failed=$((failed + 1)) || passed=$((passed + 1))
	[ "${V-}" != 1 ] || [ "$bad" = yes ] || echo "$case, $how: ok"
done
[ "$missed" = 0 ] || echo "$missed times a command that changes no file had ended before it was killed"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
