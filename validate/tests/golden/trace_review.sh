# A published report held against its own tables, and what is no review.
# figures: shown
. validate/tests/golden/common
try trace review traces/rtx5090/review.yaml
"$NPUSIM" trace review traces/rtx5090/review.yaml --all --format csv | cut -d, -f1,2 | tr '\n' ' '
echo
"$NPUSIM" trace review traces/rtx5090/review.yaml --all | grep -A 1 ' holds  '
"$NPUSIM" trace review traces/rtx5090/review.yaml --format json | head -c 700
echo
try trace review $CONFIG
try trace review $SMALL
try trace review "$TMP/absent.yaml"
