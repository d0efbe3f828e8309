/// One-line calls on host data: they pick the device (or take yours), move the data as fast as the
/// machine can, and return when the result is in your memory.
///
///   double total = trine::sum(std::span{values});
///   trine::gemm(m, n, k, a.data(), b.data(), c.data(), {.device = "cuda:0"});
///
/// On a device with memory of its own, a call that moves 32 MiB or more is cut into strips, the next on
/// its way in and the last on its way out while one is computed, with the same bits: gemm, and transpose
/// of a batch or of pinned memory. Reductions, other transposes, calls that name their rung or allow
/// `fast` numerics go whole, one step after the other.
/// A refused call writes nothing. One that fails on its way leaves nothing in flight, but part of the
/// output may have been written.
///
/// Between calls their queues stay, with workspaces and up to 256 MiB of pinned memory a device, and keep
/// the device open, so that the next call starts at once; release_idle() lets go of them.
///
/// Thread safety: all may be called concurrently.
#pragma once

#include <trine/place.hpp>

#include <span>
#include <type_traits>
#include <vector>

namespace trine {

/// A step of a call on host data, in seconds from the begin of its first step, by the device's clock.
struct HostStep {
  enum class Kind : uint32_t { copy_in, kernel, copy_out };
  Kind kind = Kind::copy_in;
  int strip = 0;  ///< which one; 0 where the call goes whole
  double begin = 0, end = 0;
};

/// What a call on host data did and when. Timing costs an event before and after each step.
///
///   trine::HostTrace trace;
///   trine::transpose(rows, cols, from, to, {.device = "cuda:0", .trace = &trace});
///   for (const trine::HostStep& step : trace.steps) use(step.kind, step.end - step.begin);
struct HostTrace {
  double allocation =
      0;  ///< seconds to get memory on the device, before the first step, by the host's clock
  std::vector<HostStep>
      steps;  ///< copies in, kernels, copies out, each in the strips' order; in place: the kernel
};

struct HostOptions {
  std::string_view device = "auto";            ///< "auto" picks by size and measured rates
  std::string_view rung = {};                  ///< as run() takes it; empty: the library chooses
  Numerics numerics = Numerics::reproducible;  ///< what is asked of reduce and gemm
  bool pinned = false;                         ///< the host memory given is pinned already
  bool overlap = true;                         ///< false: no call is cut into strips
  int strips = 0;            ///< at most so many, also of a small call; 0: as many as pay
  bool in_place = true;      ///< false: copies also where the device computes in the host's memory
  Choice* choice = nullptr;  ///< where to write what was chosen (for the first strip), and why
  std::string* placement = nullptr;  ///< where to write, for "auto", why on that device
  HostTrace* trace = nullptr;        ///< where to write what was done when
};

/// The untyped forms. `output` and `c` are written; the rest is only read. Same rules as the
/// operations of the same names (trine/operations.hpp), alignment included, on every device; alpha
/// and beta must be exact in the dtype.
TRINE_API void reduce(Function function, Map map, Axis axis, const ConstHostView& input,
                      const HostView& output, const HostOptions& options = {});
TRINE_API void transpose(const ConstHostView& input, const HostView& output,
                         const HostOptions& options = {});
TRINE_API void gemm(double alpha, const ConstHostView& a, const ConstHostView& b, double beta,
                    const HostView& c, const HostOptions& options = {});

/// Lets go of what the calls above keep for the next, on all devices; calls under way aren't disturbed.
TRINE_API void release_idle();

/// The result type of a reduction: sums and products of integers are 64 bits wide.
template <class T>
using Sum = std::conditional_t<std::is_floating_point_v<T>, T,
                               std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

namespace detail {
template <class Result, class T>
Result reduce_span(Function function, Map map, std::span<const T> values,
                   const HostOptions& options) {
  Result result{};
  reduce(function, map, Axis::all, host_vector(values.data(), dtype_of<T>, int64_t(values.size())),
         host_vector(&result, dtype_of<Result>, 1), options);
  return result;
}
}  // namespace detail

/// A contiguous range (std::vector, std::array, std::span, C array) of float, double or integers of 32 or
/// 64 bits.
template <class Range>
concept HostRange = requires(const Range& range) {
  std::span(std::data(range), std::size(range));
  DtypeOf<std::remove_cvref_t<decltype(*std::data(range))>>::value;
};
/// What gemm() computes with: float, double or int32_t.
template <class T>
concept GemmElement = detail::is_one_of<T, float, double, int32_t>;

/// Reductions of a range. sum() applies `map` to each element first: sum(values, {}, Map::abs).

template <HostRange Range>
auto sum(const Range& range, const HostOptions& options = {}, Map map = Map::identity) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<Sum<T>>(Function::sum, map, std::span<const T>(values), options);
}
template <HostRange Range>
auto prod(const Range& range, const HostOptions& options = {}) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<Sum<T>>(Function::prod, Map::identity, std::span<const T>(values),
                                     options);
}
template <HostRange Range>
auto min(const Range& range, const HostOptions& options = {}) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<T>(Function::min, Map::identity, std::span<const T>(values), options);
}
template <HostRange Range>
auto max(const Range& range, const HostOptions& options = {}) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<T>(Function::max, Map::identity, std::span<const T>(values), options);
}
template <HostRange Range>
int64_t argmin(const Range& range, const HostOptions& options = {}) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<int64_t>(Function::argmin, Map::identity, std::span<const T>(values),
                                      options);
}
template <HostRange Range>
int64_t argmax(const Range& range, const HostOptions& options = {}) {
  std::span values(std::data(range), std::size(range));
  using T = typename decltype(values)::value_type;
  return detail::reduce_span<int64_t>(Function::argmax, Map::identity, std::span<const T>(values),
                                      options);
}

/// output (cols x rows) = transpose of input (rows x cols), both dense row-major.
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

/// c (m x n) = alpha a (m x k) b (k x n) + beta c, all dense row-major, of float, double or int32_t. With
/// beta 0, c is not read, with alpha 0, a and b are not.
template <GemmElement T>
void gemm(int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* c,
          const HostOptions& options = {}, std::type_identity_t<T> alpha = 1,
          std::type_identity_t<T> beta = 0) {
  gemm(alpha, host_row_major(a, dtype_of<T>, m, k), host_row_major(b, dtype_of<T>, k, n), beta,
       host_row_major(c, dtype_of<T>, m, n), options);
}

}  // namespace trine
