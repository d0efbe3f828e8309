// Views made of views, and of other people's arrays.
#include <trine/fitting.hpp>
#include <trine/kokkos.hpp>
#include <trine/receipt.hpp>

#if __has_include(<mdspan/mdspan.hpp>)
#include <mdspan/mdspan.hpp>
#define TRINE_TEST_MDSPAN
namespace mdspans = Kokkos;
#elif __has_include(<mdspan>)
#include <mdspan>
#ifdef __cpp_lib_mdspan
#define TRINE_TEST_MDSPAN
namespace mdspans = std;
#endif
#endif

#include "fixture.hpp"

namespace trine::testing {
namespace {

TEST(Views, PartsAndTransposesAreWhereTheySay) {
  const View whole = batched({}, Dtype::f64, 2, 4, 5, 80);
  const View part = submatrix(whole, 1, 2, 3, 2);
  EXPECT_EQ(part.offset, 80u + 8 * (5 + 2));
  EXPECT_EQ(part.rows, 3);
  EXPECT_EQ(part.cols, 2);
  EXPECT_EQ(part.batch, 2);
  EXPECT_EQ(rows(whole, 3, 1).offset, 80u + 8 * 15);
  EXPECT_EQ(cols(whole, 5, 0).cols, 0);
  const View turned = transposed(part);
  EXPECT_EQ(turned.rows, 2);
  EXPECT_EQ(turned.row_stride, 1);
  EXPECT_EQ(turned.col_stride, 5);
  std::vector<float> memory(12);
  const ConstHostView host = host_row_major(std::as_const(memory).data(), Dtype::f32, 3, 4);
  EXPECT_EQ(submatrix(host, 2, 1, 1, 1).data, &memory[9]);
  EXPECT_REFUSED(Status::invalid_argument, "submatrix: 2 x 4 from 2, 0 on isn't inside of 3 x 4",
                 rows(host, 2, 2));
  EXPECT_EQ(submatrix(whole, 4, 5, 0, 0).offset, 80u) << "an empty part is inside of the buffer";
  View far = whole;
  far.rows = (int64_t{1} << 33) + 1, far.row_stride = int64_t{1} << 29;
  EXPECT_REFUSED(Status::invalid_argument, "beyond 2^63 bytes",
                 submatrix(far, int64_t{1} << 33, 0, 1, 1));
  EXPECT_REFUSED(Status::invalid_argument, "submatrix", cols(host, -1, 1));
  EXPECT_REFUSED(Status::invalid_argument, "submatrix", cols(host, INT64_MAX, 1));
}

TEST(Views, ProductsOfExtentsThatDontFitAreNoSmallNumbers) {
  const int64_t far = int64_t{1} << 40;
  EXPECT_EQ(batched({}, Dtype::f32, 2, far, far).batch_stride, INT64_MAX);
  EXPECT_EQ(host_batched(static_cast<float*>(nullptr), Dtype::f32, 2, far, far).batch_stride,
            INT64_MAX);
  View repeated = row_major({}, Dtype::f32, far, far);
  repeated.row_stride = repeated.col_stride = 0;
  EXPECT_REFUSED(Status::invalid_argument, "as_vector", as_vector(repeated));
  EXPECT_REFUSED(Status::invalid_argument, "more than 2^63 - 1 bytes",
                 digest(ConstHostView{.data = &far,
                                      .dtype = Dtype::f64,
                                      .rows = int64_t{1} << 31,
                                      .cols = int64_t{1} << 30,
                                      .row_stride = 0,
                                      .col_stride = 0}));
}

TEST(Views, FittingNumbersRememberEachStep) {
  using Count = detail::Fitting<int64_t>;
  static_assert((Count(6) * 7 + 1).value_or(0) == 43 && (Count(6) * -7).value_or(0) == -42);
  static_assert(!(Count(INT64_MAX) + 1).fits() && !(Count(INT64_MAX) + 1 + -1).fits());
  static_assert(!(Count(INT64_MIN) * -1).fits() && (Count(INT64_MIN) * 1).fits());
  static_assert((Count(INT64_MAX) * 2).value_or(-5) == -5 &&
                !(Count(1) * (Count(INT64_MAX) * 2)).fits());
  static_assert((Count(INT64_MAX) * 2 * 0).value_or(1) == 0 && (0 * (Count(INT64_MAX) * 2)).fits());
  static_assert(!(detail::Fitting<uint64_t>(UINT64_MAX) + 1).fits());
}

TEST(Views, AsVectorTakesWhatLiesAtOneDistance) {
  const View all = as_vector(batched({}, Dtype::f32, 2, 3, 4));
  EXPECT_EQ(all.rows, 24);
  EXPECT_EQ(all.row_stride, 1);
  EXPECT_EQ(all.cols, 1);
  EXPECT_EQ(as_vector(col_major({}, Dtype::f32, 3, 4)).rows, 12);
  const View column = as_vector(cols(row_major({}, Dtype::f32, 3, 4), 1, 1));
  EXPECT_EQ(column.rows, 3);
  EXPECT_EQ(column.row_stride, 4);
  EXPECT_EQ(as_vector(row_major({}, Dtype::f32, 0, 4)).rows, 0);
  EXPECT_EQ(as_vector(row_major({}, Dtype::f32, 1, 1)).rows, 1);
  EXPECT_REFUSED(Status::invalid_argument, "as_vector",
                 as_vector(cols(row_major({}, Dtype::f32, 3, 4), 0, 3)));
}

TEST(Views, BuffersOfElementsAndBatchesOnTheHost) {
  const Device device = open("other:0");
  EXPECT_EQ(Buffer::of<double>(device, 10).bytes(), 80u);
  EXPECT_REFUSED(Status::invalid_argument, "Buffer::of: -1 elements",
                 Buffer::of<float>(device, -1));
  EXPECT_REFUSED(Status::invalid_argument, "Buffer::of", Buffer::of<float>(device, INT64_MAX / 2));
  std::vector<float> memory(24);
  const HostView batch = transposed(host_batched(memory.data(), Dtype::f32, 2, 4, 3));
  EXPECT_EQ(batch.rows, 3);  // column-major ones of 3 x 4
  EXPECT_EQ(batch.row_stride, 1);
  EXPECT_EQ(batch.col_stride, 3);
  EXPECT_EQ(batch.batch_stride, 12);
}

/// As much of std::mdspan as the header needs.
template <class T>
struct Mdspan {
  using value_type = std::remove_const_t<T>;
  struct Mapping {
    size_t size;
    size_t required_span_size() const { return size; }
  };
  static constexpr size_t rank() { return 3; }
  T* pointer;
  size_t extents[3], strides[3];
  T* data_handle() const { return pointer; }
  size_t extent(size_t i) const { return extents[i]; }
  size_t stride(size_t i) const { return strides[i]; }
  Mapping mapping() const { return {extents[0] * strides[0]}; }
};

TEST(Views, AnMdspanOfRankThreeIsABatch) {
  std::vector<double> memory(24, 1.0);
  const Mdspan<const double> array{memory.data(), {2, 3, 4}, {12, 1, 3}};
  const View view = view_of(open("other:0"), array);
  EXPECT_EQ(view.batch, 2);
  EXPECT_EQ(view.batch_stride, 12);
  EXPECT_EQ(view.rows, 3);
  EXPECT_EQ(view.row_stride, 1);
  EXPECT_EQ(view.cols, 4);
  EXPECT_EQ(view.buffer.bytes(), 24u * 8);
  const ConstHostView host = host_view_of(array);
  EXPECT_EQ(host.data, memory.data());
  EXPECT_EQ(host.batch, 2);
  static_assert(std::same_as<decltype(host_view_of(Mdspan<double>{})), HostView>);
}

TEST(Views, ColumnMajorBatchesAreMultiplied) {
  const std::vector<float> a{1, 2, 3, 4, 5, 6, 1, 0, 0, 1, 0, 0};  // of 2 x 3, by columns
  const std::vector<float> b(2 * 3, 1.0f);
  std::vector<float> c(2 * 2);
  gemm(1, transposed(host_batched(a.data(), Dtype::f32, 2, 3, 2)),
       host_batched(b.data(), Dtype::f32, 2, 3, 1), 0,
       transposed(host_batched(c.data(), Dtype::f32, 2, 1, 2)), {.device = "fake:0"});
  EXPECT_EQ(c, (std::vector<float>{9, 12, 1, 1}));
}

// The C++ library's own mdspan, or the one that comes with newer Kokkos, where the compiler finds
// one.
TEST(Views, RealMdspansOfAllLayouts) {
#ifdef TRINE_TEST_MDSPAN
  using std::array, mdspans::dextents, mdspans::mdspan, mdspans::layout_left,
      mdspans::layout_stride;
  std::vector<double> memory(60);
  const auto expect = [&](const auto& span, array<int64_t, 3> extents, array<int64_t, 3> strides,
                          uint64_t elements) {
    const View view = view_of(open("other:0"), span);
    EXPECT_EQ((array{view.batch, view.rows, view.cols}), extents);
    EXPECT_EQ((array{view.batch_stride, view.row_stride, view.col_stride}), strides);
    EXPECT_EQ(view.buffer.bytes(), elements * sizeof(double));
    EXPECT_EQ(host_view_of(span).data, memory.data());
  };
  double* const data = memory.data();
  expect(mdspan<double, dextents<int, 1>>(data, 5), {1, 5, 1}, {0, 1, 1}, 5);
  expect(mdspan<double, dextents<int, 2>>(data, 3, 4), {1, 3, 4}, {0, 4, 1}, 12);
  expect(mdspan<double, mdspans::extents<size_t, 3, 4>, layout_left>(data), {1, 3, 4}, {0, 1, 3},
         12);
  expect(mdspan<const double, dextents<int, 3>>(data, 2, 3, 4), {2, 3, 4}, {12, 4, 1}, 24);
  expect(mdspan<double, dextents<long, 3>, layout_left>(data, 2, 3, 4), {2, 3, 4}, {1, 2, 6}, 24);
  const layout_stride::mapping<dextents<int, 2>> mapping(dextents<int, 2>(3, 4), array{10, 2});
  expect(mdspan<double, dextents<int, 2>, layout_stride>(data, mapping), {1, 3, 4}, {0, 10, 2}, 27);
#else
  GTEST_SKIP() << "the compiler finds neither <mdspan> nor <mdspan/mdspan.hpp>";
#endif
}

}  // namespace
}  // namespace trine::testing
