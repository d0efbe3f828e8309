// What a figure has to stand beside right outputs and a right clock: a roof.
#pragma once

#include <string>

#include "result.hpp"

namespace trine::bench {

/// A rate that the device can't have is a defect of the measurement: empty, or in words. `written`: bytes of all slots.
/// Where the measured roof is passed, it is measured again, and the higher one kept in `result`.
std::string check_roof(const Device& device, uint64_t written, Result& result);

}  // namespace trine::bench
