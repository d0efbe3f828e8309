"""Tables: lists of dictionaries that notebooks and pandas show as such."""

from __future__ import annotations

import html
from typing import Any


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _line(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


class Rows(list[dict[str, Any]]):
    """A list of dictionaries with equal keys."""

    def _cells(self) -> list[list[str]]:
        """A line of headings, and one for each row."""
        columns = list(dict.fromkeys(key for row in self for key in row))
        return [columns, *([_shown(row.get(column)) for column in columns] for row in self)]

    def __repr__(self) -> str:
        lines = self._cells()
        widths = [max(map(len, column)) for column in zip(*lines)]
        padded = (map(str.ljust, line, widths) for line in lines)
        return "\n".join("  ".join(cells).rstrip() for cells in padded)

    def _repr_html_(self) -> str:
        head, *body = self._cells()
        rows = "".join(_line("td", row) for row in body)
        return f"<table><thead>{_line('th', head)}</thead><tbody>{rows}</tbody></table>"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the rows; pandas must be installed."""
        import pandas

        return pandas.DataFrame(list(self))
