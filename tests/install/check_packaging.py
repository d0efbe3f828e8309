"""What stands in several packages' words agrees: one version in CMakeLists.txt, debian/changelog and the
recipes for Spack and conda; Debian's library package named after the SONAME that follows from it; each
list of debian/ belongs to a package, each test is there. `--self-test` shows that it can fail.
"""
import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys

SPACK = "packaging/spack/spack_repo/trine/packages/trine/package.py"
VERSIONS = {
    "CMakeLists.txt": r"^project\(trine VERSION ([\d.]+)",
    "debian/changelog": r"\Atrine \(([\d.]+)-[^)]+\)",
    SPACK: r'^    version\("([\d.]+)"',
    "packaging/conda/recipe.yaml": r'^  version: "([\d.]+)"',
}


def problems(source, read=lambda path: path.read_text()):
    wrong = []
    found = {name: re.search(pattern, read(source / name), re.MULTILINE)
             for name, pattern in VERSIONS.items()}
    version = found["CMakeLists.txt"].group(1)
    wrong += [f"{name} doesn't say {version}, as CMakeLists.txt does"
              for name, match in found.items() if not match or match.group(1) != version]

    packages = re.findall(r"^Package: (\S+)", read(source / "debian/control"), re.MULTILINE)
    library = "libtrine" + ".".join(version.split(".")[:2])
    if library not in packages:
        wrong.append(f"debian/control has no package {library}")
    wrong += [f"{path} belongs to no package" for path in (source / "debian").glob("*.install")
              if path.stem not in packages]
    for tests in re.findall(r"^Tests: (.*)", read(source / "debian/tests/control"), re.MULTILINE):
        wrong += [f"debian/tests/{test} can't be run" for test in re.split(r"[, ]+", tests)
                  if not os.access(source / "debian/tests" / test, os.X_OK)]

    ast.parse(read(source / SPACK))
    if shutil.which("dpkg-parsechangelog"):
        said = subprocess.run(["dpkg-parsechangelog", "-l", source / "debian/changelog"],
                              capture_output=True, text=True, check=False)
        wrong += said.stderr.splitlines()
    return wrong


def main():
    source = pathlib.Path(sys.argv[1])
    if "--self-test" in sys.argv:
        for name in [*VERSIONS, "debian/control"]:
            def read(path, name=name):
                text = path.read_text()
                return text.replace("0.1", "9.9") if path == source / name else text
            if not problems(source, read):
                sys.exit(f"another version in {name} wasn't noticed")
    wrong = problems(source)
    print("\n".join(wrong) or "the packages agree")
    sys.exit(bool(wrong))


main()
