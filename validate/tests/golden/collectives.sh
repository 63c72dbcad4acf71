# Collectives of a trace: NCCL's kernels of one process of two become ops that the links say the time of; on a machine without links
# their measured time is carried.
set -u
T=validate/tests/data/links/two_of_nccl.json # five kernels in the order and form of PyTorch 2.6, made by hand
ops() { "$NPUSIM" run "$@" -t $T --fidelity analytic --format csv | cut -d, -f1-8; }
for on in hgx-h200 dsocr-8 h200; do
	echo "$on:"
	"$NPUSIM" run -c $on -t $T --fidelity analytic --format json >"$TMP/run.json" || echo "exit $?"
	grep -E '"(links_bytes|links_us|chips|carried_us)"' "$TMP/run.json"
done
# What a message takes is what the links' probe says.
for what in 'all_reduce:64 KiB' 'all_gather:1 MiB' 'all_to_all:128 KiB' 'reduce_scatter:2 MiB'; do
	"$NPUSIM" probe link -c hgx-h200 --engine --chips 2 --collective "${what%%:*}" --bytes "${what#*:}" --format csv | cut -d, -f1-4,11
done
ops -c hgx-h200
