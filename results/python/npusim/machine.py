"""Machines, runs, limits and sweeps."""

import ctypes
import itertools
import json
import os
import sys
import threading
import weakref
from collections import OrderedDict
from decimal import Decimal
from typing import Any, Callable, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _library
from ._library import Error
from .table import Table

Value = Union[str, int, float, bool]
Changes = Union[None, Mapping[str, Any], Sequence[str]]

_OPTIONS = ("start", "fidelity", "seed", "expert-reuse")  # of npusim_eval; all else is of a workload
_FILES = ("model", "trace", "program-in", "rules")  # what may be a file, which may be another by the next call
_KEPT = 16  # workloads that a Simulator keeps
_WORK = "model."  # an axis of a sweep over the workload begins so, as in a sweep's file


def _text(value: Any) -> str:
    """As it is written on the command line; a number without exponent."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):  # numpy's numbers
        value = value.item()
    if isinstance(value, float):
        return format(Decimal(repr(value)), "f") if value == value and abs(value) != float("inf") else repr(value)
    if isinstance(value, (list, tuple)):
        return ",".join(_text(v) for v in value)
    return str(os.fspath(value) if isinstance(value, os.PathLike) else value)


def _sets(changes: Changes) -> List[str]:
    """KEY=VALUE of ``{"l2.size": "64 MiB"}``, of ``{"l2": {"size": "64 MiB"}}`` or of a list that has them already."""
    if changes is None:
        return []
    if isinstance(changes, str):
        return [changes]
    if not isinstance(changes, Mapping):
        return [str(c) for c in changes]
    out: List[str] = []
    for key, value in changes.items():
        if isinstance(value, Mapping):
            out += [f"{key}.{s}" for s in _sets(value)]
        else:
            out.append(f"{key}={_text(value)}")
    return out


def _free(lib: _library.Library, lock: threading.RLock, name: str, handle: int) -> None:
    with lock:
        getattr(lib, name)(handle)


class Simulator:
    """A handle on the library: the data files and what was found out so far, so that a second evaluation costs what differs.

    ``root`` is a folder with npusim's data files (``configs``, ``workloads``); by default those of the library. One thread at a
    time is inside of it, others wait; for runs side by side give each thread its own (``npusim.machine`` does).
    """

    def __init__(self, root: Optional[str] = None):
        self._lib = _library.load()
        self._lock = threading.RLock()
        source = self._lib.source(os.fspath(root) if root else self._lib.root)
        self._handle = self._lib.new("open", ctypes.byref(source))
        self._works: "OrderedDict[Tuple[Any, ...], _Work]" = OrderedDict()
        self._end = weakref.finalize(self, _free, self._lib, self._lock, "close", self._handle)

    def machine(self, name: str, changes: Changes = None) -> "Machine":
        """One that comes with npusim ("dsocr", "h200") or a YAML file, with some values otherwise."""
        sets = _sets(changes)
        with self._lock:
            return Machine(self, self._lib.new("machine_named", self._handle, _library.text(name),
                                               _library.texts(sets), len(sets)), os.fspath(name))

    def machine_of(self, yaml: str, changes: Changes = None) -> "Machine":
        """Of a configuration's text."""
        sets, text = _sets(changes), yaml.encode()
        with self._lock:
            return Machine(self, self._lib.new("machine_new", self._handle, text, len(text), _library.texts(sets),
                                               len(sets)), "machine")

    def _work(self, spec: Mapping[str, Any]) -> "_Work":
        named = [(k.replace("_", "-"), _text(v)) for k, v in spec.items() if v is not None]
        given = [f"{k}={v}" for k, v in named]
        states = [os.stat(v) for k, v in named if k in _FILES and os.path.exists(v)]
        key = (tuple(given), tuple((s.st_ino, s.st_mtime_ns, s.st_size) for s in states))
        work = self._works.get(key)
        if work is None:
            work = _Work(self, self._lib.new("work_new", self._handle, _library.texts(given), len(given)))
            if "program-in" in (k for k, _ in named):
                return work  # is of the one machine that it was mapped for
            self._works[key] = work
            if len(self._works) > _KEPT:
                self._works.popitem(last=False)
        self._works.move_to_end(key)
        return work


class _Work:
    def __init__(self, of: Simulator, handle: int):
        self.handle = handle
        self._end = weakref.finalize(self, _free, of._lib, of._lock, "work_free", handle)


class Limit(NamedTuple):
    """What one change of the machine does: ``key`` from ``now`` to ``then``."""

    move: str  #: "more", "less", "without", ...
    key: str
    now: str
    then: str
    us: Optional[float]  #: the workload's time with it, microseconds; None: it was refused
    saves: Optional[float]  #: of the time, 0.25: a quarter; below 0: it costs
    within: bool  #: as much as the closed form may be off: no answer
    refused: Optional[str]  #: why it cannot be


class Point(NamedTuple):
    """A design of a sweep: its axes' values, and its run or why there is none."""

    settings: Dict[str, Any]
    run: Optional["Run"]
    reason: Optional[str]


class Run:
    """What a workload takes on a machine.

    The members of the document that ``npusim run --format json`` prints are attributes: ``run.total_us``, ``run.energy_uj``,
    ``run.held_by["resource"]``, ``run.next_buy``; ``dir(run)`` lists them, and a path leads further: ``run["ops[3].stalls.dram"]``.
    Figures of the whole run are there at once; the first of anything else (verdict, interval, what to buy next) takes as long as
    five to ten runs in closed form.
    """

    def __init__(self, machine: "Machine", handle: int):
        self.machine = machine
        self._handle = handle
        self._bytes: Optional[bytes] = None
        self._document: Optional[Dict[str, Any]] = None
        self._end = weakref.finalize(self, _free, machine._of._lib, machine._of._lock, "result_free", handle)

    @property
    def total_us(self) -> float:
        """Simulated time of the workload, microseconds."""
        return self.get("total_us")

    @property
    def verdict(self) -> List[str]:
        """The answer in a few lines, as it heads what ``npusim run`` prints."""
        return self.document["verdict"]

    @property
    def interval(self) -> Optional[Dict[str, Any]]:
        """Where the figure ``of`` lies at ``level``: from ``low`` to ``high``, in that figure's unit; ``from`` says what it
        rests on."""
        return self.document["interval"]

    @property
    def ops(self) -> Table:
        """A row an op: ``us`` what it added to the run, ``bound`` what held it, ``dram_bytes``, ``energy_uj``, and of each resource
        as ``stalls.RESOURCE`` the share of its time that it waited for it."""
        return Table.of([_flat(op) for op in self.document["ops"]])

    @property
    def kinds(self) -> Table:
        """A row a kind of op, the longest first; ``bounds.RESOURCE`` of 1."""
        return Table.of([_flat(kind) for kind in self.document["by_kind"]])

    @property
    def document(self) -> Dict[str, Any]:
        """All of it, as Python's json reads it. It is kept: do not change it."""
        if self._document is None:
            self._document = json.loads(self.json())
        return self._document

    def json(self) -> bytes:
        """Byte by byte what ``npusim run --format json`` prints."""
        if self._bytes is None:
            with self.machine._of._lock:
                self._bytes = self.machine._of._lib.document(self._handle)
        return self._bytes

    def get(self, path: str) -> float:
        """A number by its path; an Error where there is none, or where it is null."""
        value = ctypes.c_double()
        with self.machine._of._lock:
            self.machine._of._lib.check("get", self._handle, _library.text(path), ctypes.byref(value))
        return value.value

    def __getitem__(self, path: str) -> Any:
        """What the document has at a path, "ops[3].stalls.dram": a number, a text, a list, a dict or None."""
        found = _at(self.document, path)
        if found is _NONE:
            raise KeyError(f"there is no '{path}' in a run")
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self.document[name]
        except KeyError:
            raise AttributeError(f"a run has no '{name}'; dir(run) lists what it has") from None

    def __dir__(self) -> List[str]:
        return sorted(set(super().__dir__()) | {k for k in self.document if k.isidentifier()})

    def __repr__(self) -> str:
        return f"<npusim.Run on {self.machine.name}: {self.total_us:.6g} us>"


_NONE = object()


def _at(x: Any, path: str) -> Any:
    """A key may have points in it ("stats.l2.hit_bytes"): the longest that leads on counts."""
    if not path:
        return x
    if isinstance(x, list):
        index, end, rest = path[1:].partition("]")
        if path[0] != "[" or not end or not index.isdecimal() or int(index) >= len(x):
            return _NONE
        return _at(x[int(index)], rest[1:] if rest.startswith(".") else rest)
    if isinstance(x, dict):
        for key in sorted((k for k in x if path.startswith(k)), key=len, reverse=True):
            rest = path[len(key):]
            if not rest or rest[0] in ".[":
                found = _at(x[key], rest[1:] if rest.startswith(".") else rest)
                if found is not _NONE:
                    return found
    return _NONE


def _flat(record: Mapping[str, Any]) -> Dict[str, Any]:
    out: Dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            out.update({f"{key}.{k}": v for k, v in value.items()})
        else:
            out[key] = value
    return out


class Sweep:
    """Designs that were run, in the order of their grid; iterates over its points."""

    def __init__(self, axes: Sequence[str], points: Sequence[Point]):
        self.axes: Tuple[str, ...] = tuple(axes)
        self.points: List[Point] = list(points)

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __getitem__(self, i: int) -> Point:
        return self.points[i]

    def best(self, figure: str = "total_us") -> Point:
        """The point with the least of a figure, the first where several have it."""
        done = [p for p in self.points if p.run is not None]
        if not done:
            raise Error(f"no design of this sweep could be run; the first: {self.points[0].reason}" if self.points
                        else "this sweep has no designs")
        return min(done, key=lambda p: p.run.get(figure))

    def table(self, figures: Sequence[str] = ("total_us", "dram_bytes", "energy_uj", "area_mm2"),
              intervals: bool = False) -> Table:
        """A row a design: its axes, ``status`` done or failed and the ``reason``, then the figures; None where a model does not know
        one. With ``intervals`` the columns ``interval_of``, ``interval_low`` and ``interval_high`` too, which takes some runs in
        closed form a design."""
        rows = []
        for i, p in enumerate(self.points):
            row: List[Any] = [i, *(p.settings[a] for a in self.axes), "failed" if p.run is None else "done", p.reason]
            for f in figures:
                row.append(_number(p.run, f))
            if intervals:
                x = p.run.interval if p.run is not None else None
                row += [x["of"], x["low"], x["high"]] if x else [None, None, None]
            rows.append(row)
        return Table(["point", *self.axes, "status", "reason", *figures,
                      *(["interval_of", "interval_low", "interval_high"] if intervals else [])], rows)

    def frame(self, *figures: str, intervals: bool = False) -> Any:
        """The table as a frame of pandas, or of polars."""
        return (self.table(figures, intervals) if figures else self.table(intervals=intervals)).frame()

    def __repr__(self) -> str:
        return f"<npusim.Sweep of {len(self.points)} designs over {', '.join(self.axes)}>"


def _number(run: Optional[Run], path: str) -> Optional[float]:
    if run is None:
        return None
    try:
        return run.get(path)
    except Error:
        if run[path] is None:  # known by name, and no model has it here
            return None
        raise


class _Bar:
    """How far a sweep is, on a terminal's last line; nothing where that is none."""

    def __init__(self, total: int, wanted: Optional[bool]):
        self.total = total
        self.shown = sys.stderr.isatty() if wanted is None else wanted

    def __call__(self, done: int) -> None:
        if self.shown:
            width = 30 * done // max(self.total, 1)
            end = "\n" if done == self.total else ""
            sys.stderr.write(f"\r[{'#' * width}{'.' * (30 - width)}] {done} of {self.total} designs{end}")
            sys.stderr.flush()


class Machine:
    """A configuration, checked. It does not change: ``with_`` makes another."""

    def __init__(self, of: Simulator, handle: int, name: str):
        self.name = name
        self._of = of
        self._handle = handle
        self._end = weakref.finalize(self, _free, of._lib, of._lock, "machine_free", handle)

    def with_(self, changes: Changes) -> "Machine":
        """The same with some values otherwise, ``{"l2.size": "256 MiB"}``: costs what they touch."""
        sets = _sets(changes)
        with self._of._lock:
            return Machine(self._of, self._of._lib.new("machine_with", self._handle, _library.texts(sets), len(sets)),
                           self.name)

    def __getitem__(self, key: str) -> str:
        """A parameter's value as one writes it: ``machine["l2.size"]`` is "192 MiB". An Error names the nearest key."""
        return self._parameters(key)[0]["value"]

    def parameters(self) -> Table:
        """A row a parameter, as ``npusim config explain`` has it: ``key``, ``value``, ``range``, whether it was ``given`` (else it
        is the default), the ``source`` that its value is from, and what it means (``help``)."""
        return Table.of(self._parameters(None))

    def _parameters(self, key: Optional[str]) -> List[Dict[str, Any]]:
        found: List[Dict[str, Any]] = []

        def each(_: Any, x: Any) -> None:
            row = x.contents
            found.append({"key": row.key.decode(), "value": row.value.decode(errors="replace"), "range": row.range.decode(),
                          "given": bool(row.given), "source": row.source.decode(errors="replace"), "help": row.help.decode()})

        with self._of._lock:
            self._of._lib.check("parameters", self._handle, _library.text(key) if key is not None else None,
                                _library.PARAMETER_FN(each), None)
        return found

    def run(self, **asked: Any) -> Run:
        """The workload on this machine: ``model="llama-3.1-8b", batch=16, context=2048``, or ``trace="T.db",
        range="decode_step_1"``.

        Every option of ``npusim run`` that is of a workload, with ``_`` for ``-``, and of the run itself ``fidelity`` ("event", or
        "analytic": in closed form), ``start`` ("steady", "cold", "resident"), ``seed`` and ``expert_reuse``.
        """
        of = self._of
        with of._lock:
            work, options = self._asked(asked)
            return Run(self, of._lib.new("eval", self._handle, work.handle, _library.texts(options), len(options)))

    def limits(self, **asked: Any) -> List[Limit]:
        """What more of each parameter buys and less of it costs, within a move the greatest first: ``npusim limits`` without pairs.
        Of an NPU, asked as of run(), in closed form by default; some hundred runs."""
        found: List[Limit] = []
        of = self._of

        def each(_: Any, x: Any) -> None:
            row = x.contents
            refused = row.refused.decode() if row.refused else None
            found.append(Limit(row.move.decode(), row.key.decode(), row.now.decode(), row.then.decode(),
                               None if refused else row.us, None if refused else row.saves, bool(row.within), refused))

        with of._lock:
            work, options = self._asked(asked)
            of._lib.check("limits", self._handle, work.handle, _library.texts(options), len(options),
                          _library.LIMIT_FN(each), None)
        return found

    def sweep(self, axes: Mapping[str, Sequence[Any]], where: Optional[Callable[[Dict[str, Any]], bool]] = None,
              progress: Optional[bool] = None, **asked: Any) -> Sweep:
        """All combinations of some values: ``{"l2.size": ["64 MiB", "1 GiB"], "model.batch": [1, 16]}``; asked as of run().

        An axis is a parameter of the machine, or ``model.KEY`` of the workload. ``where`` says of a dict of values whether it is a
        point. A design that cannot be built is a point with the reason, and no error. ``progress``: a bar on stderr, by default
        where that is a terminal.
        """
        if not axes:
            raise Error("a sweep has one axis or more: {'l2.size': ['64 MiB', '128 MiB']}")
        for key, values in axes.items():
            if isinstance(values, (str, bytes)):
                raise Error(f"the values of axis '{key}' are a list, as ['{values}']")
            self.check_axis(key)
        grid = [dict(zip(axes, values)) for values in itertools.product(*axes.values())]
        grid = [p for p in grid if where is None or where(p)]
        bar = _Bar(len(grid), progress)
        points = []
        for i, settings in enumerate(grid):
            points.append(self._point(settings, asked))
            bar(i + 1)
        return Sweep(list(axes), points)

    def check_axis(self, key: str) -> None:
        """An Error where a machine has no such parameter; what a workload has is told by the first run."""
        if not key.startswith(_WORK):
            self[key]

    def _point(self, settings: Dict[str, Any], asked: Mapping[str, Any]) -> Point:
        """What the machine cannot be is this design's reason; a wrong workload or option is an error of whoever asks."""
        sets = {k: v for k, v in settings.items() if not k.startswith(_WORK)}
        work = {k[len(_WORK):]: v for k, v in settings.items() if k.startswith(_WORK)}
        try:
            return Point(settings, self.with_(sets).run(**{**asked, **work}), None)
        except Error as e:
            if e.code not in (_library.CONFIG, _library.STUCK):
                raise
            return Point(settings, None, str(e))

    def _asked(self, asked: Mapping[str, Any]) -> Tuple[_Work, List[str]]:
        named = {k.replace("_", "-"): v for k, v in asked.items()}
        options = [f"{k}={_text(named[k])}" for k in _OPTIONS if named.get(k) is not None]
        return self._of._work({k: v for k, v in named.items() if k not in _OPTIONS}), options

    def __repr__(self) -> str:
        return f"<npusim.Machine {self.name}>"


_threads = threading.local()


def default() -> Simulator:
    """This thread's own Simulator, made when it is first asked for."""
    if not hasattr(_threads, "simulator"):
        _threads.simulator = Simulator()
    return _threads.simulator


def machine(name: str, changes: Changes = None) -> Machine:
    """One that comes with npusim ("dsocr", "h200") or a YAML file, with some values otherwise: ``{"l2.size": "256 MiB"}``."""
    return default().machine(name, changes)
