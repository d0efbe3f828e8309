#!/usr/bin/env python3
"""`trine ladder`: every rung verified, steps that multiply to the cumulative speed-up, the documents'
tables with the figures that they published.

usage: ladder_test.py [unittest options] TRINE SCHEMA"""
import re

from harness import DEVICES, Program, main, trine

QUICK = ("--min-time", "0.001")


class TestLadder(Program):
    def opencl(self):
        device = next((d for d in DEVICES if d.startswith("opencl")), None)
        if device is None:
            self.skipTest("no OpenCL device")
        return device

    def test_shows_a_pair_of_sources(self):
        text = self.run_good("ladder", "--source", "sequential:threads=64", env={"COLUMNS": "80"})
        self.assertLess(text.index("cuda/reduce/sequential.cu:"), text.index("threadIdx.x"))
        self.assertLess(text.index("threadIdx.x"), text.index("opencl/reduce/sequential.cl:"))
        self.assertLess(text.index("opencl/reduce/sequential.cl:"), text.index("get_local_id(0)"))

    def test_shows_a_source_without_a_pair_once(self):
        for rung, head in (("exact", "backends/gpu/kernels/reduce/exact.kernel.h: one text for both languages"),
                           ("warp_specialized", "backends/gpu/kernels/gemm/warp_specialized.kernel.h: one text for both languages"),
                           ("exact_vector", "opencl/reduce/exact_vector.cl: OpenCL alone")):
            text = self.run_good("ladder", "--source", rung)
            self.assertEqual(text.splitlines()[0], head)
            self.assertEqual(text.count("// Idea:"), 1)
        self.assertNotIn("Its kernel", text)

    def test_names_the_header_that_has_the_kernel(self):
        for rung, header in (("sequential", "sum.h"), ("exact", "exact_fold.h")):
            self.assertIn(f"Its kernel is in {header}: `trine ladder reduce --source {header}`.",
                          self.run_good("ladder", "--source", rung).splitlines())

    def test_shows_the_sources_of_the_operations_named(self):
        text = self.run_good("ladder", "--source", "naive")
        self.assertEqual([text.count(f"cuda/{o}/naive.cu") for o in ("transpose", "gemm")], [1, 1])
        text = self.run_good("ladder", "gemm", "--source", "naive")
        self.assertEqual([text.count(f"cuda/{o}/naive.cu") for o in ("transpose", "gemm")], [0, 1])

    def test_refuses_a_source_that_there_is_not(self):
        self.refused("ladder", "--source", "sequental", word="Did you mean 'sequential'?")
        self.refused("ladder", "--source", "sequental", word="there are: sequential, ")  # the nearest first
        done = trine("ladder", "gemm", "--source", "sequential")
        self.assertEqual(done.stderr.count(", "), 9, done.stderr)
        self.assertRegex(done.stderr, r" and \d+ more\.$")

    def test_suggests_what_was_meant_by_a_word(self):
        for words, meant in ((("ladder", "acess"), "access"), (("compare", "transpos"), "transpose"),
                             (("run", "transpos", "--input", "none.npy", "--output", "r.npy"), "transpose"),
                             (("compare", "reduce", "2^20"), "--size 2^20"),
                             (("compare", "gemm", "--size", "512X512"), "512x512"),
                             (("compare", "reduce", "--rung", "exat"), "exact")):
            self.refused(*words, word=f"Did you mean '{meant}'?")

    def test_says_the_name_of_a_refused_rung_once(self):
        text = self.run_good("ladder", "gemm", "--size", "16", "--dtype", "i32", "--device", DEVICES[-1], *QUICK, "--wide")
        for line in text.splitlines():
            if line.startswith("refused: "):
                self.assertRegex(line, r"^refused: \S+: rung \S+ refuses")

    def test_operations_of_integers_are_no_flops(self):
        case = ("gemm", "--size", "64", "--dtype", "i32", "--device", "cpu", *QUICK, "--wide")
        for command in ("compare", "ladder", "sweep", "roof"):
            text = self.run_good(command, *case, "--json", self.path("r.json")).split("gemm i32")[-1]
            self.assertRegex(text, r"\d [MGT]OP/s", command)
            self.assertNotRegex(text, "(?i)flop", command)  # but `roof` has those of floats
            self.assertEqual({r["rate"]["unit"] for r in self.load("r.json")["results"]}, {"flop/s"})

    def test_cumulative_is_first_over_this(self):
        self.run_good("ladder", "gemm", "--size", "96", "--dtype", "f32", "--device", "cpu", *QUICK)
        text = self.run_good("ladder", "gemm", "--size", "128", "--dtype", "f64", "--device", "cpu", *QUICK)
        rows = [line.split() for line in text.splitlines() if "same bits" in line]
        self.assertNotIn("×", " ".join(rows[0]))
        self.assertIn("×", " ".join(rows[1]))

    def test_climbs_every_rung_and_ends_with_the_backends_own_choice(self):
        for operation, size, dtype in (("reduce", "5003", "f32"), ("transpose", "129x67", "f64"), ("gemm", "64", "f32")):
            case = (operation, "--size", size, "--dtype", dtype, *QUICK)
            self.run_good("compare", *case, "--json", self.path("compare.json"))
            chosen = {r["device"]: (r["rung"], r["parameters"]) for r in self.load("compare.json")["results"]}
            commands = ("ladder", "roof") if operation == "gemm" else ("ladder",)  # roofs take seconds
            for device, command in ((device, command) for device in DEVICES for command in commands):
                text = self.run_good(command, *case, "--device", device, "--json", self.path("ladder.json"))
                document = self.load("ladder.json")
                self.assertEqual((document["command"], document["partial"]), (command, False))
                results = document["results"]
                self.assertGreater(len({r["rung"] for r in results}), 2, text)
                self.assertTrue(all(r["verified"] or r["skipped"] for r in results), text)
                top = results[-1]
                self.assertEqual((top["rung"], top["parameters"]), chosen[device])
                self.assertEqual([r.get("built_in", False) for r in results],
                                 [r["rung"] == top["rung"] for r in results])
                marked = [line for line in text.splitlines() if line.endswith("same bits, built-in")]
                self.assertTrue(marked and all(line.startswith(top["rung"]) for line in marked), text)
                rows = [line for line in text.splitlines() if re.search("(same bits|within bound)", line)]
                self.assertEqual(rows[-len(marked):], marked)

    def test_prints_the_documents_with_their_figures(self):
        published = {"001": ["4.238", "30.1", "17.2", "all CPU threads"], "003": ["8.054", "62.671", "30.04", "73"]}
        for number, figures in published.items():
            text = self.run_good("ladder", "--like", number, "--device", "cpu", *QUICK, "--wide", "--json",
                                 self.path("like.json"))
            for figure in figures:
                self.assertIn(figure, text)
            tables = self.load("like.json")["published"]
            self.assertTrue(tables)
            self.assertTrue(all(table["document"] == number for table in tables))

    def test_prints_a_documents_tables_of_the_operations_named(self):
        text = self.run_good("ladder", "transpose", "--like", "000", "--device", "cpu", *QUICK, "--json",
                             self.path("like.json"))
        self.assertIn("cpu has none of these rungs.", text)
        tables = self.load("like.json")["published"]
        self.assertEqual([table["table"] for table in tables], ["Transpose, 1024 x 1024, 10^9 elements/s by block"])

    def test_figures_of_today_follow_from_the_results(self):
        device = self.opencl()
        self.run_good("ladder", "--like", "003", "--device", device, *QUICK, "--json", self.path("like.json"))
        crossed = self.run_good("ladder", "transpose", "--like", "000", "--device", device, *QUICK)
        self.assertRegex(crossed, r"\b([1-9]\d*) of \1 verified\.")
        document = self.load("like.json")
        table = document["published"][0]
        self.assertEqual(table["figures"], ["ms", "GB/s", "step", "cumulative"])
        rows = table["rows"]
        self.assertEqual(len(rows), 7)
        for row in rows:
            self.assertEqual(row["verdict"], "within bound")
            milliseconds, gigabytes = row["today"][:2]
            self.assertAlmostEqual(gigabytes * milliseconds, (2 ** 22 * 4 + 8) / 1e6, delta=0.01)
        self.assertAlmostEqual(rows[-1]["today"][3], rows[0]["today"][0] / rows[-1]["today"][0], places=6)
        finishes = next(t for t in document["published"] if "groups' sums" in t["table"])["rows"]
        self.assertEqual([(row["label"], row["column"]) for row in finishes],
                         [(n, finish) for n in ("2^22", "2^25") for finish in ("recursive", "atomic", "last_block")])
        for row in finishes:
            self.assertEqual(row["published"], [None])
            if row["column"] == "last_block" and row["verdict"] == "refused":
                continue  # a device whose groups don't see each other's memory
            self.assertEqual(row["verdict"], "within bound")
            self.assertGreater(row["today"][0], 0)

    def test_reads_the_peaks_off_a_documents_curves(self):
        text = self.run_good("ladder", "--like", "004", "--device", "cpu", *QUICK, "--json", self.path("like.json"))
        for figure in ("262144", "8192", "3000", "GB/s then"):
            self.assertIn(figure, text)
        tables = {table["table"]: table for table in self.load("like.json")["published"]}
        curves = tables["Sum of f32, naive: bandwidth against size and threads"]
        peaks = tables["Sum of f32, naive: bandwidth against size and threads, its peaks"]
        self.assertEqual(peaks["figures"], ["GB/s", "elements", "break-even"])
        cpu, others = peaks["rows"]
        self.assertEqual(cpu["published"], [1.5, None, None])
        self.assertEqual(cpu["today"][0], max(row["today"][0] for row in curves["rows"] if row["today"][0]))
        self.assertEqual(others["published"], [38, 262144, 8192])
        self.assertEqual((others["today"], others["verdict"]), ([None] * 3, "not here"))

    def test_access_tells_what_it_could_not_show(self):
        """The cpu has no tiles in local memory: refused in their lines, and nothing is held against them."""
        text = trine("ladder", "access", "--device", "cpu", *QUICK).stdout
        self.assertIn("(ours: all sizes; on a GPU beyond its L2)", text)
        for title in ("Reading i32", "Writing f32"):
            table = text.split(title)[1].split("\n\n")[0]
            self.assertRegex(table, r"(?m)^stride 1 +\S+ .* 1\.00× .* same bits$")
            self.assertRegex(table, r"(?m)^offset 32 +\S+ .* same bits$")
        self.assertRegex(text, r"(?m)^swizzle +vector +(- +)*refused$")
        self.assertIn("refused: swizzle: cpu: no rung of transpose is called 'vector'", text)

    def test_takes_rungs_with_several_parameters(self):
        device = self.opencl()
        rungs = ["cascade:threads=128,finish=recursive", "exact_vector", "sequential:threads=64,finish=recursive"]
        self.run_good("ladder", "reduce", "--device", device, "--size", "5000", "--dtype", "f32", *QUICK, "--rung",
                      ",".join(rungs), "--json", self.path("ladder.json"))
        self.assertEqual(list(dict.fromkeys(r["requested"] for r in self.load("ladder.json")["results"])), rungs)

    def test_refuses_what_it_does_not_know(self):
        self.refused("ladder", "--like", "005", word="000")
        self.refused("ladder", "--like", "003", "--size", "2^10", word="--size")
        self.refused("ladder", "--like", "003", "--rung", "cascade", word="--rung")
        self.refused("ladder", "access", "--dtype", "f64", word="access")
        self.refused("ladder", "transpose", "--like", "003", word="transpose")
        self.refused("ladder", "reduce", "--rung", "escalator", word="escalator")
        self.refused("ladder", "sort", word="sort")


if __name__ == "__main__":
    main()
