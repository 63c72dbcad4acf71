#!/usr/bin/env python3
"""Board energy and clock of operators, microbenchmarks and whole steps, and how the clock follows what runs.

Each case runs back to back for about a second (kernels in CUDA graphs; eager steps as the host gets on). Energy is the
board's own counter, slope between its updates, the first part dropped; time an iteration by events; clock and
temperature are medians of samples. Operands rotate over copies of 300 MB together (64 at the most), attention's over 16, unless the
kind says `hot`; results too where it says `own`. Clocks are read, never set.

usage: energy_torch.py --out DIR [--seed N] [--seconds S] [--budget S] [--only KIND,..]    (PyTorch, CuPy, NVML)
writes DIR/energy.csv, which npusim validate --energy reads, and DIR/clock.csv (the SM clock in the middle of work)
"""
import argparse
import csv
import math
import os
import random
import statistics
import sys
import threading
import time

import cupy
import pynvml as nv
import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, "validate/cuda")
import steps_torch

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32, "fp8": torch.float8_e4m3fn}
CODE = r"""
extern "C" {
__device__ long long now() { long long t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
__global__ void probe(long long *o, long long ns) { long long c = clock64(), t = now(), d; do d = now() - t; while (d < ns);
  o[0] = clock64() - c; o[1] = d; o[2] = t; }
__global__ void spin(float *o, int n) { float x = threadIdx.x; for (int i = 0; i < n; i++) { x = x * 1.0001f + 0.5f; }
  if (x == 12345.f) o[0] = x; }
__global__ void ffma(float *o, int n) { float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3, e = a * 1.5f, f = a * 2.5f, g = a * 3, h = a * 4;
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) { a = a * .99f + .5f; b = b * .99f + .5f; c = c * .99f + .5f; d = d * .99f + .5f;
      e = e * .99f + .5f; f = f * .99f + .5f; g = g * .99f + .5f; h = h * .99f + .5f; } }
  if (a + b + c + d + e + f + g + h == 12345.f) o[0] = a; }
__global__ void sfu(float *o, int n) { float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 8; k++) { asm volatile("ex2.approx.f32 %0, %0;" : "+f"(a)); asm volatile("ex2.approx.f32 %0, %0;" : "+f"(b));
      asm volatile("ex2.approx.f32 %0, %0;" : "+f"(c)); asm volatile("ex2.approx.f32 %0, %0;" : "+f"(d)); } }
  if (a + b + c + d == 12345.f) o[0] = a; }
__global__ void smem(float *o, int n) { extern __shared__ float4 s[]; float4 x = {0, 0, 0, 0}; int t = threadIdx.x;
  for (int i = t; i < 2048; i += blockDim.x) s[i] = make_float4(i * .37f, i * 1.7f, i * 2.9f, i); __syncthreads();
  for (int i = 0; i < n; i++) {
#pragma unroll
    for (int k = 0; k < 4; k++) { float4 y = s[(t + (i * 4 + k) * 32) & 2047]; x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w; } }
  if (x.x + x.y + x.z + x.w == 12345.f) o[0] = x.x; }
__global__ void rd(const float4 *p, long long n, float *o) { float4 x = {0, 0, 0, 0}; long long step = (long long)gridDim.x * blockDim.x;
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 3 * step < n; i += 4 * step) {
#pragma unroll
    for (int k = 0; k < 4; k++) { float4 y = __ldcg(p + i + k * step); x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w; } }
  if (x.x + x.y + x.z + x.w == 12345.f) o[0] = x.x; } }
"""
KERNELS = {}


def kernel(name, grid, block, args, smem=0):
    if not KERNELS:
        m = cupy.RawModule(code=CODE, options=("-std=c++14",))
        for k in ("probe", "spin", "ffma", "sfu", "smem", "rd"):
            KERNELS[k] = m.get_function(k)
    with cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
        KERNELS[name]((grid,), (block,), args, shared_mem=smem)


class Meter:
    """Samples the board while something runs."""

    def __init__(self):
        nv.nvmlInit()
        self.h, self.on, self.v = nv.nvmlDeviceGetHandleByIndex(0), False, []

    def sample(self):
        last, n = None, 0
        while self.on:
            e, t = nv.nvmlDeviceGetTotalEnergyConsumption(self.h), time.perf_counter()
            if e != last or n % 20 == 0:
                self.v.append((t, e if e != last else None, nv.nvmlDeviceGetClockInfo(self.h, nv.NVML_CLOCK_SM),
                               nv.nvmlDeviceGetClockInfo(self.h, nv.NVML_CLOCK_MEM), nv.nvmlDeviceGetTemperature(self.h, 0)))
                last = e
            n += 1
            time.sleep(0.001)

    def start(self):
        self.v, self.on = [], True
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()

    def stop(self, since):
        self.on = False
        self.thread.join()
        v = [x for x in self.v if x[0] >= since]
        u = [x for x in v if x[1] is not None]
        watts = (u[-1][1] - u[0][1]) / 1e3 / (u[-1][0] - u[0][0])
        med = lambda i: statistics.median_low(x[i] for x in v)
        return round(watts, 2), med(2), med(3), med(4), len(u), round(u[-1][0] - u[0][0], 3)


def graph_of(calls):
    """A graph of some milliseconds that goes through all calls alike; how many iterations it has."""
    for c in calls[:2]:
        c()
    torch.cuda.synchronize()
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    for c in calls[:8]:
        c()
    b.record()
    torch.cuda.synchronize()
    each = max(2e-3, a.elapsed_time(b) / len(calls[:8]))
    rounds = max(1, min(1 + 2000 // len(calls), math.ceil(4 / each / len(calls))))
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        for _ in range(rounds):
            for c in calls:
                c()
    return g.replay, rounds * len(calls)


def measure(meter, run, iterations, seconds):
    """Mean watts, microseconds an iteration, clocks, degrees."""
    marks, skip = [], 0.35 * seconds if seconds < 1 else 0.35
    meter.start()
    t0 = time.perf_counter()
    while time.perf_counter() - t0 < seconds:
        e = torch.cuda.Event(enable_timing=True)
        e.record()
        marks.append((time.perf_counter(), e))
        if run:
            run()
        else:
            time.sleep(0.01)
        if len(marks) > 3:
            marks[-3][1].synchronize()
    torch.cuda.synchronize()
    watts, sm, mem, c, n, w = meter.stop(t0 + skip)
    m = [e for t, e in marks if t >= t0 + skip]
    us = m[0].elapsed_time(m[-1]) * 1e3 / (len(m) - 1) / iterations if run else 0
    return [watts, round(us, 4) if run else "", round(watts * us, 3) if run else "", sm, mem, c, n, w]


def copies(bytes_):
    return int(min(64, max(1, math.ceil(300e6 / max(1, bytes_)))))


def gemm(kind, m, n, k):
    parts = kind.split("_")
    d = TYPES[parts[1]]
    make = torch.zeros if "zeros" in parts else torch.randn
    if parts[1] == "fp8":
        new = lambda *s: make(s, device="cuda", dtype=torch.bfloat16).to(d)
        one = torch.ones((), device="cuda")
        f = lambda x, w: torch._scaled_mm(x, w.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    else:
        new = lambda *s: make(s, device="cuda", dtype=d)
        f = F.linear
    x = new(m, k)
    w = [new(n, k) for _ in range(1 if "hot" in parts else copies(n * k * x.element_size()))]
    return [lambda y=y: f(x, y) for y in w], m * n * k, n * k * x.element_size()


def elementwise(kind, n):
    _, op, t = kind.split("_")[:3]
    d = TYPES[t]
    size = 4 if t == "fp32" else 2
    k = 1 if "hot" in kind else copies(2 * n * size)
    x = [torch.randn(n, device="cuda", dtype=d) for _ in range(k)]
    o = torch.bfloat16 if op == "cast" and t == "fp32" else torch.float32 if op == "cast" else d
    y = [torch.empty(n, device="cuda", dtype=o) for _ in range(k)]
    z = torch.randn(n, device="cuda", dtype=d) if op == "add" else None
    f = {"silu": lambda a, b: F.silu(a), "exp": lambda a, b: torch.exp(a, out=b), "add": lambda a, b: torch.add(a, z, out=b),
         "copy": lambda a, b: b.copy_(a), "fill": lambda a, b: b.fill_(1.5), "cast": lambda a, b: b.copy_(a)}[op]
    return [lambda a=a, b=b: f(a, b) for a, b in zip(x, y)], "", ""


def rows(kind, r, c):
    _, op, t = (kind.split("_") + ["fp32"])[:3]
    x = [torch.randn(r, c, device="cuda", dtype=TYPES[t]) for _ in range(copies(r * c * (4 if t == "fp32" else 2)))]
    g = torch.ones(c, device="cuda", dtype=TYPES[t])
    f = {"sum": lambda a: a.sum(-1), "softmax": lambda a: F.softmax(a, -1), "rmsnorm": lambda a: F.rms_norm(a, (c,), g),
         "topk": lambda a: torch.topk(a, min(8, c), -1), "sort": lambda a: torch.sort(a, -1)}[op]
    return [lambda a=a: f(a) for a in x], "", ""


def attention(kind, b, h, hk, lq, lk, d, causal):
    kv = 2 * 2 * b * hk * lk * d
    n = int(min(16, copies(kv)))
    q = torch.randn(b, h, lq, d, device="cuda", dtype=torch.bfloat16)
    k, v = ([torch.randn(b, hk, lk, d, device="cuda", dtype=torch.bfloat16) for _ in range(n)] for _ in "kv")
    return [lambda x=x, y=y: F.scaled_dot_product_attention(q, x, y, is_causal=bool(causal), enable_gqa=h != hk)
            for x, y in zip(k, v)], 2 * b * h * lq * lk * d // (2 if causal else 1), kv


def micro(kind, **s):
    o = torch.zeros(64, device="cuda")
    p = o.data_ptr()
    i32, i64, sms = cupy.int32, cupy.int64, torch.cuda.get_device_properties(0).multi_processor_count
    kind = kind.split("_")[0]
    if kind == "read":
        x = torch.randn(s["mib"] << 18, device="cuda")
        n = max(1, (1 << 32) // (s["mib"] << 20)) if s["mib"] < 1024 else 1
        call = lambda x=x, o=o: kernel("rd", s.get("blocks", 8) * sms, 512, (x.data_ptr(), i64(s["mib"] << 16), p))
        return [lambda: [call() for _ in range(n)]], "", n * (s["mib"] << 20)
    w = s.get("warps", 1)
    block, grid = min(w * 32, 512), sms * max(1, w * 32 // 512)
    n = {"ffma": 2000, "sfu": 1000, "smem": 4000, "spin": 200000}[kind]
    per = {"ffma": 64, "sfu": 32, "smem": 20, "spin": 1.06}[kind] * n
    if kind == "spin" and "threads" in s:
        block, grid = 1, 1
    moved = 16 * n * 4 * grid * block if kind == "smem" else ""
    return [lambda o=o: kernel(kind, grid, block, (p, i32(n)), 32768 if kind == "smem" else 0)], per * grid * block, moved


class Prefill(steps_torch.Model):
    """The same decoder over many tokens at once."""

    def step(self, each=lambda: None):
        t = self.tokens
        x = F.embedding(torch.zeros(1, t, dtype=torch.long, device="cuda"), self.table)
        angle = torch.arange(t, device="cuda").float()[:, None] * self.frequency
        angle = torch.cat((angle, angle), -1)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        heads = lambda y, n: y.view(1, t, n, self.e).transpose(1, 2)
        for s in self.steps:
            y = steps_torch.norm(x, s["n1"])
            q, k, v = (heads(F.linear(y, s[n]), c) for n, c in (("q", self.h), ("k", self.hk), ("v", self.hk)))
            q, k = steps_torch.rope(q, cos, sin), steps_torch.rope(k, cos, sin)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.h != self.hk)
            x = x + F.linear(y.transpose(1, 2).reshape(1, t, self.h * self.e), s["o"])
            y = steps_torch.norm(x, s["n2"])
            x = x + F.linear(F.silu(F.linear(y, s["gate"])) * F.linear(y, s["up"]), s["down"])
            each()
        return F.linear(steps_torch.norm(x[:, -1:], self.last), self.head).float().argmax(-1)


def step(kind, model, batch, context):
    if "prefill" in kind:
        m = Prefill(model, 1, 1)
        m.tokens = context
    else:
        m = steps_torch.Model(model, batch, context)
    return [m.step], "", ""


# --- cases -------------------------------------------------------------------------------------------------------

KN = [(2048, 2048), (3072, 3072), (4096, 12288), (11008, 4096), (4096, 11008), (896, 4864), (18944, 3584), (3584, 3584),
      (2560, 9728), (1024, 8192), (8192, 8192), (5120, 5120), (1536, 8960), (16384, 2048), (128256, 2048), (6144, 4096)]


def cases(seed):
    r, v = random.Random(seed), []
    for m in (1, 1, 1, 1, 2, 3, 8, 8, 24, 32, 32, 48, 96, 96, 100, 128, 192, 200, 256, 257, 273, 300, 384, 384, 512, 600, 768, 1024,
              1024, 1500, 2048, 3000, 4096):
        n, k = r.choice(KN)
        v.append(("gemm_bf16", dict(M=m, N=n, K=k)))
    v += [("gemm_bf16", dict(M=s, N=s, K=s)) for s in (768, 1536, 3072, 4096, 6144, 16384)]
    for m in (1, 16, 128, 512, 1024, 4096):
        n, k = r.choice(KN[:12])
        v += [("gemm_fp16", dict(M=m, N=n, K=k)), ("gemm_bf16_hot", dict(M=m, N=n, K=k))]
    for m in (16, 32, 128, 384, 512, 1024, 4096, 8192):
        n, k = r.choice(KN[:14])
        v.append(("gemm_fp8", dict(M=m, N=n, K=k)))
    v += [("gemm_fp32", dict(M=m, N=n, K=k)) for m, n, k in ((1, 4096, 4096), (64, 4096, 4096), (1024, 1024, 1024), (4096, 4096, 4096))]
    v += [("gemm_bf16_zeros", dict(M=m, N=n, K=k)) for m, n, k in ((1, 8192, 8192), (64, 14336, 4096), (1024, 1024, 1024),
                                                                    (512, 14336, 4096), (4096, 4096, 4096), (16384, 8192, 8192))]
    for op in ("silu", "exp", "add", "copy", "fill", "cast"):
        for t in ("bf16", "fp32"):
            v += [(f"ew_{op}_{t}" + ("" if op == "silu" else "_own"), dict(n=n)) for n in r.sample([16384, 65536, 262144, 524288, 1000003, 2097152, 4194304, 8388608, 33554432,
                                                                 100000000], 3)]
    v += [(f"ew_{op}_{t}_hot", dict(n=1 << 20)) for op, t in (("silu", "bf16"), ("exp", "fp32"), ("add", "bf16"), ("fill", "fp32"))]
    v += [(f"row_{op}{t}", dict(rows=8192, cols=8192)) for op, t in (("softmax", "_bf16"), ("softmax", ""), ("sum", "_bf16"), ("rmsnorm", ""))]
    for op in ("softmax", "sum", "rmsnorm", "topk", "sort"):
        v += [(f"row_{op}", dict(rows=a, cols=b)) for a, b in r.sample([(1, 4096), (16, 1280), (128, 4096), (512, 2048), (1024, 8192),
                                                                       (4096, 1024), (16384, 4096), (64, 65536)], 3)]
    for b, h, hk, lq, lk, d, c in ((1, 32, 8, 1, 1024, 128, 0), (4, 32, 8, 1, 2048, 128, 0), (32, 32, 8, 1, 4096, 128, 0), (8, 16, 2, 1, 4096, 64, 0),
                                   (64, 8, 8, 1, 1024, 128, 0), (1, 28, 4, 1, 65536, 128, 0), (2, 40, 40, 1, 8192, 128, 0),
                                   (1, 16, 16, 1024, 1024, 64, 0), (1, 32, 32, 2048, 2048, 128, 1), (4, 16, 16, 4096, 4096, 128, 0),
                                   (8, 10, 10, 273, 273, 128, 1), (1, 24, 24, 16384, 16384, 128, 1), (16, 32, 8, 1, 512, 64, 0)):
        v.append(("attention_turns", dict(b=b, h=h, hk=hk, lq=lq, lk=lk, d=d, causal=c)))
    v += [("read_cg", dict(mib=m, blocks=1)) for m in (8, 16, 24, 32, 96, 1024)] + [("read_cg", dict(mib=2048, blocks=8))]
    v += [("ffma", dict(warps=w)) for w in (4, 8, 32)] + [("sfu", dict(warps=w)) for w in (16, 64)]
    v += [("smem", dict(warps=w)) for w in (4, 16, 32)] + [("spin_one_thread", dict(threads=1)), ("spin_one_warp_an_sm", dict(warps=1)), ("spin_warps", dict(warps=4))]
    v += [("idle", {})] * 2
    for m, b, c in (("llama1b", 1, 256), ("llama3b", 1, 1536), ("llama8b", 1, 2048), ("llama8b", 64, 512), ("qwen05b", 1, 1024),
                    ("qwen7b", 8, 1024)):
        v.append(("step_graph", dict(model=m, batch=b, context=c)))
    v += [("step_eager", dict(model="llama1b", batch=1, context=256)), ("step_eager", dict(model="llama8b", batch=16, context=1024))]
    v += [("prefill_graph", dict(model=m, batch=1, context=c)) for m, c in (("llama1b", 512), ("llama1b", 2048), ("llama3b", 273), ("qwen05b", 257))]
    v += [("prefill_eager", dict(model=m, batch=1, context=c)) for m, c in (("llama1b", 512), ("llama3b", 1024), ("qwen05b", 257))]
    r.shuffle(v)
    return v


def calls_of(kind, shape):
    if kind.startswith("gemm"):
        return gemm(kind, shape["M"], shape["N"], shape["K"])
    if kind.startswith("ew"):
        return elementwise(kind, shape["n"])
    if kind.startswith("row"):
        return rows(kind, shape["rows"], shape["cols"])
    if kind.startswith("attention"):
        return attention(kind, **shape)
    if kind.startswith(("step", "prefill")):
        return step(kind, **shape)
    return micro(kind, **shape)


def one(meter, kind, shape, seconds):
    if kind == "idle":
        return measure(meter, None, 1, seconds) + ["", "", ""]
    with torch.no_grad():
        c, macs, moved = calls_of(kind, shape)
        if "eager" in kind:
            for _ in range(3):
                c[0]()
            run, n = c[0], 1
        else:
            run, n = graph_of(c)
        v = measure(meter, run, n, seconds) + [len(c), macs, moved]
    del c, run
    return v


# --- the clock -----------------------------------------------------------------------------------------------------

def probes(work, n, ns=40000, out=None):
    """`work` n times with a probe behind each; MHz and ns of each probe."""
    o = torch.zeros(n, 3, dtype=torch.int64, device="cuda")
    for i in range(n):
        work()
        kernel("probe", 1, 1, (o[i].data_ptr(), cupy.int64(ns)))
    torch.cuda.synchronize()
    return [(round(1e3 * c / d, 1), t) for c, d, t in o.tolist()]


def clocks(w):
    with torch.no_grad():
        for kind, m, n, k in (("gemm_bf16", 512, 14336, 4096), ("gemm_bf16", 512, 2048, 2048), ("gemm_bf16_zeros", 4096, 4096, 4096),
                              ("gemm_bf16", 64, 14336, 4096), ("gemm_bf16", 26, 896, 1280)):
            c, _, _ = gemm(kind, m, n, k)
            c[0]()
            for each in (1, 10, 100):
                torch.cuda.synchronize()
                time.sleep(0.4)
                at = [0]

                def work():
                    for _ in range(each):
                        c[at[0] % len(c)]()
                        at[0] += 1
                v = probes(lambda: None, 3) + probes(work, 40 if each < 100 else 20) + probes(lambda: None, 60)
                for i, (mhz, t) in enumerate(v):
                    w.writerow([kind, f"M={m},N={n},K={k},each={each}", i, mhz, t - v[0][1]])
            del c
        for model, tokens in (("llama1b", 512), ("qwen05b", 257), ("llama3b", 1024)):
            p = Prefill(model, 1, 1)
            p.tokens = tokens
            p.step()
            for turn in range(3):
                torch.cuda.synchronize()
                time.sleep(0.4)
                o = torch.zeros(4096, 3, dtype=torch.int64, device="cuda")
                at = [0]

                def each():
                    kernel("probe", 1, 1, (o[at[0]].data_ptr(), cupy.int64(20000)))
                    at[0] += 1
                each()
                for _ in range(2 if turn < 2 else 20):
                    p.step(each)
                torch.cuda.synchronize()
                v = o[:at[0]].tolist()
                for i, (c, d, t) in enumerate(v):
                    w.writerow(["prefill", f"model={model},tokens={tokens},turn={turn}", i, round(1e3 * c / d, 1), t - v[0][2]])
            del p


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out", required=True)
    a.add_argument("--seed", type=int, default=20261122)
    a.add_argument("--seconds", type=float, default=1.1)
    a.add_argument("--budget", type=float, default=1e9)
    a.add_argument("--only")
    a = a.parse_args()
    begin, meter = time.time(), Meter()
    torch.backends.cuda.matmul.allow_tf32 = False
    with open(os.path.join(a.out, "clock.csv"), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow("kind,shape,nth,sm_mhz,at_ns".split(","))
        if not a.only or "clock" in a.only:
            clocks(w)
    print(f"clocks {time.time() - begin:.0f} s", flush=True)
    with open(os.path.join(a.out, "energy.csv"), "w", newline="") as f:
        w = csv.writer(f, lineterminator="\n")
        w.writerow("kind,shape,watts,us,uj,sm_mhz,mem_mhz,celsius,updates,window_s,copies,work_ops,work_bytes".split(","))
        for kind, shape in cases(a.seed):
            if time.time() - begin > a.budget or (a.only and kind.split("_")[0] not in a.only.split(",")):
                continue
            try:
                w.writerow([kind, ",".join(f"{k}={v}" for k, v in shape.items())] + one(meter, kind, shape, a.seconds))
            except Exception as e:
                print(f"{kind} {shape}: {type(e).__name__} {str(e)[:200]}", flush=True)
            f.flush()
            torch.cuda.empty_cache()
    print(f"all {time.time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
