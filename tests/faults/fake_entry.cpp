// The fake driver in the place of CUDA's, as soon as the cuda backend's library is loaded. SIGUSR1 breaks its device.
#include <csignal>

#include "fake_cuda.hpp"

static const bool replaced = (trine::cuda::replace_driver(&fake_cuda::plain()), true);
static const auto before = std::signal(SIGUSR1, [](int) { fake_cuda::break_device(719); });
