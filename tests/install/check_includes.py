"""Includes point one way: core -> backends -> nothing of ours; cuda, opencl, cpu -> backends only;
tests, bench, examples -> the public API. Reads the include lines of every tracked source file and
fails on an arrow that docs/architecture.md does not draw, on files that include each other, and on two
types of one name, which the linker would merge. `--self-test` shows that it can fail.
"""
import collections
import pathlib
import re
import subprocess
import sys

FOLDERS = ("core", "backends", "cuda", "opencl", "cpu", "blas", "oracle", "conformance", "bench", "tests", "examples",
           "fortran", "python", "mpi")
SUFFIXES = {".c", ".cpp", ".cu", ".cl", ".h", ".hpp"}
CONTRACT = {"ops.h", "lists.h", "abi.h"}  # installed as trine/…
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# From folder to folder, beyond itself. "api" is <trine/*.hpp>, "contract" <trine/ops.h|lists.h|abi.h>.
ARROWS = {
    "core": {"api", "contract", "backends"},
    "backends": {"contract"},
    "cuda": {"contract", "backends"},
    "opencl": {"contract", "backends"},
    "cpu": {"contract", "backends"},
    "blas": {"api", "contract"},
    "oracle": {"api", "contract"},
    "conformance": {"api", "contract", "oracle"},
    "bench": {"api", "contract", "oracle", "conformance"},
    "tests": {"api", "contract", "oracle"},
    "examples": {"api"},
    "fortran": {"api"},
    "python": {"api"},
    "mpi": {"api"},
}
# The rooms of a folder: each sees itself and those in the lines above.
ROOMS = {
    "core/src": [{"runtime"}, {"operations"}, {"call"}, {"auto"}, {"receipts"}, {"host"}, {"c"}],
    "bench": [{"ui", "stats"}, {"cases"}, {"roofs"}, {"timing"}, {"transfer", "published", "ranks", "receipts"},
              {"placement"}, {"commands"}],
}
# The design names these beside the arrows: the part that may look inside, and the files it may see.
EXCEPTIONS = [
    # (faults also count a backend's specializations without a driver, and damage cached binaries).
    ("tests/faults/", ("cuda/driver.hpp", "opencl/driver.hpp", "opencl/retarget.hpp", "opencl/cache.hpp", "opencl/vendors.hpp",
                       "backends/gpu/")),
    # Unit tests look inside what needs no device; those of the program, inside the program.
    ("tests/unit/", ("core/", "backends/", "conformance/guarded.hpp",
                     "cuda/gemm/residue_recombine.h")),  # arithmetic that a host compiler takes, too
    ("tests/docs/", ("backends/gpu/",)),  # the tables of rungs
    ("tests/emulated_gpu/", ("backends/", "conformance/", "cuda/gemm/residues.cu")),
    ("tests/program/", ("bench/",)),
    # "Did you mean", and drivers, as the library has them; how the library over MPI cuts its messages.
    ("bench/", ("backends/kit/words.hpp", "backends/kit/driver_table.hpp", "mpi/src/sizes.hpp")),
    ("tests/cheating_backends/", ("bench/",)),
    ("tests/conformance/", ("conformance/",)),
    ("tests/c/", ("conformance/",)),
    ("tests/fortran/", ("conformance/",)),
    ("tests/mutants/", ("conformance/",)),
    ("tests/python/", ("conformance/",)),
    ("tests/cpu/", ("cpu/", "backends/", "conformance/guarded.hpp")),
    ("tests/mpi/", ("mpi/src/place.hpp",)),  # which memory a message has isn't seen from outside
    ("tests/blas/", ("blas/names.def",)),  # the spellings of a routine
    # The BLAS shim computes small calls itself: with the cpu's SIMD words, tile and certain sum, not
    # a copy of them.
    ("blas/", ("cpu/simd.hpp", "cpu/gemm/chain-inl.hpp", "cpu/gemm/tile-inl.hpp",
              "cpu/transpose/registers-inl.hpp", "cpu/reduce/super_accumulator.hpp", "cpu/gemm/exact_element.hpp",
               "backends/kit/float_environment.hpp", "backends/kit/root_of_squares.hpp",
               "backends/kit/words.hpp", "backends/kit/appended_file.hpp",
               "backends/gpu/device_files.hpp")),  # where no GPU can be, `auto` has the CPU alone
    ("core/include/", ("core/include/",)),
]


def owner(path):
    """The folder whose rules a file follows."""
    return path.split("/")[0]


def room(path):
    """The folder of rooms that a file lies in, and the room's place in their order; or None."""
    for folder, order in ROOMS.items():
        name = path.removeprefix(folder + "/").split("/")[0]
        for place, rooms in enumerate(order):
            if path.startswith(folder + "/") and name in rooms:
                return folder, place, name
    return None


def resolve(root, file, quoted, target):
    """The repository path that an include line names, or a word for what lies outside."""
    if target.startswith("trine/"):
        name = target.removeprefix("trine/")
        return "contract" if name in CONTRACT or name == "version.h" else "api"
    if target.removeprefix("backends/") in CONTRACT and target.startswith("backends/"):
        return "contract"
    if quoted:
        beside = (root / file).parent / target
        if beside.exists():
            return beside.resolve().relative_to(root).as_posix()
    if (root / target).exists() and target.split("/")[0] in FOLDERS:
        return target
    for base in ("core/src", "core/include", "tests", "bench"):
        if quoted and (root / base / target).exists():
            return f"{base}/{target}"
    return None


def allowed(file, target):
    here = owner(file)
    if target in ("api", "contract"):
        return target in ARROWS[here]
    there = owner(target)
    mine, its = room(file), room(target)
    if mine and its and mine[0] == its[0]:
        return mine[2] == its[2] or its[1] < mine[1]
    if there == here or there in ARROWS[here]:
        return True
    return any(file.startswith(part) and target.startswith(seen) for part, seen in EXCEPTIONS)


# Where no two files include each other, by whatever way; a header and the source of its name are one.
WITHOUT_CYCLES = {"core", "backends", "cuda", "opencl", "cpu", "blas", "oracle", "conformance", "bench", "mpi"}


def cycles(edges):
    """What is left of the files when those that see no other are taken away again and again."""
    left = {stem: {other for other in seen if other != stem} for stem, seen in edges.items()}
    while ends := [stem for stem, seen in left.items() if not seen & left.keys()]:
        for stem in ends:
            del left[stem]
    return sorted(left)


def check(root, files):
    wrong = []
    edges = collections.defaultdict(set)
    lines = 0
    for file in files:
        if file.split("/")[0] not in FOLDERS or pathlib.Path(file).suffix not in SUFFIXES:
            continue
        for number, line in enumerate((root / file).read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            lines += 1
            target = resolve(root, file, match[1] == '"', match[2])
            if target and owner(file) in WITHOUT_CYCLES and "/kernels/" not in file:
                edges[file.rsplit(".", 1)[0]].add(target.rsplit(".", 1)[0])
            if target and not allowed(file, target):
                wrong.append(f"{file}:{number}: {match[2]} ({owner(file)} must not see {target})")
    if left := cycles(edges):
        wrong.append(f"files that include each other, or lead to such: {', '.join(left)}")
    return lines, wrong


SPACE = re.compile(r"(?:inline )?namespace ?([\w:]*) ?\{")
TYPE = re.compile(r"(?:struct|class|enum class)(?: alignas\(\w+\))? (\w+)(?: final)?(?: :[^;{]*)? ?\{")


def types_of(text):
    """The types that a file defines for all the program: at the left edge, in no unnamed namespace."""
    spaces = []
    for line in text.splitlines():
        if match := SPACE.match(line):
            spaces.append(match[1])
        elif line.startswith("}  // namespace") and spaces:
            spaces.pop()
        elif (match := TYPE.match(line)) and spaces and "" not in spaces:
            yield "::".join([*spaces, match[1]])


def twice(texts):
    """Types that two files define; `texts` by file."""
    places = collections.defaultdict(list)
    for file, text in texts.items():
        for name in types_of(text):
            places[name].append(file)
    return [f"{name} is defined in {' and in '.join(files)}" for name, files in places.items() if len(files) > 1]


def self_test():
    """Arrows and types that must be refused, and some that must not."""
    one, other = "namespace a {\nstruct X {\n};\n}  // namespace a\n", "namespace a {\nclass X final : Y {\n"
    hidden = "namespace a {\nnamespace {\nstruct X {\n};\n"
    if not twice({"one.hpp": one, "other.hpp": other}) or twice({"one.hpp": one, "hidden.cpp": hidden}):
        return ["two types of one name"]
    if cycles({"a": {"a", "b"}, "b": {"c"}}) or cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}}) != ["a", "b", "c"]:
        return ["a cycle of files"]
    refused = [("cuda/a.cpp", "opencl/driver.hpp"), ("core/src/a.cpp", "cuda/driver.hpp"),
               ("backends/a.h", "core/src/a.hpp"), ("backends/a.h", "api"),
               ("cpu/a.cpp", "api"), ("bench/a.cpp", "core/src/a.hpp"),
               ("examples/a.cpp", "backends/abi.h"), ("fortran/a.c", "contract"),
               ("core/src/host/a.cpp", "core/src/c/a.hpp"), ("tests/conformance/a.cpp", "cuda/driver.hpp"),
               ("core/src/a.cpp", "oracle/a.hpp"),
               ("python/src/a.cpp", "core/src/a.hpp"), ("core/src/a.cpp", "python/src/a.hpp"),
               ("mpi/src/a.cpp", "core/src/a.hpp"), ("mpi/src/a.cpp", "contract"), ("core/src/a.cpp", "mpi/src/a.hpp"),
               ("blas/a.cpp", "core/src/a.hpp"), ("blas/a.cpp", "cpu/executor.hpp"),
               ("core/src/runtime/a.cpp", "core/src/call/a.hpp"), ("bench/ui/a.cpp", "bench/stats/a.hpp"),
               ("bench/timing/a.hpp", "bench/commands/a.hpp")]
    legal = [("core/src/a.cpp", "backends/abi.h"), ("cuda/a.cpp", "backends/gpu/variant.hpp"),
             ("tests/faults/a.cpp", "cuda/driver.hpp"), ("bench/a.cpp", "oracle/a.hpp"),
             ("core/src/host/a.cpp", "core/src/call/a.hpp"), ("tests/c/a.hpp", "conformance/a.hpp"),
             ("bench/ranks/a.cpp", "bench/timing/a.hpp")]
    return [f"accepted: {a} -> {b}" for a, b in refused if allowed(a, b)] + [
        f"refused: {a} -> {b}" for a, b in legal if not allowed(a, b)]


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if "--self-test" in sys.argv:
        wrong = self_test()
        print("\n".join(wrong) or "the check refuses what it must")
        return 1 if wrong else 0
    # Tracked files where git can tell, else all of them: a release archive has no git.
    listing = subprocess.run(["git", "-C", root, "-c", f"safe.directory={root}", "ls-files"],
                             capture_output=True, text=True)
    files = listing.stdout.split("\n") if listing.returncode == 0 else [
        path.relative_to(root).as_posix() for folder in FOLDERS for path in (root / folder).rglob("*")]
    files = [file for file in files if file and (root / file).is_file()]
    lines, wrong = check(root, files)
    wrong += twice({file: (root / file).read_text(errors="replace") for file in files
                    if pathlib.Path(file).suffix in {".hpp", ".cpp"}})
    print("\n".join(wrong))
    print(f"{lines} include lines, {len(wrong)} against the arrows, or types of one name")
    return 1 if wrong or lines == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
