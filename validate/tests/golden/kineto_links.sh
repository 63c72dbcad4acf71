# How kernels came to their operators, beside what their ids alone said, on files that have all three ways.
# figures: shown
. validate/tests/golden/common
command -v sqlite3 >/dev/null || { echo "not run: there is no sqlite3 program"; exit 0; }
cd validate/tests/data/kineto && sh "$OLDPWD/validate/tools/kineto_links.sh" "$NPUSIM" old_ids.json small.json old_spelling.json duplicate_ids.json range_profiler.json
