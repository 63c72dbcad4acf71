#!/usr/bin/env python3
"""Operator cases of a framework as traces: drawn by a seed, half of them out of the grids of traces/h200/operators, half
of random shapes between their ends.

Each case runs twice to warm up and five times inside annotations `case|KIND|SHAPE|REP`, each time on another copy of its
operands (configs/cases/operators.yaml says how many there are). All copies are made before the first call, and 256 MB of
something else are read then, so that operands are in DRAM. Kept of the profile: kernels, copies and sets, and what the
host did inside annotations.

usage: operators_torch.py --seed N --cases N --out PREFIX     (PyTorch and a GPU; about 10 cases a second)
       operators_torch.py --seed N --cases N --list           (the cases; needs neither)
writes PREFIX_0000.json.gz, PREFIX_0125.json.gz ...
"""
import argparse
import bisect
import gzip
import json
import math
import os
import random
import tempfile

BUDGET, PART = 300e6, 125
ELEMENTS = [1, 640, 1024, 1280, 4096, 6848, 8960, 16384, 26880, 40960, 65536, 131072, 262144, 600000, 1000003, 1048576,
            3000000, 4194304, 12000000, 16777216, 50000000, 67108864, 150000000]
ROWS, COLUMNS = [1, 2, 6, 16, 32, 64, 128, 264, 1024, 4096, 16384], [64, 128, 256, 896, 1280, 2048, 4096, 8192, 12288, 32768,
                                                                     65536, 129280]
BATCHES = [1, 2, 3, 4, 7, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 1024, 4096]
WIDE = [256, 512, 896, 1280, 1792, 2048, 3584, 4096, 5120, 6848, 7168, 8192, 14336, 18944, 28672]
UNARY = ("cast", "copy", "exp", "gelu", "neg", "rsqrt", "silu", "muls")


def log_uniform(r, low, high, step):
    return max(low, step * round(math.exp(r.uniform(math.log(low), math.log(high))) / step))


class Draw:
    """One shape: of a grid's values, or random between their ends."""

    def __init__(self, r):
        self.r, self.random = r, r.random() < 0.5

    def of(self, values, step=1):
        return log_uniform(self.r, values[0], values[-1], step) if self.random else self.r.choice(values)


def draw_gemm(d, r, dtype):
    m = d.of(BATCHES if dtype == "bf16" else [16, 32, 64, 256, 1024] if dtype == "fp8" else [1, 4, 16, 64, 256])
    if r.random() < 0.4 and dtype != "fp8":
        m = 1
    k = d.of(WIDE, 64)
    n = d.of(WIDE + [32768, 128256, 129280], 64) if r.random() < 0.9 else r.choice([64, 128])
    if dtype == "fp8":
        m, k, n = 16 * max(1, m // 16), max(512, k), max(512, n)
    return {"K": k, "M": m, "N": n}, 2 * m * k * n < 4e12 and k * n < 7e8 and m * n < 3e8


def draw_decode(d, r):
    heads = r.choice([(8, 1), (8, 8), (10, 10), (16, 2), (16, 16), (24, 8), (28, 4), (32, 8), (32, 32), (40, 8), (40, 10)])
    s = dict(b=d.of([1, 2, 3, 4, 8, 16, 24, 64]), d=r.choice([64, 128]), h=heads[0], hk=heads[1],
             lk=d.of([128, 256, 512, 800, 1024, 2048, 4096, 8192, 16384, 32768]), lq=1)
    return s, 4 * s["b"] * s["hk"] * s["lk"] * s["d"] < 4e9


def draw_prefill(d, r):
    h, n = r.choice([8, 10, 12, 16, 32]), d.of([256, 512, 1024, 2048, 4096, 8192])
    s = dict(b=r.choice([1, 2, 4, 8, 16]), causal=r.choice([0, 1]), d=r.choice([64, 128]), h=h, hk=h, lk=n, lq=n)
    return s, s["b"] * h * n * n * s["d"] < 1e12


def draw_case(r):
    d, x = Draw(r), r.random()
    t = r.choice(["bf16", "fp32"])
    if x < 0.31:
        dtype = r.choices(["bf16", "fp16", "fp32", "fp8"], [290, 10, 60, 42])[0]
        return f"gemm_{dtype}", *draw_gemm(d, r, dtype)
    if x < 0.39:
        return "attn_decode", *draw_decode(d, r)
    if x < 0.43:
        return "attn_prefill", *draw_prefill(d, r)
    if x < 0.44:
        return "bmm_bf16", dict(b=r.choice([6, 8, 128]), k=d.of([128, 512, 896, 1280], 32), m=r.choice([1, 64, 128]),
                                n=d.of([128, 512, 1280, 1792], 32)), True
    if x < 0.46:
        s = dict(b=r.choice([1, 4, 16]), d=r.choice([64, 128]), h=r.choice([8, 10, 32]), s=d.of([128, 512, 1024, 4096, 16384]))
        return "cat_bf16", s, s["b"] * s["h"] * s["s"] * s["d"] < 3e8
    if x < 0.64:
        op = r.choice(("elt_",) * 2 + ("ew_",) * 3)
        op += r.choice(("add", "cast", "cos", "exp", "gelu", "pow", "silu", "silumul") if op == "elt_" else ("add", "mul") + UNARY)
        return f"{op}_{t}", dict(n=d.of(ELEMENTS)), True
    if x < 0.70:
        return draw_decode_op(d, r)
    op = r.choice(["mean", "sum", "sum0", "softmax", "softmax", "rmsnorm", "rmsnorm", "layernorm", "layernorm", "argmax", "amax",
                   "topk", "sort", "cumsum"])
    s = dict(cols=d.of(COLUMNS, 32), rows=d.of(ROWS))
    t = t if op in ("softmax", "rmsnorm", "layernorm") else "fp32"
    return f"row_{op}_{t}", s, s["cols"] * s["rows"] < (2e7 if op in ("sort", "cumsum", "topk") else 2e8)


def draw_decode_op(d, r):
    """What a decode step has beside products: picks, combinations, broadcasts, views made contiguous."""
    kind = r.choice(["moe_combine", "embedding", "index_put", "gather_bf16", "strided_row", "strided_col", "strided_negslice",
                     "strided_transpose"])
    if kind == "moe_combine":
        return kind, dict(h=r.choice([1280, 2048, 7168]), k=r.choice([6, 8]), t=d.of([1, 4, 16, 64, 256, 1024])), True
    if kind == "embedding":
        return kind, dict(cols=r.choice([1280, 4096]), rows=d.of([1, 16, 128, 1024, 8192]), v=129280), True
    if kind == "index_put":
        n = d.of([6, 64, 4096, 32768])
        return kind, dict(cols=r.choice([1024, 1280, 2048, 4096]), n=n, rows=min(n, d.of([1, 6, 64, 512, 4096]))), True
    if kind == "gather_bf16":
        return kind, dict(cols=r.choice([1280, 4096]), n=r.choice([64, 128256]), rows=d.of([6, 64])), True
    return kind, dict(b=d.of([1, 4, 16, 64, 256, 1024, 4096]), d=r.choice([64, 128]), h=r.choice([8, 10, 32])), True


def draw_all(seed, n):
    r, cases, met = random.Random(seed), [], set()
    while len(cases) < n:
        kind, shape, fits = draw_case(r)
        text = ",".join(f"{k}={v}" for k, v in sorted(shape.items()))
        if fits and (kind, text) not in met:
            met.add((kind, text))
            cases.append((kind, text, shape))
    return cases


def operand_sets(kind, s, make):
    """Bytes of what rotates, copies at the most, times; makes the i-th copy of the operands and what works on it."""
    import torch
    import torch.nn.functional as F
    t = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}.get(kind.rsplit("_", 1)[-1], torch.bfloat16)
    size = torch.empty(0, dtype=t).element_size()
    head, op = kind.split("_")[0], kind.split("_")[1] if "_" in kind else ""

    if kind == "gemm_fp8":
        one = torch.ones(1, device="cuda")
        a = make(s["M"], s["K"], torch.bfloat16).to(torch.float8_e4m3fn)
        return (s["K"] * s["N"], 64, 1, lambda: make(s["N"], s["K"], torch.bfloat16).to(torch.float8_e4m3fn),
                lambda w: torch._scaled_mm(a, w.t(), one, one, out_dtype=torch.bfloat16))
    if head == "gemm":
        a = make(s["M"], s["K"], t)
        return s["K"] * s["N"] * size, 64, 1, lambda: make(s["N"], s["K"], t), lambda w: F.linear(a, w)
    if head == "bmm":
        a = make(s["b"], s["m"], s["k"], t)
        return s["b"] * s["k"] * s["n"] * size, 32, 1, lambda: make(s["b"], s["k"], s["n"], t), lambda w: torch.bmm(a, w)
    if head == "attn":
        q = make(s["b"], s["h"], s["lq"], s["d"], t)
        kv = lambda: make(s["b"], s["hk"], s["lk"], s["d"], t)
        gqa = s["h"] != s["hk"]
        return (4 * s["b"] * s["hk"] * s["lk"] * s["d"], 16, 1, lambda: (kv(), kv()),
                lambda c: F.scaled_dot_product_attention(q, *c, is_causal=bool(s.get("causal")), enable_gqa=gqa))
    if head == "cat":
        new = make(s["b"], s["h"], 1, s["d"], t)
        return (2 * s["b"] * s["h"] * s["s"] * s["d"], 32, 1, lambda: make(s["b"], s["h"], s["s"], s["d"], t),
                lambda c: torch.cat((c, new), 2))
    if head in ("elt", "ew"):
        n, pair = s["n"], op in ("add", "mul") or (op == "silumul")
        other = make(n, t) if head == "ew" and pair else None
        fresh = head == "elt" and pair
        work = {"add": lambda x, y: x + y, "mul": lambda x, y: x * y, "silumul": lambda x, y: F.silu(x) * y,
                "cast": lambda x, y: x.to(torch.float32 if t == torch.bfloat16 else torch.bfloat16), "copy": lambda x, y: x.clone(),
                "cos": lambda x, y: torch.cos(x), "exp": lambda x, y: torch.exp(x), "gelu": lambda x, y: F.gelu(x),
                "neg": lambda x, y: -x, "pow": lambda x, y: x.pow(2), "rsqrt": lambda x, y: torch.rsqrt(x),
                "silu": lambda x, y: F.silu(x), "muls": lambda x, y: x * 1.5}[op]
        return (n * size * (2 if fresh else 1), 64, 2, lambda: (make(n, t).abs_(), make(n, t) if fresh else other),
                lambda c: work(*c))
    if kind == "moe_combine":
        x, w = make(s["t"], s["k"], s["h"], torch.float32), make(s["t"], s["k"], 1, torch.float32)
        return 0, 1, 1, lambda: None, lambda c: (x * w).sum(1).to(torch.bfloat16)
    if kind in ("embedding", "gather_bf16"):
        n = s.get("v", s.get("n"))
        rows = torch.randint(n, (s["rows"],), device="cuda")
        if kind == "embedding":
            table = make(n, s["cols"], t)
            return 0, 1, 1, lambda: None, lambda c: F.embedding(rows, table)
        return n * s["cols"] * 2, 64, 1, lambda: make(n, s["cols"], t), lambda c: c[rows]
    if kind == "index_put":
        x, new = make(s["n"], s["cols"], t), make(s["rows"], s["cols"], t)
        at = torch.randperm(s["n"], device="cuda")[:s["rows"]]
        return 0, 1, 1, lambda: None, lambda c: x.index_put_((at,), new)
    if head == "strided":
        shape = (s["b"], s["h"], 1, s["d"])
        row, col = make(1, 1, 1, s["d"], t), make(s["b"], s["h"], 1, 1, t)
        work = {"row": lambda x: x * row, "col": lambda x: x * col, "negslice": lambda x: -x[..., s["d"] // 2:],
                "transpose": lambda x: x.transpose(1, 3).contiguous()}[op]
        return math.prod(shape) * 2, 64, 1, lambda: make(*shape, t), work
    c = s["cols"]
    g, h = torch.ones(c, device="cuda", dtype=t), torch.zeros(c, device="cuda", dtype=t)
    work = {"mean": lambda x: x.mean(-1), "sum": lambda x: x.sum(-1), "sum0": lambda x: x.sum(0),
            "softmax": lambda x: torch.softmax(x, -1), "rmsnorm": lambda x: F.rms_norm(x, (c,), g),
            "layernorm": lambda x: F.layer_norm(x, (c,), g, h), "argmax": lambda x: x.argmax(-1),
            "amax": lambda x: x.amax(-1), "topk": lambda x: torch.topk(x, min(6, c), -1), "sort": lambda x: torch.sort(x, -1),
            "cumsum": lambda x: x.cumsum(-1)}[op]
    return s["rows"] * c * size, 64, 1, lambda: make(s["rows"], c, t), work


def trim(events):
    """Kernels, copies and sets, and the host's events inside annotations."""
    notes = sorted((e["ts"], e["ts"] + e["dur"]) for e in events
                   if e.get("cat") == "user_annotation" and e["name"].startswith("case|"))
    starts = [a for a, _ in notes]

    def inside(e):
        i = bisect.bisect_right(starts, e["ts"]) - 1
        return i >= 0 and e["ts"] <= notes[i][1]

    keep = [e for e in events if e.get("cat") in ("user_annotation", "cpu_op", "cuda_runtime", "cuda_driver") and inside(e)]
    calls = {e["args"]["correlation"] for e in keep if "correlation" in e.get("args", {})}
    return [e for e in events if e.get("ph") == "M"] + keep + \
           [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and e["args"].get("correlation") in calls]


def measure(cases, path):
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function

    def make(*shape):
        return torch.randn(shape[:-1], device="cuda", dtype=torch.float32).to(shape[-1])

    flush = torch.ones(64 << 20, device="cuda")
    raw = os.path.join(tempfile.mkdtemp(), "trace.json")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as p:
        for kind, text, shape in cases:
            size, most, times, new, work = operand_sets(kind, shape, make)
            n = min(most, math.ceil(BUDGET / (size * times))) if size else 1
            copies = [new() for _ in range(n)]
            flush.sum()
            torch.cuda.synchronize()
            for i in range(7):
                if i < 2:
                    work(copies[i % n])
                else:
                    with record_function(f"case|{kind}|{text}|{i - 2}"):
                        work(copies[i % n])
                torch.cuda.synchronize()
            del copies, new, work
    p.export_chrome_trace(raw)
    with open(raw) as f:
        trace = json.load(f)
    trace["traceEvents"] = trim(trace["traceEvents"])
    with gzip.open(path, "wt", 9) as f:
        json.dump(trace, f, separators=(",", ":"))


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--seed", type=int, required=True)
    a.add_argument("--cases", type=int, required=True)
    a.add_argument("--out")
    a.add_argument("--list", action="store_true")
    a = a.parse_args()
    cases = draw_all(a.seed, a.cases)
    if a.list:
        print("\n".join(f"{kind} {text}" for kind, text, _ in cases))
        return
    for i in range(0, len(cases), PART):
        measure(cases[i:i + PART], f"{a.out}_{i:04d}.json.gz")


if __name__ == "__main__":
    main()
