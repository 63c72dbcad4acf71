# Completion in zsh: the script is read, takes its place, and answers by what compadd is given.
# figures: shown
. validate/tests/golden/common
command -v zsh >/dev/null || { echo "not run: zsh is not installed"; exit; }
cat >"$TMP/tab.zsh" <<'EOF'
compdef() { print "compdef $*" }
source <($NPUSIM completion zsh)
compadd() { local -a v; case "$*" in *-a\ open) v=($open) ;; *) v=($plain) ;; esac; print "compadd ${@[1]}: $v" }
_files() { print "files $*" }
tab() { print -- "--- ${(j:|:)@}|"; words=($NPUSIM "$@"); CURRENT=$#words; _npusim }
tab pa
tab run --form
tab run --format ''
tab run --set l2.poli
tab run --set l2.policy=k
tab run -t ''
tab run -c c
tab run --rules ''
tab run --seed ''
true
EOF
zsh -f "$TMP/tab.zsh"
