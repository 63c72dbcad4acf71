#!/usr/bin/env python3
"""Row-wise and elementwise operators of a framework over grids of shapes, bytes in the L2 and in DRAM.

Each case runs five times on the same operands (warm), and five times behind a read of 256 MB (cold: its code and tables
have left the L2 too). Durations are the profiler's activity records, medians, kernel by kernel.

usage: sweep_torch.py >torch.csv     (PyTorch and a GPU; 20 s)
       ncu ... sweep_torch.py --once     (each case once between profiler start and stop, for counters)
rows: kind,dtype,rows,cols,n,state,nth,kernel,grid,block,registers,shared,ns
"""
import bisect
import collections
import csv
import json
import os
import re
import statistics
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
cases = []


def grid(kind, dtypes, rows, cols, most):
    for t in dtypes:
        for c in cols:
            cases.extend((kind, dict(dtype=t, rows=r, cols=c)) for r in rows if r * c <= most)


for op in ("argmax", "sum"):
    grid(op, ["fp32"], (1, 2, 4, 8, 16, 64), (1024, 4096, 16384, 32768, 50304, 65536, 98304, 128256, 131072, 151936,
                                              200000, 256000, 400000, 1 << 19, 1 << 20, 1 << 22), 1 << 22)
grid("sum", ["fp32"], (264, 1056, 2112, 4224, 8448, 16896), (64, 128, 256, 384, 512, 544, 768, 896, 1024, 1536, 2048, 3072,
                                                            4096), 1 << 27)
grid("sum", ["fp32"], (132, 264, 528, 1056, 2112), (8192, 12288, 16384, 32768, 65536), 1 << 28)
grid("sum0", ["fp32"], (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096),
     (64, 256, 1024, 1280, 4096, 8192, 16384, 16896, 33792, 50688, 67584, 135168), 1 << 26)
for op in ("amax", "argmax"):
    grid(op, ["fp32"], (264, 2112, 4224), (256, 544, 1024, 2048), 1 << 24)
grid("softmax", DTYPES, (1, 2, 4, 8, 132, 264, 528, 1056, 2112, 8448),
     (32, 64, 128, 192, 256, 384, 512, 768, 896, 1024, 1280, 1408, 1664, 2048), 1 << 25)
grid("softmax", DTYPES, (1, 16, 132, 264, 528, 1056),
     (2304, 3072, 4096, 5120, 6144, 8192, 12288, 16384, 24576, 32768, 65536, 131072), 1 << 28)
for op in ("layernorm", "layernorm0", "rmsnorm", "rmsnorm0"):  # 0: without a scale
    grid(op, DTYPES, (1, 16, 32, 66, 132, 264, 528, 1056, 4224), (128, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536,
                                                                131072), 1 << 26)
grid("topk", ["fp32"], (1, 2, 6, 16, 64, 132, 150, 264, 323, 528, 1056, 2112),
     (16, 64, 128, 256, 416, 512, 768, 1024, 1025, 1280, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768, 65536,
      131072), 1 << 25)
grid("sort", ["fp32"], (1, 4, 16, 64, 132, 264, 528, 1056, 2112, 4096),
     (16, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 1536, 2048, 3000, 4096, 8192, 16384, 32768, 65536, 131072), 1 << 23)
grid("cumsum", ["fp32"], (1, 4, 16, 64, 264, 1056), (64, 1024, 4096, 16384, 65536), 1 << 24)
for op in ("transpose", "contig_slice"):
    for t in DTYPES:
        for r, c in ((64, 64), (128, 128), (256, 256), (512, 512), (1024, 1024), (2048, 2048), (4096, 4096), (1000, 1000),
                     (1023, 1025), (300, 5000), (64, 8192), (8192, 64)):
            cases.append((op, dict(dtype=t, rows=r, cols=c)))
for op in ("exp", "silu", "gelu", "add", "mul", "pow", "silumul", "cast", "cos", "copy", "rsqrt", "neg"):
    for t in DTYPES:
        for n in (256, 1024, 4096, 16384, 50000, 65536, 131072, 262144, 524288, 1000003, 1 << 20, 1572864, 1 << 21,
                  3 << 20, 1 << 22, 6000000, 1 << 23, 12 << 20, 1 << 24, 1 << 25):
            cases.append((op, dict(dtype=t, n=n)))


def make(kind, d):
    t = DTYPES[d["dtype"]]
    draw = lambda *s: torch.randn(s, device="cuda").to(t)
    if "n" in d:
        a, b = draw(d["n"]).abs_(), draw(d["n"])
        return {"exp": lambda: torch.exp(a), "silu": lambda: F.silu(a), "gelu": lambda: F.gelu(a), "add": lambda: a + b,
                "mul": lambda: a * b, "pow": lambda: a.pow(2), "silumul": lambda: F.silu(a) * b,
                "cast": lambda: a.to(DTYPES["fp32" if d["dtype"] == "bf16" else "bf16"]), "cos": lambda: torch.cos(a),
                "copy": lambda: a.clone(), "rsqrt": lambda: torch.rsqrt(a), "neg": lambda: -a}[kind]
    c = d["cols"]
    x, g, h = draw(d["rows"], c), torch.ones(c, device="cuda", dtype=t), torch.zeros(c, device="cuda", dtype=t)
    return {"argmax": lambda: x.argmax(-1), "sum": lambda: x.sum(-1), "amax": lambda: x.amax(-1), "sum0": lambda: x.sum(0),
            "softmax": lambda: torch.softmax(x, -1), "layernorm": lambda: F.layer_norm(x, (c,), g, h),
            "layernorm0": lambda: F.layer_norm(x, (c,)), "rmsnorm": lambda: F.rms_norm(x, (c,), g),
            "rmsnorm0": lambda: F.rms_norm(x, (c,)), "topk": lambda: torch.topk(x, min(6, c), -1),
            "sort": lambda: torch.sort(x, -1), "cumsum": lambda: x.cumsum(-1), "transpose": lambda: x.t().contiguous(),
            "contig_slice": lambda: x[:, :c // 2].contiguous()}[kind]


def once():
    for kind, d in cases:
        f = make(kind, d)
        f()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStart()
        f()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()


def launches(events):
    """Kernels, copies and sets by annotation, in order."""
    notes = sorted((e["ts"], e["ts"] + e["dur"], e["name"]) for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("case|"))
    starts = [n[0] for n in notes]
    calls = {e["args"]["correlation"]: e["ts"] for e in events
             if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    found = collections.OrderedDict((n[2], []) for n in notes)
    for e in sorted((e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")), key=lambda e: e["ts"]):
        at = calls.get(e["args"].get("correlation"))
        i = bisect.bisect_right(starts, at) - 1 if at is not None else -1
        if i >= 0 and at <= notes[i][1]:
            found[notes[i][2]].append(e)
    return found


def main():
    flush = torch.ones(64 << 20, device="cuda")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow("kind,dtype,rows,cols,n,state,nth,kernel,grid,block,registers,shared,ns".split(","))
    path = os.path.join(tempfile.mkdtemp(), "trace.json")
    for part in range(0, len(cases), 200):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
            for i, (kind, d) in enumerate(cases[part:part + 200]):
                f = make(kind, d)
                f()
                f()
                for state in ("warm", "cold"):
                    for rep in range(5):
                        if state == "cold":
                            flush.sum()
                        torch.cuda.synchronize()
                        with record_function(f"case|{i}|{state}|{rep}"):
                            f()
                        torch.cuda.synchronize()
        p.export_chrome_trace(path)
        with open(path) as f:
            found = launches(json.load(f)["traceEvents"])
        for i, (kind, d) in enumerate(cases[part:part + 200]):
            for state in ("warm", "cold"):
                reps = [found[f"case|{i}|{state}|{rep}"] for rep in range(5)]
                for k in range(min(map(len, reps))):
                    e, a = reps[0][k], reps[0][k]["args"]
                    name = re.sub(r"^void |at::native::|\(anonymous namespace\)::|at_cuda_detail::cub::(detail::)?", "", e["name"])
                    out.writerow([kind, d["dtype"], d.get("rows", ""), d.get("cols", ""), d.get("n", ""), state, k, name[:60],
                                  "x".join(map(str, a.get("grid", []))), "x".join(map(str, a.get("block", []))),
                                  a.get("registers per thread", ""), a.get("shared memory", ""),
                                  round(1000 * statistics.median(r[k]["dur"] for r in reps))])


if __name__ == "__main__":
    once() if "--once" in sys.argv else main()
