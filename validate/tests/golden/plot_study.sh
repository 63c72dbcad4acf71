# npusim plot pareto and tornado: the front and the effects of a sweep whose objectives are made of parameters alone, so that
# no model's number stands in the text.
# figures: shown
. validate/tests/golden/common
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
quiet sweep "$TMP/s.yaml" -o "$TMP/r.db" --format csv
if "$NPUSIM" plot pareto "$TMP/r.db" --script 2>&1 | grep -q "is not in this build"; then echo "not run: this build has no page"; exit 0; fi
numbers() { grep -o -e '"name": "[a-z]*", "more"' -e '"best": .*"points": .*"designs"' -e '"share": .*' | sed 's/\], \[\([0-9]\)/],\n[\1/g'; }
given pareto "$TMP/r.db" --title 'A title' | numbers
given tornado "$TMP/r.db" --of slow --title 'A title' | numbers
echo "three objectives; a constraint of the command line:"
given pareto "$TMP/r.db" --minimize slow --minimize 'cores + dram.channels' --maximize dram.channels --where 'cores > 16' | numbers
try plot pareto "$TMP/r.db" --minimize slow --script
try plot pareto "$TMP/r.db" --minimize slow --minimize partz --script
try plot tornado "$TMP/r.db" --of slow
try plot tornado "$TMP/absent.db" --script
