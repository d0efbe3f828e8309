"""Threads, forked children, and an interpreter that ends while calls are in flight."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy

import trine


def in_child(body):
    """Runs body() in a forked child; what it returned, as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            text = str(body())
        except BaseException as error:
            text = f"{type(error).__name__}: {getattr(error, 'status', '')}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with open(read) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return text if status == 0 else f"ended by {status}"


def total(x):
    return trine.sum(x)


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )


class Drivers(unittest.TestCase):
    """A call that needs no driver loads none, and Python's own handlers stay."""

    def test_the_program_keeps_its_signals(self):
        done = run("""
import os, signal, numpy, trine
got = []
for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, frame: got.append(number))
assert trine.sum(numpy.ones(2), device="cpu") == 2
assert trine.sum(numpy.ones(300000)) == 300000
loaded = [line for line in open("/proc/self/maps") if "libOpenCL" in line or "libpocl" in line]
assert os.path.exists("/dev/dri") or not loaded, loaded
trine.devices()
for number in (signal.SIGUSR1, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    os.kill(os.getpid(), number)
print(len(got))
""")
        self.assertEqual((done.stdout, done.stderr), ("4\n", ""))


class Threads(unittest.TestCase):
    def test_eight_at_once(self):
        rng = numpy.random.default_rng(1)
        inputs = [rng.standard_normal((150 + 10 * i, 150 + 10 * i)) for i in range(8)]
        alone = [
            (trine.sum(x), trine.matmul(x, x).tobytes(), trine.transpose(x).tobytes())
            for x in inputs
        ]
        wrong = []

        def work(i):
            x = inputs[i]
            for _ in range(20):
                if (
                    trine.sum(x),
                    trine.matmul(x, x).tobytes(),
                    trine.transpose(x).tobytes(),
                ) != alone[i]:
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_other_threads_run_meanwhile(self):
        x = numpy.ones((1000, 1000))
        done, turns = threading.Event(), 0
        thread = threading.Thread(
            target=lambda: (trine.matmul(x, x, rung="blocked", device="cpu"), done.set())
        )
        thread.start()
        while not done.is_set():
            turns += 1
            time.sleep(0.001)
        thread.join()
        self.assertGreater(turns, 20)

    def test_place_in_one_thread_leaves_others_computing(self):
        x, out = numpy.ones(100), []
        threads = [
            threading.Thread(target=lambda: [out.append(trine.sum(x)) for _ in range(200)])
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for _ in range(200):
            trine.place(trine.sum, x)
        for thread in threads:
            thread.join()
        self.assertEqual(set(out), {100.0})


class Children(unittest.TestCase):
    def test_a_forked_child_computes_on_its_thread(self):
        x = numpy.ones(1 << 20)
        trine.sum(x)
        self.assertEqual(in_child(lambda: (float(trine.sum(x)), len(os.listdir("/proc/self/task")))), f"({float(1 << 20)}, 1)")
        self.assertEqual(trine.sum(x), 1 << 20)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            self.assertEqual(pool.map(total, [x] * 4), [1 << 20] * 4)

    def test_a_child_that_is_forked_before_any_call_computes(self):
        done = run(
            "import os, numpy, trine\n"
            "child = os.fork()\n"
            "os.write(1, f'{trine.sum(numpy.ones(5))}\\n'.encode())\n"
            "if child: print(os.waitpid(child, 0)[1])"
        )
        self.assertEqual(sorted(done.stdout.split()), ["0", "5.0", "5.0"], done.stderr)

    def test_a_fork_in_the_middle_of_a_call(self):
        big, x, enough = numpy.ones((800, 800)), numpy.ones(100), threading.Event()

        def work():
            while not enough.is_set():
                trine.matmul(big, big, device="cpu")

        trine.sum(x)
        thread = threading.Thread(target=work)
        thread.start()
        told = {in_child(lambda: trine.sum(x)) for _ in range(10)}
        enough.set()
        thread.join()
        self.assertEqual(told, {"100.0"})

    def test_a_fork_while_another_thread_makes_the_first_call(self):
        program = (
            "import os, threading, time, numpy, trine\n"
            "x = numpy.ones((300, 300))\n"
            "thread = threading.Thread(target=lambda: trine.matmul(x, x))\n"
            "thread.start()\n"
            "time.sleep(DELAY)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    os._exit(0 if trine.sum(x) == 90000 else 1)\n"
            "thread.join()\n"
            "print(os.waitpid(child, 0)[1])"
        )
        for delay in (0, 0.001, 0.01, 0.05, 0.1):
            done = run(program.replace("DELAY", str(delay)))
            self.assertEqual(done.stdout.strip(), "0", done.stderr)


class Subinterpreters(unittest.TestCase):
    """mod_wsgi's, which share the interpreter's lock, and those of 3.12 with their own."""

    PROGRAM = """
import importlib.util, os, sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

def compute():
    import numpy, trine
    os.write(1, f"{trine.sum(numpy.ones(5))}\\n".encode())

def refused(program):
    made = interpreters.create(KIND)
    interpreters.run_string(made, f'''
import os, sys
try:
    {program}
except ImportError as error:
    os.write(1, f"{{error}}\\\\n".encode())
''')
    interpreters.destroy(made)

if BEFORE:
    compute()
folder = os.path.dirname(importlib.util.find_spec("trine").origin)
for _ in range(3):
    refused("import trine")
    refused(f"sys.path.insert(0, {folder!r}); import _trine")
compute()
"""

    def test_the_import_is_refused_and_the_main_interpreter_is_well(self):
        if sys.version_info < (3, 12):
            kinds = [""]
        elif sys.version_info < (3, 13):
            kinds = ["isolated=False", "isolated=True"]
        else:
            kinds = ["'legacy'", "'isolated'"]
        for kind in kinds:
            for before in (False, True):
                with self.subTest(kind=kind, before=before):
                    done = run(self.PROGRAM.replace("KIND", kind).replace("BEFORE", str(before)))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    lines = done.stdout.splitlines()
                    self.assertEqual((lines[-1], lines[:-7]), ("5.0", ["5.0"] * before), done)
                    for line in lines[-7:-1]:
                        # From 3.13 on, Python itself refuses where the lock isn't shared.
                        own = "isolated" in kind and sys.version_info >= (3, 13)
                        words = "support loading" if own else "trine can't be imported"
                        self.assertRegex(line, words + " in (a )?subinterpreter")


class Endings(unittest.TestCase):
    PROGRAM = (
        "import threading, time, numpy, trine\n"
        "x = numpy.ones((900, 900))\n"
        "def forever():\n"
        "    while True: trine.matmul(x, x, device='cpu')\n"
        "for _ in range(3): threading.Thread(target=forever, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )

    def test_the_interpreter_ends_with_calls_in_flight(self):
        for _ in range(5):
            done = run(self.PROGRAM)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("Fatal", done.stderr)

    def test_an_exception_ends_it_too(self):
        done = run(self.PROGRAM + "raise SystemExit(3)")
        self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
