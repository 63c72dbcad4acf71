# Completion: what the tables answer, and what a real bash makes of it with the script sourced.
# figures: shown
. validate/tests/golden/common
quiet trace import $SMALL -o "$TMP/t.db"
q() { # WORD...
	echo "--- $*|"
	"$NPUSIM" completion query -- "$@" | cut -c1-72
}
q tr
q pr
q help con
q trace t
q nonsense x
q run --f
q trace show -
q run --format ''
q run --format=c
q run --fidelity a
q run --fidelity event --start ''
q trace import --from n
q config show --format ''
q validate --split f
q completion ''
q run -c ds
q run -c dsocr,tpu-v5
q run --config=l4
q run -c configs/npu/ds
q config check rk
q run -m llama-3.1
q run --set l2.p
q run --set 'l2.policy='
q run --set=l2.policy=s
q run --set l2.policy = s
q run --set "'l2.write_b"
q run --set dispatch.dynamic=
q run --set dram.kind=hbm3
q run --set sm.w
q run --set l2.size=
q run --set nonsense.k
q config explain l2.w
q config explain l2.size vector.l
q run -c l4
q run --config=x
q run -t ''
q run -o ''
q run --rules ''
q merge ''
q merge a.db ''
q config diff a.yaml ''
q config diff a.yaml b.yaml ''
q run --seed ''
q trace top "$TMP/t.db" --range ''
q trace top "$TMP/t.db" --range nonsense
q trace top "$TMP/absent.db" --range ''
try completion
try completion tcsh
# Every option of every command's help is completed, and every completed one is in the help.
"$NPUSIM" help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' | grep -v '^npusim' >"$TMP/commands"
while read -r c; do
	# shellcheck disable=SC2086
	"$NPUSIM" help $c | sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/--\2/p' | sort >"$TMP/help"
	# shellcheck disable=SC2086
	"$NPUSIM" completion query -- $c -- 2>&1 | cut -f1 | sort >"$TMP/completed"
	cmp "$TMP/help" "$TMP/completed" || echo "$c"
done <"$TMP/commands"
[ "$(wc -l <"$TMP/commands")" -gt 30 ] && echo "options of all commands: the same in help and in completion"
# bash, as it is when TAB is pressed: the words as it breaks them, the script's function, what it makes of them.
command -v bash >/dev/null || { echo "no bash here"; exit; }
mkdir "$TMP/files" "$TMP/files/sub"
touch "$TMP/files/a b.db" "$TMP/files/c.yaml" "$TMP/files/d.yml" "$TMP/files/e.txt"
cat >"$TMP/tab.bash" <<'EOF'
source <("$NPUSIM" completion bash)
complete -p npusim
compopt() { :; } # only a shell that waits at a prompt has one
tab() { # WORD... as bash breaks them; the last one is at the cursor
	COMP_WORDS=("$NPUSIM" "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_npusim
	printf '%s| ' "$@"
	printf '<%s>\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr -d '\n'
	echo
}
tab pa
tab run --form
tab run --format ''
tab run --format =
tab run --format = js
tab run --set l2.pol
tab run --set l2.policy =
tab run --set l2.policy = kv
tab run --set = l2.policy = kv
tab run --set = l2.poli
cd "$TMP/files"
tab run -t ''
tab run -c c
tab run -t a
tab run --rules ''
tab run --rules =
tab trace import ''
tab run --seed ''
EOF
bash "$TMP/tab.bash"
