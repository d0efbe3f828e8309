/// The words of the API: dtypes, functions, statuses, and the one exception type.
#pragma once

#include <trine/ops.h>

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// Part of the library's border. Programs compiled with -fvisibility=hidden need it too: they
/// catch Error, whose type information lies in the library.
#define TRINE_API __attribute__((visibility("default")))

namespace trine {

/// Why a call failed. The same mistake gives the same status on every backend.
enum class Status : uint32_t {
  ok = TRINE_OK,
  invalid_argument = TRINE_INVALID_ARGUMENT,  ///< refused by a check; nothing was written
  unsupported = TRINE_UNSUPPORTED,            ///< legal, but not on this device or rung
  not_found = TRINE_NOT_FOUND,                ///< no such device, backend, rung or parameter
  out_of_memory = TRINE_OUT_OF_MEMORY,
  backend_error = TRINE_BACKEND_ERROR,  ///< the driver's words are in what()
  device_lost = TRINE_DEVICE_LOST,      ///< sticky: every later call on the device says so
  internal = TRINE_INTERNAL
};

/// The one exception Trine throws. what() is a sentence: what, where, why, what to do.
class TRINE_API Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& sentence);
  ~Error() override;
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// Element types. b8 … b128 are plain bits, for transpose and copies. f16 and bf16
/// are reserved: no backend computes with them.
enum class Dtype : uint32_t {
  f32 = TRINE_F32,
  f64 = TRINE_F64,
  i32 = TRINE_I32,
  i64 = TRINE_I64,
  u32 = TRINE_U32,
  u64 = TRINE_U64,
  f16 = TRINE_F16,
  bf16 = TRINE_BF16,
  b8 = TRINE_B8,
  b16 = TRINE_B16,
  b32 = TRINE_B32,
  b64 = TRINE_B64,
  b128 = TRINE_B128
};

enum class Operation : uint32_t {
  reduce = TRINE_REDUCE,
  transpose = TRINE_TRANSPOSE,
  gemm = TRINE_GEMM
};
enum class Function : uint32_t {
  sum = TRINE_SUM,
  prod = TRINE_PROD,
  min = TRINE_MIN,
  max = TRINE_MAX,
  argmin = TRINE_ARGMIN,
  argmax = TRINE_ARGMAX
};
enum class Map : uint32_t { identity = TRINE_IDENTITY, abs = TRINE_ABS, square = TRINE_SQUARE };
enum class Axis : uint32_t {
  all = TRINE_ALL,
  each_row = TRINE_EACH_ROW,
  each_column = TRINE_EACH_COLUMN
};

/// What is promised of the bits. A program asks for `reproducible` (the default: the result depends
/// on the input alone, on every backend) or `fast`; rungs may also be `study` or `vendor`.
enum class Numerics : uint32_t {
  reproducible = TRINE_REPRODUCIBLE,
  fast = TRINE_FAST,
  study = TRINE_STUDY,
  vendor = TRINE_VENDOR
};

/// Names as they are written on the command line and in JSON: "f32", "sum", "each_row", …
TRINE_API std::string_view name(Status) noexcept;
TRINE_API std::string_view name(Dtype) noexcept;
TRINE_API std::string_view name(Operation) noexcept;
TRINE_API std::string_view name(Function) noexcept;
TRINE_API std::string_view name(Map) noexcept;
TRINE_API std::string_view name(Axis) noexcept;
TRINE_API std::string_view name(Numerics) noexcept;

/// The reverse of name(). Throws Error (not_found) that lists the legal words.
TRINE_API Dtype parse_dtype(std::string_view);
TRINE_API Operation parse_operation(std::string_view);
TRINE_API Function parse_function(std::string_view);
TRINE_API Map parse_map(std::string_view);
TRINE_API Axis parse_axis(std::string_view);

/// Bytes of one element.
constexpr uint32_t size_of(Dtype dtype) noexcept {
  return trine_dtype_size(static_cast<uint32_t>(dtype));
}

/// The dtype of reduce's results: see trine_reduce in <trine/ops.h>.
TRINE_API Dtype result_dtype(Function, Map, Dtype) noexcept;

/// The dtype of a C++ arithmetic type; undefined for others.
template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr Dtype value = Dtype::f32;
};
template <>
struct DtypeOf<double> {
  static constexpr Dtype value = Dtype::f64;
};
namespace detail {
template <class T, class... Of>
concept is_one_of = (std::same_as<T, Of> || ...);
}
/// int, long, long long and their unsigned kinds, by size.
template <class T>
requires detail::is_one_of<T, int, long, long long, unsigned, unsigned long, unsigned long long>
struct DtypeOf<T> {
  static constexpr Dtype value = sizeof(T) == 4 ? (std::is_signed_v<T> ? Dtype::i32 : Dtype::u32)
                                                : (std::is_signed_v<T> ? Dtype::i64 : Dtype::u64);
};
template <class T>
inline constexpr Dtype dtype_of = DtypeOf<T>::value;

}  // namespace trine
