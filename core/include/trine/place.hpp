/// Where to run: `auto`, from measured roofs and transfer rates.
#pragma once

#include <trine/operations.hpp>

namespace trine {

/// Where an operation's data lives, and so what moving it costs.
enum class Where : uint32_t {
  host = 1,         ///< pageable host memory; results go back there
  host_pinned = 2,  ///< pinned host memory
  device = 3        ///< in the buffers of the operation's views: it runs where they live
};

struct Placement {
  Device device;
  Choice choice;
  double seconds = 0;    ///< predicted, for one of `repeats` runs, transfers shared among them
  std::string sentence;  ///< the reason, with its numbers
};

/// The device on which `operation` is predicted to take the least time, of those that can run it
/// (if none can, the Error says why for each), when its data starts at `where` and `repeats` runs
/// share one transfer. Views need shapes and dtypes; buffers only for Where::device. One GPU seen
/// through CUDA and OpenCL is one candidate. The first call measures each device for up to 50 ms;
/// the figures are kept for the process.
TRINE_API Placement place(const Reduce& operation, Where where, int repeats = 1);
TRINE_API Placement place(const Transpose& operation, Where where, int repeats = 1);
TRINE_API Placement place(const Gemm& operation, Where where, int repeats = 1);

/// Measured rates of a device; measures on first use (at most about 50 ms).
struct Roofs {
  double copy = 0, read = 0;          ///< bytes/s in the device's memory
  double fma_f32 = 0, fma_f64 = 0;    ///< flop/s of gemm on the device
  double to_device = 0, to_host = 0;  ///< bytes/s, pageable
  double to_device_pinned = 0, to_host_pinned = 0;
  double launch = 0;  ///< seconds of a minimal operation, enqueue to completion
};
TRINE_API const Roofs& roofs(const Device& device);

}  // namespace trine
