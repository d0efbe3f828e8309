"""The conformance cases through the package: the same inputs, guard zones and golden digests as
`trine verify` has, computed by trine.sum, trine.matmul and their like over views of NumPy.

    conformance_test.py CASES-LIBRARY
"""

import collections
import ctypes
import json
import sys
import time
import unittest

import numpy

import trine

DTYPES = {
    "f32": "f4",
    "f64": "f8",
    "i32": "i4",
    "i64": "i8",
    "u32": "u4",
    "u64": "u8",
    "b8": "u1",
    "b16": "u2",
    "b32": "u4",
    "b64": "u8",
    "b128": "c16",
}
LARGEST = 1.5e6  # bytes of a case that is run here; `trine verify` runs the larger ones too
LEAST = 2000


def load(path):
    library = ctypes.CDLL(path)
    library.case_count.restype = ctypes.c_int64
    library.case_bytes.restype = ctypes.c_double
    library.case_open.restype = ctypes.c_void_p
    library.case_text.restype = library.case_judge.restype = ctypes.c_char_p
    for function, others in (
        ("bytes", []),
        ("open", []),
        ("text", [ctypes.c_void_p]),
        ("judge", [ctypes.c_void_p, ctypes.c_void_p]),
    ):
        getattr(library, "case_" + function).argtypes = [ctypes.c_int64, *others]
    library.case_close.argtypes = [ctypes.c_void_p]
    library.case_fill.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    return library


def array_of(view, arenas, rank):
    """A view of the case as NumPy has it: a stack of matrices, a matrix or a vector."""
    dtype = numpy.dtype(DTYPES[view["dtype"]])
    shape, strides = view["shape"], [dtype.itemsize * s for s in view["strides"]]
    if rank == 1:  # a vector lies in rows
        shape, strides = shape[1:2], strides[1:2]
    return numpy.ndarray(
        shape[-rank:] if rank else (),
        dtype,
        arenas[view["arena"]],
        view["offset"],
        strides[-rank:] if rank else (),
    )


def run_states(case, inputs, out):
    """Sums in parts, one for each row of `out`."""
    for r in range(len(out)):
        at = {1: (), 2: r, 3: (slice(None), r)}[case["axis"]]
        parts = [x[at] for x in inputs]
        total = trine.ExactSum()
        if case["map"] == "product":
            total.add_dot(*parts, device="cpu")
        else:
            total.add(*parts, map=case["map"], device="cpu")
        out[r] = numpy.frombuffer(bytes(total), "<u8")


def run(case, arenas):
    views = case["views"]
    if case["operation"] == "reduce" and views[-1]["shape"][-1] > 1:
        *inputs, out = [array_of(v, arenas, 2) for v in views]
        return run_states(case, inputs, out)
    if case["operation"] == "reduce":
        axis = {1: None, 2: 1, 3: 0}[case["axis"]]
        *inputs, out = [array_of(v, arenas, 2) for v in views[:-1]] + [
            array_of(views[-1], arenas, int(axis is not None))
        ]
        if case["map"] == "product":
            return trine.dot(*inputs, axis=axis, out=out, device="cpu")
        return getattr(trine, case["function"])(
            *inputs, axis, map=case["map"], out=out, device="cpu"
        )
    rank = 3 if max(v["shape"][0] for v in views) != 1 else 2
    *inputs, out = [array_of(v, arenas, rank) for v in views]
    if case["operation"] == "transpose":
        return trine.matrix_transpose(*inputs, out=out, device="cpu")
    factors = {name: float(case[name]) for name in ("alpha", "beta")}
    return trine.matmul(*inputs, **factors, numerics=case["numerics"], out=out, device="cpu")


class Conformance(unittest.TestCase):
    def judge(self, number):
        """Runs a case; what is wrong with it, or None where it is refused as NumPy refuses it, or the
        package has no such call."""
        memory = library.case_open(number)
        try:
            case = json.loads(library.case_text(number, memory))
            arenas = [numpy.empty(size, "u1") for size in case["arenas"]]
            for a, arena in enumerate(arenas):
                library.case_fill(memory, a, arena.ctypes.data)
            name = case["name"]
            if case.get("continues"):
                return name, None
            try:
                run(case, arenas)
            except trine.ArgumentError as error:
                if "of no elements" in str(error):
                    return name, None
                raise
            pointers = (ctypes.c_void_p * len(arenas))(*[arena.ctypes.data for arena in arenas])
            return name, library.case_judge(number, memory, pointers).decode()
        finally:
            library.case_close(memory)

    def test_results_have_the_golden_digests(self):
        begin, counts = time.monotonic(), collections.Counter()
        for number in range(library.case_count()):
            if not 0 <= library.case_bytes(number) <= LARGEST:
                counts["larger"] += 1
                continue
            name, wrong = self.judge(number)
            counts[
                "refused" if wrong is None else "right" if not wrong else "wrong"
            ] += 1
            if wrong:
                print(f"{name}: {wrong}")
        print(f"{dict(counts)} in {time.monotonic() - begin:.1f} s")
        self.assertEqual(counts["wrong"], 0)
        self.assertGreaterEqual(counts["right"], LEAST)

    def test_a_wrong_result_is_seen(self):
        memory = library.case_open(10)
        case = json.loads(library.case_text(10, memory))
        arenas = [numpy.empty(size, "u1") for size in case["arenas"]]
        for a, arena in enumerate(arenas):
            library.case_fill(memory, a, arena.ctypes.data)
        run(case, arenas)
        arenas[case["views"][-1]["arena"]][case["views"][-1]["offset"]] ^= 1
        pointers = (ctypes.c_void_p * len(arenas))(*[arena.ctypes.data for arena in arenas])
        self.assertIn("not the golden one", library.case_judge(10, memory, pointers).decode())
        library.case_close(memory)


if __name__ == "__main__":
    library = load(sys.argv.pop(1))
    unittest.main(verbosity=2)
