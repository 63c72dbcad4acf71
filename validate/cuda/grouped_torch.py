"""grouped_torch.py - grouped products as PyTorch has them, of groups whose rows are given, and concatenations of caches.

A product: [rows, k] of `hit` of `groups` experts, `rows` each, drawn anew for each of six launches, times [groups, k, n] in
bf16; `transposed`: stored [groups, n, k]. A concatenation: a cache [batch, heads, length, dim] and a row, contiguous or a
slice of a fused projection; halves of heads behind one another. Medians of the kernel's durations by activity record.

Rows: products whose groups have given rows, in order ("64x16 192x16": 16 groups of 64, 16 of 192): even, of a few groups
alone, drawn from Dirichlet distributions, in pairs. Picks: a prompt of 1,024 random tokens through a stock mixture of random
weights, the rows of each expert and its products' times; CONFIG is a folder with the model's config.json.

usage: python3 grouped_torch.py products >grouped.csv; python3 grouped_torch.py concat >concat.csv
       python3 grouped_torch.py rows >grouped_rows.csv; python3 grouped_torch.py picks CONFIG... >picks.csv
"""
import itertools
import os
import sys

import torch
from torch.profiler import ProfilerActivity, profile

BF16 = torch.bfloat16


def kernels(calls, part):
    """Durations of the kernels whose name has `part`, of all calls behind two to warm up."""
    for call in calls[:2]:
        call()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for call in calls:
            call()
        torch.cuda.synchronize()
    return sorted(round(e.time_range.elapsed_us(), 3) for e in p.events()
                  if e.device_type == torch.autograd.DeviceType.CUDA and part in e.name)


def row(fields, us):
    print(",".join(str(x) for x in (*fields, len(us), us[0], us[len(us) // 2], us[-1])))


def product(w, groups, hit, rows, rep):
    picked = torch.randperm(groups, generator=torch.Generator().manual_seed(rep))[:hit]
    count = torch.zeros(groups, dtype=torch.int32)
    count[picked] = rows
    ends = count.cumsum(0).to(torch.int32).cuda()
    x = torch.randn(hit * rows, w.shape[1], device="cuda", dtype=BF16)
    return lambda: torch._grouped_mm(x, w, ends)


def products():
    print("groups,k,n,transposed,hit,rows,reps,min_us,median_us,max_us")
    for groups, k, n, t in ((64, 2048, 2048, 1), (64, 1024, 2048, 1), (32, 2880, 5760, 0), (32, 2880, 2880, 0),
                            (128, 2048, 1536, 1), (8, 4096, 14336, 1), (64, 2048, 2048, 0)):
        w = torch.randn(groups, *((n, k) if t else (k, n)), device="cuda", dtype=BF16)
        w = w.transpose(1, 2) if t else w
        for hit in (h for h in (1, 2, 4, 8, 16, 21, 31, 42, 64, 128) if h <= groups):
            for rows in (1, 16, 64, 65, 128, 129, 256) if hit == groups else (1, 2) if hit > 1 else (1, 64, 128, 512):
                us = kernels([product(w, groups, hit, rows, rep) for rep in range(6)], "GroupProblemShape")
                row((groups, k, n, t, hit, rows), us)


def listed(rows):
    runs = ((r, len(list(same))) for r, same in itertools.groupby(rows))
    return " ".join(f"{r}x{n}" if n > 1 else str(r) for r, n in runs)


def rows_of(groups, total):
    for r in (1, 16, 32, 48, 64, 65, 96, 127, 128, 129, 192, 256, 320, 512):
        yield [[r] * groups] * 4
    for hit in (1, 2, 4, 8, 16, 24):
        yield [[total // hit + (i < total % hit) for i in range(hit)] + [0] * (groups - hit)] * 3
    for alpha in (0.3, 1.0, 3.0, 10.0, 30.0):
        for _ in range(4):
            p = torch.distributions.Gamma(alpha, 1.0).sample((groups,))
            yield [torch.bincount(torch.multinomial(p / p.sum(), total, replacement=True), minlength=groups).tolist()]
    for a, b in ((64, 192), (32, 224), (112, 144), (1, 255)):
        yield [[a, b] * (groups // 2)] * 3
        yield [[a] * (groups // 2) + [b] * (groups // 2)] * 3


def rows():
    print("groups,k,n,transposed,rows,reps,min_us,median_us,max_us")
    shapes = [(32, 2880, 5760, 0, 4096), (32, 2880, 2880, 0, 4096), (64, 2048, 2048, 1, 8192),
              (64, 1024, 2048, 1, 8192), (32, 2880, 5760, 1, 4096), (128, 2048, 1536, 1, 8192)]
    shapes += [(32, k, n, 0, 0) for k, n in ((2816, 5760), (2944, 5760), (3072, 5760), (2880, 5632), (2048, 5760), (1408, 5760))]
    for groups, k, n, t, total in shapes:
        torch.manual_seed(7)
        w = torch.randn(groups, *((n, k) if t else (k, n)), device="cuda", dtype=BF16)
        w = w.transpose(1, 2) if t else w
        for counts in rows_of(groups, total) if total else ([[128] * groups] * 4,):
            calls = []
            for c in counts:
                x = torch.randn(sum(c), k, device="cuda", dtype=BF16)
                ends = torch.tensor(c).cumsum(0).to(torch.int32).cuda()
                calls.append(lambda x=x, ends=ends: torch._grouped_mm(x, w, ends))
            row((groups, k, n, t, listed(counts[0])), kernels(calls, "GroupProblemShape"))


def picks(folders):
    from transformers import AutoConfig, AutoModelForCausalLM
    print("model,layer,groups,k,n,rows,us")
    for folder in folders:
        seen, own, also = [], torch._grouped_mm, getattr(torch.nn.functional, "grouped_mm", None)

        def spy(x, w, offs=None, *rest, **more):
            seen.append((w.shape, offs.clone()))
            return own(x, w, offs, *rest, **more)

        config = AutoConfig.from_pretrained(folder)
        torch.set_default_dtype(BF16)
        with torch.device("cuda"):
            model = AutoModelForCausalLM.from_config(config).eval()
        torch.set_default_dtype(torch.float32)
        torch._grouped_mm = spy
        if also:
            torch.nn.functional.grouped_mm = spy
        ids = torch.randint(0, config.vocab_size, (1, 1024), device="cuda")
        with torch.no_grad():
            for _ in range(2):
                model(ids, use_cache=True)
            torch.cuda.synchronize()
            seen.clear()
            with profile(activities=[ProfilerActivity.CUDA]) as p:
                model(ids, use_cache=True)
                torch.cuda.synchronize()
        torch._grouped_mm = own
        if also:
            torch.nn.functional.grouped_mm = also
        took = sorted((e for e in p.events() if e.device_type == torch.autograd.DeviceType.CUDA and "GroupProblemShape" in e.name),
                      key=lambda e: e.time_range.start)
        for i, ((shape, offs), e) in enumerate(zip(seen, took)):
            ends = [0] + offs.tolist()
            print(",".join(str(v) for v in (os.path.basename(folder), i // 2, *shape, listed(b - a for a, b in zip(ends, ends[1:])),
                                            round(e.time_range.elapsed_us(), 3))))
        del model
        torch.cuda.empty_cache()


def concat():
    print("what,batch,heads,length,dim,reps,min_us,median_us,max_us")
    for b, h, n, d in ((1, 32, 1024, 96), (8, 32, 512, 96), (8, 32, 512, 128), (8, 32, 512, 64), (8, 32, 512, 80),
                       (8, 8, 512, 64), (8, 8, 512, 256), (4, 32, 512, 96), (16, 32, 512, 96), (8, 16, 512, 128),
                       (8, 32, 513, 96), (8, 32, 515, 128)):
        for what in ("new_contiguous", "new_transposed"):
            calls = []
            for _ in range(4):
                old = torch.randn(b, h, n, d, device="cuda", dtype=BF16)
                new = torch.randn(b, h, 1, d, device="cuda", dtype=BF16)
                if what == "new_transposed":
                    new = torch.randn(b, 1, 3 * h, d, device="cuda", dtype=BF16)[:, :, :h].transpose(1, 2)
                calls.append(lambda old=old, new=new: torch.cat([old, new], dim=-2))
            row((what, b, h, n, d), kernels(calls, "CatArray"))
    for b, h, n, d in ((1, 32, 1024, 128), (1, 32, 1024, 96), (1, 8, 1024, 64), (1, 16, 1024, 256), (8, 32, 1, 96),
                       (1, 64, 2048, 64), (1, 16, 273, 128), (1, 32, 512, 64)):
        calls = []
        for _ in range(4):
            x = torch.randn(b, n, h, d, device="cuda", dtype=BF16).transpose(1, 2)
            calls.append(lambda x=x: torch.cat((-x[..., d // 2:], x[..., :d // 2]), dim=-1))
        row(("rotate", b, h, n, d), kernels(calls, "CatArray"))
        calls = []
        for _ in range(4):
            x = torch.randn(b, h, n, d, device="cuda", dtype=torch.float32)
            calls.append(lambda x=x: torch.cat((x[..., d // 2:], x[..., :d // 2]), dim=-1))
        row(("halves_fp32", b, h, n, d), kernels(calls, "CatArray"))


if __name__ == "__main__":
    {"products": products, "concat": concat, "rows": rows, "picks": lambda: picks(sys.argv[2:])}[sys.argv[1]]()
