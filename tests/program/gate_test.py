#!/usr/bin/env python3
"""Rounds, and `trine gate` as continuous integration meets it: by exit codes and files.

usage: gate_test.py [unittest options] TRINE SCHEMA"""
from harness import *


class Gate(Program):
    def measure(self, name, *words):
        self.run_good("compare", "transpose", "--size", "64", "--device", "cpu", "--min-time", "0.001", "--rounds", "3",
                      "--json", self.path(name), *words)
        return self.load(name)

    def changed(self, document, name, change):
        """A copy of the document, its results changed."""
        document = json.loads(json.dumps(document))
        for result in document["results"]:
            change(result)
        with open(self.path(name), "w") as file:
            json.dump(document, file)
        return self.path(name)

    def gate(self, code, *words):
        done = trine("gate", *words)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def test_rounds_are_kept_and_combined(self):
        for result in self.measure("r.json")["results"]:
            self.assertLessEqual(len(result["rounds"]), 3)
            low, high = result["interval"]
            figure = result["seconds"]["kernel" if result["memory"] == "resident" else "total"]
            self.assertTrue(low <= figure <= high, result)
        self.assertEqual({len(r["rounds"]) for r in self.load("r.json")["results"] if r["method"] == "single"}, {3})

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
        self.assertIn("are needed", self.gate(3, base, self.changed(document, "few.json", few)))

    def test_processes_have_luck_of_their_own(self):
        document = self.measure("r.json")

        def processes(name, factor):
            """Eight runs, whose rounds agree with each other, and which differ by up to 20 %."""
            paths = []
            for i in range(8):
                def luck(result, i=i):
                    figure = result["rounds"][0] * factor * (1 + 0.025 * (i * 3 % 8))
                    result["rounds"] = [figure * (1 + 0.001 * k) for k in range(10)]
                    result["roof"]["rounds"] = [1e9] * 10
                paths.append(self.changed(document, f"{name}{i}.json", luck))
            return paths
        base, same, slow = processes("base", 1), processes("same", 1.001), processes("slow", 1.4)
        self.gate(1, base[0], same[5])  # one of each says nothing of the build
        self.gate(3, ",".join(base), ",".join(same))
        self.assertIn("slower", self.gate(1, ",".join(base), ",".join(slow)))
        # A case that one process lacks is lacking; one that is wrong in one is wrong.
        with open(slow[3]) as file:
            run = json.load(file)
        run["results"][0].update(verified=False, failure="other bits")
        with open(slow[3], "w") as file:
            json.dump(run, file)
        self.assertIn("other bits", self.gate(1, ",".join(base), ",".join(slow)))
        del run["results"][0]
        with open(slow[3], "w") as file:
            json.dump(run, file)
        self.assertIn("missing", self.gate(1, ",".join(base), ",".join(slow)))
        run["host"]["cpu"] = "another"
        with open(slow[3], "w") as file:
            json.dump(run, file)
        self.refused("gate", ",".join(base), ",".join(slow), word="different hosts")

    def test_wrong_results_fail(self):
        document = self.measure("r.json")
        wrong = self.changed(document, "wrong.json", lambda r: r.update(verified=False, failure="17 differ"))
        self.assertIn("17 differ", self.gate(1, self.path("r.json"), wrong))

    def test_bad_files_are_refused(self):
        document = self.measure("r.json")
        good = self.path("r.json")
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
        self.refused("gate", good, self.path("odd.json"))
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
