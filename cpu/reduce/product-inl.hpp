// Products along one fixed binary tree over the index, split at the largest power of two below n.
// That is: neighbours are multiplied pairwise, level by level, and an odd one out moves up as it is.
//
//   n = 7    (0 1)(2 3)(4 5) 6   ->   (01 23)(45 6)   ->   (0123 456)
//
// So every aligned block of 2^k elements is a subtree, whichever thread multiplies it. Integers are
// multiplied in the same way, modulo 2^64, where the order doesn't matter.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// The product of 1 to kChunk neighbours, by levels.
template <class T, trine_map M>
Factor<T> chunk_product(const T* HWY_RESTRICT data, std::int64_t count) {
  using F = Factor<T>;
  if (count == 1) return factor<M>(data[0]);
  alignas(64) F even[kChunk / 2], odd[kChunk / 4 + 1];
  std::int64_t pairs = count / 2;
  for (std::int64_t i = 0; i < pairs; ++i)
    even[i] = factor<M>(data[2 * i]) * factor<M>(data[2 * i + 1]);
  if (count % 2) even[pairs] = factor<M>(data[count - 1]);
  F* from = even;
  F* to = odd;
  for (count = pairs + count % 2; count > 1; count = pairs + count % 2) {
    pairs = count / 2;
    const F* HWY_RESTRICT source = from;
    F* HWY_RESTRICT target = to;
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): there is at least one
    for (std::int64_t i = 0; i < pairs; ++i) target[i] = source[2 * i] * source[2 * i + 1];
    if (count % 2) target[pairs] = source[count - 1];
    std::swap(from, to);
  }
  return from[0];  // NOLINT(clang-analyzer-core.uninitialized.UndefReturn): the same
}

// Subtrees in progress, the largest first: their sizes are the binary digits of how many came in.
// A subtree is a row of `width` factors, one per result.
template <class T, trine_map M>
struct Tree {
  using F = Factor<T>;
  static constexpr bool kAligned = true;
  std::uint64_t (*level)[kStrip];
  std::int64_t width;
  std::uint64_t count = 0;
  int depth = 0;

  Tree(FoldScratch& scratch, std::int64_t results) : level(scratch.level), width(results) {}
  F* row(int i) const { return reinterpret_cast<F*>(level[i]); }

  // The newest subtree, of 2^size elements, lies in row(depth); merges it with its equals.
  void push(int size = 0) {
    ++depth;
    count += std::uint64_t{1} << size;
    for (std::uint64_t bits = count >> size; (bits & 1) == 0; bits >>= 1) merge();
  }
  void merge() {
    F* HWY_RESTRICT left = row(depth - 2);
    const F* HWY_RESTRICT right = row(depth - 1);
    for (std::int64_t j = 0; j < width; ++j) left[j] *= right[j];
    --depth;
  }
  // All of them from the right; row(0) is the product.
  void finish() {
    if (depth == 0) {
      std::fill(row(0), row(0) + width, F(1));
      depth = 1;
    }
    while (depth > 1) merge();
  }

  void along(const T* data, std::int64_t elements, std::int64_t) {
    for (std::int64_t i = 0; i < elements; i += kChunk) {
      *row(depth) = chunk_product<T, M>(data + i, std::min(kChunk, elements - i));
      push();
    }
  }
  void across(const T* rows, std::int64_t step, std::int64_t elements, std::int64_t) {
    for (std::int64_t i = 0; i < elements;) {
      F* HWY_RESTRICT target = row(depth);
      const T* HWY_RESTRICT source = rows + i * step;
      const auto pair = [&](std::int64_t r, std::int64_t j) {
        return factor<M>(source[r * step + j]) * factor<M>(source[(r + 1) * step + j]);
      };
      if (count % 8 == 0 && i + 8 <= elements) {  // a subtree in registers
        for (std::int64_t j = 0; j < width; ++j)
          target[j] = (pair(0, j) * pair(2, j)) * (pair(4, j) * pair(6, j));
        push(3);
        i += 8;
      } else {
        for (std::int64_t j = 0; j < width; ++j) target[j] = factor<M>(source[j]);
        push();
        ++i;
      }
    }
  }

  Folded partial(std::int64_t j) const { return folded(row(0)[j]); }
  // Parts are equal subtrees but for the last.
  void join(const Folded& part) {
    *row(depth) = part.value<F>();
    push();
  }
  void store(const Problem& p, std::int64_t r, std::int64_t j) const { p.result<F>(r) = row(0)[j]; }
};

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
