"""The time of LAPACK's drivers, as SciPy calls them, over the shim and over OpenBLAS: in ms of the process's CPU clock,
the best of interleaved rounds, one thread. Both run the reference LAPACK; a third column has OpenBLAS's own.

    /usr/bin/python3 lapack_cost.py FOLDER_OF_THE_SHIM [ROUNDS]        OPENBLAS_CORETYPE names OpenBLAS's kernels
"""
import os
import subprocess
import sys
import tempfile

LIBRARIES = "/usr/lib/x86_64-linux-gnu"
CHILD = """
import re, sys, time, numpy as np
from scipy import linalg
from scipy.linalg import lapack
def matrices(n):
    a = np.asfortranarray(np.random.default_rng(n).uniform(-1, 1, (n, n)))
    return a, np.asfortranarray(a + a.T)
calls = {
    "gesdd": lambda a, s: lapack.dgesdd(a), "gesvd": lambda a, s: lapack.dgesvd(a), "syevr": lambda a, s: lapack.dsyevr(s),
    "geev": lambda a, s: lapack.dgeev(a), "getrf": lambda a, s: lapack.dgetrf(a), "geqrf": lambda a, s: lapack.dgeqrf(a),
    "linalg.svd": lambda a, s: linalg.svd(a), "linalg.eigh": lambda a, s: linalg.eigh(s), "linalg.eig": lambda a, s: linalg.eig(a),
    "linalg.lu": lambda a, s: linalg.lu(a), "linalg.qr": lambda a, s: linalg.qr(a)}
print(sorted(line.split()[-1] for line in open("/proc/self/maps") if " r-xp " in line and re.search("lib(blas|lapack|trine_blas)", line)), flush=True)
for line in sys.stdin:
    name, n = line.split()
    given = matrices(int(n))
    count = 0; start = time.process_time()
    while count == 0 or time.process_time() - start < 0.02:
        calls[name](*given); count += 1
    print((time.process_time() - start) / count, flush=True)
"""
NAMES = ("gesdd", "gesvd", "syevr", "geev", "getrf", "geqrf", "linalg.svd", "linalg.eigh", "linalg.eig", "linalg.lu", "linalg.qr")


def child(folder, blas, lapack):
    """A Python whose SciPy finds these two libraries."""
    os.mkdir(folder)
    os.symlink(lapack, os.path.join(folder, "liblapack.so.3"))
    env = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.path.dirname(blas)}", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    started = subprocess.Popen([sys.executable, "-c", CHILD], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print("#", started.stdout.readline().strip())
    return started


def seconds(process, name, n):
    process.stdin.write(f"{name} {n}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main():
    shim = os.path.abspath(os.path.join(sys.argv[1], "libblas.so.3"))
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    reference, openblas = f"{LIBRARIES}/lapack/liblapack.so.3", f"{LIBRARIES}/openblas-pthread"
    with tempfile.TemporaryDirectory() as folder:
        pairs = ((shim, reference), (f"{openblas}/libblas.so.3", reference), (f"{openblas}/libblas.so.3", f"{openblas}/liblapack.so.3"))
        children = [child(f"{folder}/{i}", *pair) for i, pair in enumerate(pairs)]
        print("                       shim  OpenBLAS  ratio  OpenBLAS with its own LAPACK")
        for n in (50, 100, 200, 500):
            best = {name: [1e9] * len(children) for name in NAMES}
            for _ in range(rounds):
                for name in NAMES:
                    best[name] = [min(was, seconds(one, name, n)) for was, one in zip(best[name], children)]
            for name, (ours, theirs, own) in best.items():
                print(f"{name:12} {n:4} {ours * 1e3:9.3f} {theirs * 1e3:9.3f} {ours / theirs:6.2f} {own * 1e3:9.3f}", flush=True)
        for one in children:
            one.stdin.close()
            one.wait()


if __name__ == "__main__":
    main()
