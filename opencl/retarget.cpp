// Where the comments are, and what else of the PTX must change.
#include "opencl/retarget.hpp"

#include <algorithm>

namespace trine::opencl {

kit::String retargeted(std::string_view ptx) {
  constexpr std::string_view kMark = "//sm_90a ", kFirst = ".maxnreg ", kTarget = ".target sm_90",
                             kGroup = ".reqntid ";
  ptx = ptx.substr(0, ptx.find('\0'));
  const std::size_t target = ptx.find(kTarget), group = ptx.find(kGroup);
  const std::size_t after = target + kTarget.size(), mark = ptx.find(kMark);
  if (target == ptx.npos || group == ptx.npos || mark == ptx.npos || target > group ||
      group > mark || (ptx[after] != ',' && ptx[after] != '\n'))
    return {};
  kit::String registers, body;
  for (std::size_t at = mark, from = group;;) {
    body.append(ptx.substr(from, at - from));
    if (at == ptx.size()) break;
    from = at + kMark.size();
    at = std::min(ptx.find(kMark, from), ptx.size());
    const std::string_view line = ptx.substr(from, ptx.find('\n', from) - from);
    if (!line.starts_with(kFirst)) continue;  // an instruction, which stays where it is
    registers.assign(line).append("\n");
    from += line.size();
  }
  kit::String whole(ptx.substr(0, after));
  return whole.append("a").append(ptx.substr(after, group - after)).append(registers).append(body);
}

}  // namespace trine::opencl
