"""The trine program that the package carries: on the command line, and behind compare()."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from ._errors import ArgumentError, Error, UnsupportedError
from ._rows import Rows


def path() -> pathlib.Path:
    """The program's file."""
    program = pathlib.Path(__file__).parent / "bin" / "trine"
    if not program.exists():
        raise UnsupportedError(
            "This build of the package has no trine program (it was built with TRINE_BENCH=OFF)."
        )
    return program


def main() -> None:
    """The command `trine`."""
    try:
        os.execv(path(), ["trine", *sys.argv[1:]])
    except Error as error:
        sys.exit(f"trine: {error}")


def compare(*operations: str, **options: Any) -> Rows:
    """Measures and verifies operations on all devices, as `trine compare`: a row for each result.

    Options are the program's, with underscores: compare("reduce", size=2**20, min_time=0.01). One that is
    None or False is left out.
    Raises Error if a result was wrong.
    """
    words = ["compare", *operations]
    for option, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + option.replace("_", "-"))
        if value is not True:
            words.append(
                ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            )
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "results.json")
        done = subprocess.run(
            [path(), *words, "--json", file],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        rows = _rows(json.loads(file.read_text())["results"]) if file.exists() else Rows()
    if done.returncode != 0:
        kind = ArgumentError if done.returncode == 2 else Error
        raise kind(done.stderr.strip() or "trine compare failed: a result was wrong.")
    return rows


def _rows(results: list[dict[str, Any]]) -> Rows:
    """The results with what is nested in them spread out: seconds.kernel, roof.value."""
    flat = Rows()
    for result in results:
        row: dict[str, Any] = {}
        for key, value in result.items():
            if isinstance(value, dict):
                row |= {f"{key}.{name}": inner for name, inner in value.items()}
            else:
                row[key] = value
        flat.append(row)
    return flat
