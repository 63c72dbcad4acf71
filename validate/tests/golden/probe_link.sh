# Collectives over links: a sweep, one message in JSON, a table beside, and what is refused.
. validate/tests/golden/common
set -u
"$NPUSIM" probe link -c dsocr-8
"$NPUSIM" probe link -c hgx-h200 --chips 4 --bytes '256 KiB' --engine --format json
"$NPUSIM" probe link -c hgx-h200 --beside validate/data/links/nccl_h200.csv | tail -14
"$NPUSIM" probe link -c dsocr --chips 4 --bytes '1 MiB' --set 'links.bandwidth=450 GB/s' --set links.topology=ring --format csv
say() { "$NPUSIM" probe link "$@" || echo "exit $?"; }
say -c hgx-h200 --collective all-redcue
say -c dsocr
say -c hgx-h200 --chips 9
say -c tpu-v6e-8 --chips 6
say -c hgx-h200 --beside README.md
printf 'op,gpus,bytes,us\nall_reduce,2,64,1.5\nall_reduce,two,64,1.5\n' >"$TMP/t.csv"
say -c hgx-h200 --beside "$TMP/t.csv"
printf 'op,gpus,bytes,us\nall_reduce,2,64,-1\n' >"$TMP/t.csv"
say -c hgx-h200 --beside "$TMP/t.csv"
printf 'op,gpus,bytes,us\ndecode,2,0,77\n' >"$TMP/t.csv"
say -c hgx-h200 --beside "$TMP/t.csv"
# The picture's data: a line and measured points for each number of chips.
given link -c hgx-h200 --beside validate/data/links/nccl_h200.csv | grep -e measured -e chips | cut -c1-100 | head -12
"$NPUSIM" plot link -c hgx-h200 --script --collective all-redcue || echo "exit $?"
"$NPUSIM" plot link -c tpu-v6e-8 || echo "exit $?"
