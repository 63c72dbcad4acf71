#!/usr/bin/env python3
"""torch_ops.py - PyTorch's ops as NVTX ranges that say sizes, strides, types and numbers of every call.

emit_nvtx(record_shapes=True) says sizes alone. A dispatch mode sees each op with its arguments and puts a range of its own
around it, in the words of emit_nvtx and further columns (traces/read/nvtx_op.h), which `npusim trace record` and Nsight
Systems record:

  aten::mm, op_id = 0, sizes = [[1, 8], [8, 4]], types = ["c10::BFloat16", "c10::BFloat16"], strides = [[8, 1], [1, 8]],
  values = ["", ""]

  npusim trace record -o T.db -- python3 traces/capture/torch_ops.py SCRIPT [ARGUMENT]...    a script as it stands
  with torch_ops.ops(): model(x)                                                            a part of your own

What a CUDA graph captures inside is known too, when the graph runs later. The kernels are those that run without it; the
host takes some 0.1 ms an op more, so wall times of such a run count for nothing, and torch.compile does not compile.
Seen are the ops of the thread that entered."""
import contextlib
import json
import os
import runpy
import sys

import torch
from torch.utils._python_dispatch import TorchDispatchMode

NAMES = {"bfloat16": "c10::BFloat16", "float16": "c10::Half", "float32": "float", "float64": "double", "int8": "signed char",
         "uint8": "unsigned char", "int16": "short int", "int32": "int", "int64": "long int", "bool": "bool",
         "float8_e4m3fn": "c10::Float8_e4m3fn", "float8_e5m2": "c10::Float8_e5m2", "complex64": "c10::complex<float>",
         "float8_e8m0fnu": "c10::Float8_e8m0fnu", "float4_e2m1fn_x2": "c10::Float4_e2m1fn_x2"}
NUMBERS = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5, "float32": 6, "float64": 7, "bool": 11,
           "bfloat16": 15}


def type_of(t):
    name = str(t.dtype).split(".")[-1]
    return NAMES.get(name, name)


def strides_of(t):
    return list(t.stride()) if t.layout == torch.strided else []


def value_of(v):
    if isinstance(v, torch.dtype):
        return str(NUMBERS.get(str(v).split(".")[-1], ""))
    if isinstance(v, (bool, int, float)):
        return str(v)
    if isinstance(v, (list, tuple)) and all(isinstance(x, (bool, int, float)) for x in v):
        return str(list(v))
    return ""


def text_of(func, args, kwargs):
    sizes, types, strides, values = [], [], [], []
    for i, a in enumerate(func._schema.arguments):
        v = args[i] if i < len(args) else kwargs.get(a.name, a.default_value if a.has_default_value() else None)
        if isinstance(v, torch.Tensor):
            cell = list(v.shape), type_of(v), strides_of(v), ""
        elif isinstance(v, (list, tuple)) and any(isinstance(x, torch.Tensor) for x in v):
            cell = [list(x) for x in zip(*((list(x.shape), type_of(x), strides_of(x)) if isinstance(x, torch.Tensor) else
                                           ([], "", []) for x in v))] + [""]
        else:
            cell = [], "Scalar" if value_of(v) else "", [], value_of(v)
        for column, x in zip((sizes, types, strides, values), cell):
            column.append(x)
    return (f"{func._schema.name}, op_id = 0, sizes = {json.dumps(sizes)}, types = {json.dumps(types)}, "
            f"strides = {json.dumps(strides)}, values = {json.dumps(values)}")


class Ops(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if torch.is_inference_mode_enabled():  # where nothing has taken composite ops apart before us
            with self:
                r = func.decompose(*args, **kwargs)
            if r is not NotImplemented:
                return r
        torch.cuda.nvtx.range_push(text_of(func, args, kwargs))
        try:
            return func(*args, **kwargs)
        finally:
            torch.cuda.nvtx.range_pop()


@contextlib.contextmanager
def ops():
    with torch.autograd.profiler.emit_nvtx(record_shapes=True), Ops():
        yield


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: torch_ops.py SCRIPT [ARGUMENT]...")
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    with ops():
        runpy.run_path(sys.argv[0], run_name="__main__")
