#!/usr/bin/env python3
"""Compares the PTX of every CUDA kernel specialization in two revisions, function by function. Needs nvcc, no GPU.

    cmake/compare_ptx.py BEFORE [AFTER] [--only REGEXP] [--work FOLDER]

BEFORE and AFTER are git revisions; without AFTER it is the working tree. Each is printed by its own
trine_gpu_generate and compiled with its own flags, for every architecture that its rows ask for.

same               the same text, but for the names that nvcc makes up, line information and comments
same instructions  the same instructions and constants in the same order: registers, labels, names may differ
DIFFERENT          anything else, with the first lines that differ. The exit code is then 1.
"""
import argparse
import collections
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
CMAKE_OPTIONS = [f"-DTRINE_{name}=OFF" for name in ("CPU", "OPENCL", "TESTS", "BENCH", "EXAMPLES", "INSTALL")]
FUNCTION = re.compile(r"^[^\n]*\.(?:entry|func)\b.*?^}$", re.S | re.M)
NAME = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
NOISE = re.compile(r"//[^\n]*|^\s*\.(?:loc|file)\b[^\n]*", re.M)
MADE_UP = re.compile(r"\b_Z\w+|\$L_\w+|\$L__\w+|__local_depot\d+")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def generated(revision, work):
    """The folder with the revision's kernel files as nvcc gets them, and the flags that its build has."""
    tree = REPO
    if revision:
        tree = work / revision
        tree.mkdir(parents=True, exist_ok=True)
        archive = work / f"{revision}.tar"
        run("git", "-C", REPO, "archive", "-o", archive, revision)
        run("tar", "-xf", archive, "-C", tree)
    build = work / f"build-{revision or 'tree'}"
    run("cmake", "-S", tree, "-B", build, "-DTRINE_CUDA=ON", *CMAKE_OPTIONS)
    run("cmake", "--build", build, "--target", "trine_cuda_names", "--parallel")
    exact = re.search(r"set\(exact ([^)]*)\)", (tree / "cuda/CMakeLists.txt").read_text())
    nvcc = re.search(r"^TRINE_NVCC:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.M)
    return build / "cuda", [nvcc[1], "-ptx", "-std=c++20", "-O3", *exact[1].split()]


def compile_file(source, command, architecture, work):
    """The PTX of a kernel file. The same text isn't compiled twice, wherever its parts lie."""
    text = re.sub(r"^#line.*$", "", source.read_text(), flags=re.M)
    command = [*command, f"-arch=compute_{architecture}"]
    stem = work / hashlib.sha256("\0".join([*command, text]).encode()).hexdigest()
    ptx = stem.with_suffix(".ptx")
    if not ptx.exists():
        stem.with_suffix(".cu").write_text(text)
        run(*command, "-o", f"{stem}.part", stem.with_suffix(".cu"))
        os.replace(f"{stem}.part", ptx)
    return ptx.read_text()


def functions_of(ptx):
    """Name -> text without noise, with made-up names numbered in the order of their appearance."""
    found = {}
    for match in FUNCTION.finditer(NOISE.sub("", ptx)):
        numbers = {}
        text = MADE_UP.sub(lambda name: numbers.setdefault(name[0], f"name{len(numbers)}"), match[0])
        found[NAME.search(match[0])[1]] = [line.strip() for line in text.split("\n") if line.strip()]
    return found


def instructions_of(lines):
    """Instructions and memory of the function, without the numbers of registers and names."""
    plain = [re.sub(r"%(\w*?[a-z])\d+\b", r"%\1", re.sub(r"\bname\d+", "name", line)) for line in lines]
    return [line for line in plain if not line.startswith(".reg") and not line.endswith(":")]


def first_lines(before, after):
    lines = [line for line in difflib.unified_diff(before, after, lineterm="", n=0)
             if not line.startswith(("---", "+++", "@@"))]
    return [f"      {line}" for line in lines[:6]] + [f"      … {len(lines)} lines differ"]


def compare(name, before, after):
    if before is None or after is None:
        return "DIFFERENT", [f"    {name}: only {'after' if before is None else 'before'}"]
    if before == after:
        return "same", []
    left, right = instructions_of(before), instructions_of(after)
    if left == right:
        return "same instructions", []
    return "DIFFERENT", [f"    {name}", *first_lines(left, right)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--only", default="", help="kernel files whose name has this, as reduce/cas")
    parser.add_argument("--work", type=pathlib.Path, help="keep what was compiled here for the next time")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = (options.work or pathlib.Path(temporary)).resolve()
        sides = []
        for revision in (options.before, options.after):
            commit = revision and run("git", "-C", REPO, "rev-parse", "--verify", f"{revision}^{{commit}}").strip()
            sides.append((commit and commit[:10], *generated(commit, work)))
        return report(sides, options.only, work)


def report(sides, only, work):
    files = collections.defaultdict(list)  # (kernel file, architecture) -> the futures of both sides
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for number, (_, folder, command) in enumerate(sides):
            for source in sorted(folder.glob("*/*.cu")):
                name = source.relative_to(folder).with_suffix("").as_posix()
                for architecture in re.findall(r"=compute_(\w+)", source.with_suffix(".options").read_text()):
                    if re.search(only, name):
                        pair = files.setdefault((name, architecture), [None, None])
                        pair[number] = pool.submit(compile_file, source, command, architecture, work)
    print(f"before: {sides[0][0]}, after: {sides[1][0] or 'the working tree'}")
    print(run(sides[1][2][0], "--version").strip().split("\n")[-1])
    total = collections.Counter()
    for (name, architecture), pair in sorted(files.items()):
        before, after = (functions_of(one.result()) if one else {} for one in pair)
        results = {function: compare(function, before.get(function), after.get(function))
                   for function in sorted(before.keys() | after.keys())}
        count = collections.Counter(verdict for verdict, _ in results.values())
        total += count
        print(f"  {name} compute_{architecture}: " + ", ".join(f"{n} {v}" for v, n in sorted(count.items())))
        shown = [lines for _, lines in results.values() if lines]
        print("".join(line + "\n" for lines in shown[:2] for line in lines), end="")
        if len(shown) > 2:
            print(f"    … and {len(shown) - 2} more")
    print("in all: " + ", ".join(f"{n} {v}" for v, n in sorted(total.items())))
    return 1 if total["DIFFERENT"] or not total else 0


if __name__ == "__main__":
    sys.exit(main())
