#!/usr/bin/env python3
"""The vendors' libraries as peers: measured and verified like our own kernels, each named with its version or
with the reason why it is absent, and refused in words where they haven't the operation.

usage: peers_test.py [unittest options] TRINE SCHEMA"""
import os
import re

from harness import DEVICES, TRINE, Program, main, trine

QUICK = ("--min-time", "0.001")
# The words of compare that a peer must serve where it is there.
SERVED = {
    "openblas": ("cpu", ["reduce --map abs", "transpose", "gemm", "gemm --numerics exact"]),
    "clblast": ("opencl", ["reduce", "reduce --map abs", "transpose", "gemm", "gemm --numerics exact"]),
    "cublas": ("cuda", ["reduce --map abs", "transpose", "gemm", "gemm --numerics exact"]),
    "cub": ("cuda", ["reduce --function sum,min,max,argmin,argmax --dtype f32,f64,i32,i64,u32,u64",
                     "reduce --function sum,min,max --axis each_row"]),
}
REFUSED = {
    "openblas": "reduce --function max",
    "clblast": "reduce --axis each_row",
    "cublas": "transpose --dtype i32",
    "cub": "reduce --function prod",
}


def peers():
    """Name to version, of the packs that load."""
    text = trine("compare", "reduce", "--size", "4", "--device", DEVICES[0], "--peers", *QUICK).stdout
    lines = re.findall(r"(?m)^peer (\S+): (.+)$", text)
    return {name: build for name, build in lines if not build.startswith("absent")}


class TestPeers(Program):
    def each_peer(self):
        """Name and device of each that can run here."""
        for name in peers():
            for device in DEVICES:
                if device.startswith(SERVED[name][0]):
                    yield name, device
                    break

    def test_versions_are_named(self):
        for name, build in peers().items():
            self.assertRegex(build, r" \d+\.\d+", name)

    def test_peers_are_measured_and_verified(self):
        for name, device in self.each_peer():
            for words in SERVED[name][1]:
                with self.subTest(peer=name, words=words):
                    self.run_good("compare", *words.split(), "--size", "70", "--device", device, "--rung", name,
                                  "--peers", *QUICK, "--json", self.path("r.json"))
                    results = self.load("r.json")["results"]
                    self.assertTrue(results)
                    for result in results:
                        self.assertTrue(result["vendor"] and result["verified"], result)
                        self.assertEqual(result["rung"], name)

    def test_peers_say_what_they_have_not(self):
        for name, device in self.each_peer():
            with self.subTest(peer=name):
                done = trine("compare", *REFUSED[name].split(), "--size", "70", "--device", device, "--rung", name,
                             "--peers", *QUICK)
                self.assertEqual(done.returncode, 1, "nothing was verified")  # and nothing was wrong
                self.assertRegex(done.stdout, rf"(?m)^refused: {device}: rung {name} refuses .*: \w+")
                self.assertNotIn("WRONG", done.stdout)

    def test_a_pack_that_cannot_load_says_why(self):
        packs = self.path("modules/packs")
        os.makedirs(packs)
        with open(os.path.join(packs, "trine_broken.so"), "w") as file:
            file.write("no library")
        done = trine("compare", "reduce", "--size", "4", "--device", DEVICES[0], "--peers", *QUICK,
                     env={"TRINE_BACKEND_PATH": self.path("modules")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^peer \S*broken\S*: absent: \S")

    def test_kernels_alone_stand_beside_the_peers(self):
        for device in [name for name in DEVICES if name.startswith("cuda")]:
            for words in (("reduce", "--dtype", "f32", "--size", "2^16"), ("gemm", "--dtype", "f64", "--size", "65")):
                text = self.run_good("compare", "--graph", "--peers", *words, "--device", device)
                self.assertEqual(len(re.findall(r"(?m) (same bits|within bound)$", text)), 1 + len(peers().keys() & {"cub", "cublas"}) // 2, text)
        self.refused("compare", "--graph", "--device", "cpu", word="--graph takes one device of cuda, not cpu")
        self.refused("compare", "--graph", "--device", "cuda:0,cuda:1", word="--graph takes one device of cuda")
        for other in ("--json", "--rounds", "--min-time"):
            self.refused("compare", "--graph", other, "3", word="--graph")

    def test_debian_peers_are_there(self):
        """What ./dev installs is built, so that the tests above have something to say."""
        lib = os.path.join(os.path.dirname(TRINE), "..", "lib", "trine")
        wanted = {"trine_cpu.so": "openblas", "trine_opencl.so": "clblast"}
        for backend, peer in wanted.items():
            if os.path.exists(os.path.join(lib, backend)):
                self.assertIn(peer, peers())


if __name__ == "__main__":
    main()
