#include "empty.hpp"

#include <cstring>
#include <limits>

#include "check.hpp"
#include "fill.hpp"

namespace trine::detail {
namespace {

template <class T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
uint64_t extreme(bool largest) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_infinity)
    return bits_of(largest ? Limits::infinity() : -Limits::infinity());
  return bits_of(largest ? Limits::max() : Limits::lowest());
}

template <class T>
uint64_t identity(uint32_t function) {
  switch (function) {
    case TRINE_SUM: return 0;
    case TRINE_PROD: return bits_of(T{1});
    case TRINE_MIN: return extreme<T>(true);
    case TRINE_MAX: return extreme<T>(false);
    default: return bits_of(int64_t{-1});
  }
}

uint64_t identity(const trine_reduce& reduce) {
  switch (reduce.result_dtype) {
    case TRINE_F32: return identity<float>(reduce.function);
    case TRINE_F64: return identity<double>(reduce.function);
    case TRINE_I32: return identity<int32_t>(reduce.function);
    case TRINE_I64: return identity<int64_t>(reduce.function);
    case TRINE_U32: return identity<uint32_t>(reduce.function);
    default: return identity<uint64_t>(reduce.function);
  }
}

void fill_identities(QueueState& queue, const trine_reduce& reduce) {
  const uint64_t bits = identity(reduce);
  fill_elements(queue, reduce.output, &bits, trine_dtype_size(reduce.result_dtype),
                "filling in the result of an empty reduction");
}

}  // namespace

bool run_empty(QueueState& queue, const trine_call& call) {
  switch (call.operation) {
    case TRINE_REDUCE: {
      const auto& reduce = *static_cast<const trine_reduce*>(call.descriptor);
      if (is_empty(reduce.output)) return true;
      if (!is_empty(reduce.input)) return false;
      fill_identities(queue, reduce);
      return true;
    }
    case TRINE_TRANSPOSE:
      return is_empty(static_cast<const trine_transpose*>(call.descriptor)->output);
    default: return is_empty(static_cast<const trine_gemm*>(call.descriptor)->c);
  }
}

}  // namespace trine::detail
