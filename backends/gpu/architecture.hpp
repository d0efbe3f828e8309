// CUDA architectures as CMake lists them ("80,90a-real"): which of them a variant is compiled for.
// "80" is code and PTX, "90a-real" code alone, "80-virtual" PTX alone. A variant that needs 90a
// runs on 9.0 alone, and is compiled where 90 or 90a is listed; PTX of 80 runs on all later
// architectures.
#pragma once

#include <algorithm>
#include <string_view>

namespace trine::gpu {

struct Architecture {
  int number = 0;   ///< 90
  char suffix = 0;  ///< the "a" of 90a: for 9.0 alone; the "f" of 100f: for 10.x alone
  bool code = false, ptx = false;

  bool runs_on(int device) const {
    if (suffix == 'a') return number == device;
    return number <= device && (number / 10 == device / 10 || (ptx && suffix == 0));
  }
};

inline Architecture parse_architecture(std::string_view word) {
  Architecture one;
  const auto dash = word.find('-');
  const std::string_view tail = dash == std::string_view::npos ? "" : word.substr(dash);
  one.code = tail != "-virtual";
  one.ptx = tail != "-real";
  for (const char c : word.substr(0, dash)) {
    if (c >= '0' && c <= '9')
      one.number = one.number * 10 + (c - '0');
    else
      one.suffix = c;
  }
  return one;
}

/// Calls visit(architecture, word) for each entry of `list` for which a variant with this lowest
/// architecture (nullptr: any) is compiled; the word has no "-real" or "-virtual". If `lowest` has
/// a suffix, as 90a has, all entries of its number count as one entry, `lowest`.
template <class Visit>
void visit_architectures(std::string_view list, const char* lowest, Visit&& visit) {
  const Architecture least = lowest ? parse_architecture(lowest) : Architecture{};
  Architecture only{least.number, least.suffix};
  for (std::size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
    end = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, end);
    const Architecture one = parse_architecture(word);
    if (least.suffix == 0 && one.number >= least.number) visit(one, word.substr(0, word.find('-')));
    if (least.suffix != 0 && one.number == least.number) {
      only.code |= one.code;
      only.ptx |= one.ptx;
    }
  }
  if (only.code || only.ptx) visit(only, std::string_view(lowest));
}

}  // namespace trine::gpu
