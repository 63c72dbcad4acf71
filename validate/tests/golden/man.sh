# The manual page: every command, option and parameter is in it, and neither mandoc nor groff has a complaint.
# figures: shown
. validate/tests/golden/common
for tool in mandoc groff; do command -v $tool >/dev/null || { echo "not run: $tool is not installed"; exit; }; done
"$NPUSIM" man >"$TMP/npusim.1"
head -n 12 "$TMP/npusim.1"
mandoc -T lint -W warning "$TMP/npusim.1"
groff -ww -man -Tutf8 "$TMP/npusim.1" 2>&1 >/dev/null
mandoc -T utf8 -O width=1000 "$TMP/npusim.1" | sed 's/.\x08//g' >"$TMP/text"
"$NPUSIM" help | sed -n 's/^  \([a-z][a-z ]*[a-z]\)  .*/\1/p' | grep -v '^npusim' >"$TMP/commands"
n=0
while read -r c; do
	# shellcheck disable=SC2086
	"$NPUSIM" help $c | sed -n '1s/^usage: //p; s/^  \(-., \)\{0,1\} *\(--[a-z-]*\).*/\2/p' | grep -v -e '^--help' >"$TMP/want"
	while IFS= read -r w; do
		n=$((n + 1))
		grep -qF -e "$w" "$TMP/text" || echo "$c: '$w' is not in the manual page"
	done <"$TMP/want"
done <"$TMP/commands"
[ $n -gt 200 ] && echo "all commands and options are there"
{ "$NPUSIM" config explain --format csv; "$NPUSIM" config explain gpu sm host flash product --format csv; } | grep -v ^key | cut -d, -f1 >"$TMP/keys"
while read -r k; do
	grep -q "^ *$k\( \|\$\)" "$TMP/text" || echo "'$k' is not in the manual page"
done <"$TMP/keys"
[ "$(wc -l <"$TMP/keys")" -gt 150 ] && echo "all parameters are there"
