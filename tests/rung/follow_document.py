#!/usr/bin/env python3
"""Follows docs/writing-a-rung.md to the letter: applies its code blocks to a copy of the tree as their
captions say, builds the backend they change, runs the conformance cases on the new rung, and holds
the document to its promise of what is touched. Then a bug is planted in the new kernel, to see that
the same cases turn red.

    follow_document.py gpu|cpu|pack --source TREE --build ITS-BUILD --work FOLDER --trine PROGRAM
                       [--cmake=ARG]… [--nvcc NVCC]

Captions: <!-- new: PATH… -->, <!-- into: PATH, before|after the line with `X` -->,
<!-- into: PATH, behind the words `X` -->, <!-- run: NAME -->. Exit code 77: not run, no such device.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"<!-- (new|into|run): (.+?) -->\n```\w+\n(.*?)```\n", re.S)
PLACE = re.compile(r"(\S+), (before the line with|after the line with|behind the words) `(.+)`$", re.S)

# The files that each part of the document may touch: new ones, and those that it edits.
ALLOWED = {
    "gpu": ({"backends/gpu/kernels/transpose/column_strip.kernel.h"},
            {"backends/gpu/transpose_variants.cpp", "backends/gpu/kernels.cmake"}),
    "cpu": ({"cpu/transpose/recursive.cpp"},
            {"cpu/transpose/rungs.hpp", "cpu/transpose/rungs.cpp", "cpu/CMakeLists.txt"}),
    "pack": ({"column_walk.c"}, set()),
}
RUNGS = {"gpu": ["column_strip"], "cpu": ["recursive"], "pack": ["column_walk"]}
DEVICE = {"gpu": "opencl:0", "cpu": "cpu", "pack": "cpu"}
# A line of each rung's new code, and the line in its place when the bug is planted.
BUGS = {"gpu": [("backends/gpu/kernels/transpose/column_strip.kernel.h", "i < rows; ++i)", "i < rows - 1; ++i)")],
        "cpu": [("cpu/transpose/recursive.cpp", "x < block.x1; ++x)", "x < block.x1 - 1; ++x)")],
        "pack": [("column_walk.c", "j < op->input.cols;", "j < op->input.cols - 1;")]}


def fail(what):
    sys.exit(f"FAILED: {what}")


def insert(text, path, where, words, block):
    """`text` with the block in its place; the place must be there exactly once."""
    if text.count(words) != 1:
        fail(f"{path} has `{words}` {text.count(words)} times, the document needs it once")
    at = text.index(words)
    if where == "behind the words":
        at += len(words)
        return f"{text[:at]} {block.strip()}{text[at:]}"
    if where.startswith("before"):
        at = text.rfind("\n", 0, at) + 1
    else:
        at = text.index("\n", at) + 1
    return text[:at] + block + text[at:]


class Document:
    """The edits and commands of one part of the page."""

    def __init__(self, source, part):
        page = (source / "docs/writing-a-rung.md").read_text()
        sections = re.split(r"^## ", page, flags=re.M)
        title = {"gpu": "A GPU rung", "cpu": "A CPU rung", "pack": "A rung pack"}[part]
        (section,) = [one for one in sections if one.startswith(title)]
        self.new, self.edited, self.commands = {}, {}, []
        for kind, place, block in BLOCK.findall(section):
            if kind == "new":
                self.new |= {path: block for path in place.split()}
            elif kind == "run":
                self.commands.append(block)
            else:
                self.edit(source, place, block)
        touched = (set(self.new), set(self.edited))
        if touched != ALLOWED[part]:
            fail(f"the document touches {touched}, it may touch {ALLOWED[part]}")

        cmake = "backends/gpu/kernels.cmake"
        if cmake in touched[1]:
            lines = self.edited[cmake].count("\n") - (source / cmake).read_text().count("\n")
            if lines != len(RUNGS[part]):
                fail(f"the document adds {lines} lines of CMake, one a rung is promised")

    def edit(self, source, place, block):
        match = PLACE.match(place)
        if not match:
            fail(f"can't read the caption '{place}'")
        path, where, words = match.groups()
        text = self.edited.get(path) or (source / path).read_text()
        self.edited[path] = insert(text, path, where, words, block)


def write_if_changed(path, data):
    if not path.is_file() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def tracked_files(source):
    """What git tracks, else (a release archive) all there is but build folders."""
    git = ["git", "-C", str(source), "-c", f"safe.directory={source}", "ls-files", "-z"]
    listing = subprocess.run(git, capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        return {name for name in listing.stdout.split("\0") if (source / name).is_file()}
    return {path.relative_to(source).as_posix() for path in source.rglob("*")
            if path.is_file() and path.relative_to(source).parts[0] != "build"}


def copy_tree(source, tree, document):
    """The tree with the document applied. Equal files keep their times, so a second run is short."""
    files = tracked_files(source)
    taken = files & set(document.new)
    if taken:
        fail(f"{taken} exist already: the document needs another name for its rung")
    for name in files:
        text = document.edited.get(name)
        write_if_changed(tree / name, text.encode() if text else (source / name).read_bytes())
    for name, text in document.new.items():
        write_if_changed(tree / name, text.encode())
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and not name.startswith("build/") and name not in files | set(document.new):
            path.unlink()


def run(*words, **options):
    print("+", *words, flush=True)
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    return done.returncode, done.stdout + done.stderr


def must(*words, **options):
    code, text = run(*words, **options)
    if code != 0:
        fail(f"exit code {code}\n{text[-6000:]}")
    return text


def verify(trine, part, rung, backends):
    """trine verify on a new rung: exit code, its last line, and how many cases ran."""
    environment = {**os.environ, "TRINE_REQUIRE": ""}
    if backends:
        environment["TRINE_BACKEND_PATH"] = str(backends)
        print(f"+ TRINE_BACKEND_PATH={backends}", end=" ")
    code, text = run(trine, "verify", "--device", DEVICE[part], "--rung", rung,
                     env=environment, timeout=300)
    last = text[max(text.rfind("\nverify: "), 0):].strip()
    cases = re.match(r"verify: (\d+) cases", last)
    print(f"  exit code {code}: {last}", flush=True)
    return code, last, int(cases[1]) if cases else 0


def build(options, tree):
    """Configures what the part needs and builds the one backend; returns the backends' folder."""
    folder = tree / "build/release"  # where the main build has its own: a compiler cache knows most of it
    of = {"gpu": "OPENCL", "cpu": "CPU"}[options.part]
    backends = [f"-DTRINE_{name}={'ON' if name == of else 'OFF'}" for name in ("CUDA", "OPENCL", "CPU")]
    nothing = [f"-DTRINE_{what}=OFF" for what in ("TESTS", "BENCH", "EXAMPLES", "INSTALL")]
    must("cmake", "-S", tree, "-B", folder, *backends, *nothing, *options.cmake)
    must("cmake", "--build", folder, "--parallel", "2", "--target", f"trine_backend_{of.lower()}")
    return folder / "lib/trine"


def generate_cuda(options, tree):
    """For CUDA the file can't run here, but its instances can be printed and, with an nvcc, compiled."""
    out = options.work / "cuda"
    generate = next((tree / "build").rglob("trine_gpu_generate"))
    listed = re.findall(r"^ *(\w+/\w+)", (tree / "backends/gpu/kernels.cmake").read_text(), re.M)
    kernels = [name for name in listed if (tree / "cuda" / f"{name}.cu").is_file()
               or (tree / "backends/gpu/kernels" / f"{name}.kernel.h").is_file()]
    must(generate, "cuda", tree, out, "80", *kernels)
    for rung in RUNGS["gpu"]:
        entries = (out / f"transpose/{rung}.names").read_text().split()
        if len(entries) != 15:  # 5 element sizes x 3 strips
            fail(f"the row of {rung} makes {len(entries)} CUDA instances, not 15")
        if options.nvcc:
            must(options.nvcc, "-ptx", "-std=c++20", "-arch=compute_80", "-o", out / f"{rung}.ptx",
                 out / f"transpose/{rung}.cu")
        else:
            print("not run: no nvcc to compile the CUDA file")


def compile_pack(options, document, tree):
    for name, text in document.new.items():
        write_if_changed(tree / name, text.encode())
    (command,) = document.commands
    compiled = [line for line in command.split("\n") if "trine verify" not in line]
    prefix = options.work / "prefix"
    must("cmake", "--install", options.build, "--prefix", prefix)
    must("sh", "-ec", "\n".join(compiled), cwd=tree, env={**os.environ, "PREFIX": str(prefix)})
    return tree / "packs"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=sorted(RUNGS))
    for name in ("source", "build", "work", "trine"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", action="append", default=[])
    parser.add_argument("--nvcc", default="")
    options = parser.parse_args()
    part = options.part

    document = Document(options.source, part)
    tree = options.work / "tree"
    for rung in RUNGS[part]:
        code, last, _ = verify(options.trine, part, rung, None)
        if "No device is called" in last:
            needed = DEVICE[part].split(":")[0] in os.environ.get("TRINE_REQUIRE", "").split(",")
            sys.exit(f"FAILED: {last}" if needed else 77)
        if code == 0:
            fail(f"the rung {rung} is there before the document was followed")

    if part == "pack":
        make = lambda: compile_pack(options, document, tree)
    else:
        copy_tree(options.source, tree, document)
        make = lambda: build(options, tree)
    backends = make()
    for rung in RUNGS[part]:
        code, last, cases = verify(options.trine, part, rung, backends)
        if code != 0 or cases < 30:
            fail(f"{rung} doesn't pass the conformance cases of its operation: {last}")
    if part == "gpu":
        generate_cuda(options, tree)

    for path, right, wrong in BUGS[part]:
        text = document.new[path]
        if text.count(right) != 1:
            fail(f"{path} has `{right}` {text.count(right)} times: no bug can be planted there")
        document.new[path] = text.replace(right, wrong)
        write_if_changed(tree / path, document.new[path].encode())
    backends = make()
    for rung in RUNGS[part]:
        code, last, _ = verify(options.trine, part, rung, backends)
        if code != 1:
            fail(f"a bug planted in {rung} was not seen: {last}")
    print(f"the document holds: {', '.join(RUNGS[part])} passed, and with a bug planted they didn't")


if __name__ == "__main__":
    main()
