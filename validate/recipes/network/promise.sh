# It runs by events and in closed form, its hops are counted in time, energy and area, and its name is known.
figure() { # FIGURE KIND FIDELITY
	value "$1" run -c edge -m llama-3.2-1b --layers 1 --format json --set "noc.kind=$2" --set cores=16 --set 'noc.hop=200 ns' \
		--fidelity "$3"
}
for fidelity in event analytic; do
	torus=$(figure total_us torus $fidelity) mesh=$(figure total_us mesh $fidelity)
	holds "half the hops are sooner there, $fidelity: $torus and $mesh us" more "$mesh" "$torus"
done
torus=$(figure noc.noc_up torus analytic) mesh=$(figure noc.noc_up mesh analytic)
holds "half the hops take half the energy: $torus and $mesh uJ" more "$mesh" "$torus"
area() { run config area edge --set "noc.kind=$1" --set cores=16 | awk '$2 == "noc" { print $3 }'; }
holds "it has a mesh's routers" [ "$(area torus)" = "$(area mesh)" ]
holds "and not a crossbar's ports" [ "$(area torus)" != "$(area crossbar)" ]
prints torus config explain noc.kind
prints noc.kind=torus completion query -- run -c edge --set noc.kind=
refuses torus config check edge --set noc.kind=none
