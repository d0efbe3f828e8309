// Runs the conformance cases on every device and rung through the public API, and reports.
//
// `trine verify` and ctest's conformance test are two front ends of this.
#pragma once

#include "report.hpp"

namespace trine::conformance {

/// Throws trine::Error for a device or rung that doesn't exist.
Report verify(const Options& options);

/// The backends that the environment variable TRINE_REQUIRE lists ("cpu,opencl").
std::vector<std::string> required_by_environment();

}  // namespace trine::conformance
