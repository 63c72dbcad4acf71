# Requests drawn: the curve of a server, and a log beside it.
. validate/tests/golden/common
T=number=6,prompt=50,output=8
try plot curve -c edge -m qwen2-0.5b --serve "$T,max_batch=4" --script | sed 's/[0-9][0-9]*\.[0-9][0-9]*/#/g' | grep -e title -e label -e '^#' | head -n 12
printf 'arrival_s,prompt,output,measured_ttft_ms,measured_total_ms\n0,50,8,20,100\n1,60,8,25,110\n' >"$TMP/log.csv"
try plot serve -c edge -m qwen2-0.5b --serve "requests=$TMP/log.csv" --script | grep -e 'measured' | sed 's/[0-9][0-9]*\.[0-9]* %/# %/g'
fails() { try plot "$@" 2>&1; }
fails serve -c edge -m qwen2-0.5b --script
fails serve -c edge -m qwen2-0.5b --serve rate=4/s --script
fails curve -c edge -m qwen2-0.5b --serve rate=4/s --script
fails curve -m qwen2-0.5b --script
fails curve -c edge -m qwen2-0.5b
