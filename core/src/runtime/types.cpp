// Converts values of the API to words and back; the exception that has a sentence.
#include <trine/lists.h>
#include <trine/version.h>
#include <trine/types.hpp>

#include <algorithm>
#include <span>

#include "error.hpp"

namespace trine {
namespace {

// The words of each enumeration. Except for statuses, values count from 1.
using Word = std::string_view;
constexpr Word kStatuses[] = {"ok",          "invalid_argument", "unsupported",
                              "not_found",   "out_of_memory",    "backend_error",
                              "device_lost",
                              "unknown",  // TRINE_NOT_READY is no Status
                              "internal"};
constexpr Word kDtypes[] = {TRINE_DTYPES(TRINE_WORD)};
constexpr Word kOperations[] = {TRINE_OPERATIONS(TRINE_WORD)};
constexpr Word kFunctions[] = {TRINE_FUNCTIONS(TRINE_WORD)};
constexpr Word kMaps[] = {TRINE_MAPS(TRINE_WORD)};
constexpr Word kAxes[] = {TRINE_AXES(TRINE_WORD)};
constexpr Word kNumerics[] = {TRINE_NUMERICS(TRINE_WORD)};

/// Whether a list has the values 1, 2, 3 …, as the words' order needs.
consteval bool counts(std::initializer_list<uint32_t> values) {
  uint32_t expected = 0;
  return std::ranges::all_of(values, [&](uint32_t value) { return value == ++expected; });
}
static_assert(counts({TRINE_DTYPES(TRINE_VALUE)}) && counts({TRINE_OPERATIONS(TRINE_VALUE)}));
static_assert(counts({TRINE_FUNCTIONS(TRINE_VALUE)}) && counts({TRINE_MAPS(TRINE_VALUE)}));
static_assert(counts({TRINE_AXES(TRINE_VALUE)}) && counts({TRINE_NUMERICS(TRINE_VALUE)}));

std::string_view word_of(std::span<const Word> words, auto value, uint32_t first = 1) noexcept {
  const uint32_t index = static_cast<uint32_t>(value) - first;
  return index < words.size() ? words[index] : "unknown";
}

template <class Enum>
Enum value_of(std::span<const Word> words, const char* what, std::string_view text) {
  const auto found = std::ranges::find(words, text);
  if (found != words.end()) return static_cast<Enum>(found - words.begin() + 1);
  detail::entry([&] {
    detail::fail(Status::not_found, "No ", what, " is called '", text, "'.",
                 detail::suggest(text, words), " There are: ", detail::join(words), ".");
  });
  return {};
}

}  // namespace

namespace detail {
namespace {
/// Made as the library is loaded, since making it takes memory; copying doesn't. Never destroyed.
const Error& without_memory = *new Error(Status::out_of_memory, "Host memory is exhausted.");
}  // namespace

void fail_without_memory() { throw Error(without_memory); }
}  // namespace detail

Error::Error(Status status, const std::string& sentence)
    : std::runtime_error(sentence), status_(status) {}
Error::~Error() = default;

std::string_view name(Status value) noexcept { return word_of(kStatuses, value, 0); }
std::string_view name(Dtype value) noexcept { return word_of(kDtypes, value); }
std::string_view name(Operation value) noexcept { return word_of(kOperations, value); }
std::string_view name(Function value) noexcept { return word_of(kFunctions, value); }
std::string_view name(Map value) noexcept { return word_of(kMaps, value); }
std::string_view name(Axis value) noexcept { return word_of(kAxes, value); }
std::string_view name(Numerics value) noexcept { return word_of(kNumerics, value); }

Dtype parse_dtype(std::string_view text) { return value_of<Dtype>(kDtypes, "dtype", text); }
Operation parse_operation(std::string_view text) {
  return value_of<Operation>(kOperations, "operation", text);
}
Function parse_function(std::string_view text) {
  return value_of<Function>(kFunctions, "function", text);
}
Map parse_map(std::string_view text) { return value_of<Map>(kMaps, "map", text); }
Axis parse_axis(std::string_view text) { return value_of<Axis>(kAxes, "axis", text); }
Numerics parse_numerics(std::string_view text) {
  return value_of<Numerics>(kNumerics, "numerics", text);
}

Dtype result_dtype(Function function, Map map, Dtype dtype) noexcept {
  const bool is_float = dtype == Dtype::f32 || dtype == Dtype::f64;
  const bool is_signed = dtype == Dtype::i32 || dtype == Dtype::i64;
  switch (function) {
    case Function::argmin:
    case Function::argmax: return Dtype::i64;
    case Function::sum:
    case Function::prod: return is_float ? dtype : is_signed ? Dtype::i64 : Dtype::u64;
    default: break;
  }
  if (map != Map::abs || !is_signed) return dtype;
  return dtype == Dtype::i32 ? Dtype::u32 : Dtype::u64;
}

const char* version() noexcept { return TRINE_VERSION_STRING; }

std::string detail::time_text(double seconds) {
  const auto in = [seconds](double units, const char* unit) {
    return cat(kit::number_text(seconds * units, std::chars_format::general, 3), " ", unit);
  };
  return seconds < 1e-3 ? in(1e6, "µs") : seconds < 1 ? in(1e3, "ms") : in(1, "s");
}

}  // namespace trine
