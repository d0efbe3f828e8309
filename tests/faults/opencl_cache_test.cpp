// The cache of program binaries: what is damaged is as good as absent, and nowhere to write is
// fine.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "abi_objects.hpp"
#include "opencl/cache.hpp"

namespace {

namespace fs = std::filesystem;
using trine::opencl::CacheKey;
using trine::opencl::load_binary;
using trine::opencl::store_binary;

struct Cache : testing::Test {
  void SetUp() override {
    trine::kit::use_host(host.services);
    folder = fs::path(testing::TempDir()) / ("trine-cache-" + std::to_string(getpid()));
    setenv("TRINE_CACHE_DIR", folder.c_str(), 1);
    key.add("device");
    key.add("source");
    store_binary(key, binary, sizeof binary);
  }
  void TearDown() override {
    fs::remove_all(folder);
    EXPECT_EQ(host.alive, 0);
  }
  fs::path entry() const { return fs::directory_iterator(folder / "opencl")->path(); }

  static constexpr unsigned char binary[] = {1, 2, 3, 4, 5, 6, 7};
  inline static faults::Host host;
  fs::path folder;
  CacheKey key;
};

TEST_F(Cache, gives_back_what_was_stored_and_leaves_no_temporary) {
  const auto loaded = load_binary(key);
  ASSERT_EQ(loaded.size(), sizeof binary);
  EXPECT_TRUE(std::equal(loaded.begin(), loaded.end(), binary));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "opencl"), {}), 1);
}

TEST_F(Cache, another_key_finds_nothing) {
  CacheKey other;
  other.add("devices");  // the same letters, divided otherwise
  other.add("ource");
  EXPECT_TRUE(load_binary(other).empty());
}

TEST_F(Cache, every_damaged_byte_is_noticed) {
  const auto bytes = fs::file_size(entry());
  for (uintmax_t at = 0; at < bytes; ++at) {
    std::fstream file(entry(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char good = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(good ^ 0x10)).flush();
    EXPECT_TRUE(load_binary(key).empty()) << at;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(good).flush();
  }
  EXPECT_FALSE(load_binary(key).empty());
}

TEST_F(Cache, a_shorter_or_longer_file_is_noticed) {
  const auto bytes = fs::file_size(entry());
  fs::resize_file(entry(), bytes + 1);
  EXPECT_TRUE(load_binary(key).empty());
  fs::resize_file(entry(), bytes - 1);
  EXPECT_TRUE(load_binary(key).empty());
  store_binary(key, binary, sizeof binary);
  EXPECT_FALSE(load_binary(key).empty()) << "and replaced";
}

TEST_F(Cache, nowhere_to_write_is_an_ordinary_state) {
  setenv("TRINE_CACHE_DIR", "/proc/self/nowhere", 1);
  store_binary(key, binary, sizeof binary);
  EXPECT_TRUE(load_binary(key).empty());
  setenv("TRINE_CACHE_DIR", "", 1);
  store_binary(key, binary, sizeof binary);
  EXPECT_TRUE(load_binary(key).empty());
}

}  // namespace
