# Every command explains itself, and a mistyped one is answered with the right one.
# figures: shown
. validate/tests/golden/common
try
for c in run sweep merge pareto best sensitivity report "plot sweep" compare "trace import" "trace show" "trace top" "trace classify" "trace roofline" "trace hist" "plot roofline" "plot hist" "trace diff" "trace export" "trace ops" "config check" "config show" "config explain" "config diff"; do
	# shellcheck disable=SC2086
	try help $c
done
try help trace
try config --help
# The same text whichever way it is asked for, on stdout, with exit code 0.
for c in run sweep merge pareto best sensitivity report "plot sweep" compare "trace import" "trace show" "trace top" "trace classify" "trace roofline" "trace hist" "plot roofline" "plot hist" "trace diff" "trace export" "trace ops" "config check" "config show" "config explain" "config diff"; do
	# shellcheck disable=SC2086
	for ask in --help -h; do
		"$NPUSIM" $c $ask 2>/dev/null >"$TMP/a" || echo "$c $ask: exit $?"
		"$NPUSIM" help $c >"$TMP/b" 2>/dev/null
		cmp "$TMP/a" "$TMP/b"
	done
done
"$NPUSIM" --version | sed 's/(build .*)/(build ID)/; s/ [0-9][0-9.]*/ N/g'
echo
try tarce
try trace tpo
try top
try trace
try --frobnicate
try help run now
try run --rnage x
try run extra -c a -t b
try trace top
try trace top --format
