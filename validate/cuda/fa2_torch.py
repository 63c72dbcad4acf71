"""fa2_torch.py - FlashAttention 2 over one query as PyTorch has it: parts of the keys, and the kernel that joins them.

One query of 1 to 256 heads over 64 to 65536 keys, dimensions 64, 128 and 256, warm and behind a read of 256 MB. A row a
kernel, the median of its durations by activity record, in the columns of the other measurements here; no minimum and
maximum. `whole` is the kernel that is taken where keys are not split.

usage: python3 fa2_torch.py >fa2_cupti.csv
"""
import json
import os
import tempfile

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

KEYS = [64 << i for i in range(11)]
WARM, COLD = 8, 6


def kernels(call, flush):
    """Flash kernels of WARM calls and of COLD calls behind a flush, as (cold, event)."""
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for _ in range(WARM):
            call()
        for _ in range(COLD):
            flush.sum()
            call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as d:
        p.export_chrome_trace(os.path.join(d, "t.json"))
        with open(os.path.join(d, "t.json")) as f:
            events = [e for e in json.load(f)["traceEvents"] if e.get("cat") == "kernel"]
    cold = False
    for e in sorted(events, key=lambda e: e["ts"]):
        if "flash" in e["name"]:
            yield cold, e
        else:
            cold = True


def main():
    flush = torch.empty(1 << 28, device="cuda", dtype=torch.uint8)
    print("name,params,reps,min,median,max,unit,method")
    for dim in (64, 128, 256):
        for heads in (1, 4, 16, 64, 256):
            for keys in (k for k in KEYS if heads * k * dim * 4 < 3e9):
                q = torch.randn(1, heads, 1, dim, device="cuda", dtype=torch.bfloat16)
                k, v = (torch.randn(1, heads, keys, dim, device="cuda", dtype=torch.bfloat16) for _ in range(2))
                seen = {}
                with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                    for _ in range(2):
                        F.scaled_dot_product_attention(q, k, v)
                    torch.cuda.synchronize()
                    for cold, e in kernels(lambda: F.scaled_dot_product_attention(q, k, v), flush):
                        n = e["name"]
                        kind = "combine" if "combine" in n else "split" if "splitkv" in n else "whole"
                        seen.setdefault((kind, cold), []).append(e)
                for (kind, cold), some in seen.items():
                    some.sort(key=lambda e: e["dur"])
                    e = some[len(some) // 2]
                    a = e["args"]
                    print("fa2_%s,d=%d;heads=%d;kv=%d;grid=%s;threads=%d;smem=%d;regs=%d;state=%s,%d,,%.3f,,us,cupti" % (
                        kind, dim, heads, keys, "x".join(str(x) for x in a["grid"]), a["block"][0], a["shared memory"],
                        a["registers per thread"], "cold" if cold else "warm", len(some), e["dur"]))


if __name__ == "__main__":
    main()
