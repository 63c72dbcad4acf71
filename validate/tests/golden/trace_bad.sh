# Traces that cannot be read: one clear line, exit code 4, and no file left behind.
# figures: shown
. validate/tests/golden/common
bad() { # NAME
	try trace import "$TMP/$1" -o "$TMP/bad.db"
	for f in "$TMP"/bad.db*; do [ ! -e "$f" ] || echo "left behind: $f"; done
}
head -c 30000 $TRACE >"$TMP/cut.json.gz"; bad cut.json.gz
{ head -c 30000 $TRACE; head -c 200 /dev/zero; tail -c +30201 $TRACE; } >"$TMP/damaged.json.gz"; bad damaged.json.gz
gzip -dc $TRACE | head -c 100000 >"$TMP/cut.json"; bad cut.json
: >"$TMP/empty.json"; bad empty.json
echo '{"traceEvents": []}' >"$TMP/no_events.json"; bad no_events.json
echo '{"hello": [1, 2, 3]}' >"$TMP/other.json"; bad other.json
echo 'just some text' >"$TMP/text.txt"; bad text.txt
cp validate/tests/data/kineto/unescaped_quotes.json "$TMP/quotes.json"; bad quotes.json
cp validate/tests/data/kineto/host_only.json "$TMP/host_only.json"; bad host_only.json
bad absent.json
mkdir "$TMP/folder"; bad folder
# A good file before a bad one is kept, and the message says so.
cp $SMALL "$TMP/small.json"
try trace import "$TMP/small.json" "$TMP/cut.json" -o "$TMP/some.db"
try trace show "$TMP/some.db" --format csv
# What is in a database stays when the next import fails.
try trace import "$TMP/cut.json.gz" -o "$TMP/some.db"
try trace show "$TMP/some.db" --format csv
try trace import "$TMP/small.json" -o "$TMP/folder"
try trace import "$TMP/small.json" -o "$TMP/absent/t.db"
try trace import "$TMP/small.json" -o "$TMP/text.txt"
