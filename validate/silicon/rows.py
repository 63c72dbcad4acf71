#!/usr/bin/env python3
"""rows.py - products timed on a chip of your own, as the table of ops that npusim validate and calibrate read.

    python3 validate/silicon/rows.py --backend torch --device cuda -o ROWS.csv      CUDA, ROCm
    python3 validate/silicon/rows.py --backend torch --device xpu  -o ROWS.csv      Intel; hpu: Gaudi, npu: Ascend
    python3 validate/silicon/rows.py --backend jax                 -o ROWS.csv      TPU, and what else JAX runs on
    python3 validate/silicon/rows.py --backend ttnn                -o ROWS.csv      Tenstorrent, by tt-metal's Python
    python3 validate/silicon/rows.py --backend xrt --designs DIR   -o ROWS.csv      AMD XDNA, by XRT's: designs compiled before
    python3 validate/silicon/rows.py --backend numpy               -o ROWS.csv      this host: a trial of the script
    python3 validate/silicon/rows.py --backend check               -o ROWS.csv      no chip at all: a dry run

One product of m x k and k x n a row. Its time is that of many in a row, over their number, synchronised at the end: the
median of --repeats batches after one that is not counted. A batch is started as a whole where that can be (a graph of
PyTorch's, a compiled function of JAX's, a trace of tt-metal's): starts on the host are no time of the chip. By XRT each product
is a program that the host starts and waits for, and that is in its time. Weights are other copies in turn,
together more than --rotate. A product that takes no longer than the smallest one is marked.
"""
import argparse
import array
import glob
import importlib
import importlib.metadata
import math
import os
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

    def __init__(self, args):
        import torch
        device = args.device
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


class Ttnn:
    """The first device of tt-metal. A batch is a trace that the device replays; operands lie in DRAM, tiled. HiFi2 for bf16 and LoFi for
    block formats: two passes and one, as configs/npu/wormhole.yaml counts them."""
    dtypes = {"bf16": "bfloat16", "bfp8_b": "bfloat8_b", "bfp4_b": "bfloat4_b"}
    LONGEST, REGION = 64, 64 << 20  # products of a trace; bytes that traces may take

    def __init__(self, _):
        import torch
        import ttnn
        self.torch, self.ttnn, self.trace = torch, ttnn, None
        self.device = ttnn.open_device(device_id=0, trace_region_size=self.REGION)
        self.chip = str(self.device.arch())
        try:
            self.software = "ttnn " + importlib.metadata.version("ttnn")
        except importlib.metadata.PackageNotFoundError:
            self.software = "ttnn of a source tree"

    def make(self, rows, cols, dtype):
        return self.ttnn.from_torch(self.torch.randn(rows, cols), dtype=getattr(self.ttnn, self.dtypes[dtype]),
                                    layout=self.ttnn.TILE_LAYOUT, device=self.device,
                                    memory_config=self.ttnn.DRAM_MEMORY_CONFIG)

    def product(self, a, w):
        fidelity = self.ttnn.MathFidelity
        whole = a.dtype == self.ttnn.bfloat16
        how = self.ttnn.init_device_compute_kernel_config(self.device.arch(),
                                                          math_fidelity=fidelity.HiFi2 if whole else fidelity.LoFi,
                                                          math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=True)
        self.ttnn.deallocate(self.ttnn.matmul(a, w, memory_config=self.ttnn.DRAM_MEMORY_CONFIG, dtype=a.dtype,
                                              compute_kernel_config=how))

    def release(self):
        if self.trace is not None:
            self.ttnn.release_trace(self.device, self.trace)
        self.trace = None

    def batch(self, a, weights, starts):
        # Whole turns of the weights, so that each replay goes on where the one before ended.
        turn = len(weights) * max(1, min(starts, self.LONGEST) // len(weights))
        rounds = max(1, starts // turn)
        self.release()
        self.product(a, weights[0])  # compiled now: a trace takes what is
        self.ttnn.synchronize_device(self.device)
        trace = self.ttnn.begin_trace_capture(self.device, cq_id=0)
        for i in range(turn):
            self.product(a, weights[i % len(weights)])
        self.ttnn.end_trace_capture(self.device, trace, cq_id=0)
        self.trace = trace

        def run():
            for _ in range(rounds):
                self.ttnn.execute_trace(self.device, trace, cq_id=0, blocking=False)

        run.starts = rounds * turn
        return run

    def wait(self, _):
        self.ttnn.synchronize_device(self.device)

    def close(self):
        self.release()
        self.ttnn.close_device(self.device)


class Xrt:
    """The first device of XRT. It runs designs that were compiled before, one a product: final_MxKxN*.xclbin and insts_MxKxN*.bin (or
    .txt, words in hexadecimal) of --designs, as the matrix products among mlir-aie's examples are built. Their arguments: opcode,
    instructions, how many bytes of them, A, B, C and what else the kernel declares; results are fp32."""
    dtypes = {"bf16": "bf16", "int8": "int8"}
    RUN = 3  # opcode: run a sequence of instructions

    def __init__(self, args):
        import pyxrt
        if not args.designs:
            sys.exit("rows.py: --backend xrt wants --designs DIR, with a design a product: validate/silicon/README.md says how")
        self.xrt, self.designs = pyxrt, args.designs
        self.device = pyxrt.device(0)
        self.chip = self.device.get_info(pyxrt.xrt_info_device.name)
        self.software = "XRT, one program a product"

    def design(self, kind, m, n, k):
        for ends in (".xclbin",) if kind == "final" else (".bin", ".txt"):
            for found in sorted(glob.glob(os.path.join(glob.escape(self.designs), f"{kind}_{m}x{k}x{n}*{ends}"))):
                if not os.path.basename(found)[len(f"{kind}_{m}x{k}x{n}")].isdigit():
                    return found
        return None

    def can(self, m, n, k):
        return bool(self.design("final", m, n, k) and self.design("insts", m, n, k))

    def make(self, rows, cols, dtype):
        return rows, cols, int(rows * cols * SIZES.get(dtype, 2))

    @staticmethod
    def words(path):
        if path.endswith(".txt"):
            with open(path, encoding="ascii") as f:
                return array.array("I", (int(line, 16) for line in f if line.strip())).tobytes()
        with open(path, "rb") as f:
            return f.read()

    def buffer(self, kernel, size, group, flags, data=None):
        bo = self.xrt.bo(self.device, size, flags, kernel.group_id(group))
        bo.write(bytes(size) if data is None else data, 0)
        bo.sync(self.xrt.xclBOSyncDirection.XCL_BO_SYNC_BO_TO_DEVICE, size, 0)
        return bo

    def batch(self, a, weights, starts):
        (m, k, a_bytes), (_, n, w_bytes) = a, weights[0]
        xclbin = self.xrt.xclbin(self.design("final", m, n, k))
        self.device.register_xclbin(xclbin)
        declared = xclbin.get_kernels()[0]
        context = self.xrt.hw_context(self.device, xclbin.get_uuid())
        kernel = self.xrt.kernel(context, declared.get_name())
        host = self.xrt.bo.host_only
        words = self.words(self.design("insts", m, n, k))
        insts = self.buffer(kernel, len(words), 1, self.xrt.bo.cacheable, words)
        ins = self.buffer(kernel, a_bytes, 3, host)
        ws = [self.buffer(kernel, w_bytes, 4, host) for _ in weights]
        # Behind A and B: the result, and buffers that a design declares and leaves alone (a trace's).
        rest = [self.buffer(kernel, m * n * 4 if i == 5 else 4096, i, host) for i in range(5, declared.get_num_args())]
        done = self.xrt.ert_cmd_state.ERT_CMD_STATE_COMPLETED

        def run():
            for i in range(starts):
                state = kernel(self.RUN, insts, len(words), ins, ws[i % len(ws)], *rest).wait()
                if state != done:
                    sys.exit(f"rows.py: the design of {m} x {k} x {n} ended as {state}")

        run.keeps = context
        return run

    def wait(self, _):
        pass


class Check:
    """No chip: what would be asked of one. Times are the script's own."""
    dtypes = {"bf16": "bf16", "fp16": "fp16", "fp32": "fp32", "bfp8_b": "bfp8_b", "bfp4_b": "bfp4_b"}

    def __init__(self, _):
        self.chip, self.software = "no chip (a dry run, these are no times)", "nothing"

    def make(self, rows, cols, dtype):
        return rows * cols * SIZES.get(dtype, 2) / 1024 / 1024

    def batch(self, a, weights, starts):
        if starts == len(weights):
            print(f"{len(weights)} copies of {weights[0]:.1f} MiB, activations of {a:.2f} MiB", file=sys.stderr)
        return lambda: sum(weights[i % len(weights)] for i in range(starts))

    def wait(self, _):
        pass


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


BACKENDS = {"torch": Torch, "jax": Jax, "ttnn": Ttnn, "xrt": Xrt, "numpy": Numpy, "check": Check}
SIZES = {"fp32": 4, "int8": 1, "bfp8_b": 1.0625, "bfp4_b": 0.5625}  # bytes of a value; of others 2


def batch_us(on, run, starts):
    """Mean time of each of a batch, us."""
    began = time.perf_counter()
    on.wait(run())
    return (time.perf_counter() - began) / starts * 1e6


def timed(on, m, n, k, args):
    """Median time of a product, us; and of how many in a row."""
    copies = max(1, min(64, math.ceil(args.rotate * 1024 * 1024 / (n * k * SIZES.get(args.dtype, 2)))))
    a, weights = on.make(m, k, args.dtype), [on.make(k, n, args.dtype) for _ in range(copies)]
    run = on.batch(a, weights, copies)
    on.wait(run())
    first = batch_us(on, run, getattr(run, "starts", copies))
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
    p.add_argument("--dtype", default=None, help="bf16, fp16, fp32; of ttnn also bfp8_b, bfp4_b; of xrt int8 (default bf16; of numpy fp32)")
    p.add_argument("--designs", metavar="DIR", help="of xrt: a compiled design a product")
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
        on = kind(args)
    except ImportError as e:
        sys.exit(f"rows.py: {args.backend} is not installed: {e}")
    can = getattr(on, "can", lambda *_: True)
    least = timed(on, 8, 64, 64, args)[0] if can(8, 64, 64) else None
    told = f"The smallest product takes {least:.2f} us." if least else "No smallest product was timed."
    lines = [f"# {on.chip}, {args.clock}; {on.software}, Python {platform.python_version()}, by validate/silicon/rows.py;",
             f"# {args.rotate} MiB of weights in turn, median of {args.repeats} batches. {told}",
             "op,name,m,n,k,dtype,weight_dtype,measured_us"]
    for m, n, k in todo:
        if not can(m, n, k):
            print(f"rows.py: no design of {m} x {k} x {n} in '{args.designs}': left out", file=sys.stderr)
            continue
        us, starts = timed(on, m, n, k, args)
        name = "as short as the smallest" if least and us < 1.2 * least else f"{starts} in a row"
        lines.append(f"gemm,{name},{m},{n},{k},{args.dtype},{args.dtype},{us:.2f}")
        print(lines[-1], file=sys.stderr)
    getattr(on, "close", lambda: None)()
    text = "\n".join(lines) + "\n"
    if args.output:
        with open(args.output, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
