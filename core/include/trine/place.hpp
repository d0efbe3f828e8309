/// Where to run: the decision behind `auto`, the measurements that it uses, and the sizes from
/// which another device is faster.
///
/// place() predicts the time of an operation on each device and takes the fastest. It predicts from
/// the device's calibration, a grid of measured times that calibrate() saved, or without one from a
/// few rates that roofs() measures on first use. docs/decisions/auto-placement.md has the rules.
///
/// Thread safety: all functions may be called from any thread, also concurrently.
#pragma once

#include <trine/operations.hpp>

#include <functional>
#include <span>

namespace trine {

namespace detail {
struct Calibration;
}

/// The place of an operation's data when the call begins. It decides the cost of moving the data;
/// results go back to the same place.
enum class Where : uint32_t {
  /// Pageable host memory: malloc, std::vector.
  host = 1,
  /// Pinned host memory, copied in before the kernel and out after it.
  host_pinned = 2,
  /// The buffers of the operation's views. The operation runs on their device.
  device = 3,
  /// Pinned host memory, where copies and kernel overlap as in calls on host data
  /// (trine/host.hpp).
  host_pipelined = 4
};

/// A device that place() has weighed.
struct Candidate {
  Device device;
  /// The predicted time in seconds of one run, with 1 / `repeats` of the time of the transfers.
  double seconds = 0;
  /// The part of `seconds` that moves data.
  double transfers = 0;
  /// The range of the calibration's samples, in seconds; both are `seconds` without a calibration.
  double low = 0, high = 0;
  /// Whether the prediction comes from a calibration.
  bool calibrated = false;
  /// The origin of the prediction: "calibrated on <date>", or "roofs measured now" with the reason
  /// why no calibration was used.
  std::string source;
};

/// The decision of place().
struct Placement {
  /// The device to run on.
  Device device;
  /// The rung that it would choose.
  Choice choice;
  /// The predicted time of one run, as Candidate::seconds.
  double seconds = 0;
  /// The reason in words, with the numbers.
  std::string sentence;
  /// All devices that were weighed, the fastest first. Empty where nothing had to be predicted: no
  /// device was named, and only one can run it.
  std::vector<Candidate> candidates;
};

/// Chooses the device on which `operation` is predicted to take the least time.
///
/// `operation`: its views need shapes, strides and dtypes, and buffers for Where::device only.
/// `where`: the place of the data. `repeats` (at least 1): how many runs share one transfer.
/// `among`: the candidates. By default these are the devices of all backends but those whose
/// drivers can't be faster than the cpu here (docs/decisions/auto-placement.md says how that is
/// known); a GPU that CUDA and OpenCL both see is one candidate then, and so is the CPU. Devices
/// that can't run the operation are left out. The first call in a process may open all devices and,
/// where a device has no calibration, measure its roofs() (about 50 ms each). Small calls go to the
/// cpu at once, without that. Throws Error if no candidate can run the operation, with the reason
/// for each.
/// ```cpp
/// trine::Gemm product;
/// product.a = product.b = product.c = trine::row_major({}, trine::Dtype::f32, 64, 64);
/// trine::Placement placement = trine::place(product, trine::Where::host);
/// std::cout << placement.device.id() << ": " << placement.sentence << "\n";
/// ```
TRINE_API Placement place(const Reduce& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});
TRINE_API Placement place(const Transpose& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});
TRINE_API Placement place(const Gemm& operation, Where where, int repeats = 1,
                          std::span<const Device> among = {});

/// A device's measured rates, the basis of predictions without a calibration.
struct Roofs {
  /// The device's memory in bytes/s: copying (bytes read plus bytes written), and reading.
  double copy = 0, read = 0;
  /// flop/s of gemm, two per multiply-add; i32 is taken to be as fast as f32. 0: no f64 here.
  double fma_f32 = 0, fma_f64 = 0;
  /// Copies in bytes/s between pageable host memory and the device.
  double to_device = 0, to_host = 0;
  /// The same for pinned host memory.
  double to_device_pinned = 0, to_host_pinned = 0;
  /// Seconds of the smallest operation, from enqueueing to completion.
  double launch = 0;
};
/// The measured rates of `device`. The first call for a device measures them, for about 50 ms plus
/// the time that its kernels take to compile; later calls return the same figures. The reference is
/// valid for the process's lifetime.
/// ```cpp
/// const trine::Roofs& roofs = trine::roofs(trine::open("cpu"));
/// std::cout << roofs.read / 1e9 << " GB/s\n";
/// ```
TRINE_API const Roofs& roofs(const Device& device);

/// Options of calibrate().
struct CalibrateOptions {
  /// Every figure is the median of so many measurements at different times; at least 1.
  int rounds = 3;
  /// Called before each measurement with a description of it and the share (0 to 1) of the work
  /// that is done. Returning false ends the calibration; completed rounds count.
  std::function<bool(std::string_view what, double done)> proceed;
  /// Whether the result is saved for later processes; if not, only this process uses it.
  bool save = true;
};
/// The result of calibrate().
struct Calibrated {
  /// The number of completed rounds. 0: it ended too early, nothing was learned or saved.
  int rounds = 0;
  /// The saved files, one for each device.
  std::vector<std::string> files;
};
/// Measures, on all `devices` alternately, the calls on host data (pageable, pinned, pipelined) and
/// the operations on resident data, for a grid of sizes and shapes. place() uses the figures in
/// this process at once, and in later processes once they are saved. Takes minutes; leave the
/// machine alone meanwhile. `trine calibrate` is this call. Throws Error: unsupported where no file
/// can be written; invalid_argument for rounds < 1.
/// ```cpp
/// // Takes minutes.
/// std::vector<trine::Device> devices = {trine::open("cpu"), trine::open("cuda:0")};
/// auto proceed = [](std::string_view what, double done) {
///   std::cerr << int(100 * done) << " % " << what << "\n";
///   return true;
/// };
/// trine::Calibrated result = trine::calibrate(devices, {.proceed = proceed});
/// for (const std::string& file : result.files) std::cout << file << "\n";
/// ```
TRINE_API Calibrated calibrate(std::span<const Device> devices,
                               const CalibrateOptions& options = {});
/// The basis of place()'s predictions for `device`: "calibrated on <date>", or "not calibrated"
/// with the reason why an existing file isn't used. A calibration is valid for one host, device,
/// driver, version of Trine and tuning table.
/// ```cpp
/// std::cout << trine::calibration(trine::open("cpu")) << "\n";
/// ```
TRINE_API std::string calibration(const Device& device);

/// A calibration in a file, of this machine or another one. It predicts the times of a device that
/// needn't be in this machine. place() doesn't use it: that function uses a calibration only on the
/// machine on which it was measured.
/// ```cpp
/// // Takes minutes.
/// trine::Calibrated measured = trine::calibrate(std::array{trine::open("cpu")});
/// trine::SavedCalibration there(measured.files.at(0));
/// trine::Gemm product;
/// product.a = product.b = product.c = trine::row_major({}, trine::Dtype::f32, 512, 512);
/// trine::Candidate predicted = there.predict(product, trine::Where::host);
/// std::cout << there.device() << ": " << predicted.seconds << " s\n";
/// ```
class TRINE_API SavedCalibration {
 public:
  /// Reads the file and checks all of it. Throws Error: not_found where there is none,
  /// invalid_argument with the reason where it is damaged, of another kind, or of another version
  /// of the format.
  explicit SavedCalibration(const std::string& path);
  /// The host's processor, the backend, the device's name, and the day of the measurement.
  const std::string& host() const noexcept { return host_; }
  const std::string& backend() const noexcept { return backend_; }
  const std::string& device() const noexcept { return device_; }
  const std::string& date() const noexcept { return date_; }
  /// The time of `operation` on that device, as place() predicts it on its machine: `where` is
  /// host, host_pinned, host_pipelined, or device for resident data; `repeats` runs share one
  /// transfer. Candidate::device is an empty handle. Whether the device's memory holds the operands
  /// is not known. Throws Error: unsupported where the file has no such calls; invalid_argument as
  /// place().
  Candidate predict(const Reduce& operation, Where where, int repeats = 1) const;
  Candidate predict(const Transpose& operation, Where where, int repeats = 1) const;
  Candidate predict(const Gemm& operation, Where where, int repeats = 1) const;

 private:
  std::string host_, backend_, device_, date_;
  std::shared_ptr<const detail::Calibration> measured_;
};

/// A break-even: the size at which the faster of two devices changes.
struct Crossing {
  Operation operation = Operation::reduce;
  /// The function of a reduction; without meaning for other operations.
  Function function = Function::sum;
  Dtype dtype = Dtype::f32;
  /// The place of the data.
  Where where = Where::host;
  /// The device that is faster below `size`, and the one that is faster above.
  Device below, above;
  /// There is no such size: `below` is at least as fast at every size that fits both devices.
  bool never = false;
  /// The estimated size and its interval: n for a reduction of n elements, a transpose of n x n, a
  /// gemm of n x n x n. At `low` all samples have `below` as the faster one, at `high` all have
  /// `above`.
  int64_t size = 0, low = 0, high = 0;
  /// The same in words.
  std::string sentence;
  /// If `never`: whether `below` is surely faster at some size. If not, the samples don't
  /// distinguish the two devices.
  bool sure = true;
};
/// The break-even sizes of two devices, from small to large; one entry with `never` where there is
/// none. The times are those that place() predicts for single calls, from submission to the end of
/// the wait. `function` matters for reduce only (axis all, no map). The order of `first` and
/// `second` doesn't matter.
/// ```cpp
/// std::vector<trine::Facts> devices = trine::devices();
/// trine::Device a = trine::open(devices.front().id), b = trine::open(devices.back().id);
/// std::vector<trine::Crossing> crossings = trine::break_even(
///     trine::Operation::gemm, {}, trine::Dtype::f32, trine::Where::host, a, b);
/// for (const trine::Crossing& crossing : crossings) std::cout << crossing.sentence << "\n";
/// ```
TRINE_API std::vector<Crossing> break_even(Operation operation, Function function, Dtype dtype,
                                           Where where, const Device& first, const Device& second);

}  // namespace trine
