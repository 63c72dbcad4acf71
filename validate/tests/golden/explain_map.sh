# How an op was mapped: among all ways, with a part of it fixed, with what cannot be, and where nothing is chosen.
. validate/tests/golden/common
OPS=workloads/ops/peers-gemm.csv
MACHINE=configs/npu/array-128.yaml
show() { "$NPUSIM" run -t $OPS --ops 0 "$@" 2>/dev/null | sed -n '/how it was mapped/,/^$/p'; }

show -c $MACHINE --explain-map 4
show -c $MACHINE --explain-map 'gemm 16x4096x4096' --set mapping.loops=mnk --set mapping.tile_k=512
show -c $MACHINE --explain-map 0 --set mapping.loops=stream
"$NPUSIM" run -t workloads/ops/attention.csv -c configs/npu/dsocr.yaml --ops 0 --explain-map 0 --format json 2>/dev/null |
	sed -n '/"mapping"/,/"order"/p'
try run -c $MACHINE -t $OPS --set mapping.stays=abc
try run -c $MACHINE -t $OPS --explain-map 6
try run -c configs/gpu/h200.yaml -t $OPS --explain-map 1
