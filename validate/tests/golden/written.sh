# No pass writes less than nothing: what is still owed to DRAM at its end is some of what it wrote, and its time is rounded up.
. validate/tests/golden/common
for f in analytic event; do
	"$NPUSIM" run -c configs/npu/dsocr.yaml -m llama-3.2-1b --batch 1 --context 2048 --fidelity $f --set cores=12 --set sram.size='1 MiB' \
		--set gemv.units=2 --set gemv.lanes=64 --set dram.channels=24 --set kv_buffer.size='32 MiB' --set l2.size='608 MiB' --format json |
		grep -E '^  "(dram_write_bytes|dirty_bytes|energy_uj)"'
done
