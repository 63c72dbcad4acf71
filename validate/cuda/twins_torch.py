#!/usr/bin/env python3
"""twins_torch.py - the same decode step for several profilers: twins_torch.py MODEL eager|graph|both plain|nvtx|typed|kineto OUT.json

Both: eager steps, then the graph's, replay_0 and replay_1. Steps step_0 and step_1 of one decoder, behind 3 steps of warm-up. MODEL: small, capture_torch.py's; plain, 8 layers of
Llama-3.2-1B's shape with norms and rope unfused and 512 tokens in the cache; stock, transformers' Llama of that shape; olmoe and
qwen3moe, four layers of the mixtures' shapes in transformers with 8 sequences and 1, gpt-oss four with 4 (eager alone). How
its ops are recorded: plain, not at all; nvtx, emit_nvtx(record_shapes=True); typed, our torch_ops.py; kineto, PyTorch's
profiler, into OUT.json. All but kineto are for `npusim trace record -o T.db -- python3 twins_torch.py ...`."""
import contextlib
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "traces", "capture"))
import torch_ops

STEPS = 2


class Small:  # capture_torch.py's
    LAYERS, D, HEADS, WIDE, CONTEXT, VOCABULARY = 8, 1024, 16, 4096, 512, 32000

    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            D, WIDE, HEADS, CONTEXT = Small.D, Small.WIDE, Small.HEADS, Small.CONTEXT
            self.qkv, self.out = torch.nn.Linear(D, 3 * D, bias=False), torch.nn.Linear(D, D, bias=False)
            self.up, self.down = torch.nn.Linear(D, WIDE, bias=False), torch.nn.Linear(WIDE, D, bias=False)
            self.n1, self.n2 = torch.nn.RMSNorm(D), torch.nn.RMSNorm(D)
            self.register_buffer("k", torch.randn(1, HEADS, CONTEXT, D // HEADS))
            self.register_buffer("v", torch.randn(1, HEADS, CONTEXT, D // HEADS))

        def forward(self, x):
            D, HEADS = Small.D, Small.HEADS
            q, k, v = self.qkv(self.n1(x)).view(1, 1, 3, HEADS, D // HEADS).permute(2, 0, 3, 1, 4)
            a = F.scaled_dot_product_attention(q, torch.cat((self.k, k), 2), torch.cat((self.v, v), 2))
            x = x + self.out(a.transpose(1, 2).reshape(1, 1, D))
            return x + self.down(F.silu(self.up(self.n2(x))))

    def __init__(self):
        self.layers = torch.nn.ModuleList(Small.Layer() for _ in range(self.LAYERS)).cuda().bfloat16()
        self.head = torch.nn.Linear(self.D, self.VOCABULARY, bias=False).cuda().bfloat16()
        self.embed = torch.randn(self.VOCABULARY, self.D, device="cuda", dtype=torch.bfloat16)
        self.token = torch.zeros(1, 1, dtype=torch.long, device="cuda")

    def step(self):
        x = self.embed[self.token]
        for layer in self.layers:
            x = layer(x)
        return self.head(x).argmax(-1)


class Plain:  # Llama-3.2-1B's shape, norms and rope unfused, cache by concatenation, float logits; 8 of the 16 layers
    L, D, H, HK, E, FF, V, CONTEXT, BATCH = 8, 2048, 32, 8, 64, 8192, 128256, 512, 1

    def __init__(self):
        w = lambda *s: torch.randn(s, device="cuda", dtype=torch.bfloat16) * 0.02
        one = lambda: torch.ones(self.D, device="cuda", dtype=torch.bfloat16)
        self.table, self.head, self.last = w(self.V, self.D), w(self.V, self.D), one()
        self.layers = [dict(n1=one(), n2=one(), q=w(self.H * self.E, self.D), k=w(self.HK * self.E, self.D),
                            v=w(self.HK * self.E, self.D), o=w(self.D, self.H * self.E), gate=w(self.FF, self.D),
                            up=w(self.FF, self.D), down=w(self.D, self.FF), ck=w(self.BATCH, self.HK, self.CONTEXT, self.E),
                            cv=w(self.BATCH, self.HK, self.CONTEXT, self.E)) for _ in range(self.L)]
        self.inv = 1.0 / (500000 ** (torch.arange(0, self.E, 2, device="cuda").float() / self.E))
        self.pos = torch.full((1, 1), self.CONTEXT, dtype=torch.long, device="cuda")
        self.token = torch.zeros(self.BATCH, 1, dtype=torch.long, device="cuda")

    @staticmethod
    def norm(x, g):
        f = x.float()
        return g * (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)

    @staticmethod
    def rope(x, cos, sin):
        h = x.shape[-1] // 2
        return x * cos + torch.cat((-x[..., h:], x[..., :h]), -1) * sin

    def step(self):
        x = F.embedding(self.token, self.table)
        f = self.pos.float()[..., None] * self.inv
        f = torch.cat((f, f), -1)[:, None]
        cos, sin = f.cos().to(x.dtype), f.sin().to(x.dtype)
        for w in self.layers:
            n = self.norm(x, w["n1"])
            heads = lambda y, h: y.view(self.BATCH, 1, h, self.E).transpose(1, 2)
            q, k, v = heads(F.linear(n, w["q"]), self.H), heads(F.linear(n, w["k"]), self.HK), heads(F.linear(n, w["v"]), self.HK)
            q, k = self.rope(q, cos, sin), self.rope(k, cos, sin)
            k, v = torch.cat((w["ck"], k), 2), torch.cat((w["cv"], v), 2)
            g = self.H // self.HK
            k, v = (t[:, :, None].expand(-1, -1, g, -1, -1).reshape(self.BATCH, self.H, -1, self.E) for t in (k, v))
            a = F.scaled_dot_product_attention(q, k, v)
            x = x + F.linear(a.transpose(1, 2).reshape(self.BATCH, 1, -1), w["o"])
            n = self.norm(x, w["n2"])
            x = x + F.linear(F.silu(F.linear(n, w["gate"])) * F.linear(n, w["up"]), w["down"])
        return F.linear(self.norm(x, self.last), self.head).float().argmax(-1)


class Stock:  # transformers' Llama of the same shape
    def __init__(self, static):
        from transformers import LlamaConfig, LlamaForCausalLM
        c = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=8, num_attention_heads=32,
                        num_key_value_heads=8, head_dim=64, vocab_size=128256, max_position_embeddings=4096,
                        tie_word_embeddings=False)
        c._attn_implementation = "sdpa"
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            self.model = LlamaForCausalLM(c).eval()
        torch.set_default_dtype(torch.float32)
        self.model.to(torch.bfloat16)
        self.token = torch.zeros(1, 1, dtype=torch.long, device="cuda")
        self.static, self.context = static, 512
        from transformers import DynamicCache, StaticCache
        prompt = torch.zeros(1, self.context, dtype=torch.long, device="cuda")
        if static:
            try:
                self.cache = StaticCache(config=c, max_cache_len=1024)
            except TypeError:
                self.cache = StaticCache(c, 1, 1024, device="cuda", dtype=torch.bfloat16)
        else:
            self.cache = DynamicCache()
        self.model(prompt, past_key_values=self.cache, use_cache=True,
                   cache_position=torch.arange(self.context, device="cuda"))
        self.at = torch.tensor([self.context], device="cuda")

    def step(self):
        if not self.static and hasattr(self.cache, "crop"):
            self.cache.crop(self.context)
        return self.model(self.token, past_key_values=self.cache, use_cache=True, cache_position=self.at,
                          position_ids=self.at[None]).logits[:, -1].float().argmax(-1)


class Mixture(Stock):  # a cache of 1,024 tokens, 512 of them there
    SHAPES = {"olmoe": (8, "Olmoe", dict(intermediate_size=1024, num_attention_heads=16, num_key_value_heads=16, num_experts=64,
                                         num_experts_per_tok=8, vocab_size=50304)),
              "qwen3moe": (1, "Qwen3Moe", dict(moe_intermediate_size=768, num_attention_heads=32, num_key_value_heads=4,
                                               head_dim=128, num_experts=128, num_experts_per_tok=8, vocab_size=151936)),
              "gpt-oss": (4, "GptOss", dict(hidden_size=2880, intermediate_size=2880))}

    def __init__(self, name):
        import transformers
        batch, family, shape = self.SHAPES[name]
        c = getattr(transformers, family + "Config")(**{"hidden_size": 2048, "num_hidden_layers": 4, **shape})
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            self.model = getattr(transformers, family + "ForCausalLM")(c).eval()
        torch.set_default_dtype(torch.float32)
        self.cache = transformers.StaticCache(config=c, max_cache_len=1024)
        self.static, self.context = True, 512
        self.token = torch.randint(0, c.vocab_size, (batch, 1), device="cuda")
        self.model(torch.randint(0, c.vocab_size, (batch, self.context), device="cuda"), past_key_values=self.cache, use_cache=True,
                   cache_position=torch.arange(self.context, device="cuda"))
        self.at = torch.tensor([self.context], device="cuda")


def captured(step, ops):
    s = torch.cuda.Stream()
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        step()
    torch.cuda.current_stream().wait_stream(s)
    g = torch.cuda.CUDAGraph()
    with ops(), torch.cuda.graph(g):
        step()
    for _ in range(3):
        g.replay()
    torch.cuda.synchronize()
    return g


def steps(prefix, one, tool):
    for i in range(STEPS):
        if tool == "kineto":
            with torch.profiler.record_function(f"{prefix}_{i}"):
                one()
        else:
            torch.cuda.nvtx.range_push(f"{prefix}_{i}")
            one()
            torch.cuda.nvtx.range_pop()
    torch.cuda.synchronize()


def main():
    name, how, tool = sys.argv[1:4]
    torch.manual_seed(1)
    with torch.no_grad():
        m = {"small": Small, "plain": Plain, "stock": lambda: Stock(how == "graph")}.get(name, lambda: Mixture(name))()
        ops = {"nvtx": lambda: torch.autograd.profiler.emit_nvtx(record_shapes=True), "typed": torch_ops.ops}.get(
            tool, contextlib.nullcontext)
        if tool == "kineto":
            acts = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
            profiled = torch.profiler.profile(activities=acts, record_shapes=True)
        else:
            profiled = contextlib.nullcontext()
        for _ in range(3):
            m.step()
        torch.cuda.synchronize()
        graph = captured(m.step, ops) if how == "graph" else None
        with profiled as p:
            if graph:
                steps("step", lambda: (graph.replay(), torch.cuda.synchronize()), tool)
            else:
                with ops():
                    steps("step", lambda: m.step().flatten()[0].item(), tool)
            if how == "both":
                graph = captured(m.step, ops)
                steps("replay", lambda: (graph.replay(), torch.cuda.synchronize()), tool)
        if tool == "kineto":
            p.export_chrome_trace(sys.argv[4])
    print(name, how, tool, "ok")


main()
