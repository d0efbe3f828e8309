#!/usr/bin/env python3
"""Every option of every command, by the lists that the program itself prints: one that lacks its value isn't given the
next option, a word that no list has is refused, and so is an option of other operations."""
from harness import *

# Options of some operations alone, and a value that they take.
BELONG = {
    "--function": ("max", {"reduce"}), "--map": ("abs", {"reduce"}), "--axis": ("each_row", {"reduce"}),
    "--result-dtype": ("f64", {"reduce"}), "--numerics": ("exact", {"reduce", "gemm"}), "--alpha": ("2", {"gemm"}),
    "--beta": ("2", {"gemm"}), "--chunks": ("2", {"transpose", "gemm"}),
    "--overlap-cpu": (None, {"transpose", "gemm"}), "--block": ("8", {"transpose", "gemm"}),
    "--batch": ("2", {"transpose", "gemm"}),
}
# Options of all operations, or of commands without any.
EVERYWHERE = {
    "--apart", "--bash", "--best", "--calibration", "--color", "--csv",
    "--device", "--dtype", "--filter", "--forget", "--graph", "--help", "--html", "--input", "--json", "--layout",
    "--like", "--man", "--min-time", "--model", "--no-points", "--no-rates", "--output", "--peers", "--points",
    "--quick", "--random", "--repeats", "--rounds", "--rung", "--seed", "--size", "--source",
    "--time-limit", "--trace", "--values", "--where", "--wide",
}
# Any word is the name of a file to write, or a piece of one.
ANY_WORD = {"--csv", "--filter", "--html", "--json", "--output"}
# The words that a command needs beside the option, so that only the option is wrong.
NEEDS = {"run": ("reduce", "--input", "{a}", "--output", "{r}"), "replay": ("{a}",),
         "report": ("{a}", "--csv", "-"), "why": ("reduce", "--size", "4")}


def commands():
    """The options of each command: whether they take a value."""
    found = {}
    for command, body in re.findall(r"^\.SS (\w+)\n(.*?)\n\.nf$", trine("help", "--man").stdout, re.M | re.S):
        found[command] = {}
        for names, value in re.findall(r"^\.TP\n\\fB(.*?)\\fR \\fI(.*?)\\fR$", body, re.M):
            for name in names.replace("\\-", "-").split(","):
                if name.startswith("--"):
                    found[command][name.split("{")[0]] = bool(value)
    return found


class Options(Program):
    def setUp(self):
        super().setUp()
        self.places = {"{a}": self.save("a.npy", np.ones((4, 4), np.float32)), "{r}": self.path("r.npy")}

    def words(self, *words):
        return [self.places.get(word, word) for word in words]

    def test_the_lists_here_are_whole(self):
        of_all = commands()
        self.assertGreater(len(of_all), 14)
        named = {option for options in of_all.values() for option in options}
        self.assertEqual(named - set(BELONG), EVERYWHERE)
        self.assertLessEqual(set(BELONG), named)

    def test_an_option_isnt_given_the_next_one_as_its_value(self):
        tried = 0
        for command, options in commands().items():
            for option in [option for option, takes in options.items() if takes]:
                for following in ("--wide", "-h") if option == "--device" else ("--dtype",):
                    self.refused(command, option, following, word=f"its value is missing, as '{following}' follows")
                    tried += 1
        self.assertGreater(tried, 100)

    def test_negative_numbers_and_a_dash_are_values(self):
        paths = [self.save(f"{i}.npy", np.full((3, 3), i + 1.0)) for i in range(3)]
        self.run_good("run", "gemm", "--input", *paths, "--output", self.path("r.npy"), "--alpha", "-1.5", "--beta", "-.5",
                      "--device", "cpu")
        np.testing.assert_array_equal(np.load(self.path("r.npy")), np.full((3, 3), -1.5 * 6 - 0.5 * 3))
        self.run_good("run", "reduce", "--input", paths[0], "--output", self.path("r.npy"), "--device", "cpu", "--function",
                      "max", "--axis", "each_row")
        self.refused("report", paths[0], "--csv", "-", word="0.npy")  # which is no JSON, not: a value is missing

    def test_words_that_no_list_has(self):
        for command, options in commands().items():
            for option in [option for option, takes in options.items() if takes and option not in ANY_WORD]:
                needs = NEEDS.get(command, ())
                if command == "verify" and option == "--seed":
                    needs = ("--random", "1")
                if command == "replay" and option == "--rung":
                    needs += ("--device", "cpu")
                if option == "--input":
                    needs = ("reduce",) + (("--output", "{r}") if command == "run" else ())
                if option == "--trace":
                    needs = ()
                if (command, option) == ("why", "--size"):
                    needs = ("reduce",)
                if option == "--calibration":
                    needs = ("--trace", "{a}")
                done = trine(*self.words(command, *needs), option, "nonsense")
                self.assertEqual(done.returncode, 2, f"{command} {option}: {done.stdout}{done.stderr}")
                if option not in ("--calibration",) and (command, option) != ("replay", "--rung"):
                    self.assertIn("nonsense", done.stderr, f"{command} {option}")
                self.assertFalse(os.path.exists(self.path("r.npy")), command)

    def test_options_of_other_operations(self):
        tried = 0
        for command, options in commands().items():
            for option in [option for option in options if option in BELONG]:
                value, own = BELONG[option]
                for operation in {"reduce", "transpose", "gemm"} - own:
                    inputs = ("{a}", "{a}") if operation == "gemm" else ("{a}",)
                    needs = {"run": ("--input", *inputs, "--output", "{r}"), "why": ("--size", "4")}.get(command, ())
                    self.refused(*self.words(command, operation, *needs, option), *([value] if value else []),
                                 word=f"{option} is for" if option == "--batch" else f"{option} is an option of ")
                    tried += 1
        self.assertGreater(tried, 40)
        # A wrong word of such an option is refused all the same.
        self.refused("compare", "gemm", "--function", "nonsense", word="--function is an option of reduce, not of gemm")

    def test_an_operation_that_cannot_run_is_left_out(self):
        """The others run, but one that was named makes the exit code 1."""
        words = ("--dtype", "u32", "--size", "16", "--device", "cpu")
        for command, quick in (("compare", "--min-time=0.001"), ("ladder", "--min-time=0.001"), ("sweep", "--min-time=0.001"),
                               ("transfers", "--no-rates"), ("roof", "--min-time=0.001"), ("bench", "--benchmark_min_time=0.001")):
            done = trine(command, "gemm", "transpose", *words, quick)
            self.assertEqual(done.returncode, 1, f"{command}: {done.stdout}{done.stderr}")
            self.assertIn("gemm is left out: gemm has no dtype u32; it takes f32 f64 i32", done.stderr, command)
            self.assertRegex(done.stdout, "transpose.u32", command)
            self.assertNotIn("gemm", done.stdout, command)
            self.refused(command, "gemm", *words, quick, word="gemm has no dtype u32")
        self.run_good("compare", *words, "--min-time", "0.001", "--json", self.path("all.json"))
        self.assertEqual({r["operation"] for r in self.load("all.json")["results"]}, {"reduce", "transpose"})
        self.refused("compare", "--size", "2^40", "--json", self.path("none.json"), word="this machine has")

    def test_options_that_mean_nothing_beside_others(self):
        for words in (("verify", "--random", "1", "--quick"), ("verify", "--random", "1", "--rung", "naive"),
                      ("verify", "--seed", "3"), ("sweep", "--forget", "--device", "cpu"),
                      ("sweep", "--forget", "gemm"), ("roof", "gemm", "--no-points"), ("roof", "--no-points", "--size", "4"),
                      ("ladder", "--source", "sum", "--function", "max"), ("ladder", "--like", "004", "--numerics", "exact"),
                      ("why", "--trace", "{a}", "--dtype", "f64"), ("why", "--trace", "{a}", "--axis", "all")):
            self.refused(*self.words(*words))


if __name__ == "__main__":
    main()
