#!/usr/bin/env python3
"""How often runs of one command agree within the printed interval, which says where the figure of another run falls
nine times in ten: each run is held against the interval of each other one, case by case. Exit code 1 below 90 %.

usage: repeatability.py RUN.json RUN.json…"""
import itertools
import json
import sys

CASE = ("operation", "function", "map", "axis", "dtype", "result_dtype", "shape", "batch", "layout", "values",
        "strides", "offsets", "device", "requested", "memory", "method")


def cases(path):
    with open(path) as file:
        results = json.load(file)["results"]
    return {json.dumps([r[key] for key in CASE]): r for r in results if r["verified"]}


def figure(result):
    return result["seconds"]["kernel" if result["memory"] == "resident" else "total"]


def agree(first, second):
    """Of each case of both: does the second's figure lie within the first's interval?"""
    return [first[key]["interval"][0] <= figure(second[key]) <= first[key]["interval"][1]
            for key in first.keys() & second.keys()]


pairs = [agree(*two) for two in itertools.permutations(map(cases, sys.argv[1:]), 2)]
all_cases = sum(pairs, [])
print(f"{sum(all_cases)} of {len(all_cases)} figures lie within another run's interval; "
      f"in {sum(10 * sum(pair) < 9 * len(pair) for pair in pairs)} of {len(pairs)} pairs under 90 %")
sys.exit(0 if all_cases and 10 * sum(all_cases) >= 9 * len(all_cases) else 1)
