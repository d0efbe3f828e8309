// Elementwise commands: plain loops, which the compiler vectorizes for each target. Memory is the
// limit, so threads share chunks of a quarter of a megabyte.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementwise.cpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "rung.hpp"
#include "simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T>
HWY_INLINE T step(T x, T y, T z) {  // x * y + z
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y) +
                          static_cast<std::uint32_t>(z));
  } else {
    return fused_multiply_add(x, y, z);
  }
}
template <class T>
HWY_INLINE T times(T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return step(x, y, T(0));
  } else {
    return x * y;
  }
}

// One row of axpby. Elements of x and y are apart or the same, so no iteration depends on another
// one's store.
template <class T>
struct Line {
  T p, q;
  const T* u;
  const T* v;
  T* out;
  std::int64_t count;

  template <class Stride>
  HWY_INLINE void run(Stride u_step, Stride v_step, Stride out_step) const {
    if (p == T(0) && q == T(0)) {
      for (std::int64_t i = 0; i < count; ++i) out[i * out_step] = T(0);
    } else if (p == T(0)) {
      _Pragma("GCC ivdep") for (std::int64_t i = 0; i < count; ++i) out[i * out_step] =
          times(q, v[i * v_step]);
    } else if (q == T(0)) {
      _Pragma("GCC ivdep") for (std::int64_t i = 0; i < count; ++i) out[i * out_step] =
          step(p, u[i * u_step], T(0));
    } else {
      _Pragma("GCC ivdep") for (std::int64_t i = 0; i < count; ++i) out[i * out_step] =
          step(p, u[i * u_step], times(q, v[i * v_step]));
    }
  }
};

template <class T>
T read(const trine_number& number) {
  T value;
  const void* const from = number.memory
                               ? static_cast<const std::byte*>(number.memory) + number.offset
                               : static_cast<const void*>(&number.value);
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
T* first(const trine_view& view) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(view.memory) + view.offset);
}

template <class T>
void axpby(const trine_elementwise& call, Parallel& parallel) {
  constexpr std::int64_t kPiece = std::int64_t{1 << 18} / std::int64_t{sizeof(T)};
  const trine_view &u = call.u, &v = call.v, &out = call.out;
  const T p = read<T>(call.p), q = read<T>(call.q);
  const std::int64_t total = out.cols * out.rows * out.batch;
  using Unit = std::integral_constant<std::int64_t, 1>;
  const bool dense = u.col_stride == 1 && v.col_stride == 1 && out.col_stride == 1;
  parallel.parallel_for(divide_up(total, kPiece), [&](std::int64_t piece, int) {
    const std::int64_t end = std::min(total, (piece + 1) * kPiece);
    for (std::int64_t e = piece * kPiece, run = 0; e < end; e += run) {
      const std::int64_t line = e / out.cols, col = e % out.cols;
      run = std::min(out.cols - col, end - e);
      const auto at = [&](const trine_view& view) {
        return first<T>(view) + col * view.col_stride + line % out.rows * view.row_stride +
               line / out.rows * view.batch_stride;
      };
      const Line<T> part{p, q, at(u), at(v), at(out), run};
      if (dense) {
        part.run(Unit{}, Unit{}, Unit{});
      } else {
        part.run(u.col_stride, v.col_stride, out.col_stride);
      }
    }
  });
}

template <class T>
void compute_number(const trine_elementwise& call) {
  const T x = read<T>(call.p), y = read<T>(call.q);
  T& out = *first<T>(call.out);
  switch (call.function) {
    case TRINE_ADD: out = x + y; break;
    case TRINE_SUBTRACT: out = x - y; break;
    case TRINE_MULTIPLY: out = x * y; break;
    case TRINE_DIVIDE: out = x / y; break;
    default: out = std::sqrt(x);
  }
}

void compute(const trine_elementwise& call, Parallel& parallel) {
  const bool is_axpby = call.function == TRINE_AXPBY;
  switch (call.dtype) {
    case TRINE_F32: return is_axpby ? axpby<float>(call, parallel) : compute_number<float>(call);
    case TRINE_F64: return is_axpby ? axpby<double>(call, parallel) : compute_number<double>(call);
    default: return axpby<std::int32_t>(call, parallel);
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trine::cpu {

HWY_EXPORT(compute);

void run_elementwise(void* payload, Parallel& parallel) {
  HWY_DYNAMIC_DISPATCH(compute)(*static_cast<const trine_elementwise*>(payload), parallel);
}

}  // namespace trine::cpu
#endif
