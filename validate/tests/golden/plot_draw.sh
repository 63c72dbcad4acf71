# npusim plot with the programs that draw: a picture of each kind, the same to the byte when drawn again, and what stands in it.
# figures: shown
. validate/tests/golden/common
for program in node rsvg-convert; do
	command -v $program >/dev/null || { echo "not run: $program is not installed"; exit; }
done
latency="latency -c $CONFIG --set dram.kind=fixed --largest 1MiB --samples 100"
if "$NPUSIM" plot $latency --script 2>&1 | grep -q 'is not in this build'; then echo "not run: this build has no page"; exit; fi
for kind in svg png pdf; do
	for n in 1 2; do
		"$NPUSIM" plot $latency -o "$TMP/$n.$kind"
		[ $kind$n = pdf1 ] && sleep 1 # its file has a date
	done
	cmp "$TMP/1.$kind" "$TMP/2.$kind" && echo "$kind: the same twice"
done
head -c 5 "$TMP/1.pdf"; echo
head -c 4 "$TMP/1.png" | tail -c 3; echo
texts() { grep -o '<text[^>]*>[^<]*' "$1" | sed 's/.*>//' | grep . | sort | uniq; }
echo "the chase:"
texts "$TMP/1.svg"
grep -c 'var(--' "$TMP/1.svg"
"$NPUSIM" plot $latency --script | grep -e '"\$schema"' -e '"x": 65536' -A 1

# A sweep whose objectives are of parameters alone.
cat >"$TMP/s.yaml" <<END
sweep: 1
base: $CONFIG
trace: $TRACE
range: decode_step_1
fidelity: analytic
axes:
  cores: [16, 32, 64]
  dram.channels: [16, 32]
columns:
  slow: 1000 / cores + 100 / dram.channels
objectives: [slow, {name: parts, minimize: cores + 4 * dram.channels}]
END
quiet sweep "$TMP/s.yaml" -o "$TMP/s.db" --format csv
draw() {
	"$NPUSIM" plot "$@" -o "$TMP/x.svg" || echo "exit $?"
	echo "$1:"
	texts "$TMP/x.svg"
}
draw pareto "$TMP/s.db" --title 'A title </svg> & "more"'
draw tornado "$TMP/s.db" --of slow
draw sweep "$TMP/s.db" --x cores --y slow --by dram.channels --mark 48=here
