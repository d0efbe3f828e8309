// .npy files: what is written is read back; malformed ones are refused and nothing is left behind.
#include "bench/cases/npy.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

class Npy : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("trine_npy_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A version 1 file with this header and `bytes` bytes of data.
  std::string file(const std::string& header, size_t bytes) const {
    std::ofstream out(path("given.npy"), std::ios::binary);
    out.write("\x93NUMPY\x01\x00", 8);
    out.put(char(header.size() & 0xff)).put(char(header.size() >> 8));
    out << header << std::string(bytes, 'x');
    return path("given.npy");
  }
  std::filesystem::path folder_;
};

TEST_F(Npy, WhatIsWrittenIsReadBack) {
  Array array;
  array.dtype = Dtype::f64;
  array.shape = {2, 3};
  array.data.resize(48);
  for (size_t i = 0; i < array.data.size(); ++i) array.data[i] = std::byte(i);
  write_npy(path("a.npy"), array);
  const Array back = read_npy(path("a.npy"));
  EXPECT_EQ(back.dtype, Dtype::f64);
  EXPECT_EQ(back.descr, "<f8");
  EXPECT_EQ(back.shape, array.shape);
  EXPECT_FALSE(back.fortran_order);
  EXPECT_EQ(back.data, array.data);
}

TEST_F(Npy, ScalarsAndVectorsKeepTheirShape) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {5}, {0}, {2, 0, 3}}) {
    Array array;
    array.shape = shape;
    array.data.resize(4);
    for (const int64_t extent : shape) array.data.resize(array.data.size() * size_t(extent));
    write_npy(path("a.npy"), array);
    EXPECT_EQ(read_npy(path("a.npy")).shape, shape);
  }
}

TEST_F(Npy, RefusesMalformedFiles) {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n";
  EXPECT_NO_THROW(read_npy(file(good, 16)));
  EXPECT_THROW(read_npy(path("absent.npy")), Refusal);
  EXPECT_THROW(read_npy(file(good, 15)), Refusal) << "too short";
  EXPECT_THROW(read_npy(file(good, 17)), Refusal) << "too long";
  for (const char* header :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '>f4', 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (4,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4, }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4, 4), }"})
    EXPECT_THROW(read_npy(file(header, 16)), Refusal) << header;
  std::ofstream(path("text.npy")) << "not an array";
  EXPECT_THROW(read_npy(path("text.npy")), Refusal);
}

TEST_F(Npy, NamesAVersionItDoesntKnow) {
  std::ofstream(path("new.npy"), std::ios::binary).write("\x93NUMPY\xc8\x00", 8);
  try {
    read_npy(path("new.npy"));
    FAIL() << "read";
  } catch (const Refusal& refusal) {
    EXPECT_NE(std::string(refusal.what()).find(".npy version 200.0 is unknown"), std::string::npos)
        << refusal.what();
  }
}

TEST_F(Npy, AFailedWriteLeavesNothing) {
  Array array;
  array.shape = {1};
  array.data.resize(4);
  std::filesystem::create_directory(path("folder.npy"));
  EXPECT_THROW(write_npy(path("folder.npy"), array), Refusal);
  EXPECT_THROW(write_npy(path("absent/a.npy"), array), Refusal);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

}  // namespace
}  // namespace trine::bench
