// `trine why --trace`: what a whole program's calls would take elsewhere.
#pragma once

#include <trine/place.hpp>

#include <string>
#include <vector>

namespace trine::bench {

struct TraceOptions {
  std::string trace;                      ///< the file that TRINE_BLAS_LOG named
  std::vector<std::string> calibrations;  ///< of other machines
  std::vector<std::string> devices;
  Where where = Where::host;
  std::string json;
};
int why_trace(const TraceOptions& options);

}  // namespace trine::bench
