// run() and choose() of any operation: check, select, hand over.
#pragma once

#include "core/src/operations/operations.hpp"

namespace trine::detail {

Choice run(Queue& queue, const AnyOperation& operation, std::string_view rung = {});
Choice choose(const Device& device, const AnyOperation& operation, std::string_view rung = {});
std::string tuning_key(const AnyOperation& operation);

}  // namespace trine::detail
