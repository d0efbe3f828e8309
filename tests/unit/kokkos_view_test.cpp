// The interop header against a stand-in for Kokkos::View: pointer, extents and strides pass.
#include <trine/kokkos.hpp>

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// As much of a View as the header needs; `rank` is an enumerator as in Kokkos 3.
template <class T, int Rank>
struct FakeView {
  using value_type = T;
  enum { rank = Rank };
  T* pointer;
  size_t extents[2], strides[2];
  T* data() const { return pointer; }
  size_t extent(int i) const { return extents[i]; }
  size_t stride(int i) const { return strides[i]; }
  size_t span() const {
    size_t last = 1;
    for (int i = 0; i < Rank; ++i) last += (extents[i] - 1) * strides[i];
    return last;
  }
};
/// As in Kokkos 4 and later.
template <class T>
struct NewView : FakeView<T, 2> {
  static constexpr std::integral_constant<size_t, 2> rank{};
};

TEST(KokkosInterop, ALayoutLeftMatrixIsSummedInPlace) {
  const Device device = open("other:0");
  std::vector<double> memory{1, 2, 3, 0, 4, 5, 6, 0};  // 3 x 2, column-major, leading dimension 4
  const FakeView<const double, 2> kokkos{memory.data(), {3, 2}, {1, 4}};
  const View view = view_of(device, kokkos);
  EXPECT_EQ(view.dtype, Dtype::f64);
  EXPECT_EQ(view.rows, 3);
  EXPECT_EQ(view.cols, 2);
  EXPECT_EQ(view.row_stride, 1);
  EXPECT_EQ(view.col_stride, 4);
  EXPECT_EQ(view.buffer.kind(), Memory::adopted);
  Queue queue(device);
  const Buffer total(device, 8);
  run(queue, Reduce{.input = view, .output = vector(total, Dtype::f64, 1)});
  queue.wait();
  EXPECT_EQ(*static_cast<double*>(total.host()), 21);
}

TEST(KokkosInterop, RankOneAndTheNewKindOfRank) {
  const Device device = open("other:0");
  std::vector<float> memory(12, 1.0f);
  const View line = view_of(device, FakeView<float, 1>{memory.data(), {4, 0}, {3, 0}});
  EXPECT_EQ(line.rows, 4);
  EXPECT_EQ(line.row_stride, 3);
  EXPECT_EQ(line.buffer.bytes(), 40u);
  const View square = view_of(device, NewView<float>{{memory.data(), {3, 4}, {4, 1}}});
  EXPECT_EQ(square.cols, 4);
}

}  // namespace
}  // namespace trine::testing
