# A measured decode step asked at another batch and context: the head and totals of a run, and what is refused.
. validate/tests/golden/common

step=traces/h200/steps/kineto_llama8b_b1_c2048.json.gz
try run -c $CONFIG -t $step --range decode_step_1 --batch 16 --context 512 --fidelity analytic --all | grep -E "^(. npusim|workload|measured|kind|[a-z]+ +[0-9]+ )" |
	cut -c1-150 | sed 's/ [0-9]*\.[0-9].*//'
dsocr=traces/h200/kineto_dsocr_b1_c1024.json.gz
for skew in 0 1; do
	try run -c $CONFIG -t $dsocr --range decode_step_1 --batch 8 --skew $skew --fidelity analytic --all |
		grep -E "^(. npusim|workload|experts|[a-z]+ +[0-9]+ )" | cut -c1-150 | sed 's/ [0-9]*\.[0-9].*//; s/ *$//' | sort
done
try run -c $CONFIG -t $dsocr --range decode_step_1 --context 8 --skew 1 2>&1
try run -c $CONFIG -t traces/h200/steps/kineto_olmoe_b1_c1024.json.gz --range decode_step_1 --batch 8 2>&1
try run -c $CONFIG -t workloads/ops/gb200-decode.csv --context 8 2>&1
try run -c $CONFIG -t $step --range decode_step_1 --batch 65537 2>&1
try run -c $CONFIG -t $step --range decode_step_1 --batch 16 --tokens 4 2>&1
