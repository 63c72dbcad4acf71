# The map at the head of sim/main.c has a line for every folder with sources and for no other, and every such folder is
# explained: it has a README.md, or the one above it names it (`npu/` in arch/README.md).
# figures: shown
map() { # TREE
	(
		cd "$1" || exit
		find sim arch workloads traces results validate -type f 2>/dev/null | sed -nE 's/\/[^/]*\.([chSs]|cuh?|sh|js|py)$//p' |
			sed -E 's,^validate/(tests|recipes)/.*,validate/\1,' | LC_ALL=C sort -u >"$TMP/folders"
		sed -n '1,/\*\//s|^ \*   \([a-z/]*\)  .*|\1|p' sim/main.c | LC_ALL=C sort >"$TMP/map"
		comm -23 "$TMP/folders" "$TMP/map" | sed 's|$| is not in the map of sim/main.c|'
		comm -13 "$TMP/folders" "$TMP/map" | sed 's|$| is in the map of sim/main.c, once too often or without sources|'
		while read -r f; do
			[ -f "$f/README.md" ] || grep -qs "\`${f##*/}/\`" "$(dirname "$f")/README.md" ||
				echo "$f has no README.md, and none above it says what $f is"
		done <"$TMP/folders"
	)
}

map .
echo "map checked"

# It can fail: a tree with a folder that nobody names, and one that is not there.
mkdir -p "$TMP/tree/sim/new" "$TMP/tree/sim/old" && : >"$TMP/tree/sim/main.c"
: >"$TMP/tree/sim/new/new.c"
printf '/* main.c\n *\n *   sim                this file\n *   sim/old            gone */\n' >"$TMP/tree/sim/main.c"
echo '# sim' >"$TMP/tree/sim/README.md"
map "$TMP/tree"
