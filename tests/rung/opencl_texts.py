"""Kernels' texts in OpenCL C, as NVIDIA's compiler takes them: for each kernel of CUDA that OpenCL has too, clang
checks one instance of each dtype and tile. PoCL compiles no text for NVIDIA's devices alone.

  opencl_texts.py CLANG BUILD        exit status 1: clang refuses a text; 77: there is no clang
"""
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

DEVICE = ["--target=nvptx64", "-D__OPENCL_VERSION__=120", "-DHAVE_PTX=1", "-DHAVE_WARPS=1", "-DHAVE_F64=1",
          "-DHAVE_ATOMIC_64=1", "-DHAVE_LOCAL_48K=1"]
CHECK = ["-x", "cl", "-cl-std=CL1.2", "-fsyntax-only", "-pedantic-errors", "-Xclang", "-finclude-default-header",
         "-Xclang", "-cl-ext=+all"]


def instances(source):
    """The macros of one instance for each dtype and tile of a generated file of CUDA."""
    found, macros = {}, {}
    for line in source.read_text().splitlines():
        if define := re.match(r"#define (\w+) (.+)$", line):
            macros[define[1]] = define[2]
        elif line.startswith("namespace specialization__"):
            found.setdefault((macros.get("T"), macros.get("TILE")), list(macros.items()))
        elif line.startswith("#"):
            macros = {}
    return found.values()


def check(clang, text, macros):
    command = [clang, *CHECK, *DEVICE, *(f"-D{name}={value}" for name, value in macros), str(text)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [f"{text.name}: {line}" for line in done.stderr.splitlines() if ": error:" in line]


def main(clang, build):
    if not pathlib.Path(clang).exists():
        print("opencl_texts: there is no clang; PoCL's package brings clang-15")
        return 77
    sources = [(cu, pathlib.Path(str(cu).replace("/cuda/", "/opencl/")).with_suffix(".cl"))
               for cu in sorted(pathlib.Path(build, "cuda").glob("*/*.cu"))]
    jobs = [(clang, text, macros) for cu, text in sources if text.exists() for macros in instances(cu)]
    with ThreadPoolExecutor() as pool:
        wrong = [line for lines in pool.map(lambda job: check(*job), jobs) for line in lines]
    print("\n".join(sorted(set(wrong))))
    print(f"{len(jobs)} instances, {len(wrong)} errors")
    return 1 if wrong or not jobs else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
