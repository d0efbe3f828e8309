"""NumPy over libtrine_blas, unchanged: a product and conjugate gradients, which depend on each bit of each sum,
come out the same on each device and number of threads.

usage: numpy_unchanged.py PREFIX/lib/trine/blas [DEVICE]…     cpu, where none is named
       numpy_unchanged.py                                     the program alone, over the BLAS that is there"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy


def digest(array):
    return hashlib.sha256(array.tobytes()).hexdigest()[:16]


def solve(a, b):
    """x with a x = b, and the number of steps."""
    x, r = numpy.zeros_like(b), b.copy()
    p, rr = r.copy(), r @ r
    steps = 0
    while rr > 1e-24 and steps < len(b):
        q = a @ p
        alpha = rr / (p @ q)
        x += alpha * p
        r -= alpha * q
        rr, before = r @ r, rr
        p = r + (rr / before) * p
        steps += 1
    return x, steps


def compute():
    n = 300
    m = numpy.random.default_rng(1).standard_normal((n, n))
    a = m @ m.T.copy() / n + numpy.eye(n)
    x, steps = solve(a, numpy.ones(n))
    print(f"a product is {digest(m @ a)}, x is {digest(x)} after {steps} steps, |b - A x| = {abs(1 - a @ x).max():.1g}")


def run_over(shim, device, threads):
    """What the program prints, and how many calls Trine computed for it."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        over = {
            "LD_LIBRARY_PATH": shim,
            "TRINE_BLAS_DEVICE": device,
            "TRINE_BLAS_LOG": str(log),
            "OMP_NUM_THREADS": threads,
            "POCL_MAX_PTHREAD_COUNT": threads,
        }
        ran = subprocess.run([sys.executable, __file__], env={**os.environ, **over}, stdout=subprocess.PIPE, text=True)
        if ran.returncode != 0 or not log.exists():
            sys.exit(f"{device}: the program failed, or its NumPy isn't linked to libblas.so.3 (PyPI's isn't)")
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return ran.stdout.strip(), sum(line["calls"] for line in lines if line.get("device") == device and "routine" in line)


def main(shim, *devices):
    if not pathlib.Path(shim, "libblas.so.3").exists():
        sys.exit(f"{shim}: there is no libblas.so.3; it is PREFIX/lib/trine/blas of an installed Trine")
    outputs = set()
    for device in devices or ("cpu",):
        for threads in "12":
            output, calls = run_over(shim, device, threads)
            print(f"{device}, OMP_NUM_THREADS={threads}: {output}; {calls} calls computed there", flush=True)
            outputs.add(output)
            if calls == 0:
                sys.exit(f"{device} computed nothing")
    print("the same bits each time" if len(outputs) == 1 else "the bits differ")
    return 0 if len(outputs) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) > 1 else compute())
