"""Runs a program over libtrine_blas: NumPy, SciPy and scikit-learn compute by Trine, unchanged.

python -m trine.blas [--device DEVICE] [--numerics exact] [--log FILE] program.py ARGS
python -m trine.blas [OPTIONS] -m MODULE ARGS
python -m trine.blas [OPTIONS] -c CODE ARGS

The page docs/blas.md of the project says which calls are computed, and how.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import struct
import sys

import numpy

from . import _trine
from ._errors import ArgumentError, Error, UnsupportedError
from ._functions import sum as _sum


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m trine.blas",
        description="Runs a program whose NumPy, SciPy and scikit-learn compute by Trine.",
        allow_abbrev=False,
    )
    rest = argparse.REMAINDER
    parser.add_argument("--device", help="cpu, cuda:0, opencl:0 …; by default each call's fastest")
    parser.add_argument(
        "--numerics",
        choices=("reproducible", "exact"),
        help="exact: each element of a product is rounded once",
    )
    parser.add_argument("--log", metavar="FILE", help="gets the calls, by routine and shape")
    parser.add_argument("-m", dest="module", nargs=rest, help="a module and its arguments")
    parser.add_argument("-c", dest="code", nargs=rest, help="a program's text and its arguments")
    parser.add_argument("program", nargs=rest, help="a program's file and its arguments")
    return parser.parse_args(words)


def _program(arguments: argparse.Namespace) -> list[str]:
    """The words of Python's command line that name the program."""
    for option, words in (("-m", arguments.module), ("-c", arguments.code)):
        if words:
            return [option, *words, *arguments.program]
    if not arguments.program:
        raise ArgumentError("There is no program to run: program.py, -m MODULE or -c CODE.")
    file = arguments.program[0]
    if file != "-" and not os.path.exists(file):
        raise ArgumentError(f"The program {file} doesn't exist.")
    return arguments.program


def _options_of_python(words: int) -> list[str]:
    """Those that stand before `-m trine.blas`, which has so many words behind it."""
    before = sys.orig_argv[1 : len(sys.orig_argv) - words]
    flags = before.pop().removesuffix("trine.blas") or before.pop()
    flags = flags.removesuffix("m")
    return before if flags == "-" else [*before, flags]


def _symbols(file: pathlib.Path, defined: bool) -> set[str]:
    """The names of functions that an ELF file gives to others, or takes from others."""
    data = file.read_bytes()
    (start,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQI", data, start + size * i) for i in range(count)]
    names = set()
    for _, kind, _, _, begin, length, link in sections:
        if kind != 11:  # SHT_DYNSYM
            continue
        for at in range(begin, begin + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            if (section != 0) == defined:
                first = sections[link][4] + name
                names.add(data[first : data.index(b"\0", first)].decode())
    return names


def _is_reached(package: pathlib.Path, module: str, shim: pathlib.Path) -> bool:
    """Whether a package's module takes products by a name that the shim gives."""
    given = _symbols(shim, defined=True)
    taken = {name for file in package.glob(module) for name in _symbols(file, defined=False)}
    return any("dgemm" in name for name in given & taken)


def _folder(package: str) -> pathlib.Path | None:
    spec = importlib.util.find_spec(package)
    return pathlib.Path(spec.origin).parent if spec and spec.origin else None


def _greeting(shim: pathlib.Path, device: str) -> str:
    """One line: who computes by Trine, and what doesn't."""
    folder = pathlib.Path(numpy.__file__).parent
    if not _is_reached(folder, "*core/_multiarray_umath*.so", shim):
        raise UnsupportedError(
            f"NumPy {numpy.__version__} in {folder} can't be reached: "
            "its BLAS is inside it, or has names of its own, as MKL's."
        )
    reached, missed = [f"NumPy {numpy.__version__}"], []
    if scipy := _folder("scipy"):
        is_reached = _is_reached(scipy, "linalg/_fblas*.so", shim)
        (reached if is_reached else missed).append("SciPy")
    if (folder.parent / "numpy.libs").exists():  # a wheel's own libraries
        missed.append("LAPACK inside the OpenBLAS of their wheels")
    if _folder("torch"):
        missed.append("PyTorch's own BLAS")
    missed.append("routines that Trine doesn't have (a @ a.T: dsyrk; complex types)")
    line = f"Trine {_trine.version} computes for {' and '.join(reached)}, device {device}"
    return f"{line}; not reached: {', '.join(missed)}."


def _start(words: list[str]) -> None:
    arguments = _arguments(words)
    program = _program(arguments)
    shim = pathlib.Path(__file__).parent / "lib" / "trine" / "blas" / "libtrine_blas.so"
    if not shim.exists():
        raise UnsupportedError("This build of the package has no BLAS (TRINE_BLAS=OFF).")
    if " " in str(shim) or ":" in str(shim):
        raise UnsupportedError(f"A path with a space or a colon can't be preloaded: {shim}.")
    environment = dict(os.environ)
    if arguments.device:
        environment["TRINE_BLAS_DEVICE"] = arguments.device
    if arguments.numerics:
        environment["TRINE_BLAS_NUMERICS"] = arguments.numerics
    if arguments.log:
        log = environment["TRINE_BLAS_LOG"] = os.path.abspath(arguments.log)
        if not os.path.isdir(os.path.dirname(log)):
            raise ArgumentError(f"--log: there is no folder {os.path.dirname(log)}.")
    device = environment.get("TRINE_BLAS_DEVICE") or "auto"
    if device != "auto":
        _sum(numpy.zeros(1), device=device)  # raises the library's sentence where it isn't there
    preloaded = environment.get("LD_PRELOAD", "")
    environment["LD_PRELOAD"] = f"{shim}:{preloaded}" if preloaded else str(shim)
    exact = ", exact products" * (environment.get("TRINE_BLAS_NUMERICS") == "exact")
    print("trine.blas:", _greeting(shim, device + exact), file=sys.stderr, flush=True)
    python = [sys.executable, *_options_of_python(len(words))]
    os.execve(sys.executable, [*python, *program], environment)


def _main() -> None:
    """The command `python -m trine.blas`: it reads Python's own command line as well."""
    try:
        _start(sys.argv[1:])
    except Error as error:
        sys.exit(f"trine.blas: {error}")


if __name__ == "__main__":
    _main()
