# Lists, policies and models that cannot be served: a line each, with the place where there is one.
. validate/tests/golden/common
serve() { try serve -c $CONFIG -m llama-3.1-8b "$@"; }
list() { printf "$1" >"$TMP/r.csv"; serve -r "$TMP/r.csv"; }
list 'arrival_s,prompt,output\n0,512,128\n0.5,-512,128\n'
list 'arrival_s,prompt,output\n0,512,0\n'
list 'arrival_s,prompt,output\n0,512,12.5\n'
list 'arrival_s,prompt,output\n0,131000,128\n'
list 'arrival_s,promt,output\n'
list 'arrival_s,prompt\n'
list 'arrival_s,prompt,output\nsoon,5,5\n'
list 'arrival_s,prompt,output\n'
list ''
list 'arrival_s,prompt,output\n0,"5,5\n'
serve -r "$TMP/absent.csv"
serve --rate 4/s --draft 4 --accept 1.2
serve --rate 4/s --draft 4 --accept -0.1
serve --rate 4/s --draft 4
serve --rate 4/s --accept 0.5
serve --rate 4/s --draft 4 --accept 0.5 --draft-model llama-3.2-1b --draft-share 0.1
serve --rate 4/s --draft 4 --accept 0.5 --draft-model llama-9
serve --rate 4/s --block 24
serve --rate 4/s --block 4096
printf 'model: 1\nmodel_type: llama\nsource: none\nhidden_size: 64\nnum_hidden_layers: 2\nnum_attention_heads: 4\nintermediate_size: 128\nvocab_size: 256\nmax_position_embeddings: 1000\n' >"$TMP/odd.yaml"
try serve -c $CONFIG -m "$TMP/odd.yaml" --rate 4/s --prompt 5 --output 5 --block 16
serve --rate 4
serve --rate 4/s --prompt 0
serve --rate 4/s --prompt normal:5:5
serve --rate 4/s --arrivals often
serve --arrivals poisson
serve --arrivals at-once --rate 4/s
serve --rate 4/s -r "$TMP/r.csv"
serve
serve --rate 4/s --max-batch 512 --max-tokens 256
serve --rate 4/s --kv-memory '1 MiB'
serve --rate 4/s --kv-memory '16 MiB'
serve --rate 4/s --kv-memory 16
serve --rate 4/s --memory 0
serve --rate 4/s --style eager
serve --rate 4/s --swap-rate '0 B/s'
try serve -c $CONFIG -m llama-3.1-70b --rate 4/s
serve --rate 4/s --set 'dram.capacity=0 B'
try serve -c $CONFIG --rate 4/s
try serve -m llama-3.1-8b --rate 4/s
echo "a bound that does not hold: what came of it, and exit 1"
serve --layers 1 --rate 4/s --number 2 --prompt 16 --output 2 --slo-tpot '1 us' --format json --check 0 2>&1 | sed -n '/TPOT/p; /exit/p' | sed 's/is [0-9.]* ms/is # ms/'
