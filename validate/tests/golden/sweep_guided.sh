# A guided search against the whole grid and against as many random points: hypervolume of latency and parts, in closed form.
# tier: nightly
. validate/tests/golden/common
STUDY=configs/studies/balance.yaml
rows() { "$NPUSIM" sweep "$@" --format csv 2>"$TMP/said" || { echo "exit $?"; cat "$TMP/said"; }; }
# Every point of a search is one of the grid: taken from its file, and not run once more.
rows $STUDY -o "$TMP/grid.db" >"$TMP/grid.csv"
grep -o '^npusim: [0-9]* points' "$TMP/said"
n=288 # a tenth
for seed in 1 2 3; do
	for kind in guided random; do
		sed "\$a sample: {kind: $kind, n: $n, seed: $seed}" $STUDY >"$TMP/s.yaml"
		rows "$TMP/s.yaml" -o "$TMP/grid.db" >"$TMP/$kind$seed.csv"
		grep -q ' 0 ran$' "$TMP/said" || cat "$TMP/said"
	done
done
# Area between a set's front and the worst of the grid, of what the whole grid's front has; the rest is what was missed.
missed() { # FILE
	awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		{ x = $col["latency_us"]; y = $col["parts"] }
		NR == FNR { if (x > worst_x) worst_x = x; if (y > worst_y) worst_y = y }
		{ print FILENAME == ARGV[1] ? "grid" : "set", x, y }
		END { print "worst", worst_x, worst_y }' "$TMP/grid.csv" "$1" | sort -k1,1r -k2,2g -k3,3g |
		awk '$1 == "worst" { wx = $2; wy = $3; next }
			{ if (!($1 in low)) low[$1] = wy }
			$3 < low[$1] { area[$1] += (wx - $2) * (low[$1] - $3); low[$1] = $3 }
			END { printf "%.6f\n", 1 - area["set"] / area["grid"] }'
}
for kind in guided random; do for seed in 1 2 3; do echo $kind "$(missed "$TMP/$kind$seed.csv")"; done; done >"$TMP/missed"
[ -n "${NPUSIM_SHOW-}" ] && cat "$TMP/missed"
awk '{ sum[$1] += $2; if ($2 > most[$1]) most[$1] = $2 }
	END {
		print (most["guided"] < 0.005 ? "every search" : "not every search") " of a tenth of the points finds 99.5 % of the front";
		print (2 * sum["guided"] < sum["random"] ? "three searches miss" : "three searches do not miss") \
			" less than half of what random points miss" }' "$TMP/missed"
# The option does the same as the file, each point once and run here, and goes on where it was.
rows $STUDY --guided $n -o "$TMP/r.db" >"$TMP/option.csv"
cmp "$TMP/guided1.csv" "$TMP/option.csv" && echo "--guided is the same"
grep generations "$TMP/said"
tail -n +2 "$TMP/option.csv" | cut -d, -f2-7 | sort | uniq -d | wc -l
rows $STUDY --guided $n -o "$TMP/r.db" -j1 >"$TMP/again.csv"
cmp "$TMP/option.csv" "$TMP/again.csv" && grep -o '[0-9]* ran$' "$TMP/said"
"$NPUSIM" pareto "$TMP/r.db" | head -n 1 | cut -d' ' -f2-
