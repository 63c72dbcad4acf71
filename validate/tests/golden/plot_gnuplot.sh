# npusim plot with gnuplot itself: a picture of each kind, the same to the byte when drawn again.
. validate/tests/golden/common
command -v gnuplot >/dev/null || { echo "not run: gnuplot is not installed"; exit; }
gnuplot -e 'set terminal pngcairo' >/dev/null 2>&1 || { echo "not run: this gnuplot has no cairo"; exit; }
for kind in svg png pdf; do
	for n in 1 2; do
		"$NPUSIM" plot latency -c $CONFIG --set dram.kind=fixed --largest 1MiB --samples 100 -o "$TMP/$n.$kind"
		[ $kind$n = pdf1 ] && sleep 1 # its file has a date
	done
	cmp "$TMP/1.$kind" "$TMP/2.$kind" && echo "$kind: the same twice"
done
head -c 5 "$TMP/1.pdf"; echo
head -c 4 "$TMP/1.png" | tail -c 3; echo
grep -c '>simulated<' "$TMP/1.svg"
