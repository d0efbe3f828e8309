// What a figure has to stand beside right outputs: two clocks that agree, data that nobody has seen,
// and a roof. Each function returns an empty text, or what is wrong with the figure.
// docs/measuring.md lists the lies that these catch.
#pragma once

#include <functional>
#include <string>

#include "result.hpp"
#include "ring.hpp"

namespace trine::bench {

/// One launch of a slot; it doesn't wait.
using Launch = std::function<void(int slot)>;

/// Whether a host's and a device's time for the same work can both be right.
bool agree(double host, double device);

/// Times batches of launches, of about `seconds` each by the device's own account, by the device's clock
/// and by the host's. The host's begins before and ends after: neither may run ahead of the other.
std::string check_clocks(Queue& queue, const Launch& launch, int slots, double seconds);

/// Changes the data in place and launches once more: an answer that was kept is wrong now. Right
/// answers that take far longer than `seconds`, on each of several such data, were kept as well.
std::string check_unseen_data(Queue& queue, const Launch& launch, Ring& ring,
                              Expectation& expectation, Numerics numerics, double seconds);

/// A rate that the device can't have is a defect of the measurement. `written`: bytes of all slots.
/// Where the measured roof is passed, it is measured again, and the higher one kept in `result`.
std::string check_roof(const Device& device, uint64_t written, Result& result);

}  // namespace trine::bench
