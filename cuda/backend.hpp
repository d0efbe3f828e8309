// The cuda backend as its library's entry and the fault tests reach it.
#pragma once

#include "backends/abi.h"

namespace trine::cuda {

const trine_backend* backend(const trine_host& host);

}  // namespace trine::cuda
