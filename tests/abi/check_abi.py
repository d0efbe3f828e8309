#!/usr/bin/env python3
"""Compares the C API with the committed baseline, trine_c.txt. The check fails where a function, a
struct or an enumerator is gone or has changed; a new one passes. It also fails where the library
exports other functions of C than these, or under another version, and where no C test calls one of
them. A struct may grow at its end: then the baseline is written again (update).

The baseline has the declarations as the preprocessor gives them, without the names of parameters.
Types have fixed widths, so that the same text is the same binary interface.

    check_abi.py check|update|self-test SOURCE INCLUDE CC [LIBTRINE VERSION]
    check_abi.py check|update SOURCE INCLUDE CC LIBTRINE_MPI VERSION MPI_INCLUDE…    for trine/mpi.h
"""
import pathlib
import re
import subprocess
import sys
import textwrap

HERE = pathlib.Path(__file__).parent


class Trine:
    header, prefix, tests, least = "core/include/trine/trine.h", "trine_", "tests/c", 80
    baseline = HERE / "trine_c.txt"


class Mpi:
    header, prefix, tests, least = "mpi/include/trine/mpi.h", "trine_mpi_", "tests/mpi", 15
    baseline = HERE / "trine_mpi_c.txt"


OF = Mpi if len(sys.argv) > 7 else Trine
# Not the functions that backends and packs export, whose names end in a version.
MARK = '__attribute__((visibility("default"))) '
FUNCTION = re.compile(re.escape(MARK) + r"([^;{}]*?\b(trine_\w+)(?<!_v1)\([^;]*\));")
STRUCT = re.compile(r"typedef (?:struct|union) trine_\w+ \{([^}]*)\} (trine_\w+);")
ENUMERATION = re.compile(r"enum (?:trine_\w+ )?\{([^}]*\bTRINE_[^}]*)\}")
ACCESS = re.compile(r"__attribute__\(\(access\([^)]*\)\)\) ")  # for the compiler's warnings


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def headers(source, include, cc):
    """The text of the headers."""
    code, text = run(cc, "-std=c11", "-E", "-P", "-include", source / OF.header, "-x", "c",
                     "/dev/null", f"-I{source / 'core/include'}", f"-I{source / 'mpi/include'}", f"-I{include}",
                     *(f"-I{folder}" for folder in sys.argv[7:]))
    if code:
        sys.exit(text)
    return ACCESS.sub("", re.sub(r"\s+", " ", text))


def functions_of(text):
    found = {match[2]: match[1] for match in FUNCTION.finditer(text)}
    return {name: function for name, function in found.items() if name.startswith(OF.prefix)}


def interface(text):
    """Lines of what a compiled program depends on: functions, and the structs that they reach."""
    unnamed = {re.sub(r"(?<=[ *])\w+(?=[,)])(?<!void)", "", function).replace(" ,", ",")
               .replace(" )", ")") for function in functions_of(text).values()}
    structs = {name: f"{name} {{{fields}}}" for fields, name in STRUCT.findall(text)}
    reached, new = set(), unnamed
    while new:
        named = {name for line in new for name in re.findall(r"\btrine_\w+", line)}
        new = {structs[name] for name in named if name in structs} - reached
        reached |= new
    return unnamed | reached


def enumerators(text):
    if OF is Mpi:
        return set()  # those of Trine
    return {one.strip() for body in ENUMERATION.findall(text) for one in body.split(",")} - {""}


def write_baseline(text):
    lines = [", ".join(sorted(enumerators(text))), *sorted(interface(text))]
    wrapped = (textwrap.fill(line, 100, subsequent_indent="    ", break_long_words=False,
                             break_on_hyphens=False) for line in lines)
    OF.baseline.write_text("\n".join(wrapped) + "\n")


def difference(text):
    """What the baseline has and a text doesn't."""
    first, *lines = re.sub(r"\n +", " ", OF.baseline.read_text()).splitlines()
    values = set(first.split(", ")) - {""}
    return sorted((values - enumerators(text)) | (set(lines) - interface(text)))


def self_test(text):
    """Texts that must be refused, and some that must not."""
    function = "trine_status trine_queue_wait(trine_queue_t* queue);"
    field = "int32_t not_in_place;"
    wrong = []
    for what, old, new, refused in (
            ("a function is gone", MARK + function, "", True),
            ("a parameter has another type", function,
             function.replace("trine_queue_t*", "const char*"), True),
            ("a function returns another type", function,
             function.replace("trine_status", "int"), True),
            ("a field has another type", field, "int64_t not_in_place;", True),
            ("a field is gone", field, "", True),
            ("a field of a field has another type", "uint64_t offset;", "uint32_t offset;", True),
            ("a status has another value", "TRINE_DEVICE_LOST = 6", "TRINE_DEVICE_LOST = 16", True),
            ("a struct has grown", "} trine_options_t;", "double later; } trine_options_t;", True),
            ("nothing", "", "", False),
            ("a parameter has another name", function, function.replace("* queue", "* one"), False),
            ("a function is new", function, f"{function} {MARK}int trine_new(void);", False)):
        if old not in text:
            wrong.append(f"{what}: '{old}' isn't in the headers")
        elif bool(lost := difference(text.replace(old, new))) != refused:
            wrong.append(f"{what}: {f'refused: {lost}' if lost else 'accepted'}")
    return wrong


def library_says(library, version, names, source):
    """What is wrong with the symbols of the library, and with the tests."""
    _, listing = run("nm", "-D", "--defined-only", library)
    shown = {line.split()[-1] for line in listing.splitlines() if " _Z" not in line}
    shown = {name for name in shown if not name.startswith(("TRINE_", "trine_test_host@"))}
    expected = {f"{name}@@TRINE_{version}" for name in names}
    tests = "\n".join(file.read_text() for file in (source / OF.tests).glob("*.c*"))
    untested = [name for name in names if not re.search(rf"\b{name}\(", tests)]
    unknown = sorted(shown - expected)
    return ([f"the library lacks {name}" for name in sorted(expected - shown)] +
            [f"the library shows {name}, which no header has" for name in unknown] +
            [f"no test in {OF.tests} calls {name}" for name in sorted(untested)])


def main():
    mode, source, include, cc = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    text = headers(source, include, cc)
    names = functions_of(text)
    if mode == "update":
        write_baseline(text)
        return 0
    if mode == "self-test":
        wrong = self_test(text)
    else:
        wrong = [f"the headers lack {line}" for line in difference(text)]
        wrong += library_says(sys.argv[5], sys.argv[6], names, source)
    print("\n".join(wrong))
    print(f"{len(names)} functions, {len(wrong)} things wrong")
    return 1 if wrong or len(names) < OF.least else 0


if __name__ == "__main__":
    sys.exit(main())
