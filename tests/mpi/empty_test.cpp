// Calls over ranks of which some have nothing: no rows, no columns, no elements, on the host and on devices. What the
// others have is what it would be without them.
#include <gmock/gmock.h>

#include "matrices.hpp"
#include "on_devices.hpp"

namespace {

using namespace ranks;

/// Grids in one row and in one column; the blocks of the first processes have all, so that those of the last have
/// nothing.
struct Shape {
  int64_t rows, cols;
};
std::vector<Distribution> crowded(const Shape& shape) {
  std::vector<Distribution> all;
  for (const bool down : {false, true})
    for (const int first : {0, size() - 1})
      for (const int64_t share : {1, 2}) {
        Distribution d = {.rows = shape.rows, .cols = shape.cols};
        d.block_rows = down ? (shape.rows + share - 1) / share : shape.rows;
        d.block_cols = down ? shape.cols : (shape.cols + share - 1) / share;
        (down ? d.grid_rows : d.grid_cols) = size();
        (down ? d.first_row : d.first_col) = first;
        all.push_back(d);
      }
  return all;
}

template <class T>
std::vector<T> numbered(const Shape& shape) {
  return make<T>(Values::like, 7, shape.rows * shape.cols);
}

constexpr int64_t kDepth = 1100;  // of products: more than two steps

void multiply(const Distribution& d, Layout layout, double beta, const std::string& device) {
  const bool is_k_of_a_dealt = d.grid_cols == 1 || beta == 0;
  const Shape of_a = {d.rows, kDepth}, of_b = {kDepth, d.cols}, of_c = {d.rows, d.cols};
  const auto a = numbered<double>(of_a), b = numbered<double>(of_b),
             before = numbered<double>(of_c);
  auto c = before;
  trine::gemm<double>(d.rows, d.cols, kDepth, 1, a.data(), b.data(), beta, c.data(),
                      {.device = "cpu"});
  Distribution da = d, db = d;
  da.cols = db.rows = kDepth;
  da.block_cols = is_k_of_a_dealt ? 600 : kDepth, db.block_rows = 7;
  Part<double> part_a(da, layout, a), part_b(db, layout, b);
  Part<double> part_c(d, layout, before), expected(d, layout, c);
  gemm(1, part_a, part_b, beta, part_c, trine::Dtype::f64, {.device = device});
  EXPECT_EQ(part_c.memory, expected.memory)
      << testing::PrintToString(d) << ", beta " << beta << ", " << device;
  ++cases;
}

TEST(Empty, PartsOfProducts) {
  for (const auto& job : jobs_and_resident_ones())
    for (const Shape& shape : {Shape{1, 5}, {5, 1}, {2, 2}})
      for (const Distribution& d : crowded(shape))
        for (const double beta : {0, 2})
          for (const Layout layout : kLayouts) multiply(d, layout, beta, device_of(job));
}

TEST(Empty, PartsOfTranspositions) {
  for (const auto& job : jobs_and_resident_ones())
    for (const Shape& shape : {Shape{1, 300}, {300, 1}, {40, 30}})
      for (const Distribution& from : crowded(shape))
        for (const Distribution& to : crowded({shape.cols, shape.rows})) {
          const auto whole = numbered<float>(shape);
          std::vector<float> turned(whole.size());
          trine::transpose(shape.rows, shape.cols, whole.data(), turned.data(), {.device = "cpu"});
          Part<float> a(from, Layout::columns, whole), expected(to, Layout::rows, turned);
          Part<float> b(to, Layout::rows, std::vector<float>(whole.size(), 3));
          transpose(a, b, trine::Dtype::f32, {.device = device_of(job)});
          EXPECT_EQ(b.memory, expected.memory)
              << testing::PrintToString(from) << " to " << testing::PrintToString(to);
          ++cases;
        }
}

/// Fewer elements than ranks: some have no slice to reduce.
TEST(Empty, SlicesOfVectors) {
  for (const auto& job : jobs_and_resident_ones())
    for (const int64_t length : {0, 1, 2})
      for (const int root : {-1, 0, size() - 1})
        for (const bool does_block : {true, false})
          for (const trine::Function function : kFunctions) {
            std::vector<float> mine(size_t(length), float(rank() + 1));
            const trine::Dtype dtype =
                result_dtype(function, trine::Map::identity, trine::Dtype::f32);
            std::vector<float> column(static_cast<size_t>(size()));
            for (int i = 0; i < size(); ++i) column[size_t(i)] = float(i + 1);
            const bool receives = root < 0 || root == rank();
            if (dtype == trine::Dtype::i64) {
              std::vector<int64_t> output(size_t(length), 77);
              reduce(function, mine, output, root, does_block, {.device = device_of(job)});
              const int64_t place = function == trine::Function::argmin ? 0 : int64_t{size()} - 1;
              EXPECT_THAT(output, testing::Each(receives ? place : 77));
            } else {
              std::vector<float> output(size_t(length), 77);
              reduce(function, mine, output, root, does_block, {.device = device_of(job)});
              float result = 0;
              trine::reduce(function, trine::Map::identity, trine::Axis::all,
                            trine::host_vector(column.data(), trine::Dtype::f32, size()),
                            trine::host_vector(&result, trine::Dtype::f32, 1), {.device = "cpu"});
              EXPECT_THAT(output, testing::Each(receives ? result : 77));
            }
            ++cases;
          }
}

/// One rank has all elements, of a sum, a dot product and any reduction; or nobody has any.
TEST(Empty, PartsOfSums) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  for (const auto& job : jobs_and_resident_ones())
    for (const int owner : {0, size() - 1, -1})
      for (const Shape& none : {Shape{0, 0}, {0, 3}, {3, 0}}) {
        const bool is_owner = rank() == owner;
        std::vector<double> memory(is_owner ? 4 : 0, 1.5);
        const double sum = owner < 0 ? 0 : 6, dot = owner < 0 ? 0 : 9;
        trine::HostView x = trine::host_vector(memory.data(), trine::Dtype::f64, 4);
        if (!is_owner)
          x = trine::host_row_major(memory.data(), trine::Dtype::f64, none.rows, none.cols);
        const std::string& device = device_of(job);
        const auto expect = [&](const trine::ExactSum& sums, const trine::ExactSum& dots,
                                const trine::Partial& most) {
          EXPECT_EQ(sums.round<double>(), sum) << device;
          EXPECT_EQ(dots.round<double>(), dot) << device;
          EXPECT_EQ(most.result<int64_t>(), owner < 0 ? -1 : 0) << device;
          ++cases;
        };
        constexpr trine::Map kAsIs = trine::Map::identity;
        if (is_resident(device)) {
          Resident on(device);
          const trine::View there = on.upload(memory, x);
          expect(trine::mpi::exact_sum(on.queue, there, kAsIs, comm),
                 trine::mpi::exact_dot(on.queue, there, there, comm),
                 trine::mpi::partial(trine::Function::argmax, on.queue, there, 0, kAsIs, comm));
        } else {
          const trine::HostOptions options = {.device = device};
          expect(trine::mpi::exact_sum(x, kAsIs, comm, options),
                 trine::mpi::exact_dot(x, x, comm, options),
                 trine::mpi::partial(trine::Function::argmax, x, 0, kAsIs, comm, options));
        }
      }
}

}  // namespace
