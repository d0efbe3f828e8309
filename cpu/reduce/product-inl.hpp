// Products along one fixed binary tree over the index, split at the largest power of two below n.
// That is: neighbours are multiplied pairwise, level by level, and an odd one out moves up as it
// is.
//
//   n = 7    (0 1)(2 3)(4 5) 6   ->   (01 23)(45 6)   ->   (0123 456)
//
// So every aligned block of 2^k elements is a subtree, whichever thread multiplies it. Integers are
// multiplied in the same way, modulo 2^64, where the order doesn't matter.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// A group: as many neighbours as a vector has lanes, or that to the power of `depth`.
template <class T>
constexpr std::int64_t group_of(int depth) {
#if HWY_TARGET == HWY_SCALAR
  constexpr std::int64_t kLanes = 8;
#else
  constexpr std::int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>());
#endif
  return depth == 0 ? 1 : kLanes * group_of<T>(depth - 1);
}

#if HWY_TARGET != HWY_SCALAR
// Multiplies neighbours log2(kCount) times: kCount vectors, which follow each other in memory,
// become one. With as many vectors as lanes, lane l is the product of vector l.
template <int kCount, class D>
HWY_INLINE hn::Vec<D> products_of(D d, const hn::Vec<D>* of) {
  if constexpr (kCount == 1) {
    return of[0];
  } else {
    const auto left = products_of<kCount / 2>(d, of),
               right = products_of<kCount / 2>(d, of + kCount / 2);
    return hn::Mul(hn::ConcatEven(d, right, left), hn::ConcatOdd(d, right, left));
  }
}

// The same of the groups `from` begins with, as many as a vector has lanes.
template <trine_map M, int kDepth, bool kAhead, class D, class T>
HWY_INLINE hn::Vec<D> products_of_groups(D d, const T* HWY_RESTRICT from) {
  if constexpr (kDepth == 0) {
    auto factors = hn::LoadU(d, from);
#if HWY_TARGET <= HWY_AVX3
    asm("" : "+v"(factors.raw));  // else g++ reads it with each shuffle, so twice
#endif
    return M == TRINE_ABS ? hn::Abs(factors) : factors;
  } else {
    constexpr int kLanes = hn::MaxLanes(D());
    constexpr std::int64_t kGroup = group_of<T>(kDepth);
    if constexpr (kAhead && kDepth == 1) prefetch(from, kGroup * kLanes);
    hn::Vec<D> groups[kLanes];
    for (int g = 0; g < kLanes; ++g)
      groups[g] = products_of_groups<M, kDepth - 1, kAhead>(d, from + g * kGroup);
    return products_of<kLanes>(d, groups);
  }
}
#endif

// Multiplies each so many neighbours to one, in registers; the last ones may be fewer. Returns how
// many products there are.
template <trine_map M, int kDepth, bool kAhead, class T>
HWY_INLINE std::int64_t multiply_groups(const T* HWY_RESTRICT from, std::int64_t count,
                                        T* HWY_RESTRICT to) {
  constexpr std::int64_t kGroup = group_of<T>(kDepth);
  std::int64_t groups = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<T> d;
  constexpr std::int64_t kLanes = group_of<T>(1);
  for (; (groups + kLanes) * kGroup <= count; groups += kLanes)
    hn::Store(products_of_groups<M, kDepth, kAhead>(d, from + groups * kGroup), d, to + groups);
#endif
  for (std::int64_t i = groups * kGroup; i < count; i += kGroup) {
    T level[kGroup];
    std::int64_t left = std::min(kGroup, count - i);
    for (std::int64_t j = 0; j < left; ++j) level[j] = factor<M>(from[i + j]);
    for (; left > 1; left = (left + 1) / 2) {
      for (std::int64_t j = 0; j < left / 2; ++j) level[j] = level[2 * j] * level[2 * j + 1];
      if (left % 2) level[left / 2] = level[left - 1];
    }
    to[groups++] = level[0];
  }
  return groups;
}

// So deep that 64 neighbours or more become one before anything is stored: of subtrees of a power
// of two between these sizes.
template <class T>
constexpr int kDeep = group_of<T>(2) >= 64 ? 2 : (group_of<T>(3) >= 64 ? 3 : 6);
template <class T>
constexpr std::int64_t kSmallest = group_of<T>(kDeep<T> + 1);
constexpr std::int64_t kLargest = 1 << 15;

// The product of such a subtree, or of fewer neighbours.
template <class T, trine_map M>
Factor<T> subtree_product(const T* HWY_RESTRICT data, std::int64_t count) {
  if constexpr (is_float<T>) {
    alignas(64) T even[kLargest / 64], odd[kLargest / 128];
    count = count < kSmallest<T> ? multiply_groups<M, 1, true>(data, count, even)
                                 : multiply_groups<M, kDeep<T>, true>(data, count, even);
    T* from = even;
    T* to = odd;
    for (; count > 1; std::swap(from, to))
      count = multiply_groups<TRINE_IDENTITY, 1, false>(from, count, to);
    return from[0];
  } else {
    std::uint64_t product = 1;
    for (std::int64_t i = 0; i < count; ++i) product *= factor<M>(data[i]);
    return product;
  }
}

// Factors one by one, and in vectors of so many at most.
template <trine_map M, class T>
struct Singly {
  using F = Factor<T>;
  static constexpr std::int64_t kLanes = 1;
  static HWY_INLINE F factors(const T* from) { return factor<M>(*from); }
  static HWY_INLINE F load(const F* from) { return *from; }
  static HWY_INLINE F times(F left, F right) { return left * right; }
  static HWY_INLINE void store(F product, F* to) { *to = product; }
};
template <trine_map M, class T, std::int64_t kMost>
struct InVectors {
  using D = hn::CappedTag<T, kMost>;
  using V = hn::Vec<D>;
  static constexpr std::int64_t kLanes = hn::MaxLanes(D());
  static HWY_INLINE V factors(const T* from) {
    return M == TRINE_ABS ? hn::Abs(load(from)) : load(from);
  }
  static HWY_INLINE V load(const T* from) { return hn::LoadU(D(), from); }
  static HWY_INLINE V times(V left, V right) { return hn::Mul(left, right); }
  static HWY_INLINE void store(V product, T* to) { hn::StoreU(product, D(), to); }
};

// So many rows multiplied to one at one place, along the tree.
template <class By, int kRows, class T>
HWY_INLINE auto product_of_rows(const T* at, std::int64_t step) {
  if constexpr (kRows == 1) {
    return By::factors(at);
  } else {
    return By::times(product_of_rows<By, kRows / 2>(at, step),
                     product_of_rows<By, kRows / 2>(at + kRows / 2 * step, step));
  }
}

// Multiplies so many rows to one, and what is on their left with it: nothing, `to`, or `to` and
// then `between`. kAhead: calls the next eight rows.
//
// Vectors by hand: of a loop over a line g++ makes four parts, and asks before each line whether
// `to` overlaps one of the rows.
template <trine_map M, int kRows, int kLeft, bool kAhead, class T>
HWY_INLINE void multiply_rows(const T* HWY_RESTRICT rows, std::int64_t step, std::int64_t width,
                              Factor<T>* HWY_RESTRICT to, const Factor<T>* HWY_RESTRICT between) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  using Whole = std::conditional_t<is_float<T>, InVectors<M, T, kLine>, Singly<M, T>>;
  using Half = std::conditional_t<is_float<T>, InVectors<M, T, kLine / 2>, Singly<M, T>>;
  const auto multiply = [&]<class By>(By, std::int64_t j) HWY_ATTR {
    auto product = product_of_rows<By, kRows>(rows + j, step);
    if constexpr (kLeft > 1) product = By::times(By::load(between + j), product);
    if constexpr (kLeft > 0) product = By::times(By::load(to + j), product);
    By::store(product, to + j);
  };
  std::int64_t j = 0;
  for (; j + kLine <= width; j += kLine) {
    for (std::int64_t r = 0; kAhead && r < kRows; ++r) {
      __builtin_prefetch(rows + (r + 8) * step + j, 0, 2);
      if (kRows == 2) __builtin_prefetch(rows + (r + 4) * step + j, 0, 3);
    }
    for (std::int64_t l = j; l < j + kLine; l += Whole::kLanes) multiply(Whole(), l);
  }
  if (const std::int64_t end = j + kLine / 2; is_float<T> && end <= width)
    for (; j < end; j += Half::kLanes) multiply(Half(), j);
  for (; j < width; ++j) multiply(Singly<M, T>(), j);
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
    while (elements > 0) {
      const bool is_end = elements < kSmallest<T>;
      // A subtree begins at a multiple of its size.
      const std::uint64_t most =
          count == 0 ? kLargest : std::min<std::uint64_t>(kLargest, count & -count);
      const std::uint64_t largest = std::min(static_cast<std::uint64_t>(elements), most);
      const std::int64_t taken = is_end ? elements : std::int64_t(std::bit_floor(largest));
      *row(depth) = subtree_product<T, M>(data, taken);
      push(is_end ? 0 : std::bit_width(largest) - 1);
      data += taken;
      elements -= taken;
    }
  }
  void across(const T* rows, std::int64_t step, std::int64_t elements, std::int64_t) {
    for (std::int64_t i = 0; i < elements;) {
      F* HWY_RESTRICT target = row(depth);
      const T* HWY_RESTRICT source = rows + i * step;
      if (count % 8 == 0 && i + 8 <= elements) {
        F* const right = row(depth + 1);
        const bool close = 2 * step <= 3 * width;
        if (close && width * sizeof(T) >= 256) {  // in the order of memory, nearly
          multiply_rows<M, 2, 0, true>(source, step, width, target, right);
          multiply_rows<M, 2, 1, true>(source + 2 * step, step, width, target, right);
          multiply_rows<M, 2, 0, true>(source + 4 * step, step, width, right, target);
          multiply_rows<M, 2, 2, true>(source + 6 * step, step, width, target, right);
        } else if (close || !is_float<T>) {
          multiply_rows<M, 8, 0, true>(source, step, width, target, right);
        } else {
          multiply_rows<M, 8, 0, false>(source, step, width, target, right);
        }
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
