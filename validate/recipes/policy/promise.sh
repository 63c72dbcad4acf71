# It runs by events and in closed form, finds other bytes than lru does, and its name is known wherever names are.
printf 'op,m,n,k\ngemm,512,512,512\ngemm,512,512,256\ngemm,512,256,512\n' >"$TMP/ops.csv"
hits() { # POLICY FIDELITY
	value l2.hit_bytes run -c edge -t "$TMP/ops.csv" --set "l2.policy=$1" --set 'l2.size=3 MiB' --set l2.ways=12 --set l2.hash=xor \
		--fidelity "$2" --format json
}
for fidelity in event analytic; do
	fifo=$(hits fifo $fidelity) lru=$(hits lru $fidelity)
	holds "fifo has hits, $fidelity: '$fifo'" more "$fifo" 0
	holds "fifo and lru find other bytes, $fidelity: $fifo and $lru" [ "$fifo" != "$lru" ]
done
prints fifo config explain l2.policy
prints l2.policy=fifo completion query -- run -c edge --set l2.policy=
refuses fifo config check edge --set l2.policy=none
