#!/usr/bin/env python3
"""The trine program as a user meets it: exit codes, one clear line on stderr for bad input, nothing
written then, right results in .npy files, and JSON that keeps its schema.

usage: program_test.py [unittest options] TRINE SCHEMA"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess

import jsonschema
import numpy as np

from harness import (DEVICES, SCHEMA, TRINE, Program, environment, main, on_terminal, signalled, too_wide, trine)


class TestProgram(Program):
    # --- info

    def test_info_lists_every_backend_or_its_reason(self):
        text = self.run_good("info")
        for backend in ("cpu", "opencl", "cuda"):
            self.assertRegex(text, rf"(?m)^{backend}: \S")

    def test_info_says_why_opencl_is_absent(self):
        empty = self.path("vendors")
        os.mkdir(empty)
        done = trine("info", env={"OCL_ICD_VENDORS": empty})
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"(?m)^opencl: absent: \S")

    def test_info_says_how_many_threads_there_are_places_for(self):
        done = trine("info", env={"OMP_NUM_THREADS": "600"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("512 threads at most", " ".join(done.stdout.split()))

    def test_info_survives_a_driver_that_ends_the_process(self):
        aborts = os.environ.get("TRINE_TEST_ABORTS", "")
        if "opencl: absent" in self.run_good("info") or not os.path.exists(aborts):
            self.skipTest("no opencl backend with a device, or no driver that aborts")
        vendors = self.path("aborting")
        os.mkdir(vendors)
        with open(os.path.join(vendors, "aborts.icd"), "w") as file:
            file.write(aborts + "\n")
        done = trine("info", env={"OCL_ICD_VENDORS": vendors})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stdout.split()),
                         r"opencl: absent: its driver can't start: it ends the process by signal 6 \(Aborted\): no such processor")
        self.assertRegex(done.stdout, r"\ncpu: |^cpu: ")

    def test_info_says_what_may_load(self):
        text = " ".join(self.run_good("info", env={"TRINE_BACKENDS": "cpu,cdua"}).split())
        self.assertIn("opencl: absent: left out by the variable TRINE_BACKENDS, which is cpu, cdua", text)
        self.assertIn("Did you mean 'cuda'?", text)
        self.assertIn("TRINE_BACKENDS: cpu,cdua", text)

    def test_info_json(self):
        self.run_good("info", "--json", self.path("info.json"))
        with open(self.path("info.json")) as file:
            info = json.load(file)
        self.assertEqual(info["schema"], 1)
        self.assertTrue(any(backend["backend"] == "cpu" for backend in info["devices"]))

    # --- run

    def test_json_of_a_path_that_is_no_text(self):
        folder = os.path.join(os.fsencode(self.folder.name), b"\xff")
        os.mkdir(folder)
        with open(os.path.join(folder, b"trine_odd.so"), "w") as file:
            file.write("no library")
        run = subprocess.run([TRINE, "info", "--json", self.path("info.json")], stdout=subprocess.DEVNULL,
                             env=environment({"TRINE_BACKEND_PATH": os.fsdecode(folder)}))
        self.assertEqual(run.returncode, 0)
        with open(self.path("info.json")) as file:
            self.assertIn("\ufffd/trine_odd.so", file.read())

    def test_what_cannot_be_printed_is_no_success(self):
        for words in (["info"], ["report", "--csv", "-", os.path.join(os.path.dirname(__file__), "report_fixture.json")]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([TRINE, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment())
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("standard output", done.stderr)

    def test_a_file_that_may_not_grow_is_refused(self):
        done = subprocess.run([TRINE, "info", "--json", self.path("info.json")], capture_output=True, text=True, env=environment(),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("info.json: can't be written: File too large", done.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_help_tells_the_defaults(self):
        text = trine("why", "--help").stdout
        self.assertIn("--dtype TEXT=f32", text)
        self.assertNotIn("[]", text)

    def test_help_has_two_examples_a_command_and_its_exit_codes(self):
        commands = re.findall(r"(?m)^  ([a-z]+) ", trine("--help").stdout.split("Subcommands:")[1])
        self.assertIn("compare", commands)
        for command in commands:
            text = self.run_good(command, "--help")
            self.assertEqual(len(re.findall(rf"(?m)^  (?:mpirun -n \d+ )?trine {command}\b", text)), 2, text)
            self.assertIn("Exit code: 0 ", text)
            self.assertEqual(too_wide(text), [])
            self.assertEqual(text, self.run_good("help", command))

    def test_what_was_meant_is_said(self):
        for words, meant in ((["comapre"], "compare"), (["--verison"], "--version"), (["compare", "--rugn", "x"], "--rung"),
                             (["bench", "--rugn=x"], "--rung"), (["help", "laddr"], "ladder")):
            self.refused(*words, word=f"Did you mean '{meant}'?")
        self.assertNotIn("mean", trine("xylophone").stderr)

    def test_help_is_a_man_page_and_completes_in_bash(self):
        for name, flag in (("trine.1", "--man"), ("trine.bash", "--bash")):
            with open(self.path(name), "w") as file:
                file.write(self.run_good("help", flag))
        script = (f"source {self.path('trine.bash')}; COMP_WORDS=(trine compare --roun); COMP_CWORD=2; _trine; "
                  "echo ${COMPREPLY[@]}; COMP_WORDS=(trine ve); COMP_CWORD=1; _trine; echo ${COMPREPLY[@]}")
        self.assertEqual(subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout, "--rounds\nverify\n")
        if shutil.which("man"):
            page = subprocess.run(["man", "--warnings", "-l", self.path("trine.1")], capture_output=True, text=True,
                                  env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8"})
            self.assertEqual((page.returncode, page.stderr), (0, ""))
            self.assertRegex(page.stdout, "(?s)compare.*--rounds.*trine compare reduce.*Exit code")

    def test_run_reduces(self):
        data = np.arange(-50, 50, dtype=np.int32).reshape(10, 10)
        a = self.save("a.npy", data)
        for device in DEVICES:
            out = self.path("r.npy")
            said = self.run_good("run", "reduce", "--input", a, "--output", out, "--device", device, "--axis", "each_row")
            self.assertIn("r.npy, not verified", said)
            result = np.load(out)
            self.assertEqual(result.dtype, np.int64)
            np.testing.assert_array_equal(result, data.sum(axis=1))
            self.run_good("run", "reduce", "--input", a, "--output", out, "--device", device, "--function", "argmax",
                          "--map", "abs")
            self.assertEqual(np.load(out), np.abs(data).argmax())

    def test_run_sums_exactly(self):
        a = self.save("a.npy", np.array([1e16, 1.0, -1e16, 2.0 ** -60], dtype=np.float64))
        for device in DEVICES:
            self.run_good("run", "reduce", "--input", a, "--output", self.path("r.npy"), "--device", device)
            self.assertEqual(np.load(self.path("r.npy")), 1.0 + 2.0 ** -60)

    def test_run_transposes_any_dtype(self):
        for dtype in (np.uint8, np.int16, np.float32, np.float64, np.complex128):
            data = np.arange(21).reshape(3, 7).astype(dtype)
            a = self.save("a.npy", data)
            for device in DEVICES:
                self.run_good("run", "transpose", "--input", a, "--output", self.path("r.npy"), "--device", device)
                result = np.load(self.path("r.npy"))
                self.assertEqual(result.dtype, data.dtype)
                np.testing.assert_array_equal(result, data.T)

    def test_run_multiplies_in_both_orders_with_beta(self):
        rng = np.random.default_rng(1)
        a, b, c = (rng.integers(-9, 9, shape).astype(np.float64) for shape in ((5, 6), (6, 7), (5, 7)))
        want = 2 * (a @ b) - 3 * c
        for order in ("C", "F"):
            paths = [self.save(f"{i}.npy", np.asarray(x, order=order)) for i, x in enumerate((a, b, c))]
            for device in DEVICES:
                self.run_good("run", "gemm", "--input", *paths, "--output", self.path("r.npy"), "--device", device,
                              "--alpha", "2", "--beta=-3")
                result = np.load(self.path("r.npy"))
                np.testing.assert_array_equal(result, want)
                self.assertTrue(result.flags["C_CONTIGUOUS"])

    def test_run_rounds_alpha_to_the_operands(self):
        a, b = np.ones((3, 4), np.float32), np.ones((4, 3), np.float32)
        paths = [self.save("a.npy", a), self.save("b.npy", b)]
        self.run_good("run", "gemm", "--input", *paths, "--output", self.path("r.npy"), "--device", "cpu",
                      "--alpha", "0.1")
        np.testing.assert_array_equal(np.load(self.path("r.npy")), np.full((3, 3), np.float32(0.1) * 4))

    def test_run_writes_where_links_lead_and_keeps_what_is_there(self):
        source = self.save("a.npy", np.ones((3, 4), np.float32))
        with open(self.path("real.npy"), "w"):
            pass
        os.chmod(self.path("real.npy"), 0o640)
        os.symlink("real.npy", self.path("link.npy"))
        self.run_good("run", "transpose", "--device", "cpu", "--input", source, "--output", self.path("link.npy"))
        self.assertTrue(os.path.islink(self.path("link.npy")))
        self.assertEqual(os.stat(self.path("real.npy")).st_mode & 0o777, 0o640)
        self.assertEqual(np.load(self.path("real.npy")).shape, (4, 3))
        os.mkfifo(self.path("pipe"))
        read = subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE)
        self.run_good("run", "transpose", "--device", "cpu", "--input", source, "--output", self.path("pipe"))
        self.assertEqual(read.communicate(timeout=60)[0], open(self.path("real.npy"), "rb").read())
        self.refused("run", "transpose", "--device", "cpu", "--input", source, "--output", "")

    def test_run_multiplies_batches(self):
        a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(20.0).reshape(4, 5)
        paths = [self.save("a.npy", a), self.save("b.npy", b)]
        self.run_good("run", "gemm", "--input", *paths, "--output", self.path("r.npy"), "--device", "cpu")
        np.testing.assert_array_equal(np.load(self.path("r.npy")), a @ b)

    def test_run_and_compare_take_the_two_inputs_of_a_product(self):
        x, y = np.arange(12.0).reshape(3, 4), np.arange(12.0, 24.0).reshape(3, 4)
        paths = [self.save("x.npy", x), self.save("y.npy", y)]
        product = ("reduce", "--map", "product", "--input", *paths, "--device", "cpu")
        self.run_good("run", *product, "--output", self.path("r.npy"))
        self.assertEqual(np.load(self.path("r.npy")), np.sum(x * y))
        self.run_good("run", *product, "--axis", "each_row", "--output", self.path("r.npy"))
        np.testing.assert_array_equal(np.load(self.path("r.npy")), np.sum(x * y, axis=1))
        self.assertIn("same bits", self.run_good("compare", *product, "--min-time", "0.01"))
        out = ("--output", self.path("r.npy"))
        other = self.save("other.npy", y.T.copy())
        self.refused("run", "reduce", "--input", paths[0], *out, "--map", "product", word="2 inputs")
        self.refused("run", "reduce", "--input", *paths, *out, word="1 input,")
        self.refused("run", "reduce", "--input", paths[0], other, *out, "--map", "product", word="one shape")
        self.refused("compare", "reduce", "--map", "product", "--dtype", "i32", word="f32 and f64")
        self.refused("compare", "reduce", "--map", "product", "--function", "max", word="needs function sum")
        self.refused("compare", "reduce", "--map", "product", "--input", paths[0], word="two for gemm")

    def test_run_auto_says_where_and_why(self):
        a = self.save("a.npy", np.ones(10, dtype=np.float32))
        self.assertIn("auto:", self.run_good("run", "reduce", "--input", a, "--output", self.path("r.npy")))

    # --- bad input

    def test_bad_words_are_refused(self):
        a = self.save("a.npy", np.ones((4, 4), dtype=np.float32))
        b = self.save("b.npy", np.ones((5, 4), dtype=np.float32))
        c = self.save("c.npy", np.ones((4, 4), dtype=np.complex64))
        out = ("--output", self.path("r.npy"))
        self.refused("run", "reduce", "--input", a, *out, "--device", "cuda:99")
        self.refused("run", "reduce", "--input", a, *out, "--device", "gpu", word="gpu")
        self.refused("run", "reduce", "--input", a, *out, "--device", "cpu", "--rung", "bogus", word="bogus")
        self.refused("run", "reduce", "--input", a, *out, "--function", "mean", word="mean")
        self.refused("run", "reduce", "--input", c, *out)
        self.refused("run", "reduce", "--input", a, *out, "--map", "square", "--function", "max")
        self.refused("run", "fft", "--input", a, *out, word="fft")
        self.refused("run", "gemm", "--input", a, b, *out, word="rows")
        self.refused("run", "gemm", "--input", a, *out)
        self.refused("run", "gemm", "--input", a, a, *out, "--beta", "1", word="beta")
        self.refused("run", "reduce", "--input", self.path("absent.npy"), *out, word="absent.npy")
        self.refused("run", "reduce", "--input", a, "--output", self.path("no/such/r.npy"))
        self.refused("run", "reduce", "--input", a)
        self.refused("bogus")
        self.refused("--bogus")

    def test_bad_files_are_refused(self):
        with open(self.path("text.npy"), "w") as file:
            file.write("no array")
        self.refused("run", "reduce", "--input", self.path("text.npy"), "--output", self.path("r.npy"))
        whole = self.save("a.npy", np.ones(100))
        with open(whole, "rb") as file:
            data = file.read()
        with open(self.path("cut.npy"), "wb") as file:
            file.write(data[:-1])
        self.refused("run", "reduce", "--input", self.path("cut.npy"), "--output", self.path("r.npy"), word="cut.npy")

    def test_compare_refuses_before_it_measures(self):
        json_file = ("--json", self.path("r.json"))
        self.refused("compare", "reduce", "--size", "12y", *json_file, word="12y")
        self.refused("compare", "reduce", "--size", "2^62", *json_file)
        self.refused("compare", "transpose", "--size", "1M", *json_file, word="this machine has")
        self.refused("compare", "reduce", "--dtype", "f31", *json_file, word="f31")
        self.refused("compare", "gemm", "--dtype", "u32", *json_file, word="u32")
        self.refused("compare", "gemm", "--layout", "rx", *json_file)
        self.refused("compare", "reduce", "--device", "cpu9", *json_file)
        self.refused("compare", "reduce", "--size", "4", "--rung", "bogus", *json_file, word="bogus")
        self.refused("compare", "reduce", "--size", "4", "--values", "pretty", *json_file)
        self.refused("compare", "reduce", "--size", "4", "--json", self.path("no/r.json"))

    # --- compare

    def test_compare_takes_the_shape_of_real_data_from_its_file(self):
        file = self.save("a.npy", np.ones((4, 4), np.float32))
        for word in ("--size", "--dtype", "--layout", "--values"):
            self.refused("compare", "transpose", "--input", file, word, "4", word=word)

    def test_compare_takes_batches(self):
        out = self.run_good("compare", "gemm", "--batch", "3", "--size", "4", "--dtype", "f32", "--device", "cpu",
                            "--min-time", "0.001", "--json", self.path("batch.json"))
        self.assertIn("gemm f32, batch of 3", out)
        results = json.load(open(self.path("batch.json")))["results"]
        self.assertEqual({result["batch"] for result in results}, {3})
        self.refused("compare", "reduce", "--batch", "2", word="one matrix")
        out = self.run_good("compare", "--batch", "2", "--size", "4", "--device", "cpu", "--min-time", "0.001")
        self.assertIn("gemm f32, batch of 2", out)
        self.assertNotIn("reduce", out)
        self.refused("compare", "gemm", "--batch", "0", word="--batch")

    def test_compare_keeps_its_schema(self):
        file_name = self.path("r.json")
        text = self.run_good("compare", "--size", "64", "--min-time", "0.001", "--json", file_name)
        self.assertIn("same bits", text)
        with open(file_name) as file, open(SCHEMA) as schema:
            document = json.load(file)
            jsonschema.validate(document, json.load(schema))
        results = document["results"]
        self.assertEqual({r["operation"] for r in results}, {"reduce", "transpose", "gemm"})
        self.assertTrue(all(r["verified"] for r in results))
        self.assertEqual({r["memory"] for r in results}, {"resident", "pageable", "pinned"})
        self.assertEqual({r["device"] for r in results}, set(DEVICES))
        for r in results:  # what a caller sees stands with the kernel on resident data
            seen = r["memory"] == "resident" and r["method"] == "single"
            self.assertEqual("waited" in r, seen, r)

    def test_compare_finds_the_same_digest_on_every_device(self):
        file_name = self.path("r.json")
        self.run_good("compare", "reduce", "--size", "1001", "--dtype", "f32,f64", "--values", "wide", "--min-time",
                      "0.001", "--json", file_name)
        with open(file_name) as file:
            results = json.load(file)["results"]
        for dtype in ("f32", "f64"):
            self.assertEqual(len({r["digest"] for r in results if r["dtype"] == dtype}), 1)

    def test_compare_shows_on_a_terminal_what_it_does(self):
        words = ("compare", "reduce", "--device", "cpu", "--size", "100x4", "--axis", "each_row", "--min-time", "0.001")
        code, text = on_terminal(*words)
        self.assertEqual(code, 0, text)
        for what in ("measuring", "computing the reference", "verifying"):
            self.assertRegex(text, rf"reduce sum each_row f32 100x4 on cpu: {what}")
        done = trine(*words)
        self.assertEqual(done.stderr, "")
        self.assertNotIn("verifying", done.stdout)

    def test_compare_takes_real_data(self):
        a = self.save("a.npy", np.ones((30, 40), dtype=np.float64))
        b = self.save("b.npy", np.asfortranarray(np.ones((40, 20))))
        text = self.run_good("compare", "gemm", "--input", a, b, "--min-time", "0.001")
        self.assertIn("30x20x40", text)

    # --- verify

    def verify(self, *words, require="", interrupt=False):
        """Exit code, words, JSON of a run on the cpu that ends early; interrupted, when its progress shows."""
        words = ("verify", "--device", "cpu", *words, "--json", self.path("v.json"))
        env = {"TRINE_REQUIRE": require}
        if interrupt:
            code, text = signalled(signal.SIGINT, r"[1-9]\d* of \d+, ", *words, env=env)
        else:
            done = trine(*words, env=env)
            code, text = done.returncode, done.stderr + done.stdout
        document = self.load("v.json")
        self.assertTrue(document["partial"])
        self.assertIn("Ended early", text)
        return code, text, document["verify"]

    def test_a_time_limit_ends_verify_with_what_there_is(self):
        code, text, report = self.verify("--time-limit", "5")
        self.assertEqual(code, 0, text)
        self.assertIn("the time limit of 5 s is up", text)
        self.assertGreater(report["cases"], 0)
        self.assertEqual(self.verify("--time-limit", "5", require="abacus")[0], 1)
        self.refused("verify", "--time-limit", "-1")

    def test_an_interrupt_ends_verify_with_what_there_is(self):
        code, text, report = self.verify(interrupt=True)
        self.assertEqual(code, 130, text)
        self.assertIn("interrupted", text)
        self.assertGreater(report["cases"], 0)
        code, text, _ = self.verify(interrupt=True, require="abacus")
        self.assertEqual(code, 1, f"what had failed stays: {text}")

    # --- all that measure

    def test_a_time_limit_that_leaves_no_result_fails(self):
        for command in ("compare", "ladder", "sweep", "transfers", "roof", "bench", "verify", "calibrate"):
            done = trine(command, "--device", "cpu", "--time-limit", "0.000001",
                         env={"TRINE_DATA_DIR": self.folder.name})
            self.assertEqual(done.returncode, 1, f"{command}: {done.stdout}{done.stderr}")
            self.assertIn("Ended early, the time limit of 1e-06 s is up: there is no result.", done.stdout + done.stderr)


if __name__ == "__main__":
    main()
