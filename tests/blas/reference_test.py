"""Debian's libblas-test over the shim: the reference's own tests of a BLAS and of a CBLAS, s and d."""
from harness import *

TESTS = LIBRARIES / "blas"


class Reference(unittest.TestCase):
    def check(self, program, words, device):
        """No failure, and as many tests as over the reference itself."""
        def outcome(env):
            with tempfile.TemporaryDirectory() as folder:
                with open(TESTS / words if words else os.devnull) as given:
                    ran = run(TESTS / program, env=env, stdin=given, cwd=folder)
                text = ran.stdout + ran.stderr + "".join(p.read_text() for p in pathlib.Path(folder).iterdir())
            self.assertEqual(ran.returncode, 0, text)
            return text
        text = outcome(over_shim(device))
        for word in ("FAIL", "*****", "FATAL"):
            self.assertNotIn(word, text, program)
        expected = outcome({**os.environ, "LD_LIBRARY_PATH": str(TESTS)})
        self.assertEqual(text.count("PASS"), expected.count("PASS"), program)
        self.assertGreater(text.count("PASS"), 0, program)

    def test_no_failures(self):
        for device in devices():
            for s in "sd":
                for program, words in ((f"xblat1{s}", ""), (f"xblat2{s}", f"{s}blat2.in"), (f"xblat3{s}", f"{s}blat3.in"),
                                       (f"x{s}cblat1", ""), (f"x{s}cblat2", f"{s}in2"), (f"x{s}cblat3", f"{s}in3")):
                    with self.subTest(program=program, device=device):
                        self.check(program, words, device)


if __name__ == "__main__":
    if not (TESTS / "xblat1d").exists():
        print("not run: there is no", TESTS / "xblat1d", "(Debian: libblas-test)")
        sys.exit(77)
    main()
