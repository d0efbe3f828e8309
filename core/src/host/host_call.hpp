// A call on host data, of any operation.
#pragma once

#include <trine/host.hpp>

#include "core/src/operations/operations.hpp"

namespace trine::detail {

/// `operation` says all but its views, which `data` gives: the output last, which is a HostView.
void run_on_host(const AnyValue& operation, std::span<const ConstHostView> data,
                 const HostOptions& options);

}  // namespace trine::detail
