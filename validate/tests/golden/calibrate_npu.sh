# npusim calibrate of an NPU: from times that the same machine took with other values, those values; and its refusals.
. validate/tests/golden/common
TPU=configs/npu/tpu-v6e.yaml
cat >"$TMP/shapes.csv" <<END
op,name,m,n,k,measured_us
gemm,one,1,2048,1024,1
gemm,some,64,4096,1024,1
gemm,many,2048,4096,1024,1
gemm,tall,16384,512,512,1
softmax,other,,,,1
END
sed -i 's/^op,name,m,n,k,/&rows,cols,/; s/^\(gemm.*\),1$/\1,,,1/; s/^softmax.*/softmax,other,,,,512,512,1/' "$TMP/shapes.csv"
# the times of START on a machine with a start and a gap between tiles of its own
measured() {
	"$NPUSIM" validate -c $TPU -t "$TMP/shapes.csv" --start "$1" --fidelity analytic --format csv \
		--set dispatch.launch='1500 ns' --set dma.sync='800 ns' 2>/dev/null |
		awk -F, 'NR == FNR { t[$1] = $5; next } FNR == 1 { print; next } { sub(/,1$/, "," t[$2]); print }' - "$TMP/shapes.csv"
}
measured cold >"$TMP/cold.csv"
measured resident >"$TMP/resident.csv"
cat >"$TMP/plan.yaml" <<END
calibrate: 1
fit:
- {key: dispatch.launch, from: 500 ns, to: 4 us, start: 3 us, reason: 'what a program starts with'}
- {key: dma.sync, from: 100 ns, to: 2 us, start: 300 ns, reason: 'between two tiles'}
END
"$NPUSIM" calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/cold.csv" --kind gemm --resident "$TMP/resident.csv" --folds 2 \
	-o "$TMP/found.yaml" 2>/dev/null | sed 's/   */  /g; s/---*/--/g' # columns are as wide as the folder's name
sed -n '/launch: \|sync: /p' "$TMP/found.yaml"
try validate -c "$TMP/found.yaml" -t "$TMP/cold.csv" --fidelity analytic --max-mape '0.1 %' --worst 0
head -n 2 "$TMP/cold.csv" >"$TMP/few.csv"
try calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/few.csv"
try calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/cold.csv" --kind attention
try calibrate -c $TPU -p "$TMP/plan.yaml"
try calibrate -c $TPU -t "$TMP/cold.csv"
try calibrate -c $TPU -p configs/calibrate/h200.yaml -t "$TMP/cold.csv"
try calibrate -c $TPU -p "$TMP/plan.yaml" -t "$TMP/cold.csv" --fidelity exact
try calibrate -c configs/gpu/h200.yaml -p configs/calibrate/h200.yaml -t $SMALL --kind gemm
# workers change nothing: neither where mappings are searched for, and some are held
sed 's/dma.sync/matrix.efficiency/; s/100 ns, to: 2 us, start: 300 ns/0.3, to: 1, start: 0.9/' "$TMP/plan.yaml" >"$TMP/search.yaml"
for j in 1 3; do
	"$NPUSIM" calibrate -c trainium1 -p "$TMP/search.yaml" -t "$TMP/cold.csv" --resident "$TMP/resident.csv" --kind gemm \
		--folds 2 -j $j >"$TMP/by$j" 2>/dev/null
done
cmp "$TMP/by1" "$TMP/by3" && echo 'the same by one worker and by three'
