// Which drivers the loader's files name, and which machines have one for `auto`.
#include "opencl/vendors.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "abi_objects.hpp"
#include "opencl/driver.hpp"

namespace trine::opencl {
namespace {

namespace fs = std::filesystem;

kit::Vector<kit::String> list_of(std::initializer_list<const char*> names) {
  return {names.begin(), names.end()};
}

class Vendors : public ::testing::Test {
 protected:
  void SetUp() override {
    kit::use_host(host.services);
    fs::create_directories(folder);
    unsetenv("OPENCL_VENDOR_PATH"), unsetenv("OCL_ICD_FILENAMES");
    setenv("OCL_ICD_VENDORS", folder.c_str(), 1);
  }
  void TearDown() override {
    unsetenv("OCL_ICD_VENDORS"), unsetenv("OCL_ICD_FILENAMES");
    fs::remove_all(folder);
  }
  void file(const char* name, const char* text) { std::ofstream(folder / name) << text; }
  kit::Vector<kit::String> found() {
    auto all = vendors();
    std::ranges::sort(all);
    return all;
  }
  const faults::Host host;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("trine-icd-" + std::to_string(getpid()));
};

TEST_F(Vendors, AreReadFromTheFolderThatTheLoaderReads) {
  EXPECT_TRUE(vendors().empty());
  file("pocl.icd", "libpocl.so.2.10.0\n");
  file("nvidia.icd", "libnvidia-opencl.so.1  \r\nmore\n");
  file("readme.txt", "libnothing.so\n");
  file("empty.icd", "");
  EXPECT_EQ(found(), list_of({"libnvidia-opencl.so.1", "libpocl.so.2.10.0"}));
  setenv("OCL_ICD_FILENAMES", "/opt/liba.so:libb.so", 1);
  EXPECT_EQ(found(),
            list_of({"/opt/liba.so", "libb.so", "libnvidia-opencl.so.1", "libpocl.so.2.10.0"}));
  unsetenv("OCL_ICD_FILENAMES");
  setenv("OCL_ICD_VENDORS", (folder / "pocl.icd").c_str(), 1);
  EXPECT_EQ(found(), list_of({"libpocl.so.2.10.0"}));
  setenv("OCL_ICD_VENDORS", "libmine.so", 1);
  EXPECT_EQ(found(), list_of({"libmine.so"}));
}

TEST_F(Vendors, AreACandidateWhereOneMayDriveAGpuThatIsThere) {
  EXPECT_TRUE(drives_the_cpu("/usr/lib/x86_64-linux-gnu/libpocl.so.2"));
  EXPECT_TRUE(drives_the_cpu("/opt/intel/libintelocl.so"));
  EXPECT_TRUE(drives_the_cpu("liboclgrind-rt-icd.so"));
  EXPECT_FALSE(drives_the_cpu("libnvidia-opencl.so.1"));
  EXPECT_FALSE(drives_the_cpu("/opt/pocl/libamdocl64.so"));
  const auto pocl = list_of({"libpocl.so.2"}),
             both = list_of({"libpocl.so.2", "libnvidia-opencl.so.1"}),
             unknown = list_of({"libnobody-knows.so"});
  constexpr GpuFiles none{false, false}, nvidia{true, false}, others{false, true}, all{true, true};
  for (const auto& names : {pocl, both, unknown, list_of({})}) {
    EXPECT_FALSE(is_candidate(names, none, 0));
    EXPECT_STREQ(kit::last_error(),
                 "auto leaves it out: there is no device file of a GPU, such as "
                 "/dev/dri/renderD128 or /dev/nvidiactl");
    EXPECT_FALSE(is_candidate(names, nvidia, 1));
    EXPECT_STREQ(kit::last_error(),
                 "auto leaves it out: the GPUs here are NVIDIA's, which another backend has");
  }
  for (const GpuFiles& files : {nvidia, others, all}) {
    EXPECT_FALSE(is_candidate(pocl, files, 0));
    EXPECT_STREQ(kit::last_error(),
                 "auto leaves it out: its drivers compute on the CPU, as the cpu backend does: "
                 "libpocl.so.2");
    EXPECT_TRUE(is_candidate(both, files, 0));
    EXPECT_TRUE(is_candidate(unknown, files, 0));
    EXPECT_TRUE(is_candidate(list_of({}), files, 0));
  }
  EXPECT_TRUE(is_candidate(both, all, 1));
  EXPECT_TRUE(is_candidate(unknown, others, 1));
}

}  // namespace
}  // namespace trine::opencl
