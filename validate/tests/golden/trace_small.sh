# A trace small enough to check by hand: validate/tests/data/kineto/small.json. Two numbered steps, a copy the host
# waits for, a set, a kernel whose launch was not recorded.
# figures: shown
. validate/tests/golden/common
quiet trace import $SMALL -o "$TMP/t.db" --wall '90 us'
try trace show "$TMP/t.db"
try trace top "$TMP/t.db"
try trace top "$TMP/t.db" --range step_1 --format json
try trace ops "$TMP/t.db" --all
try trace top "$TMP/t.db" --range layer_2
try trace top "$TMP/t.db" --range layer_3
