// The opencl backend as its library's entry and the fault tests reach it.
#pragma once

#include "backends/abi.h"

namespace trine::opencl {

const trine_backend* backend(const trine_host& host);

}  // namespace trine::opencl
