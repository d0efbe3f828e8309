// Copies and fills of host memory as queued work.
#pragma once

#include "backends/abi.h"
#include "rung.hpp"

namespace trine::cpu {

struct Fill {
  trine_view view;
  std::uint32_t bytes;  // of an element
  std::byte element[16];
};

void run_copy(void* payload, Parallel& parallel);  // a trine_copy
void run_fill(void* payload, Parallel& parallel);  // a Fill

}  // namespace trine::cpu
