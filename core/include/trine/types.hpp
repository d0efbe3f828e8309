/// The basic types of the API: element types, operations and their options, statuses, and the
/// exception. Everything else in <trine/*.hpp> is written in these types.
///
/// Every enumeration has the values of the C enumeration in <trine/ops.h>, so that a cast converts
/// one into the other. Thread safety: all functions here may be called from any thread at any time.
#pragma once

#if __cplusplus < 202002L
#error "Trine needs C++20: -std=c++20"
#endif

#include <trine/ops.h>

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// Marks what the library exports. A program that is compiled with -fvisibility=hidden needs the
/// mark too: it catches Error, whose type information lies in the library.
#define TRINE_API __attribute__((visibility("default")))

namespace trine {

/// The reason why a call failed. The same mistake gives the same status on every backend, so a
/// program may branch on it; the sentence in Error::what() is for people and may change.
enum class Status : uint32_t {
  /// Success. An Error never has this status.
  ok = TRINE_OK,
  /// A check refused the arguments before anything was enqueued or written: an empty handle, a
  /// buffer of another device, an extent that is too large, overlapping output, a wrong dtype.
  invalid_argument = TRINE_INVALID_ARGUMENT,
  /// The call is legal, but this device or rung can't do it. The sentence says what is missing.
  unsupported = TRINE_UNSUPPORTED,
  /// No device, backend, rung or parameter has this name. The sentence lists the names that exist.
  not_found = TRINE_NOT_FOUND,
  /// Host or device memory is exhausted, even after all dropped objects were freed.
  out_of_memory = TRINE_OUT_OF_MEMORY,
  /// The driver or the vendor's runtime failed. The sentence contains the driver's own message.
  backend_error = TRINE_BACKEND_ERROR,
  /// The device can't be used any more in this process, because of a driver error that stays or
  /// because it was opened by the process that this one was forked from. Every later call on the
  /// device fails the same way.
  device_lost = TRINE_DEVICE_LOST,
  /// A defect of Trine or of a backend. Please report it with the sentence.
  internal = TRINE_INTERNAL
};

/// The only exception type that Trine throws.
///
/// what() is one or more complete sentences: what failed, on which device, why, and what helps.
/// ```cpp
/// try {
///   trine::Device device = trine::open("cuda:7");
/// } catch (const trine::Error& error) {
///   if (error.status() != trine::Status::not_found) throw;
///   std::cerr << error.what() << "\n";  // No device is called 'cuda:7'. … There are: cpu, …
/// }
/// ```
class TRINE_API Error : public std::runtime_error {
 public:
  /// Makes an error with `sentence` as its what(). Programs seldom need to.
  Error(Status status, const std::string& sentence);
  ~Error() override;
  /// The kind of failure, for programs.
  Status status() const noexcept { return status_; }

 private:
  Status status_;
};

/// The type of an element.
///
/// reduce takes f32, f64, i32, i64, u32 and u64; gemm takes f32, f64 and i32; transpose and copies
/// take all. b8 to b128 are plain bits of that number, for data that is only moved: a struct of two
/// doubles is b128. f16 and bf16 are reserved names: transposes and copies move them as 16 bits,
/// nothing computes with them.
enum class Dtype : uint32_t {
  f32 = TRINE_F32,    ///< float, IEEE binary32
  f64 = TRINE_F64,    ///< double, IEEE binary64
  i32 = TRINE_I32,    ///< int32_t
  i64 = TRINE_I64,    ///< int64_t
  u32 = TRINE_U32,    ///< uint32_t
  u64 = TRINE_U64,    ///< uint64_t
  f16 = TRINE_F16,    ///< reserved, 2 bytes
  bf16 = TRINE_BF16,  ///< reserved, 2 bytes
  b8 = TRINE_B8,      ///< 1 byte
  b16 = TRINE_B16,    ///< 2 bytes
  b32 = TRINE_B32,    ///< 4 bytes
  b64 = TRINE_B64,    ///< 8 bytes
  b128 = TRINE_B128   ///< 16 bytes
};

/// The operations. Each has a struct of the same name in <trine/operations.hpp>.
enum class Operation : uint32_t {
  reduce = TRINE_REDUCE,        ///< Reduce: many elements become one, or one per row or column
  transpose = TRINE_TRANSPOSE,  ///< Transpose: rows become columns
  gemm = TRINE_GEMM             ///< Gemm: the product of two matrices
};

/// The function that reduce computes over the elements. Its exact result, empty input and NaN
/// included, stands at Reduce.
enum class Function : uint32_t {
  sum = TRINE_SUM,        ///< floats: the exact sum, rounded once; integers: modulo 2^64
  prod = TRINE_PROD,      ///< floats: one fixed tree of products; integers: modulo 2^64
  min = TRINE_MIN,        ///< the smallest element; NaN if there is one
  max = TRINE_MAX,        ///< the largest element; NaN if there is one
  argmin = TRINE_ARGMIN,  ///< the lowest index of the smallest element
  argmax = TRINE_ARGMAX   ///< the lowest index of the largest element
};

/// The function that reduce applies to each element first.
enum class Map : uint32_t {
  identity = TRINE_IDENTITY,  ///< x
  abs = TRINE_ABS,            ///< |x|; of i32 and i64 as u32 and u64, so that -2^31 has one
  square = TRINE_SQUARE,      ///< x * x, exact; with Function::sum only
  product = TRINE_PRODUCT     ///< x * y, exact, y of a second input; with Function::sum only
};

/// The elements that reduce combines into one result.
enum class Axis : uint32_t {
  all = TRINE_ALL,                 ///< all elements: 1 result
  each_row = TRINE_EACH_ROW,       ///< the elements of each row: one result per row
  each_column = TRINE_EACH_COLUMN  ///< the elements of each column: one result per column
};

/// The promise about the bits of a result.
///
/// A program asks for `reproducible`, `fast` or `exact` in an operation. `study` and `vendor` mark
/// rungs that run only when they are named.
enum class Numerics : uint32_t {
  /// The default: the result depends on the input alone. All backends, devices, thread counts and
  /// strides give the same bits, those in docs/numerics.md.
  reproducible = TRINE_REPRODUCIBLE,
  /// Any order of the arithmetic, within a tested error bound. A device without a faster rung, or
  /// without the free memory that this takes, runs the reproducible one; Choice says which ran.
  fast = TRINE_FAST,
  /// A historic kernel whose bits depend on its order of summation.
  study = TRINE_STUDY,
  /// A kernel of a vendor's library, with that library's bits.
  vendor = TRINE_VENDOR,
  /// Each element of a gemm of f32 or f64 is the real number alpha a b + beta c, rounded once to
  /// nearest even; its bits, too, depend on the input alone, and on no order. Everything else has
  /// reproducible's bits: sums and products of i32 are exact anyway, transpositions move bits.
  /// Rungs that compute it are `reproducible` themselves, and so is Choice::numerics.
  exact = TRINE_EXACT
};

/// The name of a value as the command line and the JSON write it: "f32", "sum", "each_row".
/// Returns a string of static storage; "unknown" for a value outside the enumeration.
TRINE_API std::string_view name(Status) noexcept;
TRINE_API std::string_view name(Dtype) noexcept;
TRINE_API std::string_view name(Operation) noexcept;
TRINE_API std::string_view name(Function) noexcept;
TRINE_API std::string_view name(Map) noexcept;
TRINE_API std::string_view name(Axis) noexcept;
TRINE_API std::string_view name(Numerics) noexcept;

/// The value with this name, the reverse of name().
/// Throws Error (not_found) for another word, with the list of the legal ones.
/// ```cpp
/// trine::Dtype dtype = trine::parse_dtype("f64");
/// std::cout << trine::name(dtype) << " has " << trine::size_of(dtype) << " bytes\n";
/// ```
TRINE_API Dtype parse_dtype(std::string_view);
TRINE_API Operation parse_operation(std::string_view);
TRINE_API Function parse_function(std::string_view);
TRINE_API Map parse_map(std::string_view);
TRINE_API Axis parse_axis(std::string_view);
TRINE_API Numerics parse_numerics(std::string_view);

/// The size of one element in bytes: 1, 2, 4, 8 or 16; 0 for a value that is no dtype.
constexpr uint32_t size_of(Dtype dtype) noexcept {
  return trine_dtype_size(static_cast<uint32_t>(dtype));
}

/// The dtype of reduce's results for this function, map and input dtype.
///
/// sum and prod keep f32 and f64; they widen i32 and i64 to i64, u32 and u64 to u64. min and max
/// keep the dtype; with Map::abs, i32 becomes u32 and i64 becomes u64. argmin and argmax give i64.
/// ```cpp
/// auto dtype = trine::result_dtype(trine::Function::sum, trine::Map::identity, trine::Dtype::i32);
/// std::cout << trine::name(dtype) << "\n";  // i64
/// ```
TRINE_API Dtype result_dtype(Function, Map, Dtype) noexcept;

/// The dtype of a C++ type: float, double, and the integers of 32 and 64 bits (int, long, long
/// long and their unsigned kinds, by size). Other types have no `value` and fail to compile.
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
template <class T>
requires detail::is_one_of<T, int, long, long long, unsigned, unsigned long, unsigned long long>
struct DtypeOf<T> {
  static constexpr Dtype value = sizeof(T) == 4 ? (std::is_signed_v<T> ? Dtype::i32 : Dtype::u32)
                                                : (std::is_signed_v<T> ? Dtype::i64 : Dtype::u64);
};
/// The short form of DtypeOf<T>::value: dtype_of<double> is Dtype::f64.
template <class T>
inline constexpr Dtype dtype_of = DtypeOf<T>::value;

}  // namespace trine
