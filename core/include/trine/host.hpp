/// Calls on host data: one line computes on the best device and returns when the result is there.
/// ```cpp
/// std::vector<float> values = {1e30f, 1.0f, -1e30f, 2.0f};
/// float total = trine::sum(values);                        // exact, rounded once: 3
/// float same = trine::sum(values, {.device = "cpu"});      // on this device
/// if (total != 3 || same != 3) throw std::logic_error("not exact");
/// ```
/// The call picks the device by size and measured rates (place()), copies the data there, computes,
/// and copies the result back. On devices that share the host's memory it computes in place.
///
/// On a device with its own memory, a large gemm or transpose (32 MiB or more to move) is cut into
/// chunks: one is copied in and one copied out while another is computed. A gemm of pinned memory
/// that computes long, reads no c, continues nothing and isn't exact is cut along k first
/// (Gemm::continues), then by its results. The bits stay the same. Transposes are cut if they are
/// batched or the memory is pinned. Reductions, calls that name a rung and calls with `fast`
/// numerics are not cut.
///
/// A call blocks until its output is there, or returns at once with an event (HostOptions::event).
///
/// Errors: Error as thrown by open(), place() and run(). A refused call writes nothing. A call that
/// fails later leaves nothing in flight, but may have written a part of the output.
///
/// Lifetime: between calls the library keeps their queues, workspaces and up to 256 MiB of pinned
/// memory per device, and thus the device itself, so that the next call starts at once.
/// release_idle() frees all that.
///
/// Thread safety: all functions may be called concurrently, as long as no output is shared.
#pragma once

#include <trine/place.hpp>
#include <trine/receipt.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace trine {

/// A step of a call on host data.
struct HostStep {
  /// The kind of work: a copy to the device, the operation, a copy from the device.
  enum class Kind : uint32_t { copy_in, kernel, copy_out };
  Kind kind = Kind::copy_in;
  /// The number of the chunk, from 0; 0 where the call isn't cut.
  int chunk = 0;
  /// Seconds since the call's first step began, by the device's clock.
  double begin = 0, end = 0;
};

/// The steps of a call on host data (HostOptions::trace). A trace costs an event before and after
/// each step.
/// ```cpp
/// std::vector<float> matrix(20 * 30, 1.0f), turned(30 * 20);
/// trine::HostTrace trace;
/// trine::transpose(20, 30, matrix.data(), turned.data(), {.trace = &trace});
/// for (const trine::HostStep& step : trace.steps) std::cout << step.end - step.begin << " s\n";
/// ```
struct HostTrace {
  /// Seconds to allocate memory on the device before the first step, by the host's clock.
  double allocation = 0;
  /// Seconds that the trace itself took after the last step, to read the times. A call without a
  /// trace doesn't take them.
  double reading = 0;
  /// Copies in, then kernels, then copies out, each in the order of the chunks; only the kernel
  /// where the device computes in the host's memory. A chunk whose chains a later one continues has
  /// no copy out.
  std::vector<HostStep> steps;
};

/// Options of every call on host data; all have defaults.
/// ```cpp
/// std::vector<double> values(1000, 0.5);
/// trine::Choice choice;
/// std::string why;
/// trine::sum(values, {.choice = &choice, .placement = &why});
/// std::cout << choice.sentence() << "\n" << why << "\n";
/// ```
struct HostOptions {
  /// A name that open() takes, or "auto": the device that is predicted to be the fastest.
  std::string_view device = "auto";
  /// A rung as run() takes it; empty: Trine chooses.
  std::string_view rung = {};
  /// The promise that reduce and gemm ask for: reproducible, fast or exact.
  Numerics numerics = Numerics::reproducible;
  /// Whether the chains of a gemm begin at c (Gemm::continues). Others have no chains.
  bool continues = false;
  /// Whether all host memory of the call is pinned (Memory::pinned, or by the driver).
  bool pinned = false;
  /// Whether large calls may be cut into chunks to overlap copies with the kernel.
  bool overlap = true;
  /// If not 0: at most so many chunks, also of a small call; 0: as many as pay.
  int chunks = 0;
  /// Whether a device that can compute in the host's memory does so; false: it copies the data.
  bool in_place = true;
  /// If not null: receives the choice of the rung (that of the first chunk), and the reason. A call
  /// that throws sets its `device` if it may have written by then.
  Choice* choice = nullptr;
  /// If not null: receives the reason for the device, with "auto".
  std::string* placement = nullptr;
  /// If not null: receives the steps with their times. Not together with an event.
  HostTrace* trace = nullptr;
  /// If not null: the call returns before its work is done, and this receives the event that passes
  /// when it is. Until then the program keeps both in memory, doesn't change the inputs, and
  /// doesn't touch the output.
  ///
  /// The call itself refuses wrong arguments; Event::wait() and done() throw later failures.
  /// `choice` and `placement` are there when the call returns; the choice is that of choose() for
  /// the whole, also where the call is cut. A queue that waits for the event goes on even if the
  /// call has failed.
  ///
  /// For calls that write to a view: reduce, dot, transpose, gemm. One that returns its result, as
  /// sum does, refuses an event (invalid_argument). The work is done by threads of the library, of
  /// up to eight calls at a time, in any order; exit() waits for it.
  /// ```cpp
  /// std::vector<double> a(300 * 300, 0.5), b(a), c(a.size());
  /// trine::Event product;
  /// trine::gemm(300, 300, 300, a.data(), b.data(), c.data(), {.event = &product});
  /// // … other work, which leaves a, b and c alone …
  /// product.wait();
  /// ```
  Event* event = nullptr;
  /// If not null: receives the receipt, whose digests cost a look at each operand; norm() leaves
  /// that of its last reduction. Not together with an event.
  Receipt* receipt = nullptr;
};

/// The calls on untyped views of any layout. `output` and `c` are written, the other views only
/// read. The rules are those of Reduce, Transpose and Gemm (trine/operations.hpp): shapes, dtypes,
/// alignment, and alpha and beta exact in the dtype.
/// ```cpp
/// std::vector<float> matrix(20 * 30, 1.0f);
/// std::vector<float> sums(30);
/// trine::reduce(trine::Function::sum, trine::Map::identity, trine::Axis::each_column,
///               trine::host_row_major(matrix.data(), trine::Dtype::f32, 20, 30),
///               trine::host_vector(sums.data(), trine::Dtype::f32, 30));  // each 20
/// ```
TRINE_API void reduce(Function function, Map map, Axis axis, const ConstHostView& input,
                      const HostView& output, const HostOptions& options = {});
/// The sum over x * y, of all elements, each row or each column: one shape, both f32 or both f64.
TRINE_API void dot(const ConstHostView& x, const ConstHostView& y, const HostView& output,
                   Axis axis = Axis::all, const HostOptions& options = {});
/// The two share no memory, or are one view of square matrices: then it is a transposition in
/// place.
TRINE_API void transpose(const ConstHostView& input, const HostView& output,
                         const HostOptions& options = {});
TRINE_API void gemm(double alpha, const ConstHostView& a, const ConstHostView& b, double beta,
                    const HostView& c, const HostOptions& options = {});

/// The Euclidean norm of all elements of a view of f32 or f64, as norm() of a range below computes
/// it. For f32 the result is that float's value as a double.
TRINE_API double norm(const ConstHostView& x, const HostOptions& options = {});

/// Frees what the calls above keep for later calls, on all devices: idle queues, workspaces, pinned
/// memory. Calls in progress are not disturbed.
TRINE_API void release_idle();

/// The result type of sum() and prod(): T for floats, int64_t and uint64_t for integers.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T,
                               std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

namespace detail {
/// Throws for an event: a call that returns its result can't return before it.
inline void refuse_event(const HostOptions& options) {
  if (!options.event) return;
  throw Error(Status::invalid_argument,
              "A call that returns its result can't return before that is there: leave out "
              "HostOptions::event, or let reduce() or dot() write the result to a view.");
}
}  // namespace detail

/// A contiguous range of float, double, or integers of 32 or 64 bits: std::vector, std::array,
/// std::span, a C array.
template <class Range>
concept HostRange = requires(const Range& range) {
  std::span(std::data(range), std::size(range));
  DtypeOf<std::remove_cvref_t<decltype(*std::data(range))>>::value;
};
template <HostRange Range>
using ElementOf = std::remove_cvref_t<decltype(*std::data(std::declval<const Range&>()))>;
/// Two ranges that dot() takes: both of float, or both of double.
template <class X, class Y>
concept DotRanges = HostRange<X> && HostRange<Y> && std::same_as<ElementOf<X>, ElementOf<Y>> &&
    std::floating_point<ElementOf<X>>;
/// The element types of gemm(): float, double or int32_t.
template <class T>
concept GemmElement = detail::is_one_of<T, float, double, int32_t>;

namespace detail {
template <HostRange Range>
ConstHostView range_view(const Range& range) {
  return host_vector(std::data(range), dtype_of<ElementOf<Range>>, int64_t(std::size(range)));
}

template <class Result>
Result reduce_all(Function function, Map map, const ConstHostView& values,
                  const HostOptions& options) {
  refuse_event(options);
  Result result{};
  reduce(function, map, Axis::all, values, host_vector(&result, dtype_of<Result>, 1), options);
  return result;
}
}  // namespace detail

/// The sum of map(x) for all x of `range`: for floats the exact sum, rounded once; for integers
/// modulo 2^64. 0 for an empty range.
/// ```cpp
/// std::array<double, 3> x = {1, -2, 3};
/// double total = trine::sum(x);                                // 2
/// double norm1 = trine::sum(x, trine::Map::abs);           // 6
/// double norm2_squared = trine::sum(x, trine::Map::square);  // 14
/// std::cout << total << " " << norm1 << " " << norm2_squared << "\n";
/// ```
template <HostRange Range>
auto sum(const Range& range, Map map, const HostOptions& options = {}) {
  return detail::reduce_all<Sum<ElementOf<Range>>>(Function::sum, map, detail::range_view(range),
                                                   options);
}
template <HostRange Range>
auto sum(const Range& range, const HostOptions& options = {}) {
  return sum(range, Map::identity, options);
}
/// The exact dot product, rounded once: the sum over x[i] * y[i] of two ranges of one length and
/// element type, float or double. Throws Error where the lengths differ.
/// ```cpp
/// std::vector<double> x = {1e20, 3, -1e20}, y = {1, 2, 1};
/// if (trine::dot(x, y) != 6) throw std::logic_error("not exact");
/// ```
template <class X, class Y>
requires DotRanges<X, Y>
auto dot(const X& x, const Y& y, const HostOptions& options = {}) {
  detail::refuse_event(options);
  using T = ElementOf<X>;
  T result{};
  dot(detail::range_view(x), detail::range_view(y), host_vector(&result, dtype_of<T>, 1), Axis::all,
      options);
  return result;
}

/// The Euclidean norm of a range of float or double: the root of the exact sum of squares. The sum
/// is rounded to double, its root to double, and then to float for floats. Where the squares of
/// doubles would leave the range of double, they are scaled by a power of two first. NaN if there
/// is one, else +Inf if there is an infinity; 0 for an empty range.
/// ```cpp
/// std::vector<double> x = {3e200, 4e200};
/// std::cout << trine::norm(x) << "\n";  // 5e+200
/// ```
template <HostRange Range>
requires std::floating_point<ElementOf<Range>>
auto norm(const Range& range, const HostOptions& options = {}) {
  return static_cast<ElementOf<Range>>(norm(detail::range_view(range), options));
}

/// The product of the elements of `range`: for floats one fixed tree of products, for integers
/// modulo 2^64. 1 for an empty range.
template <HostRange Range>
auto prod(const Range& range, const HostOptions& options = {}) {
  return detail::reduce_all<Sum<ElementOf<Range>>>(Function::prod, Map::identity,
                                                   detail::range_view(range), options);
}
/// The smallest element of `range`, NaN if it has one, -0 before +0. An empty range gives +Inf or
/// the largest integer.
template <HostRange Range>
auto min(const Range& range, const HostOptions& options = {}) {
  return detail::reduce_all<ElementOf<Range>>(Function::min, Map::identity,
                                              detail::range_view(range), options);
}
/// The largest element of `range`, NaN if it has one, +0 before -0. An empty range gives -Inf or
/// the smallest integer.
template <HostRange Range>
auto max(const Range& range, const HostOptions& options = {}) {
  return detail::reduce_all<ElementOf<Range>>(Function::max, Map::identity,
                                              detail::range_view(range), options);
}
/// The lowest index of the smallest element, or of the first NaN; -1 for an empty range.
/// ```cpp
/// std::vector<int> values = {3, 1, 4, 1};
/// std::cout << trine::argmin(values) << "\n";  // 1
/// ```
template <HostRange Range>
int64_t argmin(const Range& range, const HostOptions& options = {}) {
  return detail::reduce_all<int64_t>(Function::argmin, Map::identity, detail::range_view(range),
                                     options);
}
/// The lowest index of the largest element, or of the first NaN; -1 for an empty range.
template <HostRange Range>
int64_t argmax(const Range& range, const HostOptions& options = {}) {
  return detail::reduce_all<int64_t>(Function::argmax, Map::identity, detail::range_view(range),
                                     options);
}

/// Transposes a dense row-major matrix: `input` is rows x cols, `output` cols x rows. T is any type
/// of 1, 2, 4, 8 or 16 bytes that may be moved by its bits. The two may not overlap, but those of a
/// square may be one: then it is transposed in place.
/// ```cpp
/// std::vector<float> a = {1, 2, 3,
///                         4, 5, 6};
/// std::vector<float> t(6);
/// trine::transpose(2, 3, a.data(), t.data());  // 1 4, 2 5, 3 6
/// ```
template <class T>
void transpose(int64_t rows, int64_t cols, const T* input, T* output,
               const HostOptions& options = {}) {
  constexpr Dtype bits = sizeof(T) == 1   ? Dtype::b8
                         : sizeof(T) == 2 ? Dtype::b16
                         : sizeof(T) == 4 ? Dtype::b32
                         : sizeof(T) == 8 ? Dtype::b64
                                          : Dtype::b128;
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "1, 2, 4, 8 or 16 bytes");
  transpose(host_row_major(input, bits, rows, cols), host_row_major(output, bits, cols, rows),
            options);
}

/// Multiplies dense row-major matrices: c = alpha * a * b + beta * c, where `a` is m x k, `b` is k
/// x n and `c` is m x n. With beta = 0, c is not read; with alpha = 0, a and b are not. The order
/// of the arithmetic is fixed (see Gemm), so every device gives the same bits.
/// ```cpp
/// std::vector<double> a = {1, 2, 3, 4}, b = {0, 1, 1, 0}, c(4);
/// trine::gemm(2, 2, 2, a.data(), b.data(), c.data());             // 2 1 4 3
/// trine::gemm(2, 2, 2, -1, a.data(), b.data(), 1, c.data());      // c - a b: 0 0 0 0
/// ```
template <GemmElement T>
void gemm(int64_t m, int64_t n, int64_t k, std::type_identity_t<T> alpha, const T* a, const T* b,
          std::type_identity_t<T> beta, T* c, const HostOptions& options = {}) {
  gemm(alpha, host_row_major(a, dtype_of<T>, m, k), host_row_major(b, dtype_of<T>, k, n), beta,
       host_row_major(c, dtype_of<T>, m, n), options);
}
/// The same with alpha = 1 and beta = 0.
template <GemmElement T>
void gemm(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c,
          const HostOptions& options = {}) {
  gemm<T>(m, n, k, 1, a, b, 0, c, options);
}

}  // namespace trine
