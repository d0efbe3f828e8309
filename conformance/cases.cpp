// Naming cases and putting the operations' lists together.
#include "case.hpp"

#include <unordered_map>

#include "oracle/bits.hpp"

namespace trine::conformance {
namespace {

/// FNV-1a: a seed that stays with the name when the list around it changes.
uint64_t seed_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ uint8_t(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

namespace detail {

Case& List::add(const oracle::Operation& plan, const std::string& layout, oracle::Values values,
                const Options& options) {
  Case c;
  static_cast<Options&>(c) = options;
  c.plan = plan;
  c.values = values;
  c.layout = layout;
  c.dtype = oracle::dtype_name(oracle::operands(c.plan).front().dtype);
  if (const auto* r = std::get_if<trine_reduce>(&plan)) c.layout = oracle::axis_name(r->axis);
  c.name = oracle::title(plan) + " " + layout + " " + oracle::name_of(values);
  if (!options.detail.empty()) c.name += " " + options.detail;
  c.seed = seed_of(c.name);
  // FTZ and rounding must change nothing, so the values are those of the case without them.
  if (options.hostile_environment) c.name += " hostile";
  return cases_.emplace_back(std::move(c));
}

}  // namespace detail

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    detail::List list;
#define TRINE_ADD_CASES(VALUE, word, ...) detail::add_##word##_cases(list);
    TRINE_OPERATIONS(TRINE_ADD_CASES)
#undef TRINE_ADD_CASES
    std::vector<Case> all = list.take(), unique;
    // Lists overlap (a size that is also a layout): the first list that names a case keeps it, and
    // the case does what any list asks of it.
    std::unordered_map<std::string, size_t> seen;
    for (Case& c : all) {
      const auto [at, fresh] = seen.emplace(c.name, unique.size());
      if (fresh) {
        unique.push_back(std::move(c));
        continue;
      }
      Case& first = unique[at->second];
      if (c.rungs == Rungs::kLadder) first.rungs = Rungs::kLadder;
      first.quick |= c.quick;
      first.fast |= c.fast;
      first.parameters |= c.parameters;
    }
    return unique;
  }();
  return cases;
}

}  // namespace trine::conformance
