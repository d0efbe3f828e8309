/// Where to run: `auto`, from what was measured on this machine, and the sizes from which on another
/// device is faster.
#pragma once

#include <trine/operations.hpp>

#include <functional>
#include <span>

namespace trine {

/// Where an operation's data lives, and so what moving it costs.
enum class Where : uint32_t {
  host = 1,         ///< pageable host memory; results go back there
  host_pinned = 2,  ///< pinned host memory, copied in and out before and after the kernel
  device = 3,       ///< in the buffers of the operation's views: it runs where they live
  /// Pinned host memory; copies and kernel overlap where host calls do that (trine/host.hpp).
  host_pipelined = 4
};

/// A device that was weighed.
struct Candidate {
  Device device;
  double seconds = 0;        ///< predicted, for one of `repeats` runs, transfers shared among them
  double transfers = 0;      ///< how much of that is moving data
  double low = 0, high = 0;  ///< where the calibration's samples lay; both `seconds` without one
  bool calibrated = false;
  std::string source;  ///< "calibrated on <date>", or "roofs measured now" and why no file was used
};

struct Placement {
  Device device;
  Choice choice;
  double seconds = 0;    ///< predicted, for one of `repeats` runs, transfers shared among them
  std::string sentence;  ///< the reason, with its numbers
  std::vector<Candidate> candidates;  ///< fastest first; none where nothing had to be predicted
};

/// The device on which `operation` is predicted to take the least time, of those that can run it
/// (if none can, the Error says why for each), when its data starts at `where` and `repeats` runs
/// share one transfer. Views need shapes and dtypes; buffers only for Where::device.
/// `among`: the candidates; none given, all devices are: then one GPU seen through CUDA and OpenCL
/// is one candidate, and so is a CPU. Devices are predicted from what calibrate() saved, the others
/// from their roofs(), which the first call measures.
TRINE_API Placement place(const Reduce& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});
TRINE_API Placement place(const Transpose& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});
TRINE_API Placement place(const Gemm& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});

/// Measured rates of a device; measures on first use (at most about 50 ms).
struct Roofs {
  double copy = 0, read = 0;          ///< bytes/s in the device's memory
  double fma_f32 = 0, fma_f64 = 0;    ///< flop/s of gemm, i32's taken for f32's; 0: no f64 here
  double to_device = 0, to_host = 0;  ///< bytes/s, pageable
  double to_device_pinned = 0, to_host_pinned = 0;
  double launch = 0;  ///< seconds of a minimal operation, enqueue to completion
};
TRINE_API const Roofs& roofs(const Device& device);

struct CalibrateOptions {
  int rounds = 3;  ///< every figure is the median of so many, taken apart in time
  /// Asked before each measurement, with what comes next and the share that is done: false ends it.
  std::function<bool(std::string_view what, double done)> proceed;
  bool save = true;  ///< else only this process learns it
};
struct Calibrated {
  int rounds = 0;                  ///< that are whole; 0: nothing was learned or saved
  std::vector<std::string> files;  ///< one for each device
};
/// Measures the calls on host data, pageable, pinned and pipelined, and the operations on resident data, over
/// their sizes and shapes, on all devices in turns; place() decides from that in this process and, once
/// saved, in later ones. Where it ends early, what there is counts once a round is whole.
/// Throws Error (unsupported) where nothing can be saved.
TRINE_API Calibrated calibrate(std::span<const Device> devices,
                               const CalibrateOptions& options = {});
/// What place() decides from: "calibrated on <date>", or "not calibrated" and why the file that is there
/// isn't used. A calibration holds for the tuning table under which it was measured.
TRINE_API std::string calibration(const Device& device);

/// The size from which on another device is faster.
struct Crossing {
  Operation operation = Operation::reduce;
  Function function = Function::sum;  ///< of reduce
  Dtype dtype = Dtype::f32;
  Where where = Where::host;
  Device below, above;  ///< the faster one below and above `size`
  bool never =
      false;  ///< `below` is at least as fast at every size that both devices' memory holds
  /// n elements of reduce, n of n x n, of n x n x n: the estimate and its interval, below and above
  /// which one device was faster in all samples.
  int64_t size = 0, low = 0, high = 0;
  std::string sentence;
  /// Where `never`: whether `below` is surely faster at some size; if not, the samples don't tell the two apart.
  bool sure = true;
};
/// Where the faster of two devices changes, from small sizes to large; one entry that says `never` where it
/// doesn't. Predicted as by place(), for calls that share no transfer with others. `function` matters for
/// reduce alone (axis all, no map). In which order the devices are given doesn't matter: Crossing says which
/// is faster below and which above.
TRINE_API std::vector<Crossing> break_even(Operation operation, Function function, Dtype dtype,
                                           Where where, const Device& first, const Device& second);

}  // namespace trine
