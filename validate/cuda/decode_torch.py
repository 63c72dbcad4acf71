"""decode_torch.py - decode steps of a stock model, for a profiler: decode_torch.py wall|kineto|nvtx|one|plain

Llama-3.2-1B's shape with random weights, which take as long as trained ones (transformers 4.56 or newer), behind a prompt of 512
tokens, batch 1, bf16, eager; three steps of warm-up, then steps in ranges decode_step_0...: wall times twenty without any
profiler, kineto writes decode.json.gz of three by PyTorch's profiler, nvtx runs three under emit_nvtx, plain with nothing,
one between the calls that Nsight Compute's --profile-from-start off waits for. traces/CAPTURE.md says what for."""
import sys, time
import torch
from transformers import LlamaConfig, LlamaForCausalLM

mode = sys.argv[1]
config = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                     num_key_value_heads=8, head_dim=64, vocab_size=128256)
with torch.device("cuda"):
    model = LlamaForCausalLM(config).to(torch.bfloat16).eval()
model.requires_grad_(False)
out = model(torch.randint(config.vocab_size, (1, 512), device="cuda"), use_cache=True)


def steps(n, mark):
    global out
    for i in range(n):
        with mark(i):
            token = out.logits[:, -1:].argmax(-1)
            out = model(token, past_key_values=out.past_key_values, use_cache=True)
            torch.cuda.synchronize()


def range_of(i):
    return torch.cuda.nvtx.range(f"decode_step_{i}")


steps(3, lambda i: torch.cuda.nvtx.range(f"warm_up_{i}"))
if mode == "wall":
    begin = time.perf_counter()
    steps(20, range_of)
    print(f"a step takes {(time.perf_counter() - begin) * 50:.3f} ms")
elif mode == "kineto":
    from torch.profiler import ProfilerActivity, profile, record_function
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as p:
        steps(3, lambda i: record_function(f"decode_step_{i}"))
    p.export_chrome_trace("decode.json.gz")
elif mode == "nvtx":
    with torch.autograd.profiler.emit_nvtx(record_shapes=True):
        steps(3, range_of)
elif mode == "one":
    torch.cuda.cudart().cudaProfilerStart()
    steps(1, range_of)
    torch.cuda.cudart().cudaProfilerStop()
else:
    steps(3, range_of)
