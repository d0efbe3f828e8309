"""The shim's log: a line for each shape, or each call; whatever the program does to its descriptors, its locale, its
processes and its disk. `trine why --trace` reads what comes out."""
import shutil
import signal
import time

from harness import *

CALLS = """
import ctypes, os, resource, signal, sys, time
b = ctypes.CDLL("libblas.so.3")
def ddot(n):
    x = (ctypes.c_double * n)(*[1.5] * n); c = ctypes.byref
    b.ddot_.restype = ctypes.c_double
    return b.ddot_(c(ctypes.c_int(n)), x, c(ctypes.c_int(1)), x, c(ctypes.c_int(1)))
"""


class Log(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.log = os.path.join(self.folder, "log")

    def program(self, code, code_of_end=0, device="cpu", **more):
        """Runs it over the shim; what it said on stderr."""
        ran = python(CALLS + code, over_shim(device, **{"TRINE_BLAS_LOG": self.log, **more}))
        self.assertEqual(ran.returncode, code_of_end, ran.stderr)
        self.said_by_program = ran.stdout
        return ran.stderr

    def calls(self, path=None):
        """The lines of calls."""
        return [line for line in lines_of(path or self.log) if "routine" in line]

    def counts(self, path=None):
        """By n, over all lines."""
        found = {}
        for line in self.calls(path):
            found[line["n"]] = found.get(line["n"], 0) + line.get("calls", 1)
        return found

    def why(self, *words, code=0, path=None):
        ran = run(TRINE, "why", "--trace", path or self.log, "--device", "cpu", *words,
                  env={**os.environ, "TRINE_DATA_DIR": "", "TRINE_TUNING": ""})
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def said_once(self, said, *words):
        """One sentence, of the log."""
        self.assertEqual(said.count("libtrine_blas: TRINE_BLAS_LOG="), 1, said)
        self.assertEqual(said.count("The calls go on without."), 1, said)
        for word in words:
            self.assertIn(word, said)

    # --- What it says ---

    def test_a_line_for_each_shape(self):
        begin = time.monotonic()
        self.program("for i in range(7000): ddot(3 + i % 7)")
        took = time.monotonic() - begin
        self.assertEqual(self.counts(), {3 + i: 1000 for i in range(7)})
        lines = self.calls()
        self.assertLessEqual(len(lines), 7 * (1 + took / 3))
        for line in lines:
            self.assertLessEqual(line["least"] * line["calls"], line["seconds"] * (1 + 1e-3) + 1e-6)
            self.assertGreaterEqual(line["greatest"] * line["calls"], line["seconds"] * (1 - 1e-3) - 1e-6)
            self.assertEqual((line["device"], line["data"], line["routine"]), ("cpu", "host", "ddot"))

    def test_a_line_for_each_call(self):
        self.program("for i in range(700): ddot(3 + i % 7)", TRINE_BLAS_LOG_CALLS="1")
        lines = self.calls()
        self.assertEqual([line["n"] for line in lines], [3 + i % 7 for i in range(700)])
        self.assertTrue(all("calls" not in line and line["thread"] > 0 for line in lines))

    def test_other_words_for_a_line_for_each_call(self):
        for word, said in (("0", False), ("", False), ("yes", True)):
            text = self.program("for i in range(70): ddot(3)", TRINE_BLAS_LOG_CALLS=word)
            self.assertEqual("neither 0 nor 1" in text, said, text)
            self.assertEqual(len(self.calls()), 1)
            os.remove(self.log)

    def test_the_reason_makes_a_line_of_its_own(self):
        self.program("ddot(4); ddot(4); ddot(5)", device="bogus:3")
        self.assertEqual(self.counts(), {4: 2, 5: 1})
        self.assertTrue(all("bogus:3" in line["why"] for line in self.calls()))

    def test_both_kinds_are_read(self):
        for each in ("0", "1"):
            self.program("for i in range(90): ddot(1000 + i % 3)", TRINE_BLAS_LOG_CALLS=each)
        document = os.path.join(self.folder, "json")
        self.why("--json", document)
        told = json.loads(pathlib.Path(document).read_text())
        self.assertEqual(told["calls"], 180)
        self.assertEqual({c["calls"]: c["count"] for c in told["by_shape"]},
                         {"ddot 1000": 60, "ddot 1001": 60, "ddot 1002": 60})
        seconds = sum(line["seconds"] for line in self.calls())
        self.assertAlmostEqual(told["seconds"], seconds, delta=1e-6)

    def test_memory_is_bounded(self):
        """25,000 shapes: what doesn't fit the table goes to the file, and nothing is lost."""
        self.program("""
def some(begin, end):
    x = (ctypes.c_double * end)(); one = ctypes.c_int(1); r = ctypes.byref
    for n in range(begin, end):
        b.ddot_(r(ctypes.c_int(n)), x, r(one), x, r(one))
some(1, 12000); at = os.path.getsize(os.environ["TRINE_BLAS_LOG"]); some(12000, 25001)
print(at)""")
        self.assertGreater(int(self.said_by_program), 1000)
        self.assertEqual(self.counts(), {n: 1 for n in range(1, 25001)})

    def test_a_long_program_is_seen_meanwhile(self):
        self.program("""
log = os.environ["TRINE_BLAS_LOG"]
ddot(3); end = time.monotonic() + 9
while "ddot" not in open(log).read() and time.monotonic() < end: time.sleep(0.1); ddot(3)
print(os.path.getsize(log)); os.kill(os.getpid(), signal.SIGKILL)""", -signal.SIGKILL)
        self.assertEqual(set(self.counts()), {3})
        self.assertGreater(self.counts()[3], 20)

    # --- Ends and processes ---

    def test_every_end_of_a_program(self):
        ends = {"pass": 0, "sys.exit(3)": 3, "ctypes.CDLL(None).quick_exit(4)": 4, "ctypes.CDLL(None).exit(5)": 5,
                'os.environ["TRINE_BLAS_NEXT"] = "/no"; b.dscal_()': 127}
        for end, code in ends.items():
            self.program("for i in range(50): ddot(3 + i % 2)\n" + end, code)
            self.assertEqual(self.counts(), {3: 25, 4: 25}, end)
            os.remove(self.log)

    def test_forked_children(self):
        """A child may leave by _exit: nothing of its first calls is lost, and much work makes few lines."""
        for each in ("0", "1"):
            self.program("""
ddot(2)
for child in range(3):
    if os.fork() == 0:
        for i in range(300): ddot(10 + child)
        os._exit(0)
if os.fork() == 0:
    end = time.monotonic() + 1; i = 0
    while time.monotonic() < end: ddot(20); i += 1
    sys.stdout.write(str(i)); sys.stdout.flush(); sys.exit(0)
for child in range(4): os.wait()
ddot(2)""", TRINE_BLAS_LOG_CALLS=each)
            counts = self.counts()
            self.assertEqual([counts.get(n) for n in (2, 10, 11, 12)], [2, 300, 300, 300])
            self.assertEqual(counts[20], int(self.said_by_program))
            if each == "0":
                self.assertLess(len([line for line in self.calls() if line["n"] == 20]), 1000 + 200)
            self.assertEqual(len({line["process"] for line in self.calls()}), 5)
            os.remove(self.log)

    def test_a_daemons_first_process(self):
        """daemon(3) forks, and the parent leaves by _exit: its calls, and those that it forwarded, aren't lost."""
        for each in ("0", "1"):
            self.program("""
ddot(3); ddot(3); n = ctypes.byref(ctypes.c_int(0)); b.dcopy_(n, n, n, n, n)
if os.fork(): os._exit(0)
os.setsid(); ddot(4)""", TRINE_BLAS_LOG_CALLS=each)
            self.assertEqual(self.counts(), {3: 2, 4: 1})
            self.assertEqual([line["calls"] for line in lines_of(self.log) if "forwarded" in line], [1])
            os.remove(self.log)

    # --- The program's descriptors ---

    def test_a_daemons_file_is_left_alone(self):
        """It closes every descriptor and opens files of its own, which get their numbers, in any way."""
        for flags in ("os.O_RDWR", "os.O_WRONLY", "os.O_WRONLY | os.O_APPEND"):
            for each in ("0", "1"):
                self.program(f"""
os.chdir({self.folder!r})
ddot(3); ddot(3)
os.chdir("/")
os.closerange(3, 200)
mine = [os.open({self.folder!r} + f"/mine{{i}}", os.O_CREAT | {flags}) for i in range(20)]
for file in mine: os.write(file, b"fifteen letters")
if os.fork() == 0:
    for i in range(200): ddot(4)
    os._exit(0)
os.wait()
for i in range(20000): ddot(5)
for i in range(20): assert os.path.getsize({self.folder!r} + f"/mine{{i}}") == 15, i
for file in mine: os.fstat(file)   # and it isn't closed""", TRINE_BLAS_LOG_CALLS=each)
                for i in range(20):
                    mine = pathlib.Path(self.folder, f"mine{i}")
                    self.assertEqual(mine.read_text(), "fifteen letters")
                    mine.unlink()
                self.assertEqual(self.counts(), {3: 2, 4: 200, 5: 20000})
                os.remove(self.log)

    def test_a_daemon_with_a_log_in_its_folder(self):
        """A path that isn't absolute is one of the folder where the program began."""
        ran = subprocess.run([sys.executable, "-c", CALLS + "ddot(3); os.chdir('/'); os.closerange(3, 200); ddot(4)"],
                             env=over_shim(TRINE_BLAS_LOG="log"), cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(self.counts(), {3: 1, 4: 1})

    def test_standard_descriptors_are_never_the_logs(self):
        self.program("""
os.close(0); os.close(1); os.close(2); os.closerange(3, 200)
for i in range(70000): ddot(3)
for fd in range(3):
    try: os.write(fd, b"to nobody")
    except OSError: pass""", TRINE_BLAS_LOG_CALLS="1")
        self.assertEqual(self.counts(), {3: 70000})

    def test_what_cannot_be_opened_again_is_said(self):
        said = self.program(f"""
ddot(3)
os.closerange(3, 200); os.rename({self.log!r}, {self.log!r} + "1"); os.mkdir({self.log!r})
ddot(4); print(ddot(2))""")
        self.said_once(said, "Is a directory")
        self.assertIn("4.5", self.said_by_program)

    # --- Disks and pipes ---

    def test_a_full_disk_is_said_once(self):
        said = self.program("for i in range(9000): ddot(3 + i % 50)\nprint(ddot(2))", TRINE_BLAS_LOG="/dev/full", TRINE_BLAS_LOG_CALLS="1")
        self.said_once(said, "/dev/full", "No space left on device")
        self.assertIn("4.5", self.said_by_program)

    def test_a_file_that_may_not_grow(self):
        """RLIMIT_FSIZE raises SIGXFSZ, which ends a program that writes."""
        for handled in ("", "signal.signal(signal.SIGXFSZ, lambda *a: print('its own'))", "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXFSZ])"):
            said = self.program(f"""
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
{handled}
resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
for i in range(9000): ddot(3)
print(ddot(2), signal.sigpending())""", TRINE_BLAS_LOG_CALLS="1")
            self.said_once(said, "File too large")
            self.assertEqual(self.said_by_program.strip(), "4.5 set()")
            # The line that was cut doesn't count, in this run and behind it.
            self.assertLess(len(pathlib.Path(self.log).read_text()), 5001)
            self.assertIn("a line that isn't whole", self.why())
            self.program("ddot(3)")
            self.assertIn("a line that isn't whole", self.why())
            os.remove(self.log)

    def test_a_pipe_that_nobody_reads_any_more(self):
        os.mkfifo(self.log)
        said = self.program("ddot(3)")
        self.said_once(said, "can't be opened", "No such device or address")
        code = CALLS + """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
ddot(3); sys.stdin.readline()
for i in range(9000): ddot(3)
print(ddot(2), signal.sigpending())"""
        reader = os.open(self.log, os.O_RDONLY | os.O_NONBLOCK)
        program = subprocess.Popen([sys.executable, "-c", code], env=over_shim(TRINE_BLAS_LOG=self.log, TRINE_BLAS_LOG_CALLS="1"),
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        os.close(reader)
        out, said = program.communicate("\n", timeout=60)
        self.assertEqual((program.returncode, out.strip()), (0, "4.5 set()"), said)
        self.said_once(said, "Broken pipe")

    def test_nobody_reads_the_sentence_either(self):
        """stderr is a pipe without a reader: that must not end the program."""
        code = CALLS + """
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
for i in range(9000): ddot(3)
print(ddot(2), signal.sigpending())"""
        read, write = os.pipe()
        os.close(read)
        program = subprocess.run([sys.executable, "-c", code], env=over_shim(TRINE_BLAS_LOG="/dev/full", TRINE_BLAS_LOG_CALLS="1"),
                                 stdout=subprocess.PIPE, stderr=write, text=True)
        os.close(write)
        self.assertEqual((program.returncode, program.stdout.strip()), (0, "4.5 set()"))

    # --- What isn't such a log ---

    def test_lines_that_are_none_are_named(self):
        head = '{"trine_blas":1,"program":"x"}\n'
        call = '{"routine":"ddot","n":4,"seconds":1e-6}\n'
        for line in ('{"routine":"dgemm","m":1,"n":2,"k":3,"rows":4,"cols":5,"seconds":1}', '{"routine":"","n":1,"seconds":1}',
                     '{"routine":"i","n":1,"seconds":1}', '{"routine":"damax","n":1,"seconds":1}', '{"routine":"ddot","n":1e300,"seconds":1}',
                     '{"routine":"ddot","n":-1,"seconds":1}', '{"routine":"ddot","n":18446744073709551615,"seconds":1}',
                     '{"routine":"ddot","n":1,"seconds":-1}', '{"routine":"ddot","n":1,"seconds":"1"}', '{"routine":"ddot","n":1,"seconds":1,"calls":1.5}',
                     '{"routine":"dgemm","m":2000000000,"n":2000000000,"k":2000000000,"seconds":1}', '{"forwarded":"x","calls":-1}',
                     "[1]", "7", '"trine_blas"', "null", '{"routine":"ddot","n":1,"seconds":0,001}'):
            pathlib.Path(self.log).write_text(head + call + line + "\n" + call)
            self.assertIn(f"{self.log}:3: not a line of TRINE_BLAS_LOG", self.why(code=2), line)
        pathlib.Path(self.log).write_text(head + call + "x" * (1 << 20) + "y")
        self.assertIn(f"{self.log}:3: longer than 1048576 bytes", self.why(code=2))
        for value in ('"x"', "null", "[1]", "true"):
            pathlib.Path(self.log).write_text(head.replace("1", value) + call)
            self.assertIn(f"{self.log}:1: not a line of TRINE_BLAS_LOG", self.why(code=2), value)
        pathlib.Path(self.log).write_text(head.replace("1", "2"))
        self.assertIn("later version", self.why(code=2))
        self.assertIn("Is a directory", self.why(code=2, path=self.folder))
        # Larger than any memory, without a newline: the end of a line is looked for, not the file's.
        with open(self.log, "w") as file:
            file.truncate(1 << 42)
        self.assertIn(f"{self.log}:1: longer than", self.why(code=2))


if __name__ == "__main__":
    main()
