// Random numbers for random calls: a stream that its seed alone decides, on every host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "oracle/philox.hpp"

#include "backends/ops.h"

namespace trine::conformance {

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}

  uint64_t bits() { return oracle::philox_bits(seed_, count_++); }
  /// 0 … n - 1.
  int64_t below(int64_t n) { return int64_t(bits() % uint64_t(n)); }
  /// True once in `n` times.
  bool once_in(int64_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return list.begin()[below(int64_t(list.size()))];
  }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[size_t(below(int64_t(list.size())))];
  }

  /// 0 … most; 0, 1, small numbers and those beside powers of two come often.
  int64_t extent(int64_t most) {
    int64_t n = 0;
    switch (below(16)) {
      case 0: n = once_in(3) ? 0 : 1; break;
      case 1: n = 1; break;
      case 2:
      case 3:
      case 4:
      case 5: n = 2 + below(4); break;
      case 6:
      case 7:
      case 8: n = (int64_t{1} << below(13)) + below(3) - 1; break;
      case 9: n = below(most + 1); break;
      default: n = 6 + below(35);
    }
    return std::min(n, most);
  }

  /// Strides that keep the view's elements apart: `first` (0: columns, 1: rows, 2: batch) is the
  /// innermost dimension, with a stride of `unit`; the others follow in any order, padded or not.
  void lay_apart(trine_view& view, int first, int64_t unit) {
    int64_t* const strides[] = {&view.col_stride, &view.row_stride, &view.batch_stride};
    const int64_t extents[] = {view.cols, view.rows, view.batch};
    int order[] = {first, (first + 1) % 3, (first + 2) % 3};
    if (once_in(2)) std::swap(order[1], order[2]);
    int64_t stride = unit;
    for (const int d : order) {
      *strides[d] = stride;
      stride = stride * std::max<int64_t>(extents[d], 1) + (once_in(2) ? 0 : below(9));
    }
  }

  /// The same for an input: now and then the outer dimensions repeat elements, or overlap.
  void lay_input(trine_view& view, int first, int64_t unit) {
    lay_apart(view, first, unit);
    int64_t* const strides[] = {&view.col_stride, &view.row_stride, &view.batch_stride};
    for (int d = 0; d < 3; ++d) {
      if (d != first && once_in(6)) *strides[d] = once_in(2) ? 0 : below(5);
    }
  }

 private:
  uint64_t seed_, count_ = 0;
};

}  // namespace trine::conformance
