/// Reductions in parts: what threads, ranks or files have seen of one array becomes the result of
/// the whole, to the bit, for every function of reduce().
/// ```cpp
/// std::vector<double> left = {3, 1, 4}, right = {1, 5};
/// trine::Partial smallest(trine::Function::argmin, trine::Dtype::f64), rest = smallest;
/// smallest.add(left, 0);
/// rest.add(right, 3);  // its first element is the whole's element 3
/// smallest.merge(rest);
/// std::cout << smallest.result<int64_t>() << "\n";  // 1
/// ```
/// Sums of floats are those of ExactSum, which also takes dot products.
///
/// Errors: Error as thrown by reduce() or run(); the Partial is then what it was before. Thread
/// safety: a Partial is a value; concurrent calls need one each.
#pragma once

#include <trine/exact_sum.hpp>

namespace trine {

namespace detail {
/// The bits of one value of `dtype` as states have them: zeros above them, and for any NaN the one
/// NaN. The library over MPI uses it, too.
TRINE_API uint64_t canonical(Dtype dtype, uint64_t bits) noexcept;
}  // namespace detail

/// The state of the reduction of a whole when some of its elements have been seen. It has a
/// fixed size, and is canonical: after the same elements it is the same bytes, however they were
/// cut and in whatever order they came.
///
/// Its state is 256 words, which may be stored, sent and read on any little-endian machine. Word 0:
/// the function, the map and the dtype, as <trine/ops.h> numbers them, in bytes 0 to 2; the
/// format's version, 0, in its upper half. Then, and zeros after it:
/// - sum of floats: the TRINE_EXACT_WORDS words of an ExactSum; of integers, and prod of integers:
///   the result;
/// - min, max: the result's bits, zeros above them; argmin, argmax: the extremum's bits, then its
///   index;
/// - prod of floats: blocks of its tree, by index. The block of the indices from s, a multiple of
///   2^k, to s + 2^k - 1 is two words: 2 s + 2^k, and the bits of its product. No two blocks are
///   halves of one.
///
/// A product of floats is a tree over the indices, so all its elements must be added, each once. A
/// state holds up to 127 blocks, which suffice for one run of indices of any length. Parts with
/// gaps between them need up to 2 log2(n) blocks each, so merge parts with their neighbours first.
/// Sums, min and max don't look at indices; argmin and argmax only to find the first of equal
/// elements.
class TRINE_API Partial {
 public:
  /// 64-bit words of a state.
  static constexpr int64_t words = 256;
  using State = std::array<uint64_t, 256>;

  /// The reduction of nothing, with `function` over map(x), x of `dtype`. Throws Error
  /// (invalid_argument) for what reduce() refuses, and for Map::product: that is
  /// ExactSum::add_dot().
  Partial(Function function, Dtype dtype, Map map = Map::identity);
  /// One from its state. Throws Error (invalid_argument) for words that are no state of a version
  /// that this library knows.
  explicit Partial(const State& state);
  /// The words to store or send.
  const State& state() const noexcept { return state_; }

  /// The arguments that it was made with.
  Function function() const noexcept { return static_cast<Function>(state_[0] & 0xff); }
  Map map() const noexcept { return static_cast<Map>(state_[0] >> 8 & 0xff); }
  Dtype dtype() const noexcept { return static_cast<Dtype>(state_[0] >> 16 & 0xff); }

  /// Adds a part of the whole in host memory, of any strides, batch 1. Its elements have the
  /// indices `first`, first + 1, … of the whole, row by row; none has been added before. `options`
  /// are those of reduce(), without an event. If the part takes several reductions, `choice` and
  /// the like are those of the last one. A product of floats takes one reduction for each block of
  /// the tree, about 2 log2(n); if a matrix has gaps between its rows, so many for each row.
  void add(const ConstHostView& part, int64_t first, const HostOptions& options = {});
  /// The same of a range (std::vector, std::span, an array).
  template <HostRange Range>
  void add(const Range& part, int64_t first, const HostOptions& options = {}) {
    add(detail::range_view(part), first, options);
  }
  /// The same of device memory, on `queue`, after the queue's earlier operations. The call waits
  /// for it.
  void add(Queue& queue, const View& part, int64_t first);

  /// Adds the elements of another one of the same function, map and dtype. Where indices matter,
  /// they must be other elements: a product refuses elements that both have.
  void merge(const Partial& other);

  /// The result of what was added, as reduce() gives it for the whole: its dtype is
  /// result_dtype(function(), map(), dtype()); for a sum of f32 also f64. Throws Error
  /// (invalid_argument) for another T; for a product of floats that lacks elements before its last
  /// one, whose indices the sentence names.
  template <class T>
  T result() const {
    T value;
    result(dtype_of<T>, &value);
    return value;
  }
  /// The same to memory: one element of `dtype`.
  void result(Dtype dtype, void* value) const;

  /// Whether the two have the same state.
  friend bool operator==(const Partial&, const Partial&) = default;

 private:
  State state_{};
};

}  // namespace trine
