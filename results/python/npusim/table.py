"""Rows with named columns, and frames of them for pandas and polars."""

import csv
import io
from typing import Any, Dict, Iterator, List, Sequence, Tuple

from ._library import Error


class Table:
    """Rows of what was found; the end of a column's name is its unit. Iterates over its rows, each a dict."""

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]):
        self.columns: Tuple[str, ...] = tuple(columns)
        self.rows: List[Tuple[Any, ...]] = [tuple(r) for r in rows]

    @classmethod
    def of(cls, records: Sequence[Dict[str, Any]]) -> "Table":
        """Of dicts: a column for every key, in the order in which they first appear; None where one is missing."""
        columns = list(dict.fromkeys(k for r in records for k in r))
        return cls(columns, [[r.get(c) for c in columns] for r in records])

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Dict[str, Any]]:
        return (dict(zip(self.columns, r)) for r in self.rows)

    def __getitem__(self, key: Any) -> Any:
        """A row by its number, as a dict; a column by its name, as a list."""
        if isinstance(key, str):
            if key not in self.columns:
                raise KeyError(f"there is no column '{key}'; there are: {', '.join(self.columns)}")
            place = self.columns.index(key)
            return [r[place] for r in self.rows]
        return dict(zip(self.columns, self.rows[key]))

    def __repr__(self) -> str:
        return f"<npusim.Table of {len(self.rows)} rows: {', '.join(self.columns)}>"

    def __str__(self) -> str:
        def text(v: Any) -> str:
            return "" if v is None else f"{v:.6g}" if isinstance(v, float) else str(v)

        lines = [list(self.columns)] + [[text(v) for v in r] for r in self.rows]
        wide = [max(len(r[i]) for r in lines) for i in range(len(self.columns))]
        return "\n".join("  ".join(v.ljust(w) for v, w in zip(r, wide)).rstrip() for r in lines)

    def pandas(self) -> Any:
        """A pandas.DataFrame."""
        try:
            import pandas
        except ImportError:
            raise Error("pandas is not installed (on Debian: apt-get install python3-pandas); .rows, .columns and .csv()"
                        " need nothing", 4) from None
        return pandas.DataFrame({c: self[c] for c in self.columns}, columns=list(self.columns))

    def polars(self) -> Any:
        """A polars.DataFrame."""
        try:
            import polars
        except ImportError:
            raise Error("polars is not installed; .rows, .columns and .csv() need nothing", 4) from None
        return polars.DataFrame({c: self[c] for c in self.columns}, strict=False)

    def frame(self) -> Any:
        """Of pandas where that is installed, else of polars."""
        try:
            return self.pandas()
        except Error:
            try:
                return self.polars()
            except Error:
                raise Error("neither pandas nor polars is installed (on Debian: apt-get install python3-pandas); .rows,"
                            " .columns and .csv() need nothing", 4) from None

    def csv(self) -> str:
        """As CSV with a header; nothing where a value is None."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return out.getvalue()

    def _repr_html_(self) -> str:
        from html import escape

        def row(tag: str, values: Sequence[Any]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape('' if v is None else str(v))}</{tag}>" for v in values) + "</tr>"

        return "<table>" + row("th", self.columns) + "".join(row("td", r) for r in self.rows) + "</table>"
