# The snippets of results/schema.md in Python.
# figures: shown
. validate/tests/golden/common
for python in python3 /usr/bin/python3 ''; do
	[ -z "$python" ] || ! $python -c 'import pandas' 2>/dev/null || break
done
[ "$python" ] || { echo "not run: pandas is missing (Debian: python3-pandas)"; exit; }
. validate/tests/golden/export_bed
"$NPUSIM" export R.db points >points.csv
block python >all.py
$python all.py >out.py 2>&1 || cat out.py
[ -s out.py ] && echo "the snippets in Python say something"
