"""Trine for Spack 1.0 or newer: builds the repository that this recipe lies in."""
from pathlib import Path

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Trine(CMakePackage):
    """reduce, transpose and gemm with the same bits on CUDA, OpenCL and CPU."""

    git = Path(__file__).resolve().parents[6].as_uri()

    license("BSD-3-Clause")

    version("0.1.0", branch="main", get_full_repo=True)

    variant("opencl", default=True, description="Build the OpenCL backend")
    variant("cuda", default=False, description="Build the CUDA backend")
    variant("program", default=True, description="Build the trine program")

    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("highway@1.0.3:")
    depends_on("xxhash", type="build")  # its header alone
    # Static, because the cpu backend hides it from programs that bring a Kokkos of their own.
    depends_on("kokkos@3.4:5 +openmp +pic ~shared")
    depends_on("opencl-c-headers", type="build", when="+opencl")
    depends_on("cuda@12:", type="build", when="+cuda")
    with when("+program"):
        depends_on("benchmark")
        depends_on("cli11")
        depends_on("fmt")
        depends_on("nlohmann-json")

    def cmake_args(self):
        args = [
            self.define("TRINE_CPU", True),
            self.define_from_variant("TRINE_OPENCL", "opencl"),
            self.define_from_variant("TRINE_CUDA", "cuda"),
            self.define_from_variant("TRINE_BENCH", "program"),
            self.define("TRINE_TESTS", self.run_tests),
            self.define("TRINE_EXAMPLES", False),
            self.define("TRINE_FETCH", False),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("TRINE_NVCC", self.spec["cuda"].prefix.bin.nvcc))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def verify(self):
        if self.spec.satisfies("+program"):
            Executable(self.prefix.bin.trine)("verify", "--quick", "--device", "cpu")
