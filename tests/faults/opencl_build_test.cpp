// A kernel that doesn't compile is a defect and must not look like a rung that refuses: everything
// that goes through all rungs counts refusals as no failure. And one that does is compiled once.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

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
