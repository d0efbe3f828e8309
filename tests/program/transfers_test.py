#!/usr/bin/env python3
"""`trine transfers` and `trine roof`: every figure verified, timelines that can be, roofs of every device,
refusals in one line.

usage: transfers_test.py [unittest options] TRINE SCHEMA"""
from harness import DEVICES, Program, main, trine

QUICK = ("--min-time", "0.001")


class Transfers(Program):
    def test_measures_every_way_of_every_device(self):
        text = self.run_good("transfers", "--size", "96", "--no-rates", "--chunks", "3", *QUICK, "--json",
                             self.path("t.json"))
        document = self.load("t.json")
        self.assertEqual(document["command"], "transfers")
        ways = {device: {r["memory"] for r in document["results"] if r["device"] == device} for device in DEVICES}
        for device in DEVICES:
            if device == "cpu":
                self.assertEqual(ways[device], {"shared"})
            else:
                self.assertLessEqual({"pageable", "pinned", "pipelined"}, ways[device])
                reduced = {r["memory"] for r in document["results"]
                           if r["device"] == device and r["operation"] == "reduce"}
                self.assertNotIn("pipelined", reduced)  # the library doesn't cut it
        self.assertEqual({r["operation"] for r in document["results"]}, {"reduce", "transpose", "gemm"})
        for result in document["results"]:
            self.assertTrue(result["verified"], result)
            self.assertGreater(result["seconds"]["total"], 0)
        self.assertIn("same bits", text)

    def test_every_way_gives_the_same_digest(self):
        self.run_good("transfers", "transpose", "--size", "1003x97", "--dtype", "f32,f64,i32", "--chunks", "5",
                      "--no-rates", *QUICK, "--json", self.path("t.json"))
        results = self.load("t.json")["results"]
        for dtype in ("f32", "f64", "i32"):
            self.assertEqual(len({r["digest"] for r in results if r["dtype"] == dtype}), 1)

    def test_timelines_are_possible(self):
        self.run_good("transfers", "--size", "200", "--no-rates", "--chunks", "4", "--overlap-cpu", *QUICK,
                      "--json", self.path("t.json"))
        timelines = self.load("t.json")["timelines"]
        self.assertEqual(len([t for t in timelines if "+" not in t["device"]]), 2 * (len(DEVICES) - 1))
        for timeline in timelines:
            helped = timeline["device"].endswith("+cpu")
            self.assertEqual("gain" in timeline, helped)
            self.assertEqual("share" in timeline, not helped)  # of lanes that carry less it says nothing
            self.assertGreater(timeline["gain" if helped else "share"], 0)
            slack = timeline["seconds"] / 50 + 1e-5
            for lane in ("copy in", "kernel", "copy out", "cpu"):
                spans = [s for s in timeline["spans"] if s["lane"] == lane]
                if lane in ("copy in", "kernel"):
                    self.assertEqual([s["index"] for s in spans], [0, 1, 2, 3])
                for span in spans:
                    self.assertLessEqual(span["begin"], span["end"])
                    self.assertLessEqual(span["end"], timeline["seconds"] + slack)
                for before, after in zip(spans, spans[1:]):
                    self.assertLessEqual(before["end"], after["begin"] + slack)

    def test_prints_the_overlap_and_its_share(self):
        if DEVICES == ["cpu"]:
            self.skipTest("nothing is copied to the cpu")
        text = self.run_good("transfers", "transpose", "--size", "300x200", "--no-rates", "--chunks", "2", *QUICK)
        self.assertRegex(text, r"copy in +\|")
        self.assertRegex(text, r"The slower of link and kernel \('.*'\) takes .* alone")

    def test_rates_of_copies_by_size(self):
        text = self.run_good("transfers", "reduce", "--size", "4096", *QUICK, "--json", self.path("t.json"))
        self.assertIn("nothing is copied", text)
        for device in DEVICES:
            found = {(r["what"], r["memory"]) for r in self.load("t.json")["roofs"]
                     if r["device"] == device and r["what"].startswith("to_")}
            links = {(what, memory) for what in ("to_device", "to_host") for memory in ("pageable", "pinned")}
            self.assertEqual(found, set() if device == "cpu" else links)

    def test_refuses_what_cannot_be(self):
        json_file = ("--json", self.path("t.json"))
        self.refused("transfers", "transpose", "--size", "7x100", "--chunks", "8", *json_file, word="8 chunks")
        self.refused("transfers", "--chunks", "0", *json_file, word="--chunks")
        self.refused("transfers", "--chunks", "many", *json_file, word="many")
        self.refused("transfers", "--chunks", "2x", *json_file, word="2x")
        self.refused("transfers", "--device", "cuda:99", *json_file)
        self.refused("transfers", "fft", *json_file, word="fft")
        self.refused("transfers", "reduce", "--function", "prod", *json_file, word="prod")
        self.refused("transfers", "gemm", "--dtype", "u32", *json_file, word="u32")
        self.refused("transfers", "--size", "8", "--json", self.path("no/t.json"))


class Roof(Program):
    def test_every_device_has_its_roofs(self):
        self.run_good("roof", "--no-points", "--json", self.path("r.json"))
        document = self.load("r.json")
        self.assertEqual(document["command"], "roof")
        self.assertEqual(document["results"], [])
        for device in DEVICES:
            roofs = [r for r in document["roofs"] if r["device"] == device]
            found = {(r["what"], r["dtype"]) for r in roofs}
            self.assertLessEqual({("read", None), ("copy", None), ("fma", "f32"), ("fma", "f64"),
                                  ("launch", None)}, found)
            self.assertEqual(("to_device", None) in found, device != "cpu")
            for roof in roofs:
                self.assertGreater(roof["value"], 0)
                self.assertEqual(roof["unit"], {"launch": "s", "fma": "flop/s", "tensor": "flop/s"}.get(roof["what"],
                                                                                                        "B/s"))

    def test_every_rung_is_a_point(self):
        text = self.run_good("roof", "--size", "48", "--dtype", "f32", *QUICK, "--json", self.path("r.json"))
        self.assertIn("ridge at", text)
        results = self.load("r.json")["results"]
        self.assertTrue(all(r["verified"] or r["skipped"] for r in results))
        for device in DEVICES:
            for operation in ("reduce", "transpose", "gemm"):
                rungs = {r["rung"] for r in results if r["device"] == device and r["operation"] == operation}
                self.assertGreater(len(rungs), 2, (device, operation))

    def test_a_comparison_brings_the_arithmetic_that_a_roofline_needs(self):
        device = "cpu:threads=1"
        self.run_good("compare", "reduce", "transpose", "--dtype", "f32", "--size", "2000", "--device", device, *QUICK,
                      "--json", self.path("c.json"))
        roofs = self.load("c.json")["roofs"]
        self.assertEqual([(r["device"], r["what"], r["dtype"], r["unit"]) for r in roofs],
                         [(device, "fma", "f32", "flop/s")])
        self.assertGreater(roofs[0]["value"], 0)

    def test_takes_one_operation(self):
        self.run_good("roof", "transpose", "--device", "cpu", "--size", "33x65", *QUICK, "--json", self.path("r.json"))
        self.assertEqual({r["operation"] for r in self.load("r.json")["results"]}, {"transpose"})

    def test_refuses_what_cannot_be(self):
        json_file = ("--json", self.path("r.json"))
        self.refused("roof", "--device", "cuda:99", *json_file)
        self.refused("roof", "--dtype", "f31", *json_file, word="f31")
        self.refused("roof", "gemm", "--dtype", "u64", *json_file, word="u64")
        self.refused("roof", "fft", *json_file, word="fft")
        self.refused("roof", "--no-points", "--json", self.path("no/r.json"))


if __name__ == "__main__":
    main()
