# When the committed trace's device was idle, what its time was for, how its kernels filled it; a table of counters; by what one asks.
# figures: shown
. validate/tests/golden/common
try trace gaps $TRACE --range decode_step_1
"$NPUSIM" trace gaps $TRACE --range decode_step_1 --format json | sed -n '1,/"streams"/p'
"$NPUSIM" trace gaps $TRACE --range decode_step_1 --format csv | head -n 3
for view in gaps stages; do
	[ "$("$NPUSIM" trace $view $TRACE --range decode_step_1 | wc -l)" -le 40 ] || echo "$view: more than a screen"
done
try trace stages $TRACE
try trace stages $TRACE --range decode_step_1 --format csv
try trace waves $TRACE --range decode_step_1 -n 4
try trace top $TRACE --range decode_step_1 --by op -n 3
try trace top $TRACE --range decode_step_1 --by layer -n 2 --format csv
try trace top $TRACE -n 3 --sort longest --filter 'gem[mv]' --format csv
try trace top $TRACE --by steam
try trace top $TRACE --filter '('
COUNTERS=traces/rtx5090/dsocr_counters.csv
"$NPUSIM" trace classify $COUNTERS -c rtx5090 -n 1 | sed -n '/^20 kernels/,$p'
try trace hist $COUNTERS -c rtx5090 --metric l2_hit_rate_pct
printf 'kernel,duration_us,l2_hit_pct\nk,1,2\n' >"$TMP/bad.csv"
try trace import "$TMP/bad.csv" -o "$TMP/t.db"
try trace gaps $COUNTERS
try trace stalls $COUNTERS
try validate -c h200 -t $TRACE --counters
try trace roofline -c b200 workloads/ops/gb200-decode.csv
