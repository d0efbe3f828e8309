#!/usr/bin/env python3
"""The bars of the cpu backend and of PoCL (docs/performance.md), measured beside the peers and roofs.

  bench/tools/cpu_bars.py TRINE FOLDER [ROW…]   measures rows, all by default, into FOLDER/ROW.json
  bench/tools/cpu_bars.py --table FOLDER…       prints what the folders hold, a column a folder

A figure is that of the best round, then the median over the rounds. Each round's rate is divided by the peer's,
the roof's or the other case's rate in the same round. QUIET in the environment is put before each command.
"""

import json
import os
import statistics
import subprocess
import sys

GEMM = "--size 128,256,512,768,1024,1536,2048 --peers"
SQUARES = "1024x1024,4096x4096,4095x4097"
NARROW = "4x4M,4Mx4"
# name: (arguments of `trine compare`, what a rate is divided by)
ROWS = {
    "gemm_f32": (f"gemm --dtype f32 {GEMM}", "peer"),
    "gemm_f64": (f"gemm --dtype f64 {GEMM}", "peer"),
    "gemm_4096": ("gemm --dtype f32 --size 4096 --peers", "roof"),
    "gemm_small": ("gemm --dtype f32,f64 --size 8,16,32,48,64,96 --peers", "peer"),
    "gemm_layouts": ("gemm --dtype f32,f64 --size 1024 --layout rrr,rcr,crr,ccr,rrc", "first"),
    "gemm_odd": ("gemm --dtype f32,f64 --size 512,511,1024,1023", "rate"),
    "gemm_i32": ("gemm --dtype f32,i32 --size 512,1024", "rate"),
    "batches": ("gemm --dtype f32,f64 --size 4,8,16,24,32 --batch 20000 --peers", "peer"),
    "gemv_rows": ("gemm --dtype f32,f64 --size 1x8192x4096 --peers", "read"),
    "gemv_columns": ("gemm --dtype f32,f64 --size 8192x1x4096 --peers", "read"),
    "sums": ("reduce --dtype f32,f64 --size 2^26", "roof"),
    "sums_rows": ("reduce --dtype f32 --size 65536x256,256x65536,16Mx4,4x16M --axis each_row", "roof"),
    "sums_columns": ("reduce --dtype f32 --size 65536x256,256x65536,16Mx4,4x16M --axis each_column", "roof"),
    "transposes_f32": (f"transpose --dtype f32 --size {SQUARES},{NARROW}", "roof"),
    "transposes_f64": (f"transpose --dtype f64 --size {SQUARES},{NARROW}", "roof"),
    "transposes_small": (f"transpose --dtype b8,b16,b128 --size {SQUARES},{NARROW}", "roof"),
    "pocl_gemm": ("gemm --dtype f32,f64 --size 256,512,1024 --device opencl:0", "cpu"),
    "pocl_sums": ("reduce --dtype f32,f64 --size 2^26 --device opencl:0", "cpu"),
    "pocl_columns": ("reduce --dtype f32 --size 65536x256,256x65536 --axis each_row,each_column --device opencl:0",
                     "cpu"),
    "pocl_transposes": (f"transpose --dtype f32 --size {SQUARES} --device opencl:0", "cpu"),
}


def measure(trine, folder, names):
    os.makedirs(folder, exist_ok=True)
    for name in names:
        arguments = ROWS[name][0].split()
        command = os.environ.get("QUIET", "").split() + [trine, "compare", *arguments, "--device", "cpu"]
        command += ["--rounds", os.environ.get("ROUNDS", "5"), "--min-time", os.environ.get("MIN_TIME", "0.02")]
        print("$", *command, flush=True)
        subprocess.run([*command, "--json", f"{folder}/{name}.json"], check=False, stdout=subprocess.DEVNULL)


def key(result):
    return (result["function"], result["axis"], result["dtype"], tuple(result["shape"]), result["layout"])


def rates(result):
    whole = result["rate"]["value"] * result["seconds"]["kernel"]
    return [whole / seconds for seconds in result["rounds"] or [result["seconds"]["kernel"]]]


def figures(path, kind):
    """label: (best, median) of each case of a file."""
    with open(path, encoding="utf-8") as file:
        results = [r for r in json.load(file)["results"]
                   if r["memory"] in ("resident", "shared") and r["method"] == "single" and r["verified"]]
    own = {key(r): r for r in results if not r["vendor"] and r["device"] == "cpu"}
    first, table = {}, {}
    for k, result in own.items():
        first.setdefault(result["dtype"], rates(result))
    for k, result in own.items():
        ours, below = rates(result), None
        if kind == "peer":
            below = max((rates(r) for r in results if r["vendor"] and key(r) == k), key=max, default=None)
        elif kind == "cpu":
            below = ours
            ours = max((rates(r) for r in results if r["device"].startswith("opencl") and key(r) == k), key=max,
                       default=None)
        elif kind == "first":
            below = first[result["dtype"]]
        elif kind == "rate":
            below = [1e9] * len(ours)
        elif kind == "read":  # 1 x n x k and m x 1 x k read the matrix once
            size = {"f32": 4, "f64": 8}[result["dtype"]]
            ours = [rate / 2 * size / 1e9 for rate in ours]
            below = [1] * len(ours)
        else:
            below = result["roof"].get("rounds") or [result["roof"]["value"]] * len(ours)
        if ours and below:
            label = " ".join([result["dtype"], *([result["axis"]] if result["axis"] not in (None, "all") else []),
                              "x".join(map(str, result["shape"])), result["layout"] or ""]).strip()
            table[label] = (max(ours) / max(below), statistics.median(a / b for a, b in zip(ours, below)))
    return table


def print_table(folders):
    for name, (arguments, kind) in ROWS.items():
        columns = [figures(f"{f}/{name}.json", kind) if os.path.exists(f"{f}/{name}.json") else {} for f in folders]
        labels = list(dict.fromkeys(label for column in columns for label in column))
        if labels:
            print(f"{name} ({kind}): trine compare {arguments}")
        for label in labels:
            cells = ["{:6.2f} {:6.2f}".format(*c[label]) if label in c else 13 * " " for c in columns]
            print(f"  {label:34}", "   ".join(cells))


if __name__ == "__main__":
    if sys.argv[1] == "--table":
        print_table(sys.argv[2:])
    else:
        measure(sys.argv[1], sys.argv[2], sys.argv[3:] or ROWS)
