#!/usr/bin/env python3
"""Every command that measures ends soon after its time limit and after a signal, with what it has; and all of them find
honest figures right on a machine that others keep busy. By list: the commands are those that have --time-limit."""
import json
import multiprocessing
import signal
import subprocess
import time

from harness import *

# The arguments that make each command go on for long, with single kernels that are short.
LONG = {
    "compare": ("--device", "cpu", "--rounds", "500"),
    "ladder": (),
    "sweep": ("--device", "cpu"),
    "bench": ("--device", "cpu", "--benchmark_min_time=5"),
    "transfers": ("--device", "cpu", "--min-time", "5"),
    "roof": (),
    "verify": (),
    "calibrate": ("--device", "cpu", "--rounds", "99"),
    "ranks": ("--rounds", "1000"),
}
# Those whose results aren't there before the first round has ended.
LATE = {"calibrate", "ranks"}
# Runs that are short enough for a busy machine, and still measure.
SHORT = {
    "compare": (("reduce", "gemm", "--size", "256", "--dtype", "f64", "--min-time", "0.005", "--rounds", "2"),
                # memory's rate, which the others change: beyond the caches
                ("reduce", "--size", "8388608", "--dtype", "f64", "--device", "cpu", "--min-time", "0.005", "--rounds", "1")),
    "ladder": (("gemm", "--size", "128", "--dtype", "f32", "--device", "cpu", "--min-time", "0.002"),),
    "sweep": (("transpose", "--size", "128", "--device", "cpu", "--min-time", "0.002"),),
    "bench": (("gemm", "--size", "256", "--dtype", "f64", "--device", "cpu", "--benchmark_min_time=0.01"),),
    "transfers": (("transpose", "--size", "512", "--device", "cpu", "--min-time", "0.005"),),
    "roof": (("gemm", "--size", "128", "--dtype", "f32", "--device", "cpu", "--min-time", "0.002"),),
    "verify": (("--quick", "--device", "cpu", "--time-limit", "3"),),
    "calibrate": (),  # a round takes a minute there, and it judges no rate
    "ranks": (("--rounds", "1", "--time-limit", "1"),),
}


def measuring():
    """The commands that take a time limit, by what the program completes."""
    words = trine("help", "--bash").stdout
    return [match[1] for match in re.finditer(r"^ +(\w+)\) words='(.*)'", words, re.M) if "--time-limit" in match[2].split()]


def has_ranks():
    return os.path.exists(os.path.join(os.path.dirname(TRINE), "trine-ranks"))


def keep_busy(walks):
    """One busy process: computes, or walks through memory."""
    memory = bytearray(64 << 20)
    while True:
        if walks:
            memory[:] = bytes(len(memory))
        else:
            sum(range(10 ** 5))


class Ending(Program):
    def commands(self):
        self.assertEqual(sorted(LONG), sorted(measuring()))
        self.assertEqual(sorted(SHORT), sorted(LONG))
        return [command for command in LONG if command != "ranks" or has_ranks()]

    def ready(self):
        """Seconds that it takes to open the devices: no limit holds there."""
        begin = time.monotonic()
        trine("info")
        return time.monotonic() - begin

    def is_kept(self, command, text, path, reason):
        self.assertIn("Ended early, " + reason, text, command)
        if os.path.exists(path):
            self.assertIs(self.load(path)["partial"], True, command)

    def test_a_time_limit_is_heeded(self):
        ready = self.ready()
        for command in self.commands():
            path = self.path(f"{command}.json")
            json_words = () if command == "bench" else ("--json", path)
            begin = time.monotonic()
            done = trine(command, *LONG[command], *json_words, "--time-limit", "0.5")
            passed = time.monotonic() - begin - ready
            self.assertIn(done.returncode, (0, 1), f"{command}: {done.stdout}{done.stderr}")
            self.is_kept(command, done.stdout + done.stderr, path, "the time limit of 0.5 s is up")
            self.assertLess(passed, 2.5 + ready, command)

    def test_signals_are_heeded(self):
        ready = self.ready()
        for command in self.commands():
            runs = []  # both at once: most of the time is waited
            for which in (signal.SIGINT, signal.SIGTERM):
                path = self.path(f"{command}{int(which)}.json")
                json_words = () if command == "bench" else ("--json", path)
                runs.append((which, path, subprocess.Popen([TRINE, command, *LONG[command], *json_words], stdout=subprocess.PIPE,
                                                           stderr=subprocess.PIPE, text=True, env=environment())))
            time.sleep(2 * ready + 1.5)
            for which, path, run in runs:
                self.assertIsNone(run.poll(), f"{command} had ended before")
                begin = time.monotonic()
                run.send_signal(which)
                out, err = run.communicate(timeout=60)
                passed = time.monotonic() - begin
                self.assertEqual(run.returncode, 130, f"{command}: {out}{err}")
                self.is_kept(command, out + err, path, "interrupted")
                self.assertLess(passed, 2.5, command)
                if command not in LATE and command != "bench":
                    self.assertTrue(os.path.exists(path), command)

    def test_honest_figures_are_right_on_a_busy_machine(self):
        others = os.cpu_count() + 1  # with trine itself, more than there are cores by two
        busy = [multiprocessing.Process(target=keep_busy, args=(i % 2 == 1,), daemon=True) for i in range(others)]
        for one in busy:
            one.start()
        try:
            for command in self.commands():
                for words in SHORT[command]:
                    done = trine(command, *words, env={"TRINE_DATA_DIR": self.folder.name})
                    self.assertEqual(done.returncode, 0, f"{command} {words}: {done.stdout}{done.stderr}")
        finally:
            for one in busy:
                one.terminate()


if __name__ == "__main__":
    main()
