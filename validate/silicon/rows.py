#!/usr/bin/env python3
"""rows.py - products timed on a chip of your own, as the table of ops that npusim validate and calibrate read.

    python3 validate/silicon/rows.py --backend torch --device cuda -o ROWS.csv      CUDA, ROCm
    python3 validate/silicon/rows.py --backend torch --device xpu  -o ROWS.csv      Intel; hpu: Gaudi, npu: Ascend
    python3 validate/silicon/rows.py --backend jax                 -o ROWS.csv      TPU, and what else JAX runs on
    python3 validate/silicon/rows.py --backend numpy               -o ROWS.csv      this host: a trial of the script

One product of m x k and k x n a row. Its time is that of many in a row, over their number, synchronised at the end: the
median of --repeats batches after one that is not counted. A batch is started as a whole where that can be (a graph of
PyTorch's, a compiled function of JAX's): starts on the host are no time of the chip. Weights are other copies in turn,
together more than --rotate. A product that takes no longer than the smallest one is marked.
"""
import argparse
import platform
import statistics
import sys
import time

# Half with few rows, half with many; sizes of models of 1 to 8 G parameters, and one that no power of two divides.
ROWS = [(1, 2048, 2048), (1, 8192, 2048), (1, 4096, 14336), (16, 4096, 4096), (64, 6144, 4096),
        (256, 2048, 2048), (512, 4096, 4096), (1000, 3000, 5000), (2048, 4096, 4096), (4096, 14336, 4096),
        (1, 4096, 4096), (1, 28672, 4096), (4, 6144, 4096), (32, 14336, 4096), (128, 4096, 4096),
        (256, 14336, 4096), (512, 3000, 1000), (1024, 2048, 8192), (2048, 6144, 4096), (4096, 4096, 4096)]


class Torch:
    """Any device of PyTorch; its module (torch.cuda, torch.xpu, torch.npu, ...) synchronises."""
    dtypes = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

    def __init__(self, device):
        import importlib
        import torch
        for plugin in ("torch_npu", "habana_frameworks.torch.core"):
            try:
                importlib.import_module(plugin)
            except ImportError:
                pass
        self.torch, self.device = torch, device
        self.module = None if device == "cpu" else getattr(torch, device)
        name = getattr(self.module, "get_device_name", None)
        self.chip = name() if name else device
        self.software = "PyTorch " + torch.__version__

    def make(self, rows, cols, dtype):
        return self.torch.randn(rows, cols, dtype=getattr(self.torch, self.dtypes[dtype]), device=self.device)

    def batch(self, a, weights, starts):
        def plain():
            for i in range(starts):
                last = self.torch.matmul(a, weights[i % len(weights)])
            return last

        if not hasattr(self.module, "CUDAGraph"):
            return plain
        plain()
        self.wait(None)
        graph = self.module.CUDAGraph()
        with self.module.graph(graph):
            plain()
        return graph.replay

    def wait(self, _):
        if self.module:
            self.module.synchronize()


class Jax:
    """The first device of JAX; products are compiled."""
    dtypes = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}

    def __init__(self, _):
        import jax
        self.jax, self.seed = jax, 0
        self.chip = jax.devices()[0].device_kind
        self.software = "JAX " + jax.__version__

    def make(self, rows, cols, dtype):
        self.seed += 1
        return self.jax.random.normal(self.jax.random.PRNGKey(self.seed), (rows, cols), self.dtypes[dtype])

    def batch(self, a, weights, starts):
        rounds = max(1, starts // len(weights))
        # Activations of their own: products that share one are merged by the compiler.
        each = [a + i for i in range(len(weights))]
        product = self.jax.jit(lambda xs, ws: [x @ w for x, w in zip(xs, ws)])

        def run():
            for _ in range(rounds):
                last = product(each, weights)
            return last

        run.starts = rounds * len(weights)
        return run

    def wait(self, last):
        self.jax.block_until_ready(last)


class Numpy:
    """The host itself."""
    dtypes = {"fp32": "float32"}

    def __init__(self, _):
        import numpy
        self.numpy, self.random = numpy, numpy.random.default_rng(1)
        self.chip = platform.processor() or platform.machine()
        self.software = "NumPy " + numpy.__version__

    def make(self, rows, cols, dtype):
        return self.random.standard_normal((rows, cols)).astype(self.dtypes[dtype])

    def batch(self, a, weights, starts):
        def plain():
            for i in range(starts):
                self.numpy.matmul(a, weights[i % len(weights)])

        return plain

    def wait(self, _):
        pass


BACKENDS = {"torch": Torch, "jax": Jax, "numpy": Numpy}


def batch_us(on, run, starts):
    """Mean time of each of a batch, us."""
    began = time.perf_counter()
    on.wait(run())
    return (time.perf_counter() - began) / starts * 1e6


def timed(on, m, n, k, args):
    """Median time of a product, us; and of how many in a row."""
    size = {"fp32": 4}.get(args.dtype, 2)
    copies = max(1, min(64, -(-args.rotate * 1024 * 1024 // (n * k * size))))
    a, weights = on.make(m, k, args.dtype), [on.make(k, n, args.dtype) for _ in range(copies)]
    run = on.batch(a, weights, copies)
    on.wait(run())
    first = batch_us(on, run, copies)
    starts = max(copies, min(1000, int(args.batch_ms * 1000 / first)))
    run = on.batch(a, weights, starts)
    starts = getattr(run, "starts", starts)
    batch_us(on, run, starts)
    return statistics.median(batch_us(on, run, starts) for _ in range(args.repeats)), starts


def shapes(path):
    """m,n,k a line; '#' begins a comment."""
    out = []
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            text = line.split("#")[0].strip()
            if not text:
                continue
            try:
                m, n, k = (int(v) for v in text.split(","))
                if min(m, n, k) < 1:
                    raise ValueError
            except ValueError:
                sys.exit(f"{path}:{number}: '{text}' is no m,n,k of whole numbers from 1 on")
            out.append((m, n, k))
    return out


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--backend", choices=BACKENDS, required=True)
    p.add_argument("--device", default="cuda", help="of torch: cuda, xpu, hpu, npu, mps, cpu (default cuda)")
    p.add_argument("--dtype", default=None, help="bf16, fp16 or fp32 (default bf16; of numpy fp32)")
    p.add_argument("--rows", metavar="FILE", help="m,n,k a line, in place of the twenty that are built in")
    p.add_argument("--rotate", type=int, default=512, metavar="MIB", help="all copies of the weights together (default 512)")
    p.add_argument("--batch-ms", type=float, default=20, metavar="MS", help="how long a batch is (default 20)")
    p.add_argument("--repeats", type=int, default=5, help="batches, whose median counts (default 5)")
    p.add_argument("--clock", default="its usual clock", help="for the table's head, as you set or read it")
    p.add_argument("-o", "--output", metavar="FILE", help="the table (default: to the screen)")
    args = p.parse_args()
    kind = BACKENDS[args.backend]
    args.dtype = args.dtype or next(iter(kind.dtypes))
    if args.dtype not in kind.dtypes:
        p.error(f"{args.backend} has no '{args.dtype}' here: {', '.join(kind.dtypes)}")
    todo = shapes(args.rows) if args.rows else ROWS
    try:
        on = kind(args.device)
    except ImportError as e:
        sys.exit(f"rows.py: {args.backend} is not installed: {e}")
    least, _ = timed(on, 8, 64, 64, args)
    lines = [f"# {on.chip}, {args.clock}; {on.software}, Python {platform.python_version()}, by validate/silicon/rows.py;",
             f"# {args.rotate} MiB of weights in turn, median of {args.repeats} batches. The smallest product takes {least:.2f} us.",
             "op,name,m,n,k,dtype,weight_dtype,measured_us"]
    for m, n, k in todo:
        us, starts = timed(on, m, n, k, args)
        name = "as short as the smallest" if us < 1.2 * least else f"{starts} in a row"
        lines.append(f"gemm,{name},{m},{n},{k},{args.dtype},{args.dtype},{us:.2f}")
        print(lines[-1], file=sys.stderr)
    text = "\n".join(lines) + "\n"
    if args.output:
        with open(args.output, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
