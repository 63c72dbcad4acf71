# Published rates and times of a prompt on Rockchip's NPUs: columns that are joined, no gap, a chip and a model that nobody described.
. validate/tests/golden/common

cat >"$TMP/rkllm.csv" <<'END'
platform,model,size,dtype,prompt,ttft_ms,tokens_s
RK3588,Qwen2,0.5B,w8a8,128,145.9,41.58
RK3588,TinyLLAMA,1.1B,w8a8,128,243.93,24.43
RK3576,Qwen2,0.5B,w4a16_g128,128,361.78,30.33
RK3576,TinyLLAMA,1.1B,w4a16,128,543.68,19.71
RK1808,TinyLLAMA,1.1B,w8a8,128,543.68,19.71
RK3576,TinyLLAMA,9.9B,w8a8,128,543.68,19.71
END
try workload rates "$TMP/rkllm.csv" --map configs/cases/rkllm.yaml
try workload rates "$TMP/rkllm.csv" --map configs/cases/rkllm.yaml --phase prefill
try workload rates "$TMP/rkllm.csv" --map configs/cases/rkllm.yaml --phase vision 2>&1
sed 's/\[model, size\]/[model, weight]/' configs/cases/rkllm.yaml >"$TMP/map.yaml"
try workload rates "$TMP/rkllm.csv" --map "$TMP/map.yaml" 2>&1
sed 's/\[model, size\]/[]/' configs/cases/rkllm.yaml >"$TMP/map.yaml"
try workload rates "$TMP/rkllm.csv" --map "$TMP/map.yaml" 2>&1
sed 's/gap: none/gap: 3/' configs/cases/rkllm.yaml >"$TMP/map.yaml"
try workload rates "$TMP/rkllm.csv" --map "$TMP/map.yaml" 2>&1
sed 's/145.9/soon/' "$TMP/rkllm.csv" >"$TMP/bad.csv"
try workload rates "$TMP/bad.csv" --map configs/cases/rkllm.yaml --phase prefill 2>&1
sed '1s/ttft_ms/ms/' "$TMP/rkllm.csv" >"$TMP/bad.csv"
try workload rates "$TMP/bad.csv" --map configs/cases/rkllm.yaml --phase prefill 2>&1
