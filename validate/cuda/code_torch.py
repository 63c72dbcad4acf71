#!/usr/bin/env python3
"""What a kernel loses when other kernels ran since its last launch, or when its input was just written.

Each framework operator runs on operands that stay in the L2, behind nothing (warm), behind M other kernels of little
work and other code (others=M), behind a kernel that writes its first operand (producer), and behind both. Durations are
the profiler's activity records, of the operator's kernels one by one.

With `prompt`: operators of a prompt's size, also cold (behind a read of 256 MB), cold but for what a producer wrote (both),
and queued behind a kernel that waits, so that launches follow at once.

usage: code_torch.py >code.csv     (PyTorch and a GPU)
       code_torch.py prompt >prompt.csv
rows: kernel,op,params,grid,state,others,reps,min,median,max (us); of a prompt kernel,op,params,state,others,queued,min,median,max
"""
import json
import os
import statistics
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

REPS = 16
BF16, FP32 = torch.bfloat16, torch.float32


def make(*shape, dtype=BF16):
    return torch.randn(shape, device="cuda").to(dtype)


small = make(2048, dtype=FP32)
rest = [torch.exp, torch.cos, torch.tan, torch.erf, torch.log1p, torch.sinh, torch.acos, torch.digamma, torch.lgamma,
        torch.atan, torch.ceil, torch.frac, torch.sign, torch.sigmoid, torch.tanh, torch.asin, torch.exp2, torch.expm1,
        torch.floor, torch.trunc, torch.asinh, torch.acosh, torch.atanh, torch.cosh, torch.erfc, torch.i0, torch.log2,
        torch.log10, torch.round, torch.reciprocal, torch.logit, torch.square]


def operators():
    for n in (512, 4096, 32768):
        x, r, y, z = make(1, n // 128, 1, 128), make(1, 1, 1, 128), make(n), make(n)
        f = make(n, dtype=FP32)
        yield "mul_broadcast", f"n={n}", x, lambda x=x, r=r: x * r
        yield "neg_slice", f"n={n}", x, lambda x=x: -x[..., :64]
        yield "add", f"n={n}", y, lambda y=y, z=z: y + z
        yield "silu", f"n={n}", y, lambda y=y: F.silu(y)
        yield "to_fp32", f"n={n}", y, lambda y=y: y.float()
        yield "to_bf16", f"n={n}", f, lambda f=f: f.to(BF16)
        yield "pow", f"n={n}", f, lambda f=f: f.pow(2)
    for rows in (1, 8):
        f, b = make(rows, 2048, dtype=FP32), make(rows, 2048)
        s = make(rows, 1, dtype=FP32).abs()
        yield "rsqrt", f"n={rows}", s, lambda s=s: torch.rsqrt(s)
        yield "mul_column", f"rows={rows}", f, lambda f=f, s=s: f * s
        yield "mean", f"rows={rows}", f, lambda f=f: f.mean(-1, keepdim=True)
        yield "softmax", f"rows={rows}", f, lambda f=f: torch.softmax(f, -1)
        yield "rms_norm", f"rows={rows}", b, lambda b=b: F.rms_norm(b, (2048,))
        yield "argmax", f"rows={rows}", f, lambda f=f: f.argmax(-1)
        yield "topk", f"rows={rows}", f, lambda f=f: torch.topk(f, 6, -1)
        yield "cat_half", f"rows={rows}", b, lambda b=b: torch.cat((b[:, 1024:], b[:, :1024]), -1)
        table, at = make(4096, 2048), torch.arange(rows, device="cuda")
        yield "embedding", f"rows={rows}", table, lambda t=table, a=at: F.embedding(a, t)
        for n in (256, 1024, 2048):
            w = make(n, 2048)
            yield "linear", f"rows={rows};k=2048;n={n}", b, lambda b=b, w=w: F.linear(b, w)
        w, g = make(2048, 8192), make(rows, 8192)
        yield "linear", f"rows={rows};k=8192;n=2048", g, lambda g=g, w=w: F.linear(g, w)
        k, v, q, c = make(rows, 8, 512, 128), make(rows, 8, 512, 128), make(rows, 16, 1, 128), make(rows, 8, 1, 128)
        yield "attention", f"rows={rows}", q, lambda q=q, k=k, v=v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
        yield "cat_cache", f"rows={rows}", c, lambda k=k, c=c: torch.cat((k, c), 2)
    r = make(1, 2048, dtype=FP32), make(64, 2048, dtype=FP32)
    yield "router", "experts=64", r[0], lambda r=r: F.linear(r[0], r[1])
    logits = make(1, 131072, dtype=FP32)
    yield "argmax", "cols=131072", logits, lambda l=logits: l.argmax(-1)


def prompt():
    for w, h, l, d in ((1, 8, 1, 128), (4, 8, 1, 128), (8, 8, 1, 128), (8, 32, 1, 128), (32, 32, 1, 128), (1, 8, 512, 64),
                       (1, 16, 273, 128), (1, 32, 512, 64), (1, 32, 1024, 128)):
        x = make(w, l, h, d).transpose(1, 2)
        a, p = -x[..., d // 2:], f"{w}x{h}x{l}x{d}"
        c, e = a.contiguous(), x[..., :d // 2].contiguous()
        yield "cat_rotated", p, a, lambda: torch.cat((a, x[..., :d // 2]), -1)
        yield "cat_rows", p, c, lambda: torch.cat((c, e), -1)
        yield "neg_half", p, x, lambda: -x[..., d // 2:]
    for r, c in ((257, 1024), (273, 1280), (512, 2048)):
        f, y, g, p = make(r, c, dtype=FP32), make(r, c), make(c), f"{r}x{c}"
        i = torch.randint(0, r, (r * 6,), device="cuda")
        o, u = torch.argsort(i), make(r * 6, c)
        v = u * 1
        yield "layer_norm", p, y, lambda: F.layer_norm(y, (c,), g, g)
        yield "mean", p, f, lambda: f.mean(-1)
        yield "to_fp32", p, y, lambda: y.float()
        yield "to_bf16", p, f, lambda: f.to(BF16)
        yield "gather", p, y, lambda: y[i]
        yield "put", p, u, lambda: v.index_put_((o,), u)
        yield "sort", p, i, lambda: i.sort()
    for m, k, n in ((257, 1024, 4096), (257, 4096, 1024), (273, 1280, 1792), (512, 2048, 512), (512, 2048, 2048),
                    (512, 2048, 8192), (512, 8192, 2048), (3, 1280, 896)):
        y, w = make(m, k), make(n, k)
        yield "linear", f"{m}x{k}x{n}", y, lambda: F.linear(y, w)


def measure(operator, before):
    for _ in range(3):
        before()
        operator()
    torch.cuda.synchronize()
    count = []
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as run:
        for _ in range(REPS):
            before()
            operator()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        run.export_chrome_trace(os.path.join(folder, "t.json"))
        with open(os.path.join(folder, "t.json")) as f:
            events = json.load(f)["traceEvents"]
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    return [kernels[i:i + len(kernels) // REPS] for i in range(0, len(kernels), len(kernels) // REPS)]


def warm_and_displaced():
    print("kernel,op,params,grid,state,others,reps,min,median,max")
    for op, params, first, operator in operators():
        own = len(measure(operator, lambda: None)[0])
        for state in ("warm", "producer"):
            for others in (0, 1, 2, 4, 8, 16, 32):
                def before():
                    for f in rest[:others]:
                        f(small)
                    if state == "producer":
                        first.add_(1)
                turns = measure(operator, before)
                for i in range(own):
                    last = [turn[i - own] for turn in turns]
                    time = [k["dur"] for k in last]
                    grid = last[0]["args"]["grid"]
                    print(f'"{last[0]["name"][:60]}",{op},{params},{grid[0] * grid[1] * grid[2]},{state},{others},{REPS},'
                          f'{min(time):.3f},{statistics.median(time):.3f},{max(time):.3f}')
            sys.stdout.flush()


def prompts():
    far = make(1 << 26, dtype=FP32)
    print("kernel,op,params,state,others,queued,min,median,max")
    for op, params, first, operator in prompt():
        own = len(measure(operator, lambda: None)[0])
        for state, others, queued in (("warm", 0, 0), ("warm", 0, 1), ("warm", 16, 0), ("producer", 0, 0), ("cold", 0, 0),
                                      ("both", 0, 0), ("both", 16, 0), ("both", 16, 1)):
            def before():
                if queued:
                    torch.cuda._sleep(1000000)
                if state in ("cold", "both"):
                    far.sum()
                for f in rest[:others]:
                    f(small)
                if state in ("producer", "both"):
                    first.add_(0)
            for launch in zip(*[turn[-own:] for turn in measure(operator, before)]):
                time = sorted(k["dur"] for k in launch)
                print(f'"{launch[0]["name"][:100]}",{op},{params},{state},{others},{queued},'
                      f'{time[0]:.3f},{statistics.median(time):.3f},{time[-1]:.3f}', flush=True)


prompts() if sys.argv[1:] == ["prompt"] else warm_and_displaced()
