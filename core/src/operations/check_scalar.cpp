// Scalars: numbers that must be exact in their dtype, or elements of device memory.
#include <bit>
#include <cfloat>
#include <cmath>
#include <optional>

#include "backends/kit/bits.hpp"
#include "check.hpp"

namespace trine::detail {
namespace {

/// The f32 of that value, if there is one: by its bits, since the caller's thread may round or
/// flush otherwise.
std::optional<float> exact_f32(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint32_t sign = static_cast<uint32_t>(bits >> 63) << 31;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (kit::is_zero(value)) return std::bit_cast<float>(sign);
  if (exponent == 1024) return static_cast<float>(value);  // an infinity or a NaN
  if (exponent > 127 || exponent < -149) return std::nullopt;
  const bool normal = exponent >= -126;
  const int shift = normal ? 29 : 29 - 126 - exponent;
  const uint64_t significand = normal ? fraction : fraction | uint64_t{1} << 52;
  if (significand & ((uint64_t{1} << shift) - 1)) return std::nullopt;
  const uint32_t biased = normal ? static_cast<uint32_t>(exponent + 127) << 23 : 0;
  return std::bit_cast<float>(sign | biased | static_cast<uint32_t>(significand >> shift));
}

}  // namespace

trine_scalar exact_scalar(double value, Dtype dtype, const Role& role) {
  trine_scalar scalar{};
  bool exact = true;
  if (dtype == Dtype::f64) {
    scalar.f64 = value;
  } else if (dtype == Dtype::f32) {
    const std::optional<float> narrow = exact_f32(value);
    exact = narrow.has_value();
    scalar.f32 = narrow.value_or(0);
  } else {
    exact = value >= INT32_MIN && value <= INT32_MAX && value == std::trunc(value);
    scalar.i32 = exact ? static_cast<int32_t>(value) : 0;
  }
  if (!exact)
    refuse(role.operation, ": ", role.name, " = ",
           kit::number_text(value, std::chars_format::general, 17), " has no exact ", name(dtype),
           " value; ",
           dtype == Dtype::i32         ? "give a whole number from -2147483648 to 2147483647."
           : std::abs(value) > FLT_MAX ? "it lies beyond all f32."
                                       : "round it yourself (0.1f).");
  return scalar;
}

Number::Number(const Scalar& scalar, Dtype dtype, const Role& role, const DeviceState* device,
               Mode mode) {
  if (!scalar.on_device()) {
    number.value = exact_scalar(scalar.number(), dtype, role);
    return;
  }
  const View& element = scalar.element();
  if (element.dtype != dtype || element.rows != 1 || element.cols != 1 || element.batch != 1) {
    refuse(role.operation, ": ", role.name, " is one element of ", name(dtype),
           "; here it is a view of ", element.rows, " x ", element.cols, ", batch ", element.batch,
           ", of ", name(element.dtype), ".");
  }
  placed = check_view(element, size_of(dtype), size_of(dtype), role, device, mode, view);
  number.memory = view.memory;
  number.offset = view.offset;
}

}  // namespace trine::detail
