#!/usr/bin/env python3
"""Rounds, and `trine gate` as continuous integration meets it: by exit codes and files.

usage: gate_test.py [unittest options] TRINE SCHEMA"""
import signal
import struct
import time

from harness import *


class Gate(Program):
    def measure(self, name, *words):
        done = trine("compare", "transpose", "--size", "64", "--device", "cpu", "--min-time", "0.001", "--rounds", "3",
                     "--json", self.path(name), *words)
        # A busy machine may have a round look wrong: then it is 1, and the figures are there all the same.
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        return self.load(name)

    def changed(self, document, name, change):
        """A copy of the document, its results changed."""
        document = json.loads(json.dumps(document))
        for result in document["results"]:
            result |= {"verified": True, "failure": None}
            change(result)
        with open(self.path(name), "w") as file:
            json.dump(document, file)
        return self.path(name)

    def gate(self, code, *words):
        done = trine("gate", *words, "--wide")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_rounds_are_kept_and_combined(self):
        for result in self.measure("r.json")["results"]:
            self.assertLessEqual(len(result["rounds"]), 3)
            low, high = result["interval"]
            figure = result["seconds"]["kernel" if result["memory"] == "resident" else "total"]
            self.assertTrue(low <= figure <= high, result)
        self.assertEqual({len(r["rounds"]) for r in self.load("r.json")["results"]
                          if (r["memory"], r["method"]) == ("resident", "single")}, {3})

    def test_exit_codes(self):
        document = self.measure("r.json")

        def rounds(factor):
            def change(result):
                figure = result["rounds"][0]
                result["rounds"] = [figure * factor * (1 + 0.001 * i) for i in range(10)]
                result["roof"]["rounds"] = [1e9] * 10
            return change
        base = self.changed(document, "base.json", rounds(1))
        slow = self.changed(document, "slow.json", rounds(1.1))
        verdicts = self.path("gate.json")
        self.assertIn("0 slower", self.gate(0, base, base))
        self.assertIn("slower", self.gate(1, base, slow, "--json", verdicts))
        with open(verdicts) as file:
            gate = json.load(file)
        self.assertEqual((gate["command"], gate["exit"]), ("gate", 1))
        self.assertEqual({case["verdict"] for case in gate["cases"]}, {"slower"})
        self.gate(0, base, slow, "--threshold", "20%")
        self.assertNotIn("partial", self.gate(0, base, base))
        with open(self.path("early.json"), "w") as file:
            json.dump({**self.load("base.json"), "partial": True}, file)
        self.assertIn("early.json is partial", self.gate(0, base, self.path("early.json")))
        self.assertIn("faster", self.gate(0, slow, base))

        def few(result):
            rounds(1.1)(result)
            result["rounds"] = result["rounds"][:2]
            result["roof"]["rounds"] = result["roof"]["rounds"][:2]
        self.assertIn("too few to distinguish", self.gate(3, base, self.changed(document, "few.json", few)))

    def test_equal_times_on_a_machine_that_became_faster_are_no_good_build(self):
        document = self.measure("r.json")

        def rounds(roof, spread):
            def change(result):
                result["rounds"] = [result["rounds"][0] * (1 + spread * i) for i in range(15)]
                result["roof"]["rounds"] = [roof] * 15
            return change
        base = self.changed(document, "base.json", rounds(1e9, 0.001))
        said = self.gate(3, base, self.changed(document, "faster.json", rounds(1.2e9, 0.001)))
        self.assertIn("cpu itself was 20.0 % faster", said)
        self.assertIn(" 0 the same", said)
        self.assertNotIn("would be called the same", said)
        self.assertNotIn("would be called the same", self.gate(0, base, base))
        loud = self.changed(document, "loud.json", rounds(1e9, 0.02))
        self.assertIn("would be called the same with about ", self.gate(3, loud, loud))

    def test_runs_agree_within_their_intervals_or_not(self):
        document = self.measure("r.json")

        def moved(share):
            """That share of the results lies beyond its interval."""
            def change(result):
                place = document["results"].index(result)
                figure = "kernel" if result["memory"] == "resident" else "total"
                if place < share * len(document["results"]):
                    result["seconds"][figure] = 1.01 * result["interval"][1]
            return change

        def repeat(*files):
            script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bench/tools/repeatability.py")
            return subprocess.run([sys.executable, script, *files], capture_output=True, text=True)
        document["results"] = [{**document["results"][0], "batch": i + 1} for i in range(20)]
        base = self.changed(document, "base.json", lambda result: None)
        self.assertEqual(repeat(base, base).returncode, 0)
        self.assertIn("38 of 40 figures", repeat(base, self.changed(document, "two.json", moved(0.1))).stdout)
        self.assertEqual(repeat(base, self.changed(document, "two.json", moved(0.1))).returncode, 0)
        five = repeat(base, self.changed(document, "five.json", moved(0.25)))
        self.assertEqual((five.returncode, five.stdout),
                         (1, "35 of 40 figures lie within another run's interval; in 1 of 2 pairs under 90 %\n"))
        self.assertEqual(repeat(base).returncode, 1)

    def test_runs_that_took_turns_are_compared_in_pairs(self):
        document = self.measure("r.json")

        def drifting(name, factor, turns):
            """Rounds on a machine that becomes half as fast and back: those of both runs alike."""
            def rounds(result):
                figure = result["rounds"][0] * factor
                result["rounds"] = [figure * (1 + 0.05 * (i * 7 % 20)) * (1 + 0.001 * i) for i in range(15)]
                result["roof"]["rounds"] = [1e9 / factor] * 15  # which in turns is no excuse
            return self.changed({**document, "turns": {"id": turns, "of": 2, "place": 0}}, name, rounds)
        base, slow = drifting("base.json", 1, "1"), drifting("slow.json", 1.1, "1")
        self.assertIn("by Wilcoxon", self.gate(1, base, slow))
        self.assertIn("by Wilcoxon", self.gate(0, base, base))
        self.refused("gate", base, drifting("old.json", 1.1, "2"), word="not with each other")
        apart = self.changed(document, "apart.json", lambda result: None)
        self.assertIn("by Mann and Whitney", trine("gate", base, apart, "--wide").stdout)

    def test_runs_take_turns(self):
        words = ["compare", "transpose", "--size", "64,96", "--device", "cpu", "--min-time", "0.001", "--rounds", "3",
                 "--interleave", self.path("turns")]
        runs = [subprocess.Popen([TRINE, *words, "--json", self.path(f"{i}.json")], stdout=subprocess.DEVNULL)
                for i in range(2)]
        # As in measure().
        self.assertLessEqual({run.wait(120) for run in runs}, {0, 1})
        first, second = self.load("0.json")["turns"], self.load("1.json")["turns"]
        self.assertEqual(first["id"], second["id"])
        self.assertEqual({first["place"], second["place"]}, {0, 1})
        self.assertEqual([first["left"], second["left"]], [[], []])
        done = trine("gate", self.path("0.json"), self.path("1.json"))  # whatever noise has it say of the figures
        self.assertNotEqual(done.returncode, 2, done.stderr)
        self.measure("alone.json")
        self.assertNotIn("turns", self.load("alone.json"))
        self.refused("compare", "--processes", "3", word="--interleave")
        self.refused("compare", "--interleave", self.path("turns"), word="--rounds")
        self.refused("compare", "--rounds", "2", "--interleave", self.path("0.json"), word="another kind of file")

    def test_who_leaves_early_is_named(self):
        words = [TRINE, "compare", "transpose", "--size", "64", "--device", "cpu", "--min-time", "0.001", "--rounds",
                 "40", "--interleave", self.path("turns")]
        stays, leaves = (subprocess.Popen([*words, "--json", self.path(f"{name}.json")], stdout=subprocess.PIPE, text=True)
                         for name in ("stays", "leaves"))
        while self.turn() < 4 and leaves.poll() is None:
            time.sleep(0.005)
        leaves.send_signal(signal.SIGINT)  # in its third round or so, whenever that is
        text = stays.communicate(timeout=120)[0]
        leaves.communicate(timeout=120)
        self.assertIn(stays.returncode, (0, 1), text)  # as in measure()
        self.assertIn(leaves.returncode, (130, 1))
        left = self.load("leaves.json")
        gone, = self.load("stays.json")["turns"]["left"]
        self.assertEqual(gone["place"], left["turns"]["place"])
        self.assertEqual({len(r["rounds"]) for r in left["results"] if (r["memory"], r["method"]) == ("resident", "single")},
                         {gone["rounds"]})
        self.assertIn(f"left after {gone['rounds']} of 40 rounds", text)
        self.assertEqual(left["turns"]["left"], [])

    def turn(self):
        """Whose turn it is by the file, counted from 0; -1 before the first."""
        try:
            with open(self.path("turns"), "rb") as file:
                return struct.unpack_from("=q", file.read(), 32)[0]
        except (OSError, struct.error):
            return -1

    def test_wrong_results_fail(self):
        document = self.measure("r.json")
        wrong = self.changed(document, "wrong.json", lambda r: r.update(verified=False, failure="17 differ"))
        self.assertIn("17 differ", self.gate(1, self.path("r.json"), wrong))

    def test_bad_files_are_refused(self):
        good = self.changed(self.measure("r.json"), "good.json", lambda result: None)
        document = self.load("good.json")
        other = dict(document, host=dict(document["host"], cpu="another"))
        with open(self.path("other.json"), "w") as file:
            json.dump(other, file)
        with open(self.path("text.json"), "w") as file:
            file.write("no JSON")
        with open(self.path("list.json"), "w") as file:
            file.write("[]")
        with open(self.path("odd.json"), "w") as file:
            json.dump(dict(document, results=[{"operation": 3}]), file)
        self.refused("gate", good, self.path("other.json"), word="--across")
        self.gate(3, good, self.path("other.json"), "--across")
        self.refused("gate", good, self.path("absent.json"), word="absent.json")
        self.refused("gate", good, self.path("text.json"), word="text.json")
        self.refused("gate", good, self.path("list.json"), word="--rounds")
        with open(self.path("deep.json"), "w") as file:
            file.write("[" * 300000 + "]" * 300000)
        self.refused("gate", good, self.path("deep.json"), word="deep.json: nested deeper than 64")
        self.refused("gate", good, self.path("odd.json"))
        many = dict(document, results=[dict(document["results"][0], rounds=[1e-3] * 501)])
        with open(self.path("many.json"), "w") as file:
            json.dump(many, file)
        self.refused("gate", good, self.path("many.json"), word="at most 500")
        self.refused("gate", good)
        self.refused("gate", good, good, "--threshold", "0%", word="0%")
        self.refused("gate", good, good, "--threshold", "5x", word="5x")
        self.refused("gate", good, good, "--json", self.path("no/g.json"))
        self.refused("compare", "--rounds", "0", "--json", self.path("n.json"))

    def test_a_file_of_the_current_folder(self):
        subprocess.run([TRINE, "info", "--json", "info.json"], cwd=self.folder.name, check=True, capture_output=True)
        self.assertTrue(os.path.exists(self.path("info.json")))


if __name__ == "__main__":
    main()
