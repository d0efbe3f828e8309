// A kernel that doesn't compile is a defect and must not look like a rung that refuses: everything
// that goes through all rungs counts refusals as no failure. And one that does is compiled once.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "backends/gpu/objects.hpp"
#include "opencl/retarget.hpp"
#include "opencl_fixture.hpp"

namespace {

struct OpenclBuild : faults::OpenclDriver {
  trine_status launch(const faults::Device& on) const {
    const auto queue = on.queue();
    const auto input = on.buffer(64), output = on.buffer(64);
    const trine_transpose op = faults::transpose_of(on.native(input), on.native(output), 4, 4);
    const trine_call call{sizeof call, TRINE_TRANSPOSE, &op};
    const trine_selection selection = on.select(TRINE_TRANSPOSE, "naive");
    char text[200] = "";
    EXPECT_EQ(backend->refuses(on.device, &selection, &call, text, sizeof text), TRINE_OK) << text;
    const trine_status status = backend->launch(queue.get(), &selection, &call, nullptr);
    if (status == TRINE_OK) on.wait(queue);
    return status;
  }
};

TEST_F(OpenclBuild, an_event_signalled_by_the_host_has_no_device_time) {
  const faults::Device device(*backend);
  const auto start = device.event(true), stop = device.event(true);
  device.check(backend->event_signal(start.get()));
  device.check(backend->event_signal(stop.get()));
  double seconds = 0;
  EXPECT_EQ(backend->event_elapsed(start.get(), stop.get(), &seconds), TRINE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(backend->last_error()).find("signalled by the host"), std::string::npos);
}

TEST_F(OpenclBuild, a_kernel_that_does_not_compile_is_an_error_with_the_compilers_words) {
  const faults::Device device(*backend);
  played.clCreateProgramWithSource = [](cl_context context, cl_uint, const char**, const size_t*,
                                        cl_int* code) {
    const char* text = "__kernel void naive(__global int* x) { x[0] = undeclared_word; }";
    return real.clCreateProgramWithSource(context, 1, &text, nullptr, code);
  };
  trine::opencl::replace_driver(&played);
  EXPECT_EQ(launch(device), TRINE_BACKEND_ERROR);
  const std::string error = backend->last_error();
  EXPECT_NE(error.find("transpose/naive.cl doesn't build"), error.npos) << error;
  EXPECT_NE(error.find("undeclared_word"), error.npos) << error;

  trine::opencl::replace_driver(&real);
  EXPECT_EQ(launch(device), TRINE_OK) << "the next one that does is right";
}

// As PoCL 3.1 does where another process builds the same program at the same time.
TEST_F(OpenclBuild, pocl_is_asked_again_when_a_build_failed) {
  const faults::Device device(*backend);
  trine_device_facts facts{};
  facts.size = sizeof facts;
  device.check(backend->device_facts(device.device, &facts));
  if (std::string(facts.driver).find("Portable Computing Language") != 0)
    GTEST_SKIP() << "not PoCL";
  static int failures;
  failures = 1;
  played.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id* devices,
                             const char* options, void(CL_CALLBACK * then)(cl_program, void*),
                             void* data) {
    if (failures-- > 0) return cl_int{CL_BUILD_PROGRAM_FAILURE};
    return real.clBuildProgram(program, count, devices, options, then, data);
  };
  trine::opencl::replace_driver(&played);
  EXPECT_EQ(launch(device), TRINE_OK) << backend->last_error();
  EXPECT_EQ(failures, -1);
}

cl_uint compute_major = 0;

/// The machine's device as if it were NVIDIA's, whose compiler refuses the tensor cores' kernel.
struct Nvidia : faults::OpenclDriver {
  void SetUp() override {
    OpenclDriver::SetUp();
    if (IsSkipped()) return;
    played.clGetDeviceInfo = [](cl_device_id device, cl_device_info what, size_t bytes,
                                void* answer, size_t* needed) {
      const cl_uint numbers[] = {compute_major, 0, 1, 0, 0};  // compute capability, place
      constexpr char kExtensions[] =
          "cl_khr_fp64 cl_khr_int64_base_atomics cl_nv_device_attribute_query "
          "cl_nv_compiler_options";
      const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
      const auto give = [&](const void* from, size_t size) {
        return std::memcpy(answer, from, std::min(size, bytes)), cl_int{CL_SUCCESS};
      };
      if (what == 0x4000 || what == 0x4001) return give(&numbers[what - 0x4000], sizeof(cl_uint));
      if (what >= 0x4008 && what <= 0x400A) return give(&numbers[what - 0x4006], sizeof(cl_uint));
      if (what == CL_DEVICE_EXTENSIONS) return give(kExtensions, sizeof kExtensions);
      if (what == CL_DEVICE_TYPE) return give(&gpu, sizeof gpu);
      return real.clGetDeviceInfo(device, what, bytes, answer, needed);
    };
    played.clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** texts,
                                          const size_t* lengths, cl_int* code) {
      const bool is_tensor =
          std::string(texts[1], lengths[1]).find("mma.sync") != std::string::npos;
      const char* refused = "__kernel void tensor() { mma_is_for_sm_90; }";
      return is_tensor ? real.clCreateProgramWithSource(context, 1, &refused, nullptr, code)
                       : real.clCreateProgramWithSource(context, count, texts, lengths, code);
    };
    trine::gpu::forget_checks();
    trine::opencl::replace_driver(&played);
  }
  void TearDown() override {
    OpenclDriver::TearDown();
    trine::gpu::forget_checks();
  }
  const trine_gemm op = faults::gemm_of(true, 512);
  const trine_call call{sizeof call, TRINE_GEMM, &op};
};

constexpr std::string_view kPtx =
    ".version 9.0\n.target sm_90, texmode_independent\n.entry k(\n)\n.reqntid 384, 1, 1\n{\n"
    "\t//sm_90a .maxnreg 168\n\tbar.sync 0;\n\t//sm_90a setmaxnreg.dec.sync.aligned.u32 40;\n}\n";
constexpr std::string_view kRetargeted =
    ".version 9.0\n.target sm_90a, texmode_independent\n.entry k(\n)\n.maxnreg 168\n"
    ".reqntid 384, 1, 1\n{\n\t\n\tbar.sync 0;\n\tsetmaxnreg.dec.sync.aligned.u32 40;\n}\n";

TEST_F(OpenclBuild, for_sm_90a_takes_comments_away_and_names_the_target) {
  using trine::opencl::retargeted;
  EXPECT_EQ(retargeted(kPtx), kRetargeted);
  std::string other(kPtx);
  EXPECT_EQ(retargeted(other + '\0'), kRetargeted) << "the driver's text ends with a zero";
  EXPECT_EQ(retargeted(kRetargeted), "") << "nothing is asked for";
  EXPECT_EQ(retargeted(""), "");
  EXPECT_EQ(retargeted("\x7f"
                       "ELF //sm_90a "),
            "")
      << "no PTX";
  EXPECT_EQ(retargeted(other.replace(other.find("sm_90,"), 5, "sm_100")), "") << "untried";
}

TEST_F(Nvidia, whose_driver_refuses_another_target_keeps_the_program_it_compiled) {
  static int offered;
  offered = 0;
  played.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t bytes, void* answer,
                               size_t* needed) {
    if (what != CL_PROGRAM_BINARY_SIZES && what != CL_PROGRAM_BINARIES)
      return real.clGetProgramInfo(program, what, bytes, answer, needed);
    if (what == CL_PROGRAM_BINARIES)
      std::memcpy(*static_cast<unsigned char**>(answer), kPtx.data(), kPtx.size());
    else
      *static_cast<size_t*>(answer) = kPtx.size();
    return cl_int{CL_SUCCESS};
  };
  played.clCreateProgramWithBinary = [](cl_context, cl_uint, const cl_device_id*,
                                        const size_t* bytes, const unsigned char** data, cl_int*,
                                        cl_int* code) {
    offered += std::string_view(reinterpret_cast<const char*>(*data), *bytes) == kRetargeted;
    return *code = CL_INVALID_BINARY, cl_program{};
  };
  trine::opencl::replace_driver(&played);
  compute_major = 9;
  const faults::Device device(*backend);
  std::string why;
  EXPECT_EQ(device.choice(call, &why), "register_tile");
  EXPECT_GT(offered, 0) << "the program that probes the arithmetic";
}

TEST_F(Nvidia, below_90_has_no_f64_tensor_cores) {
  compute_major = 8;
  const faults::Device device(*backend);
  std::string why;
  EXPECT_EQ(device.choice(call, &why), "register_tile");
  EXPECT_EQ(why.find("self-check"), why.npos) << why;
  const trine_selection tensor = device.select(TRINE_GEMM, "tensor_specialized");
  char reason[200];
  EXPECT_EQ(backend->refuses(device.device, &tensor, &call, reason, sizeof reason),
            TRINE_UNSUPPORTED);
  EXPECT_NE(std::string(reason).find("compute capability"), std::string::npos) << reason;
}

TEST_F(Nvidia, whose_compiler_refuses_the_default_takes_the_next_and_says_so) {
  compute_major = 9;
  const faults::Device device(*backend);
  std::string why;
  EXPECT_EQ(device.choice(call, &why), "register_tile");
  EXPECT_NE(
      why.find("self-check can't run here: opencl:0: gemm/tensor_specialized.cl doesn't build"),
      why.npos)
      << why;
  EXPECT_EQ(device.choice(call, &why), "register_tile");
  const trine_selection tensor = device.select(TRINE_GEMM, "tensor_specialized");
  char reason[200];
  EXPECT_EQ(backend->refuses(device.device, &tensor, &call, reason, sizeof reason),
            TRINE_BACKEND_ERROR)
      << "named, it is a defect and no refusal";
}

int from_source, from_binary, asked_for_binaries;

struct KeptPrograms : OpenclBuild {
  void SetUp() override {
    OpenclBuild::SetUp();
    if (IsSkipped()) return;
    setenv("TRINE_CACHE_DIR", folder.c_str(), 1);
    from_source = from_binary = asked_for_binaries = 0;
    played.clCreateProgramWithSource = [](cl_context context, cl_uint count, const char** texts,
                                          const size_t* lengths, cl_int* code) {
      ++from_source;
      return real.clCreateProgramWithSource(context, count, texts, lengths, code);
    };
    played.clCreateProgramWithBinary =
        [](cl_context context, cl_uint count, const cl_device_id* devices, const size_t* lengths,
           const unsigned char** binaries, cl_int* status, cl_int* code) {
          ++from_binary;
          return real.clCreateProgramWithBinary(context, count, devices, lengths, binaries, status,
                                                code);
        };
    played.clGetProgramInfo = [](cl_program program, cl_program_info what, size_t bytes,
                                 void* answer, size_t* needed) {
      if (what == CL_PROGRAM_BINARIES) ++asked_for_binaries;
      return real.clGetProgramInfo(program, what, bytes, answer, needed);
    };
    trine::opencl::replace_driver(&played);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder);
    setenv("TRINE_CACHE_DIR", "", 1);
    OpenclBuild::TearDown();
  }
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("trine-programs-" + std::to_string(getpid()));
};

TEST_F(KeptPrograms, come_from_the_cache_the_next_time) {
  played.clGetPlatformInfo = [](cl_platform_id, cl_platform_info, size_t bytes, void* answer,
                                size_t*) {
    std::strncpy(static_cast<char*>(answer), "A platform without a cache", bytes);
    return cl_int{CL_SUCCESS};
  };
  EXPECT_EQ(launch(faults::Device(*backend)), TRINE_OK);
  const int built = from_source;
  EXPECT_GT(built, 0);
  EXPECT_EQ(from_binary, 0);
  EXPECT_EQ(asked_for_binaries, built);
  EXPECT_EQ(launch(faults::Device(*backend)), TRINE_OK);
  EXPECT_EQ(from_source, built);
  EXPECT_GT(from_binary, 0);
}

TEST_F(KeptPrograms, are_left_to_pocl_which_would_compile_them_again_to_give_them_away) {
  trine_device_facts facts{};
  facts.size = sizeof facts;
  ASSERT_EQ(backend->device_describe(0, &facts), TRINE_OK);
  if (std::strncmp(facts.driver, "Portable Computing Language", 27) != 0)
    GTEST_SKIP() << facts.driver;
  EXPECT_EQ(launch(faults::Device(*backend)), TRINE_OK);
  EXPECT_GT(from_source, 0);
  EXPECT_EQ(asked_for_binaries, 0);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
