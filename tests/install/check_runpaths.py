"""No library or program of a tree looks for its libraries in the current folder: an entry of its RUNPATH that is
empty or relative would be that. `--self-test` shows that it can fail.
"""
import pathlib
import re
import subprocess
import sys

ENTRY = re.compile(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]")


def is_elf(path):
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def wrong(path, dynamic):
    return [f"{path}: RUNPATH '{found}' has an entry that is empty or relative, so the loader looks in the current folder"
            for found in ENTRY.findall(dynamic)
            if any(not entry.startswith(("/", "$ORIGIN")) for entry in found.split(":"))]


def main(folder):
    files = [path for path in sorted(pathlib.Path(folder).rglob("*"))
             if "CMakeFiles" not in path.parts and path.suffix not in (".o", ".a") and is_elf(path)]
    errors = []
    for path in files:
        dynamic = subprocess.run(["readelf", "--dynamic", "--wide", str(path)], capture_output=True, text=True, check=True)
        errors += wrong(path, dynamic.stdout)
    print(*errors, sep="\n")
    print(f"{len(files)} libraries and programs, {len(errors)} with a RUNPATH that is wrong")
    return 1 if errors or not files else 0


def self_test():
    line = " 0x000000000000001d (RUNPATH)            Library runpath: [{}]"
    for bad in ("", ":", "/usr/lib:", ":/usr/lib", "/usr/lib::$ORIGIN", "lib", "/usr/lib:."):
        assert wrong("a", line.format(bad)), bad
    for good in ("/usr/lib", "$ORIGIN", "$ORIGIN:$ORIGIN/../..:/usr/lib"):
        assert not wrong("a", line.format(good)), good
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1:] == ["--self-test"] else main(sys.argv[1]))
