#!/usr/bin/env python3
"""Holds the lists of operations, dtypes, functions, maps, axes and numerics together that no compiler compares:
the enumerations of backends/ops.h and of <trine/types.hpp> have the values of backends/lists.h in its order, so do
the schema of results and the texts of the program's help, and docs/writing-an-operation.md names the files.
`--self-test` takes one value out of each list, to see that it is missed.

    check_lists.py TREE [--self-test]
"""
import pathlib
import re
import sys

LISTS, CONTRACT, TYPES, SCHEMA = ("backends/lists.h", "backends/ops.h", "core/include/trine/types.hpp",
                                  "docs/results.schema.json")
PAGE = "docs/writing-an-operation.md"
# The list in lists.h, the enumerations, and the schema's property, if there is one.
KINDS = (
    ("TRINE_OPERATIONS_BY", "trine_operation", "Operation", "operation"),
    ("TRINE_DTYPES", "trine_dtype", "Dtype", None),
    ("TRINE_FUNCTIONS", "trine_function", "Function", "function"),
    ("TRINE_MAPS", "trine_map", "Map", "map"),
    ("TRINE_AXES", "trine_axis", "Axis", "axis"),
    ("TRINE_NUMERICS", "trine_numerics", "Numerics", None),
)


def places(kind):
    """The file of each list of a kind, a pattern of its text, and a pattern of a value there."""
    macro, c_name, cpp_name, key = kind
    yield LISTS, rf"#define {macro}\(X.*?\n\n", r"X\((\w+), "
    yield CONTRACT, rf"typedef enum {c_name} \{{.*?\}}", r"TRINE_(\w+) = \d+"
    yield TYPES, rf"enum class {cpp_name} : .*?\}};", r"(\w+) = TRINE_"
    if key:
        yield SCHEMA, rf'"{key}": \{{"enum": \[.*?\]', r'"(\w+)"[,\]]'


def values(text, pattern):
    return [value.lower() for value in re.findall(pattern, text)]


def wrong_in(read, sentences):
    """What is wrong; `read` gives the text of a file, `sentences` are the files whose lines tell a user of all."""
    for kind in KINDS:
        (first, *others) = places(kind)
        names = values(re.search(first[1], read(first[0]), re.S)[0], first[2])
        for file, region, pattern in others:
            found = [values(text, pattern) for text in re.findall(region, read(file), re.S)]
            if found != [names]:
                yield f"{file}: {kind[1]}: {found}, {LISTS} has {names}"
        for file in sentences if kind is KINDS[0] else ():
            for line in read(file).splitlines():
                if "reduce, transpose" in line and not all(name in line for name in names):
                    yield f"{file}: not all operations: {line.strip()}"
    for file in (LISTS, CONTRACT, TYPES, SCHEMA):
        if f"`{file}`" not in read(PAGE):
            yield f"{PAGE} doesn't name {file}"


def main():
    tree = pathlib.Path(sys.argv[1])

    def read(file):
        return (tree / file).read_text()

    sentences = [path.relative_to(tree).as_posix() for path in sorted((tree / "bench").rglob("*.cpp"))]
    every = [(kind, place) for kind in KINDS for place in places(kind)]
    if "--self-test" not in sys.argv:
        wrong = list(wrong_in(read, sentences))
        print("\n".join(wrong))
        print(f"{len(every)} lists, {len(wrong)} things wrong")
        return 1 if wrong else 0

    blind = []
    for kind, (planted, region, pattern) in every:
        def without_last(file):
            text = read(file)
            if file != planted:
                return text
            part = re.search(region, text, re.S)[0]
            last = [match[0] for match in re.finditer(pattern, part)][-1]
            return text.replace(part, part.replace(last, ""))
        if not list(wrong_in(without_last, [])):
            blind.append(f"{planted}: {kind[1]}: nobody misses a value")
    print("\n".join(blind) or f"in each of {len(every)} lists a value is missed")
    return 1 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
