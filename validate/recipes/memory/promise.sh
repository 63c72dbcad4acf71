# It is probed by its file, machines take it by its name, and a run has the bandwidth of its pins.
roofline() { value roofline_us run -c edge -m llama-3.2-1b --layers 1 --fidelity analytic --format json --set "dram.kind=$1"; }
ours=$(roofline toy-8000) slow=$(roofline hbm3-6400)
holds "faster pins, a shorter roofline: $ours and $slow us" more "$slow" "$ours"
ours=$(value total_us run -c edge -m llama-3.2-1b --layers 1 --format json --set dram.kind=toy-8000)
holds "events run it: '$ours' us" more "$ours" 0
prints 1024.00 probe dram -c configs/dram/toy-8000.yaml
prints dram.kind=toy-8000 completion query -- run -c edge --set dram.kind=
refuses toy-8001 config check edge --set dram.kind=toy-8001
