#!/usr/bin/env python3
"""How far f32 products by rungs that aren't reproducible lie from the exact ones.

    gemm_error.py DEVICE SIZE RUNG...        trine in PATH

For factors in (-1, 1) and in (0, 1): the largest and the mean error at 400 elements of C = A B, in units of 2^-24 of the
sum of the products' sizes, and the mean with its sign, in the same units. Needs nothing but Python.
"""
import array
import math
import os
import random
import subprocess
import sys
import tempfile


def save(path, values, rows, cols):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, cols)
    head = head.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        values.tofile(file)


def load(path):
    values = array.array("f")
    with open(path, "rb") as file:
        data = file.read()
    values.frombytes(data[10 + int.from_bytes(data[8:10], "little"):])
    return values


def main(device, size, rungs):
    n = int(size)
    chance = random.Random(1)
    folder = tempfile.mkdtemp()
    a_path, b_path, c_path = (os.path.join(folder, name) for name in ("a.npy", "b.npy", "c.npy"))
    for low in (-1, 0):
        a, b = (array.array("f", (chance.uniform(low, 1) for _ in range(n * n))) for _ in range(2))
        save(a_path, a, n, n)
        save(b_path, b, n, n)
        places = [(chance.randrange(n), chance.randrange(n)) for _ in range(400)]
        exact = []
        for i, j in places:
            products = [x * y for x, y in zip(a[i * n:(i + 1) * n], b[j::n])]
            exact.append((math.fsum(products), math.fsum(map(abs, products)) * 2 ** -24))
        for rung in rungs:
            command = ["trine", "run", "gemm", "--device", device, "--rung", rung, "--input", a_path, b_path,
                       "--output", c_path]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            c = load(c_path)
            errors = [(c[i * n + j] - value) / unit
                      for (i, j), (value, unit) in zip(places, exact)]
            print("%d^3, factors in (%d, 1), %-20s largest %9.4f, mean size %9.4f, mean %9.4f" %
                  (n, low, rung, max(map(abs, errors)), sum(map(abs, errors)) / len(errors),
                   sum(errors) / len(errors)), flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
