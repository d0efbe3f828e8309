// A GPU for kernels that were compiled as host C++: work-items are contexts of one thread that take
// turns where they wait for each other, groups run one after the other, and whatever is read or
// written as a vector is held against the operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "numbers.hpp"

namespace emulated {

// The work-item that runs.
extern int local, group, groups;

/// Lets the others run; to be called in loops that wait for them.
void yield();
/// Something happened that another work-item may wait for. Where all wait and nothing happens,
/// run() throws.
void happened();
void sync_group();
void sync_warp();
/// The first `count` work-items to come wait for each other.
void sync_part(int count);
/// The value that another work-item of the warp holds.
uint32_t of_lane(uint32_t value, int lane);

/// The group's dynamic local memory.
constexpr std::size_t kArena = 232448;
extern unsigned char arena[kArena];

using Call = void (*)(const uint64_t* arguments);
/// Kernels by their names; nullptr where there is none.
Call kernel(const std::string& name);
std::vector<std::string> kernels();
bool keep(std::initializer_list<std::pair<const char*, Call>> kernels);
/// Runs `grid` groups of `items`, which take turns in another order than those of the launch
/// before.
void run(Call call, const std::vector<uint64_t>& arguments, int grid, int items);

/// Calls a kernel with arguments of eight bytes each, of which a smaller one has the first.
template <auto kKernel, class... A, std::size_t... I>
void invoke_as(void (*)(A...), const uint64_t* arguments, std::index_sequence<I...>) {
  std::tuple<A...> values;
  (std::memcpy(static_cast<void*>(const_cast<std::remove_cv_t<A>*>(&std::get<I>(values))),
               arguments + I, sizeof(A)),
   ...);
  std::apply(kKernel, values);
}
template <auto kKernel, class... A>
void invoke_of(void (*kernel)(A...), const uint64_t* arguments) {
  invoke_as<kKernel>(kernel, arguments, std::index_sequence_for<A...>());
}
template <auto kKernel>
void invoke(const uint64_t* arguments) {
  invoke_of<kKernel>(kKernel, arguments);
}

}  // namespace emulated
