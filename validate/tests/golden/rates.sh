# Published rates of decoding against simulated ones: four rows of the map's kinds, and what is wrong with a table or a map.
. validate/tests/golden/common

cat >"$TMP/rates.csv" <<'END'
gpu,n_gpus,model,dtype_quant,batch,context,tok_s_per_stream,framework,reliability
RTX 4090,1,TinyLlama-1.1B,F16,1,tg512 (avg ctx ~256),330,llama.cpp,A
RTX 4090,1,TinyLlama-1.1B,Q4_0,1,tg512 (avg ctx ~256),500,llama.cpp,A
RTX 4090,1,TinyLlama-1.1B,Q4_0,1,tg1024 (avg ctx ~512),480,llama.cpp,A
4080 16GB,1,TinyLlama-1.1B,F16,1,short,250,vLLM 0.19,A
MI250X,1,TinyLlama-1.1B,F16,1,short,100,llama.cpp,A
RTX 4090,1,Qwen/Qwen3 0.6B-Instruct,BF16,1,short,300,vLLM 0.19,A
RTX 4090,1,Some-7B,F16,1,short,100,llama.cpp,A
RTX 4090,1,TinyLlama-1.1B,Q4_0,1,9000,100,llama.cpp,A
RTX 4090,1,Llama-3-70B,F16,1,short,9,llama.cpp,A
RTX 4090,2,TinyLlama-1.1B,F16,1,short,250,llama.cpp,A
END
try workload rates "$TMP/rates.csv" -n 2
try workload rates "$TMP/rates.csv" --format csv

cp configs/cases/rates.yaml "$TMP/map.yaml"
sed -i "s/gpu: gpu,/gpu: card,/" "$TMP/map.yaml"
try workload rates "$TMP/rates.csv" --map "$TMP/map.yaml" 2>&1
sed "s/330/fast/" "$TMP/rates.csv" >"$TMP/bad.csv"
try workload rates "$TMP/bad.csv" 2>&1
printf 'rates: 1\ngpus: [{is: "(", config: x}]\n' >"$TMP/map.yaml"
try workload rates "$TMP/rates.csv" --map "$TMP/map.yaml" 2>&1
printf 'rates: 1\ngpus: [{is: "a"}]\n' >"$TMP/map.yaml"
try workload rates "$TMP/rates.csv" --map "$TMP/map.yaml" 2>&1
try workload rates "$TMP/nowhere.csv" 2>&1
: >"$TMP/empty.csv"
try workload rates "$TMP/empty.csv" 2>&1
