# npusim plot: what is given to what draws, what is refused, and that a failure leaves what was there.
. validate/tests/golden/common
if "$NPUSIM" plot latency -c $CONFIG --largest 64KiB --samples 10 --script 2>&1 | grep -q "is not in this build"; then echo "not run: this build has no page"; exit 0; fi
fixed="dram.kind=fixed"
given latency -c $CONFIG --set $fixed --set "l2.size=1 MiB" --largest 1MiB --samples 100
quiet trace import $TRACE -o "$TMP/t.db"
quiet run -c $CONFIG -t "$TMP/t.db" --range decode_step_1 -o "$TMP/r.db"
# Measured numbers only: those of the model may change.
given breakdown 1 -r "$TMP/r.db" | grep -e categories -e '"measured' -A 3
try plot breakdown 9 -r "$TMP/r.db" --script
try plot breakdown first -r "$TMP/r.db" --script
try plot breakdown -r "$TMP/r.db" --script
try plot latency -c $CONFIG
try plot latency -c $CONFIG -o x.gif
try plot latency -o x.svg
try plot brakedown
try plot histogram
small="-c $CONFIG --largest 64KiB --samples 10"
mkdir -p "$TMP/dir.svg" "$TMP/bin" "$TMP/none"
PATH=$TMP/none try plot latency $small -o "$TMP/a.svg"
fake() { # NAME COMMANDS: in the place of a program
	printf '#!/bin/sh\n%s\n' "$2" >"$TMP/bin/$1"
	chmod +x "$TMP/bin/$1"
}
fake node 'printf half; echo >&2; echo "the page has no chart" >&2; exit 1'
echo "as it was" >"$TMP/a.svg"
faked() { PATH=$TMP/bin:$PATH try plot latency $small -o "$TMP/$1"; }
faked a.svg
faked dir.svg
faked absent/a.svg
fake node 'cat >/dev/null'
faked a.svg
cat "$TMP/a.svg"
fake node 'cat >/dev/null; echo "a picture"'
faked a.svg
cat "$TMP/a.svg"
(PATH=$TMP/bin try plot latency $small -o "$TMP/a.png") 2>&1
fake rsvg-convert 'printf "%s: " "$*"; cat'
faked a.png
cat "$TMP/a.png"
ls "$TMP" | grep -e svg -e png

# A table of ops: the worst rows are named, above equality to the left of their points, below to the right.
cat >"$TMP/ops.csv" <<-END
	op,name,m,n,k,measured_us
	gemm,slow,1,1024,1024,500
	gemm,fast,1,1024,1024,0.1
	gemm,twice,1,1024,1024,500
END
echo "\$ npusim plot error of a table, its names"
given error -c configs/npu/dsocr.yaml -t "$TMP/ops.csv" -o "$TMP/e.svg" | sed -n -e '/subtitle/p' -e '/texts/,$p'
"$NPUSIM" plot error -c configs/npu/dsocr.yaml -t "$TMP/ops.csv" -o "$TMP/e.svg" --start steady; echo "exit $?"
