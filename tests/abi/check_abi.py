#!/usr/bin/env python3
"""Compares the C API with the committed baseline, trine_c.abi: a function that is gone, or whose
types have changed, fails; a new one passes. Then: the library shows these functions under its
version, and nothing else of C; and the C tests call each of them. A struct that has grown at its
end is a change that may be made: write the baseline anew (update).

abidw reads types from debug information. So that this is small, and there without a debug build,
the functions of the headers get empty bodies; that the library's own have the same types is what
its compiler checks.

    check_abi.py check|update|self-test SOURCE INCLUDE CC [LIBTRINE VERSION]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

BASELINE = pathlib.Path(__file__).parent / "trine_c.abi"
# Not the functions that backends and packs export, whose names end in a version.
MARK = '__attribute__((visibility("default"))) '
DECLARATION = re.compile(re.escape(MARK) + r"([^;{}]*?\b(trine_\w+)(?<!_v1)\([^;]*\));")


def run(*command, folder=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def headers(source, include, cc):
    """The text of the headers, and the names of the functions in it."""
    code, text = run(cc, "-std=c11", "-E", "-P", "-include", "trine/trine.h", "-x", "c",
                     "/dev/null", f"-I{source / 'core/include'}", f"-I{include}")
    if code:
        sys.exit(text)
    text = re.sub(r"\s+", " ", text)
    return text, {match[2] for match in DECLARATION.finditer(text)}


def describe(cc, text, output):
    """Writes what abidw says of the functions that a text declares."""
    with tempfile.TemporaryDirectory() as folder:
        stub, library = "trine.c", "libtrine.so"  # their paths would stand in the output
        (pathlib.Path(folder) / stub).write_text(DECLARATION.sub(r"\1 { __builtin_trap(); }", text))
        for command in ((cc, "-g", "-O0", "-fPIC", "-shared", stub, "-o", library),
                        ("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
                         "--no-elf-needed", "--no-architecture", "--type-id-style", "hash",
                         "--out-file", output, library)):
            code, said = run(*command, folder=folder)
            if code:
                sys.exit(said)


def difference(cc, text):
    """What abidiff has against a text, compared with the baseline; "" if nothing."""
    with tempfile.TemporaryDirectory() as folder:
        now = pathlib.Path(folder) / "now.abi"
        describe(cc, text, now)
        code, said = run("abidiff", "--no-added-syms", BASELINE, now)
        return said if code else ""


def self_test(cc, text):
    """Texts that must be refused, and some that must not."""
    function = "trine_status trine_queue_wait(trine_queue_t* queue);"
    field = "int32_t not_in_place;"
    wrong = []
    for what, old, new, refused in (
            ("a function is gone", MARK + function, "", True),
            ("a parameter has another type", function,
             function.replace("trine_queue_t*", "const char*"), True),
            ("a field has another type", field, "int64_t not_in_place;", True),
            ("a field is gone", field, "", True),
            ("a status has another value", "TRINE_DEVICE_LOST = 6", "TRINE_DEVICE_LOST = 16", True),
            ("a struct has grown", "} trine_options_t;", "double later; } trine_options_t;", True),
            ("nothing", "", "", False),
            ("a function is new", function, f"{function} {MARK}int trine_new(void);", False)):
        if old not in text:
            wrong.append(f"{what}: '{old}' isn't in the headers")
        elif bool(said := difference(cc, text.replace(old, new))) != refused:
            wrong.append(f"{what}: {'accepted' if refused else 'refused: ' + said}")
    return wrong


def library_says(library, version, names, source):
    """What is wrong with the symbols of the library, and with the tests."""
    _, listing = run("nm", "-D", "--defined-only", library)
    shown = {line.split()[-1] for line in listing.splitlines() if " _Z" not in line}
    shown = {name for name in shown if not name.startswith(("TRINE_", "trine_test_host@"))}
    expected = {f"{name}@@TRINE_{version}" for name in names}
    tests = "\n".join(file.read_text() for file in (source / "tests/c").glob("*.c"))
    untested = [name for name in names if not re.search(rf"\b{name}\(", tests)]
    return ([f"the library lacks {name}" for name in sorted(expected - shown)] +
            [f"the library shows {name}, which no header has" for name in sorted(shown - expected)] +
            [f"no test in tests/c calls {name}" for name in sorted(untested)])


def main():
    mode, source, include, cc = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    text, names = headers(source, include, cc)
    if mode == "update":
        describe(cc, text, BASELINE)
        return 0
    if mode == "self-test":
        wrong = self_test(cc, text)
    else:
        wrong = list(filter(None, [difference(cc, text)]))
        wrong += library_says(sys.argv[5], sys.argv[6], names, source)
    print("\n".join(wrong))
    print(f"{len(names)} functions, {len(wrong)} things wrong")
    return 1 if wrong or len(names) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
