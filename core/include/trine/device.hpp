/// Devices: the list of what there is, opening one by name, its facts and its ladders of rungs.
///
/// A *backend* is a shared library that runs operations on one family of devices: "cuda", "opencl",
/// "cpu". A *rung* is one named kernel variant, and a *ladder* is the list of a backend's rungs for
/// an operation. A *rung pack* is a shared library that adds rungs to a backend's ladder.
///
/// Thread safety: all functions here may be called from any thread.
/// Stack: a calling thread needs 64 KiB for the cpu, and 1 MiB where a GPU driver opens a device or
/// compiles a kernel.
#pragma once

#include <trine/types.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trine {

/// The kind of processor behind a device. An OpenCL device may be any of them.
enum class DeviceKind : uint32_t { cpu = 1, gpu = 2, other = 3 };

/// The properties of a device. Properties that the driver doesn't tell are 0 or empty.
struct Facts {
  /// The name that open() takes: "cuda:0", "opencl:1", "cpu".
  std::string id;
  DeviceKind kind = DeviceKind::other;
  /// The model, its maker, and the driver with its version.
  std::string name, vendor, driver;
  /// The result of the arithmetic probe, in words. The probe runs when the device is opened and
  /// decides whether its arithmetic can give the reproducible bits; empty before that.
  std::string probe;
  /// The PCI address, "0000:3b:00.0"; empty where there is none. CUDA and OpenCL give the same
  /// address for one GPU.
  std::string pci;
  /// The GPU's UUID; all zeros when unknown.
  std::array<uint8_t, 16> uuid{};
  /// Bytes: the device's memory, the largest single buffer, and the local (CUDA: shared) memory of
  /// one work-group.
  uint64_t memory_bytes = 0, max_buffer_bytes = 0, local_memory_bytes = 0;
  /// A bit set of TRINE_CAN_… from <trine/abi.h>.
  uint64_t capabilities = 0;
  /// Multiprocessors or cores in use, and the largest work-group in work-items.
  uint32_t compute_units = 0, max_group_threads = 0;
  /// CUDA: the compute capability (9, 0); OpenCL: the version of OpenCL C; else zeros.
  uint32_t version_major = 0, version_minor = 0;
  /// The data sheet's peaks in bytes/s and flop/s (two per multiply-add, without tensor cores); 0
  /// when unknown. roofs() measures what the device really reaches.
  double peak_bandwidth = 0, peak_f32 = 0, peak_f64 = 0;
};

/// A backend or rung pack that was found, or was looked for and is absent.
struct BackendInfo {
  /// The backend's name ("cuda"), or the pack's own.
  std::string name;
  /// The file that it came from, or the file that was looked for.
  std::string path;
  /// Its version and build options in one line; empty when absent.
  std::string build;
  /// Why it is absent, or which part of it is left out ("libcuda.so.1 was not found"); else empty.
  std::string reason;
  /// The backend whose ladders a pack extends. Empty for a backend.
  std::string extends;
  /// The backend's devices; empty for packs and absent backends.
  std::vector<Facts> devices;
};

/// All backends with their devices, absent ones with the reason, then all rung packs.
///
/// The first call wakes all drivers (0.1 to 1 s). A missing driver is an entry with a reason, never
/// an error, and it is looked for again at the next call.
/// ```cpp
/// for (const trine::BackendInfo& backend : trine::backends()) {
///   std::cout << backend.name << ": " << backend.devices.size() << " devices "
///             << backend.reason << "\n";
/// }
/// ```
TRINE_API std::vector<BackendInfo> backends();

/// The devices of all backends. open() takes the `id` of each.
/// ```cpp
/// for (const trine::Facts& device : trine::devices())
///   std::cout << device.id << " " << device.name << "\n";
/// ```
TRINE_API std::vector<Facts> devices();

/// The folders in which backends and rung packs are looked for, in order: those of
/// TRINE_BACKEND_PATH (absolute ones only), then trine/ beside the library itself.
TRINE_API std::vector<std::string> search_path();

/// Loads one rung pack, or all packs of a folder, and appends their rungs to the ladders.
///
/// `path` is a shared library, or a folder in which all trine_*.so that export trine_rungs_v1 are
/// taken. Only the packs in lib/trine/packs/ (the vendors' libraries) need this call; packs in
/// search_path() load by themselves. Returns one entry for each pack at `path`. A pack that can't
/// be loaded is an entry with a reason, no error. Loading a pack twice has no effect, and a pack is
/// never unloaded.
/// ```cpp
/// for (const trine::BackendInfo& pack : trine::load_packs("/opt/trine/lib/trine/packs")) {
///   if (!pack.reason.empty()) std::cerr << pack.path << ": " << pack.reason << "\n";
/// }
/// ```
TRINE_API std::vector<BackendInfo> load_packs(const std::string& path);

/// The description of one rung.
struct RungInfo {
  /// The name that run() takes, one sentence on the idea, and the requirement in words (or empty).
  std::string name, summary, requirement;
  /// The promise about its bits.
  Numerics numerics = Numerics::reproducible;
  /// The pack that the rung comes from; empty for the backend's own.
  std::string pack;
  /// A parameter, for example "tile" with the values "16" and "32". A caller sets it as
  /// "shared:tile=16" and gets the default otherwise.
  struct Parameter {
    std::string name;
    std::vector<std::string> values;
    std::string default_value;
  };
  std::vector<Parameter> parameters;
};

namespace detail {
struct DeviceState;
struct Access;
}  // namespace detail

/// A handle of an open device.
///
/// Copies are cheap and refer to the same device. The device stays open as long as a Device, Queue
/// or Buffer of it exists. Reading one handle from several threads is safe; assigning to a handle
/// while another thread reads it is not, as for any C++ value.
class TRINE_API Device {
 public:
  /// An empty handle. Every use of it throws Error (invalid_argument).
  Device() = default;
  /// Whether the handle refers to a device.
  explicit operator bool() const noexcept { return state_ != nullptr; }
  /// The device's properties; the reference is valid as long as the device is open.
  const Facts& facts() const;
  /// The name with which the device was opened, options included: "cpu:threads=8".
  const std::string& id() const;
  /// The name of its backend: "cpu", "opencl", "cuda".
  const std::string& backend() const;
  /// The ladder of an operation: the naive rung first, the rungs of packs last.
  /// ```cpp
  /// for (const trine::RungInfo& rung : trine::open("cpu").rungs(trine::Operation::gemm)) {
  ///   std::cout << rung.name << ": " << rung.summary << "\n";
  /// }
  /// ```
  std::vector<RungInfo> rungs(Operation) const;
  /// The driver's own handles, for programs that also call the driver directly.
  struct Native {
    /// CUDA: the CUdevice as an integer in the pointer; OpenCL: cl_device_id; cpu: null.
    void* device = nullptr;
    /// CUDA: CUcontext; OpenCL: cl_context; cpu: null.
    void* context = nullptr;
  };
  /// The handles. Trine keeps owning them; they are valid as long as the device is open.
  Native native() const;
  /// Whether both handles refer to the same device, opened with the same options.
  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::DeviceState> state_;
};

/// Opens a device by name.
///
/// `name` is a backend ("cuda": its first device), a device ("cuda:0", "opencl:1"), or either with
/// options ("cpu:threads=8": so many threads, of those that there are; without, all:
/// OMP_NUM_THREADS, or the cores that the process may use, 512 at most). Ranks of MPI on one node
/// share it: with a backend's name, rank r among them opens device r modulo their number (of the
/// first one's kind), and the cpu has its part of the cores (docs/mpi.md). Opening a name again
/// while the device is open gives the same device. "auto" is refused: place() decides where an
/// operation runs, and calls on host data (trine/host.hpp) take "auto" directly. Throws Error:
/// not_found with the list of devices, the closest name and the reasons for absent backends;
/// device_lost for all devices but the cpu in a child that was forked after a device had been
/// opened (docs/lifetimes.md), where the cpu has no threads; backend_error with the driver's
/// message.
/// ```cpp
/// trine::Device device = trine::open("cpu:threads=2");
/// std::cout << device.id() << ": " << device.facts().name << "\n";
/// ```
TRINE_API Device open(std::string_view name);

}  // namespace trine
