// The cuda backend over the fake driver, as a library that the registry loads.
#include "cuda/backend.hpp"
#include "fake_cuda.hpp"

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  trine::cuda::replace_driver(&fake_cuda::plain());
  *backend = trine::cuda::backend(*host);
  return TRINE_OK;
}
