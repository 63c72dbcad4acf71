"""What npusim stored: results databases (results/schema.md) and trace databases, read with Python's own sqlite3."""

import sqlite3
from pathlib import Path
from typing import Any, List, Sequence

from ._library import Error
from .table import Table

_RESULTS = "v_runs"
_TRACES = "kernel"


class Database:
    """A file that ``npusim`` wrote, open for reading. Its views are the contract; the tables under them may change."""

    def __init__(self, path: str, needs: str, what: str):
        self.path = str(path)
        if not Path(path).is_file():
            raise Error(f"cannot read '{path}': no such file or directory", 4)
        try:
            self._db = sqlite3.connect(Path(path).resolve().as_uri() + "?mode=ro", uri=True)
            if needs not in self.views:
                raise Error(f"'{path}' is no {what}: it has no view {needs}", 4)
        except sqlite3.DatabaseError as e:
            raise Error(f"cannot read '{path}': {e}", 4) from None

    @property
    def views(self) -> List[str]:
        """Names of what can be read, ``v_ops`` say."""
        return [r[0] for r in self._db.execute("select name from sqlite_master where type = 'view' order by name")]

    def sql(self, query: str, values: Sequence[Any] = ()) -> Table:
        """Rows of a query: ``db.sql("select name, us from v_ops where run = ?", [1])``."""
        try:
            rows = self._db.execute(query, tuple(values))
            return Table([c[0] for c in rows.description or ()], rows.fetchall())
        except sqlite3.Error as e:
            raise Error(f"'{self.path}': {e}", 4) from None

    def view(self, name: str) -> Table:
        """All rows of one view."""
        if name not in self.views:
            raise Error(f"'{self.path}' has no view '{name}'; it has: {', '.join(self.views)}")
        return self.sql(f'select * from "{name}"')

    def __getattr__(self, name: str) -> Table:
        """``db.ops`` is the view ``v_ops``, ``db.kernel`` the view ``kernel``."""
        if name.startswith("_"):
            raise AttributeError(name)
        for view in ("v_" + name, name):
            if view in self.views:
                return self.view(view)
        raise AttributeError(f"'{self.path}' has no view '{name}' nor 'v_{name}'; it has: {', '.join(self.views)}")

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> "Database":
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<npusim.Database {self.path}: {', '.join(self.views)}>"


def results(path: str) -> Database:
    """A results database, of ``npusim run``, ``sweep`` or ``limits -o``: ``results("R.db").ops`` is its view ``v_ops``."""
    return Database(path, _RESULTS, "results database")


def trace(path: str) -> Database:
    """A trace database of ``npusim trace import``: ``trace("T.db").kernel`` is a row a kernel launch, times in ns."""
    return Database(path, _TRACES, "trace database")
