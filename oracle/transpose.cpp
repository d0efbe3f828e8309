// The reference of transpose: bits are moved, never looked at.
#include "transpose.hpp"

#include <algorithm>

#include "bits.hpp"
#include "parallel.hpp"

namespace trine::oracle {
namespace {

constexpr int64_t kBlock = 32;  // both sides of a 32 x 32 block stay in the first-level cache

template <class T>
void move_block(const trine_transpose& op, int64_t b, int64_t i0, int64_t j0) {
  const int64_t i1 = std::min(i0 + kBlock, op.input.rows),
                j1 = std::min(j0 + kBlock, op.input.cols);
  for (int64_t j = j0; j < j1; ++j)
    for (int64_t i = i0; i < i1; ++i)
      store(origin(op.output) + element_offset(op.output, sizeof(T), b, j, i),
            load<T>(origin(op.input) + element_offset(op.input, sizeof(T), b, i, j)));
}

}  // namespace

void reference(const trine_transpose& op) {
  const int64_t row_blocks = (op.input.rows + kBlock - 1) / kBlock;
  with_dtype(bits_dtype(op.element_size), [&]<class T>(T) {
    parallel(op.input.batch * row_blocks,
             1 + 65536 / (kBlock * std::max<int64_t>(1, op.input.cols)),
             [&](int64_t, int64_t begin, int64_t end) {
               for (int64_t block = begin; block < end; ++block)
                 for (int64_t j = 0; j < op.input.cols; j += kBlock)
                   move_block<T>(op, block / row_blocks, block % row_blocks * kBlock, j);
             });
  });
}

}  // namespace trine::oracle
