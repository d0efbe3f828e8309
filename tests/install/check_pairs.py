"""cuda/ and opencl/ read side by side: a kernel file and its sister, and the headers they share, are the
same to the letter. What the languages differ in stands in the preludes and in the headers listed here.
A kernel without a sister says why; a header without one serves such kernels alone.
`--self-test` shows that the check can fail.
"""
import pathlib
import re
import sys
import tempfile
from itertools import zip_longest

# The headers that may differ, and in what.
DIFFER = {
    "gemm/read_only.h": "the load is an intrinsic in CUDA, inline PTX in OpenCL",
    "reduce/warp_sum.h": "CUDA shuffles every type; OpenCL 32 bits, and has sub-groups beside warps",
}
# Language, suffix of its kernel files.
LANGUAGES = {"cuda": ".cu", "opencl": ".cl"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def texts(root, language):
    """The language's kernel files and headers: operation/name, without the kernels' suffix -> text."""
    suffix = LANGUAGES[language]
    return {path.relative_to(root / language).as_posix().removesuffix(suffix): path.read_text()
            for path in (root / language).glob("*/*") if path.suffix in (suffix, ".h")}


def opening(text):
    """The comment at the head of a file."""
    lines = text.splitlines()
    end = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return " ".join(line.removeprefix("//").strip() for line in lines[:end])


def first_difference(left, right):
    lines = zip_longest(left.splitlines(keepends=True), right.splitlines(keepends=True), fillvalue="")
    return next(f"line {n}: {a!r} and {b!r}" for n, (a, b) in enumerate(lines, 1) if a != b)


def check_pair(name, left, right):
    if name in DIFFER:
        return [f"{name} is listed, but its two files are the same"] if left == right else []
    return [] if left == right else [f"{name} differs, {first_difference(left, right)}"]


def check_alone(language, name, here, other):
    """A file that the other language lacks."""
    if not name.endswith(".h"):
        if "No sister" in opening(here[name]):
            return []
        return [f"{language}/{name}{LANGUAGES[language]} doesn't say why it has no sister"]
    folder = name.split("/")[0]
    return [f"{language}/{name} has no sister, but {user} has, which includes it"
            for user, text in here.items() if user in other
            and name in (f"{folder}/{included}" for included in INCLUDE.findall(text)
                         if user.startswith(folder + "/"))]


def check(root):
    cuda, opencl = texts(root, "cuda"), texts(root, "opencl")
    shared = sorted(cuda.keys() & opencl.keys())
    wrong = [f"{name} is listed, but isn't in both folders" for name in DIFFER if name not in shared]
    for name in shared:
        wrong += check_pair(name, cuda[name], opencl[name])
    for name in sorted(cuda.keys() - opencl.keys()):
        wrong += check_alone("cuda", name, cuda, opencl)
    for name in sorted(opencl.keys() - cuda.keys()):
        wrong += check_alone("opencl", name, opencl, cuda)
    return len(shared), wrong


def self_test(root):
    """Breaks a copy of the folders in every way that must be noticed; returns what wasn't."""
    def damage(folder, file, change):
        path = folder / file
        path.write_text(change(path.read_text() if path.exists() else ""))

    blows = [
        ("reduce/shuffle differs", "cuda/reduce/shuffle.cu", lambda text: text + "\n"),
        ("reduce/group_sum.h differs", "opencl/reduce/group_sum.h",
         lambda text: text.replace("(ulong)value", "(long)value")),
        ("reduce/warp_sum.h is listed", "cuda/reduce/warp_sum.h",
         lambda _: (root / "opencl/reduce/warp_sum.h").read_text()),
        ("doesn't say why", "cuda/gemm/lonely.cu", lambda _: "// Idea: none.\n"),
        ("doesn't say why", "opencl/service/stamp.cl", lambda text: text.replace("No sister", "")),
        ("reduce/lonely.h has no sister", "opencl/reduce/lonely.h", lambda _: "#pragma once\n"),
    ]
    missed = []
    for words, file, change in blows:
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder)
            for language in LANGUAGES:
                for path in (root / language).glob("*/*"):
                    target = copy / path.relative_to(root)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(path.read_bytes())
            damage(copy, file, change)
            if file.endswith("lonely.h"):
                for kernel in ("cuda/reduce/shuffle.cu", "opencl/reduce/shuffle.cl"):
                    damage(copy, kernel, lambda text: text + '#include "lonely.h"\n')
            if not any(words in line for line in check(copy)[1]):
                missed.append(f"not noticed: {words} ({file})")
    return missed


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if "--self-test" in sys.argv:
        wrong = self_test(root)
        print("\n".join(wrong) or "the check refuses what it must")
        return 1 if wrong else 0
    pairs, wrong = check(root)
    print("\n".join(wrong))
    print(f"{pairs} pairs, {len(DIFFER)} of which may differ, {len(wrong)} complaints")
    return 1 if wrong or pairs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
