# npusim trace record without a GPU: commands that leave spools behind as the capture library would, and what goes wrong.
# figures: shown
. validate/tests/golden/common
S=validate/tests/data/capture/small.spool
LIB="--library $S" # any file will do: nothing here is a CUDA program
record() { try trace record -o "$TMP/t.db" $LIB "$@"; }
leave() { [ ! -e "$TMP/t.db" ] || echo "there: t.db"; [ ! -e "$TMP/t.db.spools" ] || ls "$TMP/t.db.spools"; }

record -- sh -c "echo its own words; cp $S \"\$NPUSIM_CAPTURE_DIR/4711-0.spool\""
leave
try trace show "$TMP/t.db" --format csv
record -- sh -c "cp $S \"\$NPUSIM_CAPTURE_DIR/4711-0.spool\""
rm "$TMP"/t.db*
head -c 1390 $S >"$TMP/cut"
record --format json -- sh -c "cp $TMP/cut \"\$NPUSIM_CAPTURE_DIR/4712-0.spool\"; exit 3"
try trace top "$TMP/t.db" -n 1
rm "$TMP"/t.db*
record -- sh -c 'kill -9 $$'
record -- true
record -- sh -c "head -c 16 $S >\"\$NPUSIM_CAPTURE_DIR/9-0.spool\""
leave
record -- "$TMP/no-such-command"
record -- "$S"
leave
record -- sh -c "echo junk >\"\$NPUSIM_CAPTURE_DIR/7-0.spool\""
leave
record -- true
try trace import "$TMP/t.db.spools/7-0.spool" -o "$TMP/t.db" --from capture
leave
rm -r "$TMP/t.db.spools"
record
record --
try trace record -- true
try trace record -o "$TMP/no/folder/t.db" $LIB -- true
try trace record -o "$TMP/t.db" --library "$TMP/none.so" -- true
leave
cp "$NPUSIM" "$TMP/npusim"
NPUSIM="$TMP/npusim"
try trace record -o "$TMP/t.db" -- true | sed "s|nor in '[^']*'|nor in 'LIBRARIES'|"
leave
