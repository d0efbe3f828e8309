"""NumPy's and SciPy's own test suites with and without libtrine_blas, which is preloaded: compares
the outcome of every test, and exits with 1 where one differs.

usage: numpy_suite.py SHIM FOLDER [TESTS]…      by a python3 that has numpy, pytest and hypothesis
TESTS: numpy/linalg, numpy/core (both, where none is named), scipy/linalg, or some as pytest names
       them: numpy/linalg/tests/test_linalg.py::TestSolve

Each file of tests runs by itself, first over the BLAS that is there, then over the shim. FOLDER
keeps a file's outcomes, so that a run that was cut short goes on where it was; a new SHIM needs a
new or emptied FOLDER. TRINE_BLAS_DEVICE is obeyed."""
import collections
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy

PACKAGES = pathlib.Path(numpy.__path__[0]).parent

def outcomes(tests, kept, env):
    """{test: outcome} of a file of tests; kept as JUnit's XML."""
    if not kept.exists():
        part = kept.with_suffix(".part")
        # hypothesis: the same examples each time, and no deadline on a busy machine.
        ran = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0",
                              f"--junitxml={part}", str(tests)], env=env, capture_output=True, text=True, cwd=kept.parent)
        if ran.returncode not in (0, 1, 5) or not part.exists():  # 5: no tests in it
            sys.exit(f"{tests}: pytest ended with {ran.returncode}:\n{ran.stdout[-3000:]}{ran.stderr[-3000:]}")
        part.rename(kept)
    found = {}
    for case in xml.etree.ElementTree.parse(kept).iter("testcase"):
        what = {child.tag for child in case} & {"failure", "error", "skipped"}
        kind = next(iter(what), "passed")
        if kind == "skipped" and case.find("skipped").get("type") == "pytest.xfail":
            kind = "expected failure"
        found[f"{case.get('classname')}::{case.get('name')}"] = kind
    return found


def reaches(env):
    """Whether this NumPy's products are computed by the shim of an environment."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        subprocess.run([sys.executable, "-c", "import numpy; numpy.ones((3, 3)) @ numpy.eye(3)"], check=True,
                       env={**env, "TRINE_BLAS_LOG": str(log)})
        return log.exists() and "dgemm" in log.read_text()


def files_of(names):
    """Below PACKAGES: each file of a suite, or what was named."""
    for name in names or ("numpy/linalg", "numpy/core"):
        if ".py" in name:
            yield name
        else:
            found = PACKAGES.glob(f"{name}/tests/test_*.py")
            yield from sorted(str(path.relative_to(PACKAGES)) for path in found)


def main(shim, folder, *names):
    shim, folder = pathlib.Path(shim).resolve(), pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # Threads of two libraries would wait for each other on a busy machine.
    plain = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    device = os.environ.get("TRINE_BLAS_DEVICE", "auto")
    print(f"NumPy {numpy.__version__}, Python {platform.python_version()}, TRINE_BLAS_DEVICE={device}")
    over_shim = {**plain, "LD_PRELOAD": str(shim), "TRINE_DATA_DIR": "", "TRINE_TUNING": ""}
    if not reaches(over_shim):
        sys.exit(f"{shim} isn't reached: has this NumPy its BLAS inside it?")
    heads = ("tests", "passed", "failed", "skipped", "xfailed", "differ")
    print(f"{'over the shim':38} " + " ".join(f"{head:>7}" for head in heads))
    total, differing = collections.Counter(), []

    def tell(name, row):
        print(f"{name:38} " + " ".join(f"{row[head]:>7}" for head in heads), flush=True)

    for tests in files_of(names):
        name = tests.replace("/tests/", "/").replace(".py", "")
        kept, tests = folder / name.replace("/", "-").replace("::", "-"), PACKAGES / tests
        without = outcomes(tests, kept.with_suffix(".without.xml"), plain)
        over = outcomes(tests, kept.with_suffix(".over.xml"), over_shim)
        differ = [f"{test}: {without.get(test)} without the shim, {over.get(test)} over it"
                  for test in sorted(without.keys() | over.keys()) if without.get(test) != over.get(test)]
        kinds = collections.Counter(over.values())
        row = {"tests": len(over), "passed": kinds["passed"], "failed": kinds["failure"] + kinds["error"],
               "skipped": kinds["skipped"], "xfailed": kinds["expected failure"], "differ": len(differ)}
        tell(name, row)
        total.update(row)
        differing += differ
    tell("all", total)
    print("\n".join(differing) if differing else "No test's outcome differs from that without the shim.")
    return 1 if differing else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
