// Transposes of distributed matrices: each part has the elements of the whole's transpose, and
// nothing beside them.
#include <gmock/gmock.h>

#include <array>

#include "matrices.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;
using trine::Dtype;
using trine::HostOptions;

/// Bits, no numbers: 16 bytes as two words.
struct Wide {
  uint64_t low, high;
  explicit Wide(uint64_t value = 0) : low(value), high(~value) {}
  friend bool operator==(const Wide&, const Wide&) = default;
};
template <class T>
constexpr Dtype kBits = sizeof(T) == 1   ? Dtype::b8
                        : sizeof(T) == 2 ? Dtype::b16
                        : sizeof(T) == 4 ? Dtype::b32
                        : sizeof(T) == 8 ? Dtype::b64
                                         : Dtype::b128;

template <class T>
void check(const Distribution& of_a, Layout layout_a, const Distribution& of_b, Layout layout_b,
           const HostOptions& options) {
  const int64_t rows = of_a.rows, cols = of_a.cols;
  std::vector<T> whole(size_t(rows * cols)), turned(whole.size());
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = T(random_at(3, i));
  trine::transpose(rows, cols, whole.data(), turned.data(), {.device = "cpu"});
  Part<T> a(of_a, layout_a, whole), b(of_b, layout_b, std::vector<T>(whole.size(), T(7)));
  const Part<T> expected(of_b, layout_b, turned), before = a;
  transpose(a, b, kBits<T>, options);
  EXPECT_TRUE(b.memory == expected.memory)
      << testing::PrintToString(of_a) << " -> " << testing::PrintToString(of_b) << ", layouts "
      << int(layout_a) << " " << int(layout_b) << ", " << sizeof(T) << " bytes, " << options.device;
  EXPECT_TRUE(a.memory == before.memory);
  ++cases;
}

/// All sizes of elements and layouts in turn.
void check_case(uint64_t seed, int64_t rows, int64_t cols, const HostOptions& options) {
  const Distribution a = distribution(2 * seed, rows, cols);
  const Distribution b = distribution(2 * seed + 1, cols, rows);
  const Layout from = kLayouts[seed % 4], to = kLayouts[seed / 4 % 4];
  switch (seed % 5) {
    case 0: return check<uint8_t>(a, from, b, to, options);
    case 1: return check<uint16_t>(a, from, b, to, options);
    case 2: return check<uint32_t>(a, from, b, to, options);
    case 3: return check<uint64_t>(a, from, b, to, options);
    default: return check<Wide>(a, from, b, to, options);
  }
}

constexpr std::array<int64_t, 2> kShapes[] = {{0, 5}, {1, 1},   {3, 1},    {1, 50},
                                              {7, 5}, {60, 43}, {101, 130}};

TEST(Transpose, OfAnyDistributions) {
  uint64_t seed = 0;
  for (const auto& job : jobs_and_resident_ones())
    for (const auto& [rows, cols] : kShapes)
      for (int i = 0; i < (job.size() == 1 && job[0] == "cpu" ? 40 : 5); ++i)
        check_case(++seed, rows, cols, {.device = device_of(job)});
}

TEST(Transpose, InChunksToo) {
  for (const int64_t bytes : {1, 16 * 40, 16 * 5000}) {
    trine::mpi::detail::chunk_bytes = bytes;
    for (const auto& device : {"cpu", "@cpu"})
      for (const auto& [rows, cols] : kShapes)
        for (uint64_t seed = 1000; seed < 1010; ++seed)
          if (bytes > 1 || rows * cols < 100) check_case(seed, rows, cols, {.device = device});
  }
  trine::mpi::detail::chunk_bytes = int64_t{1} << 26;
}

TEST(Transpose, LargeBlocksToo) {
  for (const Layout from : kLayouts)
    for (const Layout to : kLayouts) {
      const int p = size();
      const bool is_resident = (int(from) + int(to)) % 2 == 1;
      check<double>(
          {.rows = 700, .cols = 500, .block_rows = 128, .block_cols = 100, .grid_cols = p}, from,
          {.rows = 500, .cols = 700, .block_rows = 90, .block_cols = 256, .grid_rows = p}, to,
          {.device = is_resident ? "@cpu" : "cpu"});
    }
}

TEST(Transpose, OfATransposeIsACopy) {
  std::vector<uint32_t> whole(60 * 43);
  for (size_t i = 0; i < whole.size(); ++i) whole[i] = uint32_t(i);
  for (uint64_t seed = 1; seed < 20; ++seed) {
    const Distribution of_a = distribution(2 * seed, 60, 43),
                       of_b = distribution(2 * seed + 1, 60, 43);
    Part<uint32_t> a(of_a, kLayouts[seed % 4], whole),
        b(of_b, kLayouts[seed / 4 % 4], std::vector<uint32_t>(whole.size(), 7));
    const Part<uint32_t> expected(of_b, kLayouts[seed / 4 % 4], whole);
    const trine::mpi::Matrix from = a.matrix(Dtype::u32);
    trine::mpi::transpose(trine::mpi::Matrix{transposed(of_a), transposed(from.local)},
                          b.matrix(Dtype::u32), MPI_COMM_WORLD, {.device = "cpu"});
    EXPECT_TRUE(b.memory == expected.memory)
        << testing::PrintToString(of_a) << " -> " << testing::PrintToString(of_b);
    EXPECT_TRUE(transposed(transposed(of_a)) == of_a);
  }
}

/// Parts may lie in one array: above and below each other in its columns, or beside each other in
/// its rows.
TEST(Transpose, OfPartsThatLieBesideEachOther) {
  const Distribution all = {.rows = 6, .cols = 6, .block_rows = 6, .block_cols = 6};
  for (const bool are_rows : {false, true}) {
    std::vector<double> array(72);
    for (size_t i = 0; i < array.size(); ++i) array[i] = double(i);
    const int64_t count = rank() == 0 ? 6 : 0;
    const auto part = [&](double* data) {
      auto view = trine::host_col_major(data, Dtype::f64, count, count);
      view.col_stride = 12;
      return trine::mpi::Matrix{all, are_rows ? trine::transposed(view) : view};
    };
    trine::mpi::transpose(part(&array[0]), part(&array[6]), MPI_COMM_WORLD, {.device = "cpu"});
    for (size_t i = 0; count > 0 && i < 6; ++i)
      for (size_t j = 0; j < 6; ++j) EXPECT_EQ(array[12 * j + 6 + i], double(12 * i + j));
  }
}

/// Each process has numroc's count, by the definition: the blocks that are dealt to it.
TEST(Extents, AreThoseOfTheBlocks) {
  for (const int64_t extent : {0, 1, 5, 12, 100})
    for (const int64_t block : {1, 3, 12, 1000})
      for (const int processes : {1, 2, 5})
        for (int first = 0; first < processes; ++first) {
          std::vector<int64_t> counts(size_t(processes), 0), found;
          for (int64_t i = 0; i < extent; ++i) ++counts[size_t((i / block + first) % processes)];
          for (int process = 0; process < processes; ++process)
            found.push_back(trine::mpi::local_extent(extent, block, process, first, processes));
          EXPECT_EQ(found, counts) << extent << " " << block << " " << processes << " " << first;
        }
  const Distribution grid = {.rows = 4, .cols = 6, .grid_rows = 2, .grid_cols = 3};
  EXPECT_EQ(grid.grid_row(4), 1);
  EXPECT_EQ(grid.grid_col(4), 1);
  EXPECT_EQ(grid.local_rows(4), 2);
  EXPECT_EQ(grid.local_cols(6), 0);  // no such place
  const Distribution by_columns = {.grid_rows = 2, .grid_cols = 3, .ranks_by_columns = true};
  EXPECT_EQ(by_columns.grid_row(3), 1);
  EXPECT_EQ(by_columns.grid_col(3), 1);
}

}  // namespace
