"""The functions that the library exports are those of a test's list of entries: one that is new joins the list.

    check_entries.py LIBTRINE LIST.hpp
"""
import re
import subprocess
import sys

# They allocate nothing, throw nothing, or are no calls: names of enumerators, shapes, what a constructor of Error is given.
WITHOUT = {"name", "version", "result_dtype", "vector", "batched", "row_major", "col_major", "Error::Error", "Error::~Error",
           "SavedCalibration::predict", "detail::canonical", "ExactSum::round_to_f32", "ExactSum::round_to_f64"}
# The C functions are made of them, and tests/c calls those in the same ways.
OF_C = "c_api::"


def exported(library):
    symbols = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^\w+ T trine::([\w:~]+?)(?:\[abi:cxx11\])?\(", symbols, re.M)
    return {name for name in names if not name.startswith(OF_C)}


def main(library, test):
    with open(test, encoding="utf-8") as file:
        listed = set(re.findall(r'^ +\{"([\w:]+)",', file.read(), re.M))
    wrong = [f"{test}: {name} is exported, but not in the list" for name in sorted(exported(library) - WITHOUT - listed)]
    wrong += [f"{test}: {name} is in the list, but not exported" for name in sorted(listed - exported(library))]
    print(*wrong, sep="\n")
    return 1 if wrong or not listed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
