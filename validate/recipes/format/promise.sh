# Bytes are those of 6 bits a value and 8 for 32 of them, wherever the format is asked for: of a machine's weights, of a row
# in a table of ops, of a model.
printf 'op,m,n,k,dtype,weight_dtype\ngemm,1,4096,4096,bf16,mxfp6\n' >"$TMP/ops.csv"
weights=$((4096 * 4096 * 6 / 8 + 4096 * 4096 / 32)) vector=$((4096 * 2))
prints ",mxfp6,.*,$((weights + vector)),$vector," trace ops "$TMP/ops.csv" --format csv
bytes() { value compulsory_bytes run -c edge -m llama-3.2-1b --layers 1 --fidelity analytic --format json "$@"; }
wide=$(bytes) eight=$(bytes --set weights.dtype=int8) six=$(bytes --set weights.dtype=mxfp6) four=$(bytes --set weights.dtype=mxfp4)
holds "six bits are less than eight and more than four: $four, $six and $eight of $wide bytes" more "$eight" "$six" "$four"
time=$(value total_us run -c edge -m llama-3.2-1b --layers 1 --format json --set weights.dtype=mxfp6)
holds "events run it: '$time' us" more "$time" 0
six=$(bytes --quant mxfp6a16) four=$(bytes --quant mxfp4a16)
holds "a model is stored in it: $four, $six and $wide bytes" more "$wide" "$six" "$four"
prints 'weights in mxfp6a16' workload show llama-3.2-1b
prints weights.dtype=mxfp6 completion query -- run -c edge --set weights.dtype=
refuses mxfp6 config check edge --set weights.dtype=mxfp5
