#!/usr/bin/env python3
"""Holds all lists of operations to the contract's: each place that names or counts every operation has the
names of trine_operation, in its order; and docs/writing-an-operation.md names each such place. The compiler
finds few of them. `--self-test` takes one name out of each list, to see that it is missed.

    check_operations.py TREE [--self-test]
"""
import pathlib
import re
import sys

CONTRACT = ("backends/ops.h", "typedef enum trine_operation {", "}")
# File, where its list begins, and where it ends.
LISTS = (
    CONTRACT,
    ("core/include/trine/types.hpp", "enum class Operation", "};"),
    ("core/src/operations/operations.hpp", "using AnyValue", ";"),
    ("core/src/operations/operations.hpp", "  union {", "};"),
    ("core/src/operations/operations.cpp", "all[] =", ";"),
    ("core/src/runtime/types.cpp", "kOperations[] =", ";"),
    ("oracle/operation.hpp", "using Operation =", ";"),
    ("oracle/operation.cpp", "kKinds[] =", ";"),
    ("conformance/cases.cpp", "detail::List list;", "list.take()"),
    ("conformance/runner.cpp", "kOperationNames[] =", ";"),
    ("conformance/verify.cpp", "for (Operation operation :", ")"),
    ("backends/gpu/choice.cpp", "variants_of(", "default:"),
    ("backends/gpu/choice.cpp", "Preferred preferred(", "default:"),
    ("backends/gpu/specialization.cpp", "for (const auto ladder :", "}) {"),
    ("backends/gpu/ladder.cpp", "for (const auto variants :", "}) {"),
    ("backends/gpu/ladder.cpp", "union {", "};"),
    ("backends/gpu/ladder.cpp", "switch (call.operation)", "default:"),
    ("cpu/operations.cpp", "switch (operation)", "default:"),
    ("cpu/rung.hpp", "The ladders,", "}"),
    ("bench/cases/case.hpp", "using DeviceOperation =", ";"),
    ("bench/cases/cases.cpp", "> operations_of(const", "\n}"),
    ("bench/commands/help.cpp", 'words.emplace_back("', ")"),
    ("bench/peers/pack.hpp", "struct Rungs {", "}"),
    ("tests/unit/fake/fake_rungs.c", "switch (operation)", "default:"),
    ("tests/unit/fake/fake_compute.c", "void fake_compute(", "\n}"),
    ("docs/results.schema.json", '"operation": {"enum": [', "]"),
)
# File, and what stands before each name where they aren't side by side.
NAMES = (
    ("core/include/trine/operations.hpp", r"TRINE_API Choice run\(Queue& queue, const (\w+)&"),
    ("core/include/trine/operations.hpp", r"TRINE_API Choice choose\(const Device& device, const (\w+)&"),
    ("core/include/trine/place.hpp", r"TRINE_API Placement place\(const (\w+)&"),
    ("core/include/trine/tuning.hpp", r"TRINE_API std::string tuning_key\(const (\w+)&"),
    ("core/include/trine/c/operations.h", r"TRINE_EXPORT trine_status trine_choose_(\w+)\("),
    ("core/include/trine/c/place.h", r"TRINE_EXPORT trine_status trine_place_(\w+)\("),
    ("core/include/trine/c/tuning.h", r"TRINE_EXPORT trine_status trine_get_tuning_key_(\w+)\("),
    ("core/src/host/entries.cpp", r"\nTRINE_FUNCTIONS_OF\((\w+)\)"),
    ("core/src/operations/operations.hpp", r"Description& describe\(const (\w+)&"),
    ("conformance/cases_random.cpp", r"oracle::Operation random_(\w+)\("),
    ("backends/gpu/variant.hpp", r"Variant> (\w+)_variants\(\)"),
    ("backends/gpu/variant.hpp", r"Preferred prefer_(\w+)\("),
    ("bench/cases/operations.cpp", r"\.operation = Operation::(\w+)"),
)
# File, and the number of operations there.
COUNTS = (
    ("backends/registry.hpp", r"kOperations = (\d+)"),
    ("backends/gpu/ladder.cpp", r"kOperations = (\d+)"),
    ("conformance/runner.cpp", r"op < (\d+)"),
    ("conformance/runner.hpp", r"ladders_\[(\d+)\]"),
)
PAGE = "docs/writing-an-operation.md"


def regions(text, begin, end):
    """What stands between the two, each time."""
    return re.findall(re.escape(begin) + "(.*?)" + re.escape(end), text, re.S)


def named(text, names):
    """The operations that a text names, each once, in its order: trine_reduce, Reduce{}, "reduce"."""
    word = rf"(?i)(?<![a-z])({'|'.join(names)})(?![a-z])"
    return list(dict.fromkeys(name.lower() for name in re.findall(word, text)))


def wrong_in(read, sentences):
    """What is wrong; `read` gives the text of a file, `sentences` are the files whose lines tell a user of all."""
    (contract,) = regions(read(CONTRACT[0]), *CONTRACT[1:])
    names = [name.lower() for name in re.findall(r"TRINE_(\w+) = \d+", contract)]
    for file, begin, end in LISTS:
        found = [named(text, names) for text in regions(read(file), begin, end)]
        if not found:
            yield f"{file}: there is no list between '{begin}' and '{end}'"
        for one in found:
            if one != names:
                yield f"{file}, behind '{begin}': {one}, the contract has {names}"
    for file, pattern in NAMES:
        found = [name.lower() for name in re.findall(pattern, read(file))]
        if found != names:
            yield f"{file}: '{pattern}' is {found}, the contract has {names}"
    for file, pattern in COUNTS:
        if re.findall(pattern, read(file)) != [str(len(names))]:
            yield f"{file}: '{pattern}' is {re.findall(pattern, read(file))}, the contract has {len(names)}"
    for file in sentences:
        for line in read(file).splitlines():
            if "reduce, transpose" in line and named(line, names) != names:
                yield f"{file}: not all operations: {line.strip()}"
    for file in sorted({row[0] for row in (*LISTS, *NAMES, *COUNTS)}):
        if f"`{file}`" not in read(PAGE):
            yield f"{PAGE} doesn't name {file}"


def main():
    tree = pathlib.Path(sys.argv[1])

    def read(file):
        return (tree / file).read_text() if (tree / file).is_file() else ""

    sentences = [path.relative_to(tree).as_posix() for path in sorted((tree / "bench").rglob("*.cpp"))]
    if "--self-test" not in sys.argv:
        wrong = list(wrong_in(read, sentences))
        print("\n".join(wrong))
        print(f"{len(LISTS + NAMES + COUNTS)} lists, {len(wrong)} things wrong")
        return 1 if wrong else 0

    blind = []
    for planted, *where in (*LISTS[1:], *NAMES):
        def without_gemm(file):
            text = read(file)
            if file != planted:
                return text
            if len(where) == 1:
                return text.replace([match[0] for match in re.finditer(where[0], text)][-1], "")
            for part in regions(text, *where):
                text = text.replace(part, re.sub("(?i)gemm", "", part))
            return text
        if not any(line.startswith(planted) for line in wrong_in(without_gemm, [])):
            blind.append(f"{planted}: '{where[0]}': nobody misses an operation")
    print("\n".join(blind) or f"in each of {len(LISTS + NAMES) - 1} lists an operation is missed")
    return 1 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
