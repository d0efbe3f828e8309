// From which size on one of two curves is the faster one, as far as their sizes tell. `trine ladder
// --like 004` and the report's pictures both ask here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trine::bench {

/// A size at which both were measured by the same method.
struct Compared {
  double size = 0;
  double speedup = 0;  ///< the other's time over this one's
};

struct Overtaking {
  std::optional<Compared> behind;  ///< the largest size at which it isn't faster
  std::optional<Compared> ahead;   ///< the smallest from which on it always is

  /// Where both curves, drawn with straight lines between logarithms, cross for the last time; none
  /// where that isn't within the sizes.
  std::optional<double> crossing() const;
  /// "between 2^13 and 2^14", "below 2^7", "not up to 2^22"; empty where there is no size.
  std::string text(const std::function<std::string(double)>& size) const;
};

/// `sizes`: ascending.
Overtaking overtaking(const std::vector<Compared>& sizes);

}  // namespace trine::bench
