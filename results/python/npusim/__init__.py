"""npusim - what a workload takes on an NPU or a GPU, from Python.

    import npusim
    run = npusim.machine("dsocr", {"l2.size": "256 MiB"}).run(model="llama-3.1-8b", batch=16)
    print(run.total_us, run.verdict[0])

Names and values are those of the command line: of a machine as in ``npusim run --set KEY=VALUE``, of a workload and of a run as in
``npusim run --KEY VALUE`` (``program-in`` is ``program_in`` here). Figures are those of ``npusim run --format json``, and a name's
end is its unit: ``_us`` microseconds, ``_uj`` microjoules, ``_w`` watts, ``_mm2`` square millimetres, ``_bytes`` bytes; shares
such as ``mfu`` are of 1.

It calls libnpusim by ctypes and needs Python alone; pandas or polars is loaded when a frame is asked for.
"""

from ._library import Error, release
from .env import Env
from .machine import Limit, Machine, Point, Run, Simulator, default, machine
from .stored import Database, results, trace
from .table import Table

__all__ = [
    "Database", "Env", "Error", "Limit", "Machine", "Point", "Run", "Simulator", "Table",
    "default", "machine", "release", "results", "trace",
]
