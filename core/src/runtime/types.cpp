// The words of the API, there and back, and the exception that carries a sentence.
#include <trine/version.h>
#include <trine/types.hpp>

#include <array>
#include <cstdio>
#include <span>

#include "error.hpp"

namespace trine {
namespace {

template <class Enum>
struct Word {
  Enum value;
  std::string_view text;
};

constexpr Word<Status> kStatuses[] = {{Status::ok, "ok"},
                                      {Status::invalid_argument, "invalid_argument"},
                                      {Status::unsupported, "unsupported"},
                                      {Status::not_found, "not_found"},
                                      {Status::out_of_memory, "out_of_memory"},
                                      {Status::backend_error, "backend_error"},
                                      {Status::device_lost, "device_lost"},
                                      {Status::internal, "internal"}};
constexpr Word<Dtype> kDtypes[] = {{Dtype::f32, "f32"},  {Dtype::f64, "f64"},   {Dtype::i32, "i32"},
                                   {Dtype::i64, "i64"},  {Dtype::u32, "u32"},   {Dtype::u64, "u64"},
                                   {Dtype::f16, "f16"},  {Dtype::bf16, "bf16"}, {Dtype::b8, "b8"},
                                   {Dtype::b16, "b16"},  {Dtype::b32, "b32"},   {Dtype::b64, "b64"},
                                   {Dtype::b128, "b128"}};
constexpr Word<Operation> kOperations[] = {
    {Operation::reduce, "reduce"}, {Operation::transpose, "transpose"}, {Operation::gemm, "gemm"}};
constexpr Word<Function> kFunctions[] = {
    {Function::sum, "sum"}, {Function::prod, "prod"},     {Function::min, "min"},
    {Function::max, "max"}, {Function::argmin, "argmin"}, {Function::argmax, "argmax"}};
constexpr Word<Map> kMaps[] = {{Map::identity, "identity"},
                               {Map::abs, "abs"},
                               {Map::square, "square"},
                               {Map::product, "product"}};
constexpr Word<Axis> kAxes[] = {
    {Axis::all, "all"}, {Axis::each_row, "each_row"}, {Axis::each_column, "each_column"}};
constexpr Word<Numerics> kNumerics[] = {{Numerics::reproducible, "reproducible"},
                                        {Numerics::fast, "fast"},
                                        {Numerics::study, "study"},
                                        {Numerics::vendor, "vendor"}};

template <class Enum, std::size_t count>
std::string_view word_of(const Word<Enum> (&words)[count], Enum value) noexcept {
  for (const Word<Enum>& word : words) {
    if (word.value == value) return word.text;
  }
  return "unknown";
}

template <class Enum, std::size_t count>
Enum value_of(const Word<Enum> (&words)[count], const char* what, std::string_view text) {
  std::array<std::string_view, count> texts;
  for (std::size_t i = 0; i < count; ++i) {
    if (words[i].text == text) return words[i].value;
    texts[i] = words[i].text;
  }
  detail::fail(Status::not_found, "No ", what, " is called '", text, "'.",
               detail::suggest(text, texts), " There are: ", detail::join(texts), ".");
}

}  // namespace

Error::Error(Status status, const std::string& sentence)
    : std::runtime_error(sentence), status_(status) {}
Error::~Error() = default;

std::string_view name(Status value) noexcept { return word_of(kStatuses, value); }
std::string_view name(Dtype value) noexcept { return word_of(kDtypes, value); }
std::string_view name(Operation value) noexcept { return word_of(kOperations, value); }
std::string_view name(Function value) noexcept { return word_of(kFunctions, value); }
std::string_view name(Map value) noexcept { return word_of(kMaps, value); }
std::string_view name(Axis value) noexcept { return word_of(kAxes, value); }
std::string_view name(Numerics value) noexcept { return word_of(kNumerics, value); }

Dtype parse_dtype(std::string_view text) { return value_of(kDtypes, "dtype", text); }
Operation parse_operation(std::string_view text) {
  return value_of(kOperations, "operation", text);
}
Function parse_function(std::string_view text) { return value_of(kFunctions, "function", text); }
Map parse_map(std::string_view text) { return value_of(kMaps, "map", text); }
Axis parse_axis(std::string_view text) { return value_of(kAxes, "axis", text); }

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
    char text[48];
    std::snprintf(text, sizeof text, "%.3g %s", seconds * units, unit);
    return std::string(text);
  };
  return seconds < 1e-3 ? in(1e6, "us") : seconds < 1 ? in(1e3, "ms") : in(1, "s");
}

}  // namespace trine
