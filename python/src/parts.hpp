// Axes that several arrays share, joined where they lie behind each other in all of them.
#pragma once

#include <trine/fitting.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace trine::python {

/// The most arrays of one operation.
constexpr size_t kArrays = 3;

/// An axis of an operation: its extent, and the stride of each array along it, in elements.
struct Axes {
  int64_t extent = 1;
  std::array<int64_t, kArrays> strides{};
};

/// The same elements by as few axes as can be. `reorder`: any order of the elements will do.
inline std::vector<Axes> joined(std::vector<Axes> axes, bool reorder) {
  if (std::ranges::any_of(axes, [](const Axes& a) { return a.extent == 0; }))
    return {{0, {1, 1, 1}}};
  std::erase_if(axes, [](const Axes& a) { return a.extent == 1; });
  if (axes.size() < 2) return axes;
  if (reorder) std::ranges::stable_sort(axes, std::ranges::greater{}, &Axes::strides);
  std::vector<Axes> result;
  for (const Axes& inner : axes) {
    const auto follows = [&](const Axes& outer) {
      for (size_t a = 0; a < kArrays; ++a) {
        const auto step = detail::Fitting(inner.strides[a]) * inner.extent;
        if (!step.fits() || outer.strides[a] != step.value_or(0)) return false;
      }
      return true;
    };
    if (!result.empty() && follows(result.back()))
      result.back() = {result.back().extent * inner.extent, inner.strides};
    else
      result.push_back(inner);
  }
  return result;
}

/// Takes the axis out that `better` likes best; one of extent 1 if there is none.
template <class Better>
Axes take(std::vector<Axes>& axes, Better better) {
  if (axes.empty()) return {1, {1, 1, 1}};
  const auto best = std::ranges::min_element(axes, better);
  const Axes taken = *best;
  axes.erase(best);
  return taken;
}
/// Takes the last axis out; one of extent 1 if there is none.
inline Axes take_last(std::vector<Axes>& axes) {
  if (axes.empty()) return {1, {1, 1, 1}};
  const Axes taken = axes.back();
  axes.pop_back();
  return taken;
}
inline bool longer(const Axes& a, const Axes& b) { return a.extent > b.extent; }

/// Calls body(first) for every position along `axes`, with each array's index of its first element.
template <class Body>
void each_part(const std::vector<Axes>& axes, Body&& body) {
  std::vector<int64_t> at(axes.size(), 0);
  std::array<int64_t, kArrays> first{};
  if (std::ranges::any_of(axes, [](const Axes& a) { return a.extent == 0; })) return;
  for (;;) {
    body(first);
    size_t d = axes.size();
    for (; d > 0; --d) {
      const Axes& axis = axes[d - 1];
      const bool wraps = ++at[d - 1] == axis.extent;
      for (size_t a = 0; a < kArrays; ++a)
        first[a] += axis.strides[a] * (wraps ? 1 - axis.extent : 1);
      if (!wraps) break;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

}  // namespace trine::python
