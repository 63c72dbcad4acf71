# On a terminal of 80 columns and 24 lines: tables fit, a pager shows what is longer, colour unless NO_COLOR says no.
. validate/tests/golden/common
command -v script >/dev/null 2>&1 || { echo "not run: there is no script(1) to make a terminal"; exit 0; }
quiet trace import $TRACE -o "$TMP/t.db"
# terminal COLUMNS LINES COMMAND...: what it prints there, without the carriage returns
terminal() {
	cols=$1 rows=$2
	shift 2
	script -qec "stty cols $cols rows $rows; $*" /dev/null </dev/null 2>/dev/null | tr -d '\r'
}
unset NO_COLOR
export TERM=xterm PAGER=cat
widest() { awk '{ gsub(/\033\[[0-9;]*m/, ""); if (length($0) > w) w = length($0) } END { print w }'; }
run="$NPUSIM run -c $CONFIG -t $TMP/t.db --range decode_step_1 --fidelity analytic"
echo "a run's page at 80 columns:"
terminal 80 24 "$run" >"$TMP/page"
[ "$(widest <"$TMP/page")" -le 80 ] && echo "no line is wider"
[ "$(wc -l <"$TMP/page")" -le 40 ] && echo "40 lines at most"
head -n 1 "$TMP/page" | grep -c "$(printf '\033\[1m')"
NO_COLOR=1 terminal 80 24 "$run" | head -n 1 | grep -c "$(printf '\033')"
TERM=dumb terminal 80 24 "$run" | head -n 1 | grep -c "$(printf '\033')"
"$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --fidelity analytic | grep -c "$(printf '\033')"
echo "tables of long names at 80, at 200, and in a pipe:"
top="$NPUSIM trace top -n 5 $TMP/t.db"
terminal 80 24 "$top" | grep -c '…'
[ "$(terminal 80 24 "$top" | widest)" -lt "$(terminal 200 24 "$top" | widest)" ] && echo "narrower on a narrow one"
$top | grep -c '…'
echo "a pager:"
PAGER="sed s/^/paged:/" terminal 80 10 "$run" | grep -c '^paged:' | sed 's/^[1-9][0-9]*$/some/'
PAGER="sed s/^/paged:/" terminal 80 100 "$run" | grep -c '^paged:'
NPUSIM_PAGER= PAGER="sed s/^/paged:/" terminal 80 10 "$run" | grep -c '^paged:'
PAGER="sed s/^/paged:/" "$NPUSIM" trace top "$TMP/t.db" | grep -c '^paged:'
PAGER="head -n 1" terminal 80 10 "$run" | wc -l
echo "how long a sweep takes is foretold once: by its line on a terminal, ahead of it elsewhere"
cat >"$TMP/s.yaml" <<EOF
sweep: 1
base: $CONFIG
trace: $TMP/t.db
range: decode_step_1
axes: {dram.channels: [16, 32, 48, 64], l2.size: [64 MiB, 128 MiB, 256 MiB]}
EOF
sweep="$NPUSIM sweep -j 1 $TMP/s.yaml"
terminal 80 24 "$sweep" | sed "s/$(printf '\033\[K')/\n/g" >"$TMP/line"
grep ' points; ' "$TMP/line"
grep -x 'sweep: 0 of 12 points' "$TMP/line"
grep -q '^sweep: [0-9]* of 12 points, [0-9.]*\(/s\| s each\), [0-9]*:[0-9][0-9] left$' "$TMP/line" && echo "and what is left"
$sweep 2>&1 >"$TMP/table" | sed 's/about .*/about/'
terminal 80 24 "$sweep --dry-run" | sed -n 's/.*\(npusim: .* about\) .*/\1/p'
