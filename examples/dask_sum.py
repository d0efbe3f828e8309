"""A sum by Dask that doesn't change with the number of workers or chunks: each worker adds its chunks to an
exact sum, and Dask's tree merges these. NumPy's sums of the same chunks are rounded on the way.

    python3 dask_sum.py      needs dask
"""

import sys

import dask
import numpy

import trine


def chunk(number, chunks):
    """A part of a million numbers, of sizes from 1e-8 to 1e8 and both signs."""
    random = numpy.random.default_rng(1)
    values = random.standard_normal(1_000_000) * 10.0 ** random.uniform(-8, 8, 1_000_000)
    return numpy.array_split(values, chunks)[number]


def tree(parts, merge):
    """Merges neighbours until one is left."""
    while len(parts) > 1:
        parts = [merge(*parts[i : i + 2]) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)]
    return parts[0]


def total(add, merge, chunks):
    parts = [dask.delayed(add)(dask.delayed(chunk)(i, chunks)) for i in range(chunks)]
    return tree(parts, dask.delayed(merge)).compute(scheduler="processes", num_workers=2)


def main():
    exact, rounded = set(), set()
    for chunks in (1, 3, 8):
        exact.add(total(trine.ExactSum, trine.ExactSum.__add__, chunks).round())
        rounded.add(float(total(numpy.sum, numpy.add, chunks)))
        print(f"{chunks} chunks: exact {max(exact)!r}, by NumPy {max(rounded)!r}")
    print(f"different sums of 1, 3 and 8 chunks: exact {len(exact)}, by NumPy {len(rounded)}")
    return 0 if len(exact) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
