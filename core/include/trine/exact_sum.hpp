/// Exact sums in parts: what threads, files or machines have added becomes one sum with the bits of
/// the whole, however the terms were distributed.
/// ```cpp
/// std::vector<double> first = {1e100, 1}, second = {-1e100, 2};
/// trine::ExactSum total, rest;
/// total.add(first);
/// rest.add(second);
/// total.merge(rest);
/// std::cout << total.round<double>() << "\n";  // 3
/// ```
/// On a device a Reduce can write states instead of results: a sum of f32 or f64 whose `output` is
/// a view of u64, with a state in each row (ExactSum::words columns).
///
/// Errors: Error as thrown by reduce() or run(); the sum is then what it was before. Thread safety:
/// an ExactSum is a value; concurrent calls need sums of their own.
#pragma once

#include <trine/host.hpp>

#include <array>

namespace trine {

/// The exact sum of floats of any range, or of their squares or products, and what it was made of:
/// NaNs, infinities, nothing but -0. It has a fixed size, and is canonical: two sums of equal value
/// are equal bytes, whatever the order of their terms. Sums of f32 and of f64 can be merged with
/// each other.
///
/// Its state is TRINE_EXACT_WORDS words, whose meaning stands in <trine/ops.h> (after U. Kulisch,
/// "Computer Arithmetic and Validity", 2008). They may be stored, sent and read on any
/// little-endian machine; all zero is the sum of nothing.
class TRINE_API ExactSum {
 public:
  /// 64-bit words of a state.
  static constexpr int64_t words = TRINE_EXACT_WORDS;
  using State = std::array<uint64_t, TRINE_EXACT_WORDS>;

  /// The sum of nothing: +0.
  ExactSum() = default;
  /// A sum from its state. Throws Error (invalid_argument) for words that are no state of a version
  /// that this library knows.
  explicit ExactSum(const State& state);
  /// The words to store or send.
  const State& state() const noexcept { return state_; }

  /// Adds map(x) for all x of host memory: f32 or f64, any strides. `options` as for reduce(); the
  /// call returns when the terms are added, so it takes no event.
  void add(const ConstHostView& x, Map map = Map::identity, const HostOptions& options = {});
  /// Adds x * y for all elements: two views of one shape and dtype.
  void add_dot(const ConstHostView& x, const ConstHostView& y, const HostOptions& options = {});
  /// The same of a range of float or double (std::vector, std::span, an array).
  template <HostRange Range>
  requires std::floating_point<ElementOf<Range>>
  void add(const Range& x, Map map = Map::identity, const HostOptions& options = {}) {
    add(detail::range_view(x), map, options);
  }
  template <class X, class Y>
  requires DotRanges<X, Y>
  void add_dot(const X& x, const Y& y, const HostOptions& options = {}) {
    add_dot(detail::range_view(x), detail::range_view(y), options);
  }

  /// The same of device memory, on `queue`, after the queue's earlier operations. The call waits
  /// for the state that comes back.
  void add(Queue& queue, const View& x, Map map = Map::identity);
  void add_dot(Queue& queue, const View& x, const View& y);

  /// Adds the terms of another sum, which may be this one. Throws Error if the sum would leave
  /// +-2^2175, 2^127 times the largest product of two f64; this one is then what it was before.
  void merge(const ExactSum& other);

  /// The sum, rounded once to nearest-even. NaN if a NaN or infinities of both signs were added,
  /// else the infinity that was; -0 if all terms were -0; +0 of nothing.
  template <std::floating_point T>
  requires detail::is_one_of<T, float, double> T round()
  const noexcept {
    if constexpr (sizeof(T) == 4)
      return round_to_f32();
    else
      return round_to_f64();
  }

  /// Whether the two are sums of equal value: then their states are the same words.
  friend bool operator==(const ExactSum&, const ExactSum&) = default;

 private:
  float round_to_f32() const noexcept;
  double round_to_f64() const noexcept;
  State state_{};
};

}  // namespace trine
