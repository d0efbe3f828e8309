#!/usr/bin/env python3
"""`trine replay`: two programs' receipts compared, and a program's calls run again. A planted wrong result is found
at its call and its element; what can't be read or run is said."""
from harness import *

import shutil


class Replay(Program):
    def record(self, name, device="cpu", keep="all"):
        """The receipts of three calls, each a process of its own."""
        a, b = np.arange(60 * 40, dtype=np.float32).reshape(60, 40) / 7, np.ones((40, 50), np.float32)
        a[3, 4] = np.nan
        file, a, b = self.path(name), self.save("a.npy", a), self.save("b.npy", b)
        env = {"TRINE_RECEIPTS": file, "TRINE_RECEIPTS_KEEP": keep}
        for words in (["gemm", "--input", a, b], ["reduce", "--input", a, "--axis", "each_row"],
                      ["transpose", "--input", a]):
            run = trine("run", *words, "--output", self.path("out.npy"), "--device", device, env=env)
            self.assertEqual(run.returncode, 0, run.stderr)
        return file

    def lines(self, file):
        with open(file) as text:
            return [json.loads(line) for line in text]

    def write(self, name, lines, tail=""):
        with open(self.path(name), "w") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines) + tail)
        return self.path(name)

    def replay(self, *words, code=0):
        run = trine("replay", *words)
        self.assertEqual(run.returncode, code, run.stdout + run.stderr)
        return " ".join((run.stdout + run.stderr).split())

    def test_equal_on_every_device(self):
        file = self.record("cpu.receipts")
        for device in DEVICES or ["cpu"]:
            other = self.record(f"{device}.again", device)
            self.assertIn("3 calls: equal", self.replay(file, other))
            self.assertIn("3 of 3 calls are equal", self.replay(file, "--device", device))

    def plant(self, file):
        """The reduction's result with another last bit in row 7."""
        lines = self.lines(file)
        wrong = next(line for line in lines if line.get("operation") == "reduce")
        output = wrong["operands"][-1]
        bad = self.path("bad.receipts")
        shutil.copytree(file + ".kept", bad + ".kept")
        with open(f"{bad}.kept/{output['digest']}", "rb") as kept:
            values = bytearray(kept.read())
        values[4 * 7] ^= 1
        output["digest"] = "0123456789abcdef" * 2
        with open(f"{bad}.kept/{output['digest']}", "wb") as kept:
            kept.write(values)
        return self.write("bad.receipts", lines)

    def test_a_wrong_result_is_found(self):
        file = self.record("cpu.receipts")
        bad = self.plant(file)
        said = self.replay(file, bad, "--json", self.path("out.json"), code=1)
        self.assertIn("First different result: call 1 (reduce sum each_row f32 60x40 60x1, line 4), from equal inputs: cpu",
                      said)
        self.assertNotIn("First different inputs", said)
        with open(self.path("out.json")) as text:
            out = json.load(text)
        self.assertEqual([call["line"] for call in out["first_other_result"]], [4, 4])
        self.assertFalse(out["equal"])
        again = self.replay(bad, "--device", "cpu", code=1)
        self.assertIn("1 of 60 elements differ, first row 7, column 0:", again)
        self.assertRegex(again, r"\(0x[0-9a-f]{7}[0-9a-f]\) now, .* \(0x[0-9a-f]{8}\) then")
        self.assertIn("2 of 3 calls are equal on cpu; different: 1, not run: 0", again)

    def test_other_inputs_are_no_wrong_results(self):
        file = self.record("cpu.receipts")
        lines = self.lines(file)
        for line in lines:
            if line.get("operation") == "gemm":
                line["operands"][1]["digest"] = line["operands"][2]["digest"] = "f" * 32
        said = self.replay(file, self.write("other.receipts", lines), code=1)
        self.assertIn("First different inputs: call 1 (gemm f32 60x40 40x50 60x50, line 2): `b` differs.", said)
        self.assertNotIn("First different result", said)

    def test_a_product_that_continues(self):
        file = self.record("cpu.receipts")
        lines = self.lines(file)
        product = next(line for line in lines if line.get("operation") == "gemm")
        c = product["operands"][2]
        product["continues"], c["before"] = True, c["digest"]  # continued, it would be another
        bad = self.write("bad.receipts", lines)
        shutil.copytree(file + ".kept", bad + ".kept")
        self.assertIn("gemm continued f32 60x40 40x50 60x50, line 2) differs",
                      self.replay(bad, "--device", "cpu", code=1))

    def test_threads_that_take_turns(self):
        head, call = self.lines(self.record("cpu.receipts"))[:2]
        calls = []
        for number in range(6):
            one = json.loads(json.dumps(call))
            one.update(call=number + 1, thread=number % 2)
            one["operands"][0]["digest"] = f"{number:032x}"
            one["operands"][2]["digest"] = f"{number + 100:032x}"
            calls.append(one)
        turned = [json.loads(json.dumps(one)) for one in calls[::-1]]
        for number, one in enumerate(turned):
            one["call"] = number + 1
        file = self.write("a.receipts", [head] + calls)
        said = self.replay(file, self.write("b.receipts", [head] + turned))
        self.assertIn("paired by shape and inputs", said)
        self.assertIn("6 calls: equal", said)
        turned[0]["operands"][2]["digest"] = "f" * 32
        self.assertIn("First different result: call 6 ", self.replay(file, self.write("c.receipts", [head] + turned), code=1))
        self.assertIn("1 calls only in", self.replay(file, self.write("d.receipts", [head] + turned[1:]), code=1))

    def test_a_file_that_was_written_twice(self):
        file = self.record("cpu.receipts")
        once = self.write("once.receipts", self.lines(file))
        self.assertNotIn("written twice", self.replay(file, once))
        self.record("cpu.receipts")
        for pair in ((file, once), (once, file)):
            said = self.replay(*pair, code=1)
            self.assertIn(f"{file} holds the calls of 6 processes, {once} those of 3: was it written twice?", said)

    def test_many_calls_that_do_not_run(self):
        head, call = self.lines(self.record("cpu.receipts", keep=""))[:2]
        for count, shown in ((10, False), (11, True)):
            file = self.write("many.receipts", [head] + [{**call, "call": i + 1} for i in range(count)])
            said = self.replay(file, "--device", "cpu", code=2)
            self.assertEqual(said.count("wasn't run"), 10)
            self.assertEqual("The first 10 of each kind are shown; --json FILE has all." in said, shown)
            self.assertNotRegex(said, r"[^.]\.\.( |$)")

    def test_what_is_missing_or_damaged(self):
        file = self.record("cpu.receipts", keep="")
        self.assertIn("TRINE_RECEIPTS_KEEP=inputs", self.replay(file, "--device", "cpu", code=2))
        self.assertFalse(os.path.exists(file + ".kept"))
        kept = self.record("kept.receipts", keep="inputs")
        name = self.lines(kept)[1]["operands"][0]["digest"]
        with open(f"{kept}.kept/{name}", "r+b") as operand:
            operand.write(b"x")
        self.assertIn("damaged", self.replay(kept, "--device", "cpu", code=2))
        lines = self.lines(file)
        torn = self.write("torn.receipts", lines, tail='{"call":9,"proc')
        self.assertIn("a line that isn't whole", self.replay(file, torn))
        # A full disk, then another run: a line of its own; the two processes may have one id.
        with open(torn) as whole, open(self.path("grown.receipts"), "w") as grown:
            text = whole.read()
            grown.write(text + "\n" + text[: text.rindex("\n")] + "\n")
        said = self.replay(self.path("grown.receipts"), self.write("twice.receipts", lines + lines))
        self.assertIn("a line that isn't whole", said)
        self.assertIn("6 calls: equal", said)
        wrong = self.write("wrong.receipts", lines[:2] + [{"forwarded": 1}] + lines[2:])
        self.assertIn("wrong.receipts:3: not a line of TRINE_RECEIPTS", self.replay(file, wrong, code=2))
        self.refused("replay", file, word="--device")
        self.refused("replay", file, file, "--device", "cpu", word="two files")
        self.refused("replay", self.path("none"), "--device", "cpu", word="none")
        self.refused("replay", file, "--device", "moon", word="moon")


if __name__ == "__main__":
    main()
