# What may be private in a profile: said at the import, left out with --redact; and names that a spreadsheet would run.
# figures: shown
. validate/tests/golden/common
S=$PWD/validate/tests/data/capture/small.spool
small=$PWD/$SMALL
cd "$TMP" || exit 1
LIB="--library $S"
sed 's/"name": "gemm_kernel<float>"/"name": "=1+cmd|x"/; s/"Concrete Inputs": \["", *""/"Concrete Inputs": ["", "the-secret"/' "$small" >private.json
grep -c the-secret private.json
holds() { grep -ac "$1" "$2" || true; }
try trace import private.json -o t.db
holds the-secret t.db
try trace import private.json -o t.db --redact
try trace import private.json -o r.db --redact
holds the-secret r.db
"$NPUSIM" trace ops t.db --all >ops
"$NPUSIM" trace ops r.db --all | cmp - ops && echo "the same ops"
"$NPUSIM" trace top t.db --format csv | cut -d, -f 1-4
quiet trace export t.db -o t.csv
cut -d, -f 1-4 t.csv
for how in "" --redact; do
	# shellcheck disable=SC2086
	try trace record $how -o c.db $LIB -- sh -c "cp $S \"\$NPUSIM_CAPTURE_DIR/4711-0.spool\"; echo \"redact: \$NPUSIM_CAPTURE_REDACT\""
	holds './decode --steps 1' c.db
	rm c.db
done
