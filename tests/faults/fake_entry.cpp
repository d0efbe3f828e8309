// The fake driver in the place of CUDA's, as soon as the cuda backend's library is loaded.
#include "fake_cuda.hpp"

static const bool replaced = (trine::cuda::replace_driver(&fake_cuda::plain()), true);
