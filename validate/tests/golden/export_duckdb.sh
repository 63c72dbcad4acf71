# The snippets of results/schema.md in DuckDB, which Debian does not have.
# figures: shown
. validate/tests/golden/common
if ! command -v duckdb >/dev/null || ! duckdb -c 'install sqlite' >/dev/null 2>&1; then
	echo "not run: duckdb with its sqlite extension is missing"
	exit
fi
. validate/tests/golden/export_bed
"$NPUSIM" export R.db points >points.csv
block duckdb | duckdb >out.duck 2>&1 || cat out.duck
[ -s out.duck ] && echo "the snippets in DuckDB say something"
