// The CPU's ladders in the contract's words: rows with their parameters spelled out, and a rung's
// functions called with a selection's values.
#pragma once

#include <array>
#include <cstdio>
#include <span>

#include "backends/abi.h"
#include "rung.hpp"

namespace trine::cpu {

// The contract's rows of one operation, written once from the folder's table.
template <class Operation>
class Ladder {
 public:
  static constexpr int kRungs = 12, kParameters = 4, kValues = 8;

  explicit Ladder(std::span<const Rung<Operation>> rungs) : rungs_(rungs) {
    for (std::size_t r = 0; r < rungs.size() && r < kRungs; ++r) {
      const Rung<Operation>& rung = rungs[r];
      rows_[r] = {sizeof(trine_rung),
                  static_cast<std::uint32_t>(rung.numerics),
                  rung.name,
                  rung.summary,
                  nullptr,
                  parameters_[r].data(),
                  static_cast<std::int32_t>(rung.parameters.size()),
                  sizeof(trine_parameter)};
      for (std::size_t p = 0; p < rung.parameters.size(); ++p) spell(r, p, rung.parameters[p]);
    }
  }

  const trine_rung* rows(std::int32_t* count, std::uint32_t* stride) const {
    *count = static_cast<std::int32_t>(rungs_.size());
    *stride = sizeof(trine_rung);
    return rows_.data();
  }

  const Rung<Operation>& at(const trine_selection& selection) const {
    return rungs_[static_cast<std::size_t>(selection.rung)];
  }

  std::array<std::int64_t, kParameters> values(const trine_selection& selection) const {
    std::array<std::int64_t, kParameters> result{};
    const auto& parameters = at(selection).parameters;
    for (std::size_t p = 0; p < parameters.size(); ++p)
      result[p] = parameters[p].values[static_cast<std::size_t>(selection.values[p])];
    return result;
  }

  // The last reproducible row that takes the operation: ladders end with their best.
  bool choose(const Operation& operation, trine_selection& selection) const {
    for (std::size_t r = rungs_.size(); r-- > 0;) {
      if (rungs_[r].numerics != TRINE_REPRODUCIBLE) continue;
      trine_selection candidate{};
      candidate.size = sizeof candidate;
      candidate.rung = static_cast<std::int32_t>(r);
      candidate.why = rungs_[r].summary;
      if (rungs_[r].refuses && rungs_[r].refuses(operation, values(candidate).data())) continue;
      selection = candidate;
      return true;
    }
    return false;
  }

 private:
  void spell(std::size_t r, std::size_t p, const Parameter& parameter) {
    for (std::size_t v = 0; v < parameter.values.size(); ++v) {
      char* word = words_[r][p][v].data();
      std::snprintf(word, words_[r][p][v].size(), "%lld",
                    static_cast<long long>(parameter.values[v]));
      values_[r][p][v] = word;
    }
    parameters_[r][p] = {sizeof(trine_parameter),
                         static_cast<std::int32_t>(parameter.values.size()), 0, parameter.name,
                         values_[r][p].data()};
  }

  template <class T>
  using PerParameter = std::array<std::array<T, kParameters>, kRungs>;

  std::span<const Rung<Operation>> rungs_;
  std::array<trine_rung, kRungs> rows_{};
  PerParameter<trine_parameter> parameters_{};
  PerParameter<std::array<const char*, kValues>> values_{};
  PerParameter<std::array<std::array<char, 24>, kValues>> words_{};
};

}  // namespace trine::cpu
