#!/usr/bin/env python3
"""The share of cases of two runs of one build whose figures agree within the printed interval of the first.
Exit code 1 below 90 %.

usage: repeatability.py FIRST.json SECOND.json"""
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


first, second = cases(sys.argv[1]), cases(sys.argv[2])
both = sorted(first.keys() & second.keys())
agree = [key for key in both if first[key]["interval"][0] <= figure(second[key]) <= first[key]["interval"][1]]
print(f"{len(agree)} of {len(both)} cases agree within the first run's interval")
sys.exit(0 if both and 10 * len(agree) >= 9 * len(both) else 1)
