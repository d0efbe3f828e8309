// Compiling prints nothing: PoCL counts a kernel's warnings on the program's stderr. In a process
// of its own and with an empty cache, for what is cached isn't compiled.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "opencl_fixture.hpp"

namespace {

struct Quiet : faults::OpenclDriver {
  void SetUp() override {
    std::filesystem::create_directories(folder);
    setenv("POCL_CACHE_DIR", folder.c_str(), 1);
    OpenclDriver::SetUp();
  }
  void TearDown() override {
    OpenclDriver::TearDown();
    std::filesystem::remove_all(folder);
  }
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("trine-quiet-" + std::to_string(getpid()));
};

TEST_F(Quiet, compiling_prints_nothing) {
  const faults::Device device(*backend);
  const auto queue = device.queue();
  const auto all = device.buffer(3 * 64 * 64 * 4), room = device.buffer(1 << 20);
  const trine_view square = faults::dense(device.native(all), 64, 64);
  trine_gemm op = faults::gemm_of(false, square, square, square);
  op.b.offset = 64 * 64 * 4;
  op.c.offset = 2 * 64 * 64 * 4;
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  const trine_selection selection = device.select(TRINE_GEMM, "private_tile");
  char reason[200];
  if (backend->refuses(device.device, &selection, &call, reason, sizeof reason) != TRINE_OK)
    GTEST_SKIP() << reason;
  const trine_workspace workspace{sizeof workspace, device.native(room), 0, 1 << 20};
  testing::internal::CaptureStderr();  // PoCL says of this kernel that it can't unroll it as asked
  device.check(backend->launch(queue.get(), &selection, &call, &workspace));
  device.wait(queue);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
