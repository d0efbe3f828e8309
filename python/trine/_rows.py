"""Tables: lists of dictionaries that notebooks and pandas show as such."""
from __future__ import annotations

import html
from typing import Any


class Rows(list):
    """A list of dictionaries with equal keys."""

    def _cells(self) -> list[list[str]]:
        """A line of headings, and one for each row."""
        columns = list(dict.fromkeys(key for row in self for key in row))
        show = lambda value: "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
        return [columns, *([show(row.get(column)) for column in columns] for row in self)]

    def __repr__(self) -> str:
        lines = self._cells()
        widths = [max(map(len, column)) for column in zip(*lines)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        line = lambda tag, cells: "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"
        return f"<table><thead>{line('th', head)}</thead><tbody>{''.join(line('td', row) for row in body)}</tbody></table>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the rows; pandas must be installed."""
        import pandas
        return pandas.DataFrame(list(self))
