// CUDA architectures as CMake lists them ("80,90a-real"): which of them a variant is compiled for.
// "80" is code and PTX, "90a-real" code alone, "80-virtual" PTX alone. What needs 90a runs on 90a
// alone; PTX of 80 runs on all that came after.
#pragma once

#include <algorithm>
#include <string_view>

namespace trine::gpu {

struct Architecture {
  int number = 0;         ///< 90
  bool specific = false;  ///< the "a" of 90a
  bool code = false, ptx = false;

  bool runs_on(int device) const {
    if (specific) return code && number == device;
    return (code && number / 10 == device / 10 && number <= device) || (ptx && number <= device);
  }
};

inline Architecture parse_architecture(std::string_view word) {
  Architecture one;
  const auto dash = word.find('-');
  const std::string_view tail = dash == std::string_view::npos ? "" : word.substr(dash);
  one.code = tail != "-virtual";
  one.ptx = tail != "-real";
  for (const char c : word.substr(0, dash)) {
    if (c >= '0' && c <= '9') one.number = one.number * 10 + (c - '0');
    one.specific = one.specific || c == 'a';
  }
  return one;
}

/// Calls visit(architecture, word) for those of `list` that a variant with this lowest architecture
/// (nullptr: any) is compiled for; word is without "-real" and "-virtual".
template <class Visit>
void visit_architectures(std::string_view list, const char* lowest, Visit&& visit) {
  const Architecture least = lowest ? parse_architecture(lowest) : Architecture{};
  for (std::size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
    end = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, end);
    const Architecture one = parse_architecture(word);
    if (least.specific ? !(one.specific && one.number == least.number)
                       : one.number < least.number) {
      continue;
    }
    visit(one, word.substr(0, word.find('-')));
  }
}

}  // namespace trine::gpu
