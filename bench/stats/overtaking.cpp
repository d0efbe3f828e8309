#include "overtaking.hpp"

#include <fmt/format.h>

#include <cmath>

namespace trine::bench {

std::optional<double> Overtaking::crossing() const {
  if (!behind || !ahead) return {};
  const double before = std::log(behind->speedup), after = std::log(ahead->speedup);
  return behind->size * std::pow(ahead->size / behind->size, before / (before - after));
}

std::string Overtaking::text(const std::function<std::string(double)>& size) const {
  if (behind && ahead)
    return fmt::format("between {} and {}", size(behind->size), size(ahead->size));
  if (ahead) return fmt::format("below {}", size(ahead->size));
  return behind ? fmt::format("not up to {}", size(behind->size)) : std::string();
}

Overtaking overtaking(const std::vector<Compared>& sizes) {
  Overtaking found;
  for (auto at = sizes.rbegin(); at != sizes.rend() && !found.behind; ++at)
    (at->speedup > 1 ? found.ahead : found.behind) = *at;
  return found;
}

}  // namespace trine::bench
