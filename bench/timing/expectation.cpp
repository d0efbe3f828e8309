#include "expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "bench/cases/operations.hpp"

namespace trine::bench {
namespace {

constexpr double kFullCheckSteps = 1073741824;  // 2^30 fused steps: seconds for the oracle
constexpr int64_t kSampleCount = 4096;

/// Classes with structure along a line (cancelling, ties …) hold for one window only.
bool has_lines(oracle::Values values) {
  return values != oracle::Values::kUniform && values != oracle::Values::kWide &&
         values != oracle::Values::kMixed;
}

std::vector<std::byte> filled(const oracle::Operand& operand, uint64_t bytes, uint64_t slack,
                              const oracle::Fill& how) {
  std::vector<std::byte> data(bytes + slack);
  trine_view view = *operand.view;
  view.memory = data.data();
  oracle::fill(how, operand.dtype, view);
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): only unknown dtypes have no size
  const auto rest = int64_t(slack / trine_dtype_size(operand.dtype));
  if (rest != 0)
    oracle::fill_line({how.values, how.seed + 100, TRINE_ALL}, operand.dtype, rest,
                      data.data() + bytes);
  return data;
}

/// One element more, that of the middle: what lies one element further on is other data of the same
/// kind then, whose sum differs too.
std::vector<std::byte> extended(std::vector<std::byte> data, uint64_t element) {
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): the same
  const uint64_t bytes = data.size(), middle = bytes / element / 2 * element;
  data.resize(bytes + element);
  if (bytes != 0) std::copy_n(data.data() + middle, element, data.data() + bytes);
  return data;
}

}  // namespace

Expectation::Expectation(const Problem& problem, uint64_t seed,
                         std::vector<std::vector<std::byte>> given)
    : problem_(problem) {
  oracle::Operation op = plan(problem);
  const std::vector<oracle::Operand> operands = oracle::operands(op);
  const std::vector<uint64_t> bytes = operand_bytes(problem);
  const oracle::Values values = oracle::values_named(problem.values);
  windows_ = given.empty() && !has_lines(values) ? kWindows : 1;
  shift_ = given.empty() ? kShift : size_of(problem.dtype);
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    input_bytes_.push_back(bytes[i]);
    if (given.empty()) {
      inputs_.push_back(filled(operands[i], bytes[i], uint64_t(windows_) * kShift,
                               {values, seed + i, uint32_t(problem.axis)}));
    } else {
      inputs_.push_back(extended(std::move(given[i]), shift_));
    }
  }
  output_bytes_ = bytes.back();
  sampled_ = oracle::flops(op) / 2 > kFullCheckSteps;
  expected_.resize(size_t(windows_) + 1);
}

const std::byte* Expectation::data_of(int w, size_t operand) const {
  return inputs_[operand].data() + uint64_t(w) * shift_;
}

std::vector<std::span<const std::byte>> Expectation::inputs() const {
  std::vector<std::span<const std::byte>> all;
  for (size_t i = 0; i < inputs_.size(); ++i)
    all.emplace_back(inputs_[i].data(), input_bytes_[i] + uint64_t(windows_ - 1) * kShift);
  return all;
}

bool Expectation::samples(int w) const {
  return sampled_ || (w == windows_ && rated_by_flops(problem_));
}

oracle::Operation Expectation::operation(int w, void* output) {
  std::vector<void*> data;
  for (size_t i = 0; i < inputs_.size(); ++i) data.push_back(const_cast<std::byte*>(data_of(w, i)));
  data.push_back(output);
  return host_operation(problem_, data);
}

void Expectation::prepare(int w) {
  std::vector<std::byte>& expected = expected_[size_t(w)];
  if (!expected.empty() || output_bytes_ == 0) return;
  show_("computing the reference");
  if (!samples(w)) {
    expected.resize(output_bytes_);
    oracle::reference(operation(w, expected.data()));
    return;
  }
  const oracle::Operation op = operation(w, nullptr);  // where C would be: beta is 0
  const auto& gemm = std::get<trine_gemm>(op);
  if (positions_.empty())
    positions_ = oracle::sample_positions(gemm.c, kSampleCount, std::random_device{}());
  expected.resize(positions_.size() * trine_dtype_size(gemm.dtype));
  oracle::reference_at(gemm, positions_, expected.data());
}

std::string Expectation::check(int w, const void* output, Numerics numerics) {
  if (output_bytes_ == 0) return {};
  prepare(w);
  show_("verifying");
  std::string wrong =
      samples(w) ? check_sampled(w, output, numerics) : check_all(w, output, numerics);
  show_("measuring");
  return wrong;
}

std::string Expectation::check_all(int w, const void* output, Numerics numerics) {
  oracle::Operation want = operation(w, expected_[size_t(w)].data());
  oracle::Operation got = operation(w, const_cast<void*>(output));
  const trine_view& output_view = *oracle::output_of(got).view;
  // A vendor's transpose multiplies by one, which quiets a signalling NaN.
  const bool quiets = numerics == Numerics::vendor && describe(problem_.operation).moves_bits;
  const oracle::Difference difference =
      quiets ? oracle::compare(uint32_t(problem_.dtype), *oracle::output_of(want).view, output_view)
             : oracle::check(want, output_view, bounds(w, numerics));
  return difference.none() ? std::string() : difference.sentence();
}

const std::vector<double>& Expectation::bounds(int w, Numerics numerics) {
  const auto [at, is_new] = bounds_.try_emplace({w, numerics});
  if (!is_new) return at->second;
  const oracle::Operation op = operation(w, expected_[size_t(w)].data());
  if (!samples(w)) {
    at->second = oracle::error_bounds(op, uint32_t(numerics));
  } else if (problem_.dtype != Dtype::i32 && numerics != Numerics::reproducible) {
    const auto& gemm = std::get<trine_gemm>(op);
    at->second = oracle::error_bounds_at(gemm, positions_,
                                         oracle::exactness_of(gemm.dtype, uint32_t(numerics)));
  }
  return at->second;
}

std::string Expectation::check_changed(uint64_t at, const void* output, Numerics numerics) {
  const uint64_t size = size_of(problem_.dtype);
  // The data is changed for as long as this takes, and nothing that is kept of it holds meanwhile.
  auto* const element = const_cast<std::byte*>(data_of(windows_, 0)) + at * size;
  const std::vector<std::byte> before(element, element + size);
  auto expected = std::exchange(expected_[size_t(windows_)], {});
  auto bounds = std::exchange(bounds_, {});
  auto digests = std::exchange(digests_, {});
  std::copy_n(element + size, size, element);
  std::string wrong = check(windows_, output, numerics);
  std::copy_n(before.data(), size, element);
  expected_[size_t(windows_)] = std::move(expected);
  bounds_ = std::move(bounds);
  digests_ = std::move(digests);
  return wrong;
}

std::string Expectation::check_sampled(int w, const void* output, Numerics numerics) {
  const oracle::Operation op = operation(w, const_cast<void*>(output));
  const auto& gemm = std::get<trine_gemm>(op);
  const auto count = int64_t(positions_.size());
  const int64_t size = trine_dtype_size(gemm.dtype);
  std::vector<std::byte> taken(expected_[size_t(w)].size());
  for (int64_t i = 0; i < count; ++i) {
    const auto [batch, row, col] = positions_[size_t(i)];
    const int64_t at =
        batch * gemm.c.batch_stride + row * gemm.c.row_stride + col * gemm.c.col_stride;
    std::copy_n(static_cast<const std::byte*>(output) + at * size, size, taken.data() + i * size);
  }
  const std::vector<double>& within = bounds(w, numerics);
  const trine_view got{taken.data(), 0, count, 1, 1, 1, 1, 0};
  const trine_view want{expected_[size_t(w)].data(), 0, count, 1, 1, 1, 1, 0};
  const oracle::Difference difference = within.empty()
                                            ? oracle::compare(gemm.dtype, want, got)
                                            : oracle::compare_within(gemm.dtype, want, got, within);
  if (!difference.none()) {
    const oracle::Position& first = positions_[size_t(difference.row)];
    return fmt::format("of {} sampled elements {}; the first is ({}, {})", count,
                       difference.sentence(), first.row, first.col);
  }
  if (!within.empty()) return {};
  const uint64_t found = digest(output);
  const uint64_t first = digests_.try_emplace(w, found).first->second;
  if (found == first) return {};
  return fmt::format("other bits than an output before, outside of {} sampled elements", count);
}

uint64_t Expectation::digest(const void* output) const {
  oracle::Operation op = plan(problem_);
  const oracle::Operand result = oracle::output_of(op);
  result.view->memory = const_cast<void*>(output);
  return oracle::digest(result.dtype, *result.view);
}

}  // namespace trine::bench
