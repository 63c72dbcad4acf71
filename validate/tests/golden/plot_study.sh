# npusim plot pareto and tornado: the front and the effects of a sweep whose objectives are made of parameters alone, so that
# no model's number stands in the text.
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
data() { sed -n -e '/^\$/,/^END$/p' -e '/set xlabel/p' -e '/set ylabel/p' -e '/set label/p' -e '/set title/p' | sed 's/ at screen.*//; s/ at graph.*//'; }
"$NPUSIM" plot pareto "$TMP/r.db" --title 'A title' --script | data
"$NPUSIM" plot tornado "$TMP/r.db" --of slow --title 'A title' --script | data
echo "three objectives, of which one is not drawn; a picture is called as the sweep's file is:"
"$NPUSIM" plot pareto "$TMP/r.db" --minimize slow --minimize 'cores + dram.channels' --minimize dram.channels --script | grep -E '^set label' | sed 's/ at .*//'
try plot pareto "$TMP/r.db" --minimize slow --script
try plot pareto "$TMP/r.db" --minimize slow --minimize partz --script
try plot tornado "$TMP/r.db" --of slow
try plot tornado "$TMP/absent.db" --script
