#!/usr/bin/env python3
"""Decode steps of whole models as traces, and what they take without a profiler.

A decoder written as stock libraries write it (norms and rope unfused, cache by concatenation, float logits), bf16, random
weights. Every step starts from the same cache.

  standard output                        a line of JSON: a step by the host's clock, eager and as one CUDA graph, and the
                                         graph by events on the device (medians of 15)
  PREFIX_MODEL_bBATCH_cCONTEXT.json.gz   three steps inside annotations decode_step_0.., of the host what is inside them
  --nodes FILE                           every kernel's time in eager mode and in the graph, side by side (medians of 3)

One model a process: from the fourth graph that a process captures, every node of a graph takes 0.2 to 0.4 us more on the
driver we have (traces/h200/micro/README.md), and the profiler slows what comes behind it.

usage: steps_torch.py [--out PREFIX] [--nodes FILE] MODEL:BATCH:CONTEXT     (PyTorch and a GPU)
"""
import argparse
import csv
import gzip
import json
import math
import os
import statistics
import tempfile
import time

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function

# layers, hidden, heads, cache heads, head, feed-forward, vocabulary, bias of q, k and v
MODELS = {
    "qwen05b": (24, 896, 14, 2, 64, 4864, 151936, True), "qwen15b": (28, 1536, 12, 2, 128, 8960, 151936, True),
    "qwen7b": (28, 3584, 28, 4, 128, 18944, 152064, True), "llama1b": (16, 2048, 32, 8, 64, 8192, 128256, False),
    "llama3b": (28, 3072, 24, 8, 128, 8192, 128256, False), "llama8b": (32, 4096, 32, 8, 128, 14336, 128256, False),
    "mistral7b": (32, 4096, 32, 8, 128, 14336, 32000, False), "yi6b": (32, 4096, 32, 4, 128, 11008, 64000, False),
    "gemma2b": (18, 2048, 8, 1, 256, 16384, 256000, False), "phi3mini": (32, 3072, 32, 32, 96, 8192, 32064, False),
    "qwen3_4b": (36, 2560, 32, 8, 128, 9728, 151936, False), "llama7b": (32, 4096, 32, 32, 128, 11008, 32000, False)}


def rope(x, cos, sin):
    h = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., h:], x[..., :h]), -1) * sin


def norm(x, g):
    f = x.float()
    return g * (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


class Model:
    def __init__(self, name, batch, context):
        self.layers, self.d, self.h, self.hk, self.e, ff, vocabulary, bias = MODELS[name]
        w = lambda *s: (torch.randn(s, device="cuda", dtype=torch.bfloat16) * 0.02)
        one = lambda: torch.ones(self.d, device="cuda", dtype=torch.bfloat16)
        self.table, self.head, self.last = w(vocabulary, self.d), w(vocabulary, self.d), one()
        self.steps = [dict(n1=one(), n2=one(), q=w(self.h * self.e, self.d), k=w(self.hk * self.e, self.d),
                           v=w(self.hk * self.e, self.d), o=w(self.d, self.h * self.e), gate=w(ff, self.d), up=w(ff, self.d),
                           down=w(self.d, ff), bias=[w(n * self.e) for n in (self.h, self.hk, self.hk)] if bias else [None] * 3,
                           ck=w(batch, self.hk, context, self.e), cv=w(batch, self.hk, context, self.e))
                      for _ in range(self.layers)]
        self.token = torch.zeros(batch, 1, dtype=torch.long, device="cuda")
        self.at = torch.full((batch, 1), context, dtype=torch.long, device="cuda")
        self.frequency = 10000 ** (-torch.arange(0, self.e, 2, device="cuda").float() / self.e)

    def step(self):
        b = self.token.shape[0]
        x = F.embedding(self.token, self.table)
        angle = self.at.unsqueeze(2).float() * self.frequency
        angle = torch.cat((angle, angle), -1)
        cos, sin = angle.cos().to(x.dtype).unsqueeze(1), angle.sin().to(x.dtype).unsqueeze(1)
        heads = lambda y, n: y.view(b, 1, n, self.e).transpose(1, 2)
        for s in self.steps:
            y = norm(x, s["n1"])
            q, k, v = (heads(F.linear(y, s[n], s["bias"][i]), c) for i, (n, c) in
                       enumerate((("q", self.h), ("k", self.hk), ("v", self.hk))))
            q, k = rope(q, cos, sin), rope(k, cos, sin)
            k, v = torch.cat((s["ck"], k), 2), torch.cat((s["cv"], v), 2)
            y = F.scaled_dot_product_attention(q, k, v, enable_gqa=self.h != self.hk)
            x = x + F.linear(y.transpose(1, 2).reshape(b, 1, self.h * self.e), s["o"])
            y = norm(x, s["n2"])
            x = x + F.linear(F.silu(F.linear(y, s["gate"])) * F.linear(y, s["up"]), s["down"])
        return F.linear(norm(x, self.last), self.head).float().argmax(-1)


def host_ms(call):
    torch.cuda.synchronize()
    t = time.perf_counter()
    call()
    torch.cuda.synchronize()
    return (time.perf_counter() - t) * 1e3


def device_ms(call):
    a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    a.record()
    call()
    b.record()
    torch.cuda.synchronize()
    return a.elapsed_time(b)


def median_ms(clock, call):
    for _ in range(3):
        call()
    return round(statistics.median(clock(call) for _ in range(15)), 4)


def trace_of(call, steps, shapes):
    raw = os.path.join(tempfile.mkdtemp(), "trace.json")
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=shapes) as p:
        for i in range(steps):
            with record_function(f"decode_step_{i}"):
                call()
                torch.cuda.synchronize()
    p.export_chrome_trace(raw)
    with open(raw) as f:
        return json.load(f)


def device_events(trace):
    return sorted((e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")),
                  key=lambda e: e["ts"])


def save(trace, path):
    """Without the host's events outside the steps."""
    notes = [(e["ts"], e["ts"] + e["dur"]) for e in trace["traceEvents"]
             if e.get("cat") == "user_annotation" and e["name"].startswith("decode_step")]
    host = ("user_annotation", "cpu_op", "cuda_runtime", "cuda_driver")
    trace["traceEvents"] = [e for e in trace["traceEvents"]
                            if e.get("ph") == "M" or e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
                            or (e.get("cat") in host and any(a <= e["ts"] <= b for a, b in notes))]
    with gzip.open(path, "wt", 9) as f:
        json.dump(trace, f, separators=(",", ":"))


def put_nodes(path, name, eager, graph):
    """Kernels alone, as a graph's copies may be kernels; medians over the steps, in order."""
    out = csv.writer(open(path, "w", newline=""), lineterminator="\n")
    out.writerow("model,nth,kernel,same,grid,eager_ns,graph_ns,gap_ns".split(","))
    kernels = [[e for e in device_events(t) if e["cat"] == "kernel"] for t in (eager, graph)]
    each = [len(k) // 3 for k in kernels]
    if each[0] != each[1]:
        raise SystemExit(f"{name}: {each[0]} kernels a step in eager mode, {each[1]} in the graph")
    for i in range(each[0]):
        e, g = ([k[i + j * each[0]] for j in range(3)] for k in kernels)
        gap = [k["ts"] - (kernels[1][i + j * each[0] - 1]["ts"] + kernels[1][i + j * each[0] - 1]["dur"]) if i else 0
               for j, k in enumerate(g)]
        med = lambda v: round(1000 * statistics.median(v))
        out.writerow([name, i, e[0]["name"][:70], g[0]["name"] == e[0]["name"], "x".join(map(str, e[0]["args"]["grid"])),
                      med([x["dur"] for x in e]), med([x["dur"] for x in g]), med(gap)])


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out")
    a.add_argument("--nodes")
    a.add_argument("model")
    a = a.parse_args()
    name, batch, context = a.model.split(":")
    label = f"{name}_b{batch}_c{context}"
    m, graph = Model(name, int(batch), int(context)), torch.cuda.CUDAGraph()
    with torch.no_grad():
        line = {"model": name, "batch": int(batch), "ctx": int(context), "eager_ms": median_ms(host_ms, m.step)}
        with torch.cuda.graph(graph):
            m.step()
        line["graph_ms"], line["graph_device_ms"] = median_ms(host_ms, graph.replay), median_ms(device_ms, graph.replay)
        print(json.dumps(line), flush=True)
        eager = trace_of(m.step, 3, True) if a.out or a.nodes else None
        if a.nodes:
            put_nodes(a.nodes, label, eager, trace_of(graph.replay, 3, False))
    if a.out:
        save(eager, f"{a.out}_{label}.json.gz")


if __name__ == "__main__":
    main()
