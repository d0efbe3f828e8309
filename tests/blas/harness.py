"""What the shim's tests share: programs that know nothing of Trine, run over libtrine_blas.

usage: ANY_test.py [unittest options] SHIM TRINE"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SHIM, TRINE = sys.argv[-2:]
FOLDER = str(pathlib.Path(SHIM).parent)  # has it as libblas.so.3 too
LIBRARIES = pathlib.Path("/usr/lib") / subprocess.run(["gcc", "-print-multiarch"], capture_output=True, text=True).stdout.strip()


def over_shim(device="cpu", **more):
    """The environment of a program whose libblas.so.3 is the shim."""
    return {**os.environ, "LD_LIBRARY_PATH": FOLDER, "TRINE_BLAS_DEVICE": device, "TRINE_DATA_DIR": "", "TRINE_TUNING": "",
            **more}


def run(*words, env=None, stdin=None, cwd=None):
    return subprocess.run([str(word) for word in words], env=env, stdin=stdin, cwd=cwd, capture_output=True, text=True,
                          timeout=280)


def python(code, env, *words):
    return run(sys.executable, *words, "-c", code, env=env)


def has_opencl():
    return any(line.strip().startswith("opencl:0") for line in run(TRINE, "info").stdout.splitlines())


def devices():
    return ["cpu", "opencl:0"] if has_opencl() else ["cpu"]


def lines_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def main():
    unittest.main(argv=sys.argv[:-2])
