# npusim plot: the scripts gnuplot is given, what is refused, and that a failure leaves what was there.
. validate/tests/golden/common
fixed="dram.kind=fixed"
try plot latency -c $CONFIG --set $fixed --set "l2.size=1 MiB" --largest 1MiB --samples 100 --script
try plot latency -c $CONFIG --largest 64KiB --samples 10 --script -o x.pdf | sed -n '1,3p'
quiet trace import $TRACE -o "$TMP/t.db"
quiet run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db"
# Measured numbers only: those of the model may change.
"$NPUSIM" plot breakdown 1 -r "$TMP/r.db" --script | grep -e 'set ytics' -e '^1[0-9.]* -0.2 0' -e "^set terminal"
try plot breakdown 9 -r "$TMP/r.db" --script
try plot breakdown first -r "$TMP/r.db" --script
try plot breakdown -r "$TMP/r.db" --script
try plot latency -c $CONFIG
try plot latency -c $CONFIG -o x.gif
try plot latency -o x.svg
try plot brakedown
try plot histogram
small="-c $CONFIG --largest 64KiB --samples 10"
mkdir "$TMP/dir.svg" "$TMP/bin" "$TMP/none"
PATH=$TMP/none try plot latency $small -o "$TMP/a.svg"
printf '#!/bin/sh\nprintf half\necho >&2\necho "line 3: undefined variable" >&2\nexit 1\n' >"$TMP/bin/gnuplot"
chmod +x "$TMP/bin/gnuplot"
echo "as it was" >"$TMP/a.svg"
PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/a.svg"
PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/dir.svg"
PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/absent/a.svg"
printf '#!/bin/sh\ncat >"%s"\n' "$TMP/asked" >"$TMP/bin/gnuplot"
PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/a.svg"
"$NPUSIM" plot latency $small --script | cmp - "$TMP/asked" && echo "gnuplot was given the script"
printf '#!/bin/sh\ncat >/dev/null\necho "a picture"\n' >"$TMP/bin/gnuplot"
cat "$TMP/a.svg"
PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/a.svg"
cat "$TMP/a.svg"
ls "$TMP" | grep svg

# A table of ops: the worst rows are named, above equality to the left of their points, below to the right.
cat >"$TMP/ops.csv" <<-END
	op,name,m,n,k,measured_us
	gemm,slow,1,1024,1024,500
	gemm,fast,1,1024,1024,0.1
	gemm,twice,1,1024,1024,500
END
echo "\$ npusim plot error of a table, its names"
"$NPUSIM" plot error -c configs/npu/dsocr.yaml -t "$TMP/ops.csv" -o "$TMP/e.svg" --script | grep -o "^set label.*"
"$NPUSIM" plot error -c configs/npu/dsocr.yaml -t "$TMP/ops.csv" -o "$TMP/e.svg" --start steady; echo "exit $?"
