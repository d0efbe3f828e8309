// The one symbol of the opencl backend's library.
#include "backends/kit/abi_struct.hpp"
#include "backends/kit/error.hpp"
#include "opencl/backend.hpp"

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  trine_host ours;
  if (!trine::kit::take(host, ours) || !backend) {
    return trine::kit::report(TRINE_UNSUPPORTED, "opencl: the host is newer than this backend");
  }
  *backend = trine::opencl::backend(ours);
  return TRINE_OK;
}
