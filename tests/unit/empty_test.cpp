// 0-sized inputs are legal everywhere: identities where there are results, nothing where there
// aren't.
#include <bit>
#include <cmath>
#include <limits>

#include "fixture.hpp"

namespace trine::testing {
namespace {

struct Empty : FakeDevice {
  template <class T>
  std::vector<T> reduced(Function function, Map map, Dtype dtype, Axis axis, int64_t rows,
                         int64_t cols, int64_t results) {
    const Buffer output = upload(std::vector<T>(static_cast<size_t>(results), T{42}));
    run(queue, Reduce{function, map, axis, row_major({}, dtype, rows, cols),
                      vector(output, dtype_of<T>, results)});
    return download<T>(output);
  }
  template <class T>
  T of_nothing(Function function, Dtype dtype, Map map = Map::identity) {
    return reduced<T>(function, map, dtype, Axis::all, 0, 5, 1)[0];
  }
};

TEST_F(Empty, EachFunctionHasItsIdentity) {
  const long launches = panel.count(FAKE_LAUNCHES);
  constexpr float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(of_nothing<float>(Function::sum, Dtype::f32), 0);
  EXPECT_FALSE(std::signbit(of_nothing<double>(Function::sum, Dtype::f64)));
  EXPECT_EQ(of_nothing<double>(Function::sum, Dtype::f32), 0);
  EXPECT_EQ(of_nothing<float>(Function::prod, Dtype::f32), 1);
  EXPECT_EQ(of_nothing<int64_t>(Function::prod, Dtype::i32), 1);
  EXPECT_EQ(of_nothing<float>(Function::min, Dtype::f32), inf);
  EXPECT_EQ(of_nothing<float>(Function::max, Dtype::f32), -inf);
  EXPECT_EQ(of_nothing<double>(Function::max, Dtype::f64, Map::abs), -double(inf));
  EXPECT_EQ(of_nothing<int32_t>(Function::min, Dtype::i32), INT32_MAX);
  EXPECT_EQ(of_nothing<int64_t>(Function::max, Dtype::i64), INT64_MIN);
  EXPECT_EQ(of_nothing<uint32_t>(Function::max, Dtype::u32), 0u);
  EXPECT_EQ(of_nothing<uint32_t>(Function::min, Dtype::i32, Map::abs), UINT32_MAX);
  EXPECT_EQ(of_nothing<uint64_t>(Function::min, Dtype::u64), UINT64_MAX);
  EXPECT_EQ(of_nothing<int64_t>(Function::argmin, Dtype::f32), -1);
  EXPECT_EQ(of_nothing<int64_t>(Function::argmax, Dtype::u64), -1);
  EXPECT_EQ(panel.count(FAKE_LAUNCHES), launches) << "no rung sees an empty call";
}

TEST_F(Empty, EachRowOfNoColumnsFillsEveryResult) {
  EXPECT_EQ(reduced<float>(Function::prod, Map::identity, Dtype::f32, Axis::each_row, 3, 0, 3),
            (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(reduced<float>(Function::sum, Map::identity, Dtype::f32, Axis::each_column, 0, 2, 2),
            (std::vector<float>{0, 0}));
  const Buffer spread = upload<float>({7, 7, 7, 7, 7});
  View output = vector(spread, Dtype::f32, 3);
  output.row_stride = 2;
  run(queue,
      Reduce{.axis = Axis::each_row, .input = row_major({}, Dtype::f32, 3, 0), .output = output});
  EXPECT_EQ(download<float>(spread), (std::vector<float>{0, 7, 0, 7, 0}));
}

/// On the device and on the host, by a view, a range and an ExactSum.
TEST_F(Empty, DotsOfNothingAreZero) {
  for (const auto& [rows, cols] : {std::pair{0, 0}, {0, 5}, {5, 0}}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const Buffer output = upload(std::vector<double>{-1});
      const View none = row_major({}, dtype, rows, cols);
      dot(queue, none, none, vector(output, dtype, 1));
      EXPECT_EQ(download<uint32_t>(output)[0], 0u) << rows << " x " << cols;
      double result = -1;
      const ConstHostView here =
          host_row_major(static_cast<const void*>(nullptr), dtype, rows, cols);
      dot(here, here, host_vector(&result, dtype, 1), Axis::all, {.device = "fake:0"});
      EXPECT_EQ(dtype == Dtype::f64 ? std::bit_cast<uint64_t>(result)
                                    : uint32_t(std::bit_cast<uint64_t>(result)),
                0u);
      ExactSum sum;
      sum.add_dot(here, here, {.device = "fake:0"});
      EXPECT_EQ(sum.round<double>(), 0);
    }
  }
  const std::vector<float> empty;
  EXPECT_EQ(dot(empty, empty, {.device = "fake:0"}), 0);
  Reduce one = {.map = Map::product,
                .input = row_major({}, Dtype::f32, 2, 3),
                .output = vector({}, Dtype::f32, 1)};
  EXPECT_REFUSED(Status::invalid_argument, "there is none", choose(device, one));
}

TEST_F(Empty, NothingToWriteIsNothingToDo) {
  const Choice choice = run(queue, Reduce{.axis = Axis::each_row,
                                          .input = row_major({}, Dtype::f32, 0, 3),
                                          .output = vector({}, Dtype::f32, 0)});
  EXPECT_EQ(choice.rung_name(), "tuned");
  run(queue, Transpose{row_major({}, Dtype::b64, 0, 3), row_major({}, Dtype::b64, 3, 0)});
  const Buffer b(device, 24);
  run(queue,
      Gemm{.a = row_major({}, Dtype::f32, 0, 3),
           .b = row_major(b, Dtype::f32, 3, 2),
           .c = row_major({}, Dtype::f32, 0, 2)},
      "naive");
  const Buffer nothing(device, 0);
  copy(queue, host_vector(nullptr, Dtype::f32, 0), vector(nothing, Dtype::f32, 0));
  copy(queue, vector(nothing, Dtype::f32, 0), host_vector(nullptr, Dtype::f32, 0));
  copy(queue, vector(nothing, Dtype::f32, 0), vector(nothing, Dtype::f32, 0));
  const float zero = 0;
  fill(queue, vector(nothing, Dtype::f32, 0), &zero);
  queue.wait();
}

TEST_F(Empty, AGemmOverNoInnerExtentStillWrites) {
  const Buffer c = upload<float>({1, 2, 3, 4});
  run(queue, Gemm{.alpha = 5,
                  .beta = 2,
                  .a = row_major({}, Dtype::f32, 2, 0),
                  .b = row_major({}, Dtype::f32, 0, 2),
                  .c = row_major(c, Dtype::f32, 2, 2)});
  EXPECT_EQ(download<float>(c), (std::vector<float>{2, 4, 6, 8}));
}

TEST_F(Empty, ABatchOfNoMatricesLeavesMemoryAloneAlsoInChunks) {
  const std::vector<double> inputs(8 * 8, 2), before(8 * 8, 7);
  std::vector<double> output = before;
  const ConstHostView input = host_batched(inputs.data(), Dtype::f64, 0, 8, 8);
  const HostView c = host_batched(output.data(), Dtype::f64, 0, 8, 8);
  for (const int chunks : {0, 1, 4})
    for (const bool pinned : {false, true}) {
      const HostOptions options{.device = "fake:0", .pinned = pinned, .chunks = chunks};
      gemm(1, input, input, 0, c, options);
      EXPECT_EQ(output, before) << chunks;
      transpose(input, c, options);
      EXPECT_EQ(output, before) << chunks;
    }
}

}  // namespace
}  // namespace trine::testing
