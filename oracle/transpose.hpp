// transpose, computed element by element on views of host memory.
#pragma once

#include "backends/ops.h"

namespace trine::oracle {

void reference(const trine_transpose& op);

}  // namespace trine::oracle
