// The real OpenCL loader's table with faults::plan in front of every function, and a balance of what
// was made and given back.
#pragma once

#include <string>

#include "opencl/driver.hpp"

namespace faulty_opencl {

/// nullptr where there is no loader.
const trine::opencl::Driver* table();

/// What is alive beyond the given-back, in words ("2 buffers; "), since the last reset.
std::string leftovers();
void reset();

}  // namespace faulty_opencl
