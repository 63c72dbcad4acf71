# Machines that cannot work as they are written say so before they run, and a run says what it was really waiting for.
. validate/tests/golden/common
# 4 TB/s over 16 channels, which no HBM3 pin carries, behind a DMA of 2 TB/s and half a MiB of tiles.
printf 'name: promises\nclock: 1 GHz\ncores: 32\ndram: {kind: hbm3-6400, channels: 16, bandwidth: 4 TB/s}\n' >"$TMP/m.yaml"
hashless() { sed 's/[0-9a-f]\{16\}/HASH/'; }
(cd "$TMP" && try config check m.yaml && try config check m.yaml --format json) | hashless
try config check $CONFIG configs/npu/edge.yaml | hashless
printf 'op,m,n,k,dtype\ngemm,1,4096,4096,bf16\ngemm,1,4096,4096,bf16\n' >"$TMP/ops.csv"
for f in event analytic; do
	"$NPUSIM" run -c "$TMP/m.yaml" -t "$TMP/ops.csv" --start cold --fidelity $f --format json -o "$TMP/r.db" >"$TMP/$f.json"
	echo "$f: roofline $(field roofline_us "$TMP/$f.json") us by $(field roofline_bound "$TMP/$f.json"), ops bound by" \
		"$(sed -n 's/^      "bound": "\(.*\)",/\1/p' "$TMP/$f.json" | sort -u | tr '\n' ' ')"
	awk -v use="$(field bandwidth_use "$TMP/$f.json")" 'BEGIN { print "half of the promised bandwidth used:", (use > 0.5) }'
done
# What bounds it is not the pins: twice of them change little, and the roofline has its half.
"$NPUSIM" run -c "$TMP/m.yaml" -t "$TMP/ops.csv" --start cold --set 'dram.bandwidth=8 TB/s' --format json >"$TMP/twice.json"
awk -v a="$(field total_us "$TMP/event.json")" -v b="$(field total_us "$TMP/twice.json")" -v r="$(field roofline_us "$TMP/event.json")" \
	-v s="$(field roofline_us "$TMP/twice.json")" 'BEGIN { print "time as before within 3 %:", (b > 0.97 * a), "half the roofline:", (s < 0.51 * r) }'
echo "warnings of a run, in its table, its JSON and the database:"
"$NPUSIM" run -c "$TMP/m.yaml" -t "$TMP/ops.csv" --start cold --all | sed -n '/^warning/,/^$/p'
grep -c '"what": ' "$TMP/event.json"
"$NPUSIM" export "$TMP/r.db" warnings | cut -d , -f 1,2
"$NPUSIM" report "$TMP/r.db" --still -o "$TMP/page.html" >/dev/null && grep -c 'Mbit/s a pin are beyond hbm3' "$TMP/page.html"
# Arrays for many rows, and one row.
"$NPUSIM" run -c $CONFIG -t "$TMP/ops.csv" --set gemv.units=0 --set matrix.rows=128 --all | sed -n '/^warning/,/^$/p'
