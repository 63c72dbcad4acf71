# Models without a trace: what they are by count, their ops as a table, and what is refused.
# figures: shown
. validate/tests/golden/common

try workload list --format csv | sed -n '1,/^deepseek-r1,/p; /^gpt-oss/p; /^qwen3.5/p'
"$NPUSIM" workload list --format csv | sed 1d | wc -l
try workload list --quant --format csv
try workload show llama-3.1-8b --context 8192
try workload show qwen3.5-4b --format csv --quant w4a16_g128
try workload build llama-3.1-8b --context 2048 --style eager
try workload build deepseek-r1-nvfp4-v2 --batch 16 --context 4096 --style fused --format csv
try workload build deepseek-ocr --layers 2 --style npu -o "$TMP/ops.csv"
head -n 12 "$TMP/ops.csv"
try workload build mixtral-8x7b --phase prefill --tokens 100 --layers 1 --style fused -o "$TMP/ops.csv" --format csv
sed -n 's/^\([a-z_:0-9]*,[^,]*,[^,]*,[^,]*,[^,]*,[^,]*\),.*/\1/p' "$TMP/ops.csv" | head -n 14

try workload build deepseek-ocr --phase vision --style eager

# Such a table is read again, whatever the style.
for style in eager fused npu; do
	quiet workload build deepseek-v2-lite --layers 3 --style $style --quant w4a16_g128 -o "$TMP/ops.csv"
	"$NPUSIM" trace ops "$TMP/ops.csv" | sed -n '/^gemm/p; /^attention/p'
done

cat >"$TMP/config.json" <<'END'
{
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "_name_or_path": "some/tiny-llama",
  "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 2,
  "intermediate_size": 512, "vocab_size": 1000, "max_position_embeddings": 2048, "rms_norm_eps": 1e-05,
  "rope_scaling": null, "torch_dtype": "bfloat16", "use_cache": true
}
END
try workload build "$TMP/config.json" --format csv

# What is not so.
sed 's/"num_key_value_heads": 2/"num_key_value_heads": 3/' "$TMP/config.json" >"$TMP/heads.json"
sed 's/"model_type": "llama"/"model_type": "rwkv7"/' "$TMP/config.json" >"$TMP/unknown.json"
sed 's/"hidden_size": 256, //' "$TMP/config.json" >"$TMP/missing.json"
head -c 100 "$TMP/config.json" >"$TMP/cut.json"
for f in heads unknown missing cut nowhere; do
	try workload show "$TMP/$f.json" 2>&1
done
try workload show llama-3-8b 2>&1
try workload show qwen3.6-27b-nvfp4 2>&1
try workload build deepseek-v3.2 --style eager 2>&1
try workload build gemma-4-26b-a4b 2>&1
try workload build deepseek-ocr --context 9000 2>&1
try workload build deepseek-ocr --phase vision --layers 3 2>&1
try workload build llama-3.1-8b --phase vision 2>&1
try workload build deepseek-ocr --phase prefil 2>&1
try workload build deepseek-ocr --quant q4km 2>&1
try workload build deepseek-ocr --kv int3 2>&1
try workload build deepseek-ocr --style eagre 2>&1
try workload build deepseek-ocr --experts 65 2>&1
try workload build llama-3.1-8b --experts 6 2>&1
try workload build llama-3.1-8b --skew 1 2>&1
try workload build deepseek-ocr --skew 4.001 2>&1
try workload build deepseek-ocr --skew 1. 2>&1
try workload build deepseek-ocr --phase prefill --tokens 128 --style fused --skew 0.8
try workload build llama-3.1-8b --batch 70000 2>&1
try workload build llama-3.1-8b --batch 0 2>&1
try workload build llama-3.1-8b --tokens 9999 2>&1
try workload list --quant --architectures 2>&1
