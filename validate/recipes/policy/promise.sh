# It runs by events and in closed form, finds other bytes than lru does, and its name is known wherever names are.
hits() { # POLICY FIDELITY
	value l2.hit_bytes run -c edge -m llama-3.2-1b --layers 1 --phase prefill --tokens 128 --set "l2.policy=$1" \
		--set 'l2.size=1 MiB' --fidelity "$2" --format json
}
for fidelity in event analytic; do
	fifo=$(hits fifo $fidelity) lru=$(hits lru $fidelity)
	holds "fifo has hits, $fidelity: '$fifo'" more "$fifo" 0
	holds "fifo and lru find other bytes, $fidelity: $fifo and $lru" [ "$fifo" != "$lru" ]
done
prints fifo config explain l2.policy
prints l2.policy=fifo completion query -- run -c edge --set l2.policy=
refuses fifo config check edge --set l2.policy=none
