// Laying out, poisoning, filling and judging a case's memory.
#include "arena.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "oracle/bits.hpp"

namespace trine::conformance {
namespace {

constexpr uint64_t kGuard =
    256;  // before and after each operand; also the border offsets count from
constexpr char kNan = char(0xff);   // around floating-point inputs: reading it shows
constexpr char kMark = char(0xa5);  // around everything else: writing it shows

uint64_t rounded(uint64_t bytes) { return (bytes + kGuard - 1) / kGuard * kGuard; }

bool is_float(uint32_t dtype) { return dtype == TRINE_F32 || dtype == TRINE_F64; }

bool ignores_inputs(const oracle::Operation& op) {
  const auto* g = std::get_if<trine_gemm>(&op);
  return g != nullptr && oracle::scalar_value(g->dtype, g->alpha) == 0;
}

/// Copies the output's elements, and nothing between them.
void copy_elements(const oracle::Operand& from, char* to_image) {
  const trine_view& v = *from.view;
  const int64_t size = trine_dtype_size(from.dtype);
  for (int64_t b = 0; b < v.batch; ++b)
    for (int64_t i = 0; i < v.rows; ++i)
      for (int64_t j = 0; j < v.cols; ++j) {
        const int64_t at = oracle::element_offset(v, size, b, i, j);
        std::memcpy(to_image + at, oracle::origin(v) + at, size_t(size));
      }
}

}  // namespace

Arenas::Arenas(const Case& c) : plan_(c.plan) {
  lay_out(c);
  poison(c);
  initial_ = pointing_into(before_);
  if (!ignores_inputs(initial_)) {
    oracle::fill(initial_, c.values, c.seed);
  } else {
    // A and B are never read: they stay poison. C may be.
    const oracle::Operand output = oracle::output_of(initial_);
    if (output.read) oracle::fill({c.values, c.seed, TRINE_EACH_ROW}, output.dtype, *output.view);
  }
  const oracle::Operand output = oracle::output_of(initial_);
  if (std::holds_alternative<trine_gemm>(plan_) && !output.read) {
    // C is only written: NaN stands there, so that reading it shows.
    std::vector<char> nan(trine_dtype_size(output.dtype), kNan);
    for (int64_t b = 0; b < output.view->batch; ++b)
      for (int64_t i = 0; i < output.view->rows; ++i)
        for (int64_t j = 0; j < output.view->cols; ++j)
          std::memcpy(oracle::origin(*output.view) +
                          oracle::element_offset(*output.view, int64_t(nan.size()), b, i, j),
                      nan.data(), nan.size());
  }
  after_ = before_;
  expected_ = pointing_into(after_);
  oracle::reference(expected_);
}

/// Half of the cases keep all operands in one buffer, the other half the output in its own.
void Arenas::lay_out(const Case& c) {
  if (c.tight) return lay_out_tight();
  const bool one_buffer = (c.seed & 1) != 0;
  std::vector<uint64_t> sizes(one_buffer ? 1 : 2, 0);
  for (const oracle::Operand& o : oracle::operands(plan_)) {
    const size_t arena = o.written && !one_buffer ? 1 : 0;
    const uint64_t origin = sizes[arena] + kGuard + o.view->offset;
    places_.push_back({arena, origin});
    sizes[arena] = rounded(origin + oracle::extent_bytes(*o.view, o.dtype)) + kGuard;
  }
  for (const uint64_t size : sizes) before_.emplace_back(size, kMark);
}

/// Each operand has memory of its own, which begins and ends with it.
void Arenas::lay_out_tight() {
  for (const oracle::Operand& o : oracle::operands(plan_)) {
    places_.push_back({before_.size(), o.view->offset});
    before_.emplace_back(o.view->offset + oracle::extent_bytes(*o.view, o.dtype),
                         !o.written && is_float(o.dtype) ? kNan : kMark);
  }
}

void Arenas::poison(const Case& c) {
  if (c.tight) return;
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(plan_)) {
    const Place at = places_[index++];
    if (o.written || !is_float(o.dtype)) continue;
    char* image = before_[at.arena].data();
    const uint64_t begin = at.offset - o.view->offset - kGuard;
    const uint64_t end = rounded(at.offset + oracle::extent_bytes(*o.view, o.dtype)) + kGuard;
    std::memset(image + begin, kNan, end - begin);
  }
}

oracle::Operation Arenas::pointing_into(std::vector<std::vector<char>>& images) const {
  oracle::Operation op = plan_;
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(op)) {
    const Place at = places_[index++];
    o.view->memory = images[at.arena].data();
    o.view->offset = at.offset;
  }
  return op;
}

uint64_t Arenas::digest() const {
  oracle::Operation copy = expected_;
  const oracle::Operand output = oracle::output_of(copy);
  return oracle::digest(output.dtype, *output.view);
}

std::string Arenas::judge(std::vector<std::vector<char>>& found, uint32_t numerics) const {
  oracle::Operation found_op = pointing_into(found), expected = expected_;
  const oracle::Operand output = oracle::output_of(found_op), right = oracle::output_of(expected);
  const oracle::Difference d = oracle::check(expected_, *output.view, numerics, &initial_);
  if (!d.none()) return d.sentence();

  // After the right elements are put in, every byte must be the expected one.
  copy_elements(right, oracle::origin(*output.view));
  for (size_t a = 0; a < found.size(); ++a) {
    const auto [got, want] = std::mismatch(found[a].begin(), found[a].end(), after_[a].begin());
    if (got == found[a].end()) continue;
    const auto at = uint64_t(got - found[a].begin());
    std::string where;
    size_t index = 0;
    for (const oracle::Operand& o : oracle::operands(expected)) {
      const Place place = places_[index++];
      char text[160];
      std::snprintf(text, sizeof text, "%s %s[%lld of %llu bytes]", where.empty() ? "" : ";",
                    o.name, static_cast<long long>(at) - static_cast<long long>(place.offset),
                    static_cast<unsigned long long>(oracle::extent_bytes(*o.view, o.dtype)));
      if (place.arena == a) where += text;
    }
    return "memory outside the output was written, byte" + where;
  }
  return "";
}

}  // namespace trine::conformance
