# Kernels under their roofs, histograms, and the data of their pictures.
# figures: shown
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
try trace roofline -n 5 "$TMP/t.db" --range decode_step_1
try trace roofline -n 2 "$TMP/t.db" --range decode_step_1 --format csv
"$NPUSIM" trace roofline -n 1 "$TMP/t.db" --range decode_step_1 --format json | sed -n '/"points"/,$p'
try trace hist "$TMP/t.db" --range decode_step_1
try trace hist "$TMP/t.db" --range decode_step_1 --metric duration_us --format csv
"$NPUSIM" trace hist "$TMP/t.db" --range decode_step_1 -m duration_us --format json | sed -n '1,20p'
echo "the roofs are drawn, and points by class:"
given roofline "$TMP/t.db" --range decode_step_1 | cut -c1-120 | head -20
given roofline "$TMP/t.db" --range decode_step_1 --normalised | cut -c1-120 | head -12
given hist "$TMP/t.db" --range decode_step_1 | cut -c1-120
try plot hist "$TMP/t.db" --metric l2_hit_rate_pct --script
try plot hist "$TMP/t.db" --metric duration --script
try plot hist "$TMP/t.db"
try plot roofline "$TMP/t.db" -o x.gif
try trace hist "$TMP/t.db" --low x
try trace roofline $CONFIG
