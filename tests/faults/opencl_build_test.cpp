// A kernel that doesn't compile is a defect and must not look like a rung that refuses: everything
// that goes through all rungs counts refusals as no failure.
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

}  // namespace
