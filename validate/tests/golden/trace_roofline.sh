# Kernels under their roofs, histograms, and the scripts of their pictures.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
try trace roofline -n 5 "$TMP/t.db" --range decode_step_1
try trace roofline -n 2 "$TMP/t.db" --range decode_step_1 --format csv
"$NPUSIM" trace roofline -n 1 "$TMP/t.db" --range decode_step_1 --format json | sed -n '/"points"/,$p'
try trace hist "$TMP/t.db" --range decode_step_1
try trace hist "$TMP/t.db" --range decode_step_1 --metric duration_us --format csv
"$NPUSIM" trace hist "$TMP/t.db" --range decode_step_1 -m duration_us --format json | sed -n '1,20p'
echo "the roofs are drawn, and points by class:"
"$NPUSIM" plot roofline "$TMP/t.db" --range decode_step_1 --script | grep -e '^set [xy]range' -e '^set label' -e '^plot' -e '^ *.s[0-9] using'
"$NPUSIM" plot roofline "$TMP/t.db" --range decode_step_1 --normalised --script | sed -n '/^.s1/,/^END/p; /^set label/p'
"$NPUSIM" plot hist "$TMP/t.db" --range decode_step_1 --script | sed -n '/^.s1/,/^END/p; /^set label/p'
try plot hist "$TMP/t.db" --metric l2_hit_rate_pct --script
try plot hist "$TMP/t.db" --metric duration --script
try plot hist "$TMP/t.db"
try plot roofline "$TMP/t.db" -o x.gif
try trace hist "$TMP/t.db" --low x
try trace roofline $CONFIG
