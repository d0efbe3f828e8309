// The contract's facts of a device as the API shows them.
#pragma once

#include <trine/device.hpp>

#include "backends/abi.h"

namespace trine::detail {

Facts to_facts(const trine_device_facts& raw, std::string id);

}  // namespace trine::detail
