# A disk that fills up while a database is written, played by a limit on the size of files: one error, exit code 4, the
# results of the run are printed all the same, what was stored before stays, and no torn file is left.
. validate/tests/golden/common
quiet trace import $TRACE -o "$TMP/t.db"
step() { "$NPUSIM" run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 --all "$@" >"$TMP/out"; echo "exit $?"; }
limit() { trap '' XFSZ; ulimit -f "$1"; } # in blocks of 512 or 1024 bytes, by shell: both do
step -o "$TMP/r.db"
(limit 100 && step -o "$TMP/r.db" --seed 9)
grep -E '^(stored|kernels alone)' "$TMP/out" | cut -c1-13
"$NPUSIM" compare -r "$TMP/r.db" --format csv | cut -d, -f1,2
(limit 16 && step -o "$TMP/new.db")
(limit 16 && try trace import $TRACE -o "$TMP/new.db")
"$NPUSIM" trace show "$TMP/t.db" | head -n 1
ls "$TMP" | grep -v -e quiet -e -wal -e -shm
# The same run again, with room.
step -o "$TMP/r.db" --seed 9
grep '^stored' "$TMP/out"
