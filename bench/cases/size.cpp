
#include <fmt/format.h>
#include <trine/fitting.hpp>

#include <bit>
#include <charconv>
#include <vector>

#include "bench/ui/error.hpp"
#include "operations.hpp"
#include "problem.hpp"

namespace trine::bench {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view why,
                         std::string_view forms = "N, RxC (for gemm MxNxK)") {
  constexpr std::string_view kWritten = "X*Kmg", kMeant = "xxkMG";
  std::string meant(text);
  for (char& c : meant)
    if (const size_t at = kWritten.find(c); at != kWritten.npos) c = kMeant[at];
  throw Refusal(fmt::format("size '{}': {}; write {}, with k, M, G or 2^k.{}", text, why, forms,
                            meant == text ? "" : fmt::format(" Did you mean '{}'?", meant)));
}

int64_t digits(std::string_view whole, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) refuse(whole, "too large for 64 bits");
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    refuse(whole, "not a number");
  return value;
}

int64_t factor(std::string_view whole, std::string_view text) {
  if (text.empty()) refuse(whole, "an empty factor");
  if (text.starts_with("2^")) {
    const int64_t power = digits(whole, text.substr(2));
    if (power > 62) refuse(whole, "too large for 64 bits");
    return int64_t{1} << power;
  }
  int shift = 0;
  switch (text.back()) {
    case 'k': shift = 10; break;
    case 'M': shift = 20; break;
    case 'G': shift = 30; break;
    default: break;
  }
  const int64_t value = digits(whole, shift != 0 ? text.substr(0, text.size() - 1) : text);
  if (value > (INT64_MAX >> shift)) refuse(whole, "too large for 64 bits");
  return value << shift;
}

void check_product(std::string_view text, int64_t a, int64_t b) {
  // 16 bytes is the largest element: its byte count must fit as well.
  if (!(detail::Fitting<int64_t>(16) * a * b).fits())
    refuse(text, "more bytes than 63 bits can count");
}

std::string short_number(int64_t value) {
  if (value >= 1024 && std::has_single_bit(static_cast<uint64_t>(value)))
    return fmt::format("2^{}", std::countr_zero(static_cast<uint64_t>(value)));
  return fmt::format("{}", value);
}

}  // namespace

Size parse_size(Operation operation, std::string_view text) {
  std::vector<int64_t> factors;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('x', begin), text.size());
    factors.push_back(factor(text, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  const Description& description = describe(operation);
  const size_t most = description.factors;
  if (factors.size() != 1 && factors.size() != most)
    refuse(text, fmt::format("{} factors don't fit {}", factors.size(), name(operation)),
           most == 3 ? "N or MxNxK" : "N or RxC");
  factors.resize(3, description.is_vector ? 1 : factors[0]);
  const Size size{factors[0], factors[1], most == 3 ? factors[2] : 0};
  check_product(text, size.rows, size.cols);
  check_product(text, size.rows, size.depth);
  check_product(text, size.depth, size.cols);
  return size;
}

std::string to_string(Operation operation, const Size& size) {
  const Description& description = describe(operation);
  if (description.is_vector && size.cols == 1) return short_number(size.rows);
  std::string text = fmt::format("{}x{}", size.rows, size.cols);
  if (description.factors == 3) text += fmt::format("x{}", size.depth);
  return text;
}

}  // namespace trine::bench
