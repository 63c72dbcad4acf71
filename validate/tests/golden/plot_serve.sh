# Requests drawn: the curve of a server, and a log beside it.
. validate/tests/golden/common
if "$NPUSIM" plot latency -c $CONFIG --largest 64KiB --samples 10 --script 2>&1 | grep -q "is not in this build"; then echo "not run: this build has no page"; exit 0; fi
T=number=6,prompt=50,output=8
given curve -c edge -m qwen2-0.5b --serve "$T,max_batch=4" | sed 's/"\([xy]\)": [0-9.]*/"\1": #/g'
printf 'arrival_s,prompt,output,measured_ttft_ms,measured_total_ms\n0,50,8,20,100\n1,60,8,25,110\n' >"$TMP/log.csv"
given serve -c edge -m qwen2-0.5b --serve "requests=$TMP/log.csv" | sed 's/"y": [0-9.]*/"y": #/; s/[-+0-9.]* %/# %/g'
fails() { try plot "$@" 2>&1; }
fails serve -c edge -m qwen2-0.5b --script
fails serve -c edge -m qwen2-0.5b --serve rate=4/s --script
fails curve -c edge -m qwen2-0.5b --serve rate=4/s --script
fails curve -m qwen2-0.5b --script
fails curve -c edge -m qwen2-0.5b
