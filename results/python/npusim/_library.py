"""The shared library: where it lies, its functions as sim/npusim.h declares them, its errors."""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Iterator, Optional, Sequence, Tuple

FILE = "libnpusim.so.0"
CONFIG, STUCK = 3, 5  # enum npusim_code


class Error(Exception):
    """What the library refused, in the words of the command line.

    ``code`` is the exit code that ``npusim`` would end with: 2 an argument, a key or its value, 3 a configuration, 4 a file that
    cannot be read or is not what it should be, 5 the machine can make no progress, 6 no memory. ``file``, ``line`` and ``column``
    say where it stands; "" and 0 where it stands in no file.
    """

    def __init__(self, message: str, code: int = 2, file: str = "", line: int = 0, column: int = 0):
        place = file
        if file and line:
            place += f":{line}:{column}" if column else f":{line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.message, self.code, self.file, self.line, self.column = message, code, file, line, column


class _Error(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("code", c_int), ("line", c_int), ("column", c_int),
                ("file", ctypes.c_char * 256), ("message", ctypes.c_char * 1024)]


class _Source(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("root", c_char_p), ("read", c_void_p), ("name", c_void_p), ("arg", c_void_p)]


class _Limit(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("move", c_char_p), ("key", c_char_p), ("now", c_char_p), ("then", c_char_p),
                ("refused", c_char_p), ("us", c_double), ("saves", c_double), ("within", c_int)]


class _Parameter(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("key", c_char_p), ("value", c_char_p), ("range", c_char_p), ("help", c_char_p),
                ("source", c_char_p), ("given", c_int)]


LIMIT_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Limit))
PARAMETER_FN = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Parameter))


def _candidates() -> Iterator[Tuple[Path, Optional[Path]]]:
    """Pairs of a library and its data; None: what it was installed with."""
    given = os.environ.get("NPUSIM_LIBRARY")
    if given:
        yield Path(given), None
        return
    here = Path(__file__).resolve().parent
    yield here / FILE, here / "data"  # in a wheel
    for folder in here.parents:
        if (folder / "sim" / "npusim.h").exists():  # in the source tree
            yield folder / "build" / "release" / FILE, folder
        yield folder / FILE, None  # PREFIX/lib/python3/dist-packages/npusim


def _data_of(library: Path, data: Optional[Path]) -> Optional[Path]:
    """An installed tree may have been moved: PREFIX/lib/libnpusim.so.0 and PREFIX/share/npusim."""
    if data is None and library.is_absolute():
        for folder in library.parent.parents:
            if (folder / "share" / "npusim" / "configs").is_dir():
                return folder / "share" / "npusim"
            if (folder / "sim" / "npusim.h").exists():
                return folder
    return data


class Library:
    """libnpusim.so and where its data lie; ``root`` None: where they were installed."""

    def __init__(self, path: str, root: Optional[str]):
        self.path, self.root = path, root
        lib = self._lib = ctypes.CDLL(path)
        error, texts, size = POINTER(_Error), POINTER(c_char_p), c_size_t
        for name, result, arguments in (
            ("open", c_void_p, [POINTER(_Source), error]),
            ("close", None, [c_void_p]),
            ("release", c_char_p, []),
            ("machine_new", c_void_p, [c_void_p, c_char_p, size, texts, size, error]),
            ("machine_named", c_void_p, [c_void_p, c_char_p, texts, size, error]),
            ("machine_with", c_void_p, [c_void_p, texts, size, error]),
            ("machine_free", None, [c_void_p]),
            ("work_new", c_void_p, [c_void_p, texts, size, error]),
            ("work_free", None, [c_void_p]),
            ("eval", c_void_p, [c_void_p, c_void_p, texts, size, error]),
            ("result_free", None, [c_void_p]),
            ("get", c_int, [c_void_p, c_char_p, POINTER(c_double), error]),
            ("json", size, [c_void_p, c_char_p, size, error]),
            ("limits", c_int, [c_void_p, c_void_p, texts, size, LIMIT_FN, c_void_p, error]),
            ("parameters", c_int, [c_void_p, c_char_p, PARAMETER_FN, c_void_p, error]),
        ):
            function = getattr(lib, "npusim_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def new(self, name: str, *arguments: object) -> int:
        """A call that gives a handle, or NULL and why."""
        e = _Error(size=ctypes.sizeof(_Error))
        made = getattr(self, name)(*arguments, byref(e))
        if not made:
            raise_from(e)
        return made

    def check(self, name: str, *arguments: object) -> None:
        """A call that gives 0, or -1 and why."""
        e = _Error(size=ctypes.sizeof(_Error))
        if getattr(self, name)(*arguments, byref(e)) != 0:
            raise_from(e)

    def source(self, root: Optional[str]) -> _Source:
        return _Source(ctypes.sizeof(_Source), text(root) if root else None, None, None, None)

    def document(self, result: int) -> bytes:
        """Byte by byte what ``npusim run --format json`` prints."""
        e = _Error(size=ctypes.sizeof(_Error))
        n = self.json(result, None, 0, byref(e))
        if not n:
            raise_from(e)
        text = ctypes.create_string_buffer(n + 1)
        self.json(result, text, n + 1, byref(e))
        return text.raw[:n]


def raise_from(e: _Error) -> None:
    raise Error(e.message.decode(errors="replace"), e.code, os.fsdecode(e.file), e.line, e.column)


def text(value: "str | os.PathLike[str]") -> bytes:
    """A C string. A NUL would end it early, and what stands behind it would be lost."""
    if "\0" in os.fspath(value):
        raise Error(f"{value!r} has a NUL in it")
    return os.fsencode(value)


def texts(values: Sequence[str]) -> ctypes.Array:
    return (c_char_p * len(values))(*[text(v) for v in values])


_loaded: Optional[Library] = None


def load() -> Library:
    """The library, found once: NPUSIM_LIBRARY, beside this package, in the source tree it stands in, or where the system looks."""
    global _loaded
    if _loaded is None:
        tried = []
        for path, data in _candidates():
            tried.append(str(path))
            if path.exists():
                root = _data_of(path.resolve(), data)
                _loaded = Library(str(path), str(root) if root else None)
                break
        else:
            if not os.environ.get("NPUSIM_LIBRARY"):
                try:
                    _loaded = Library(FILE, None)
                except OSError:
                    pass
        if _loaded is None:
            raise Error(f"there is no {FILE}: 'make' builds it in the source tree, 'make install' puts it on the system, or"
                        f" NPUSIM_LIBRARY names it (looked for {tried[0]} and where the system looks)", 4)
    return _loaded


def release() -> str:
    """The library's version, "0.1.0"."""
    return load().release().decode()
