#!/usr/bin/env python3
"""Holds the tables of rungs in cuda/README.md, opencl/README.md and cpu/README.md to the rungs that the
modules have: the same rungs, each with a file that exists. With --write it writes the tables.

    rung_tables.py TREE PROGRAM [--write]        PROGRAM is the build's bin/rung_tables
"""
import pathlib
import subprocess
import sys

OWN = {"cuda": "cuda/{}.cu", "opencl": "opencl/{}.cl", "cpu": "cpu/{}.cpp"}
SHARED = "backends/gpu/kernels/{}.kernel.h"
BEGIN, END = "<!-- rungs: {} -->\n", "<!-- end of rungs -->"


def path_of(tree, backend, file):
    """The rung's own file of this backend, or the one that both GPU languages share."""
    for pattern in (OWN[backend], SHARED):
        if (tree / pattern.format(file)).is_file():
            return pattern.format(file)
    sys.exit(f"rung_tables: {backend} has a rung without a file: {file}")


def table(tree, backend, rows):
    """The Markdown table of one operation's rungs. The CPU's tables have no column of defaults:
    the last rung that takes a call is its default."""
    defaults = any(default for *_, default in rows)
    lines = ["| rung, file | bits | idea |" + " default for |" * defaults,
             "| --- | --- | --- |" + " --- |" * defaults]
    for rung, file, promise, summary, requirement, default in rows:
        path = path_of(tree, backend, file)
        needs = requirement and promise != "study" and not default
        idea = f"{summary} (for {requirement})" if needs else summary
        lines.append(f"| [{rung}](../{path}) | {promise} | {idea} |" + f" {default} |" * defaults)
    return "\n".join(lines) + "\n"


def main():
    tree, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    listing = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in listing.splitlines():
        backend, operation, *rest = line.split("\t")
        rows.setdefault((backend, operation), []).append(rest)
    stale = set()
    for (backend, operation), rungs in rows.items():
        page = tree / backend / "README.md"
        text = page.read_text()
        begin = text.index(BEGIN.format(operation)) + len(BEGIN.format(operation))
        end = text.index(END, begin)
        wanted = text[:begin] + table(tree, backend, rungs) + text[end:]
        if wanted == text:
            continue
        stale.add(str(page.relative_to(tree)))
        if "--write" in sys.argv:
            page.write_text(wanted)
    if stale and "--write" not in sys.argv:
        sys.exit(f"The tables of {', '.join(sorted(stale))} differ from the rungs of the modules. "
                 f"`python3 tests/docs/rung_tables.py . {program} --write` writes them.")


if __name__ == "__main__":
    main()
