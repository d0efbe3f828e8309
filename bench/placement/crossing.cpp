#include "placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/cases/operations.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

constexpr Where kMemories[] = {Where::device, Where::host, Where::host_pinned,
                               Where::host_pipelined};
constexpr const char* kMemoryWords[] = {"resident", "pageable", "pinned", "pipelined"};

const char* memory_word(Where where) {
  return kMemoryWords[std::ranges::find(kMemories, where) - kMemories];
}

std::string kind_text(const Crossing& c) {
  if (describe(c.operation).has_function)
    return fmt::format("reduce {} {}", name(c.function), name(c.dtype));
  return fmt::format("{} {}", name(c.operation), name(c.dtype));
}

/// "4.19e+06", "1025": sizes for people.
std::string count_text(int64_t count) {
  return count < 100000 ? fmt::format("{}", count) : fmt::format("{:.3g}", double(count));
}

std::string cell(const Crossing& c) {
  if (!c.sure) return "no difference";
  if (c.never) return fmt::format("always {}", c.below.id());
  return fmt::format("{} from {} ({} to {})", c.above.id(), count_text(c.size), count_text(c.low),
                     count_text(c.high));
}

std::pair<std::string, std::string> pair_of(const Crossing& c) {
  return std::minmax(c.below.id(), c.above.id());
}

}  // namespace

std::vector<Crossing> all_crossings(const std::vector<Device>& devices) {
  std::vector<Crossing> all;
  for (size_t i = 0; i < devices.size(); ++i)
    for (size_t j = i + 1; j < devices.size(); ++j)
      for (const Problem& kind : calibrated_kinds())
        for (const Where where : kMemories)
          for (Crossing& crossing :
               break_even(kind.operation, kind.function, kind.dtype, where, devices[i], devices[j]))
            all.push_back(std::move(crossing));
  return all;
}

nlohmann::ordered_json to_json(const Crossing& c) {
  const auto size = [&](int64_t value) {
    return c.never ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  return {{"operation", name(c.operation)},
          {"function", describe(c.operation).has_function ? nlohmann::ordered_json(name(c.function))
                                                          : nlohmann::ordered_json()},
          {"dtype", name(c.dtype)},
          {"memory", memory_word(c.where)},
          {"from", c.below.id()},
          {"to", c.above.id()},
          {"size", size(c.size)},
          {"low", size(c.low)},
          {"high", size(c.high)},
          {"never", c.never},
          {"sure", c.sure},
          {"sentence", c.sentence}};
}

void print_crossings(const std::vector<Crossing>& crossings) {
  using Row = std::map<Where, std::string>;
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Crossing& c : crossings)
    if (std::ranges::find(pairs, pair_of(c)) == pairs.end()) pairs.push_back(pair_of(c));
  for (const auto& pair : pairs) {
    std::vector<std::pair<std::string, Row>> rows;  // in the order of their first crossing
    for (const Crossing& c : crossings) {
      if (pair_of(c) != pair) continue;
      if (rows.empty() || rows.back().first != kind_text(c)) rows.push_back({kind_text(c), {}});
      std::string& text = rows.back().second[c.where];
      text += (text.empty() ? "" : ", ") + cell(c);
    }
    // Where both compute in the host's memory, it is the same every time.
    const bool alike = std::ranges::all_of(rows, [](auto& row) {
      return std::ranges::all_of(
          kMemories, [&](Where where) { return row.second[where] == row.second[Where::device]; });
    });
    std::vector<std::vector<std::string>> table{{"faster device"}};
    if (alike)
      table[0].push_back("any memory");
    else
      table[0].insert(table[0].end(), std::begin(kMemoryWords), std::end(kMemoryWords));
    for (auto& [kind, row] : rows) {
      table.push_back({kind});
      for (const Where where : kMemories)
        if (!alike || where == Where::device) table.back().push_back(row[where]);
    }
    say("\n{} and {}, break-even by the caller's clock, from submitting a call to the end of its "
        "wait, in n elements (reduce), of n x n, of n x n x n:",
        pair.first, pair.second);
    print_table(table);
  }
}

}  // namespace trine::bench
