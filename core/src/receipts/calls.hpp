// run() of any operation, with a receipt where the process leaves them.
#pragma once

#include "core/src/operations/operations.hpp"

namespace trine::detail {

Choice run_with_receipt(Queue& queue, const AnyOperation& operation, std::string_view rung);

}  // namespace trine::detail
