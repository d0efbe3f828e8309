/// Devices: what there is, opening one by name, its facts and its ladders.
///
/// Thread safety: every function here may be called from any thread. A Device is a cheap,
/// copyable handle; it stays open while a copy, a queue or a buffer of it lives.
/// Least stack of a thread that calls Trine: 64 KiB for the cpu, 1 MiB where a driver opens or compiles.
#pragma once

#include <trine/types.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace trine {

enum class DeviceKind : uint32_t { cpu = 1, gpu = 2, other = 3 };

/// What is known of a device. Peaks are theoretical; measured roofs come from placement.
struct Facts {
  std::string id;  ///< "cuda:0", "opencl:1", "cpu"
  DeviceKind kind = DeviceKind::other;
  std::string name, vendor, driver;
  std::string probe;               ///< what the arithmetic probe found when the device was opened
  std::string pci;                 ///< "0000:3b:00.0" or ""
  std::array<uint8_t, 16> uuid{};  ///< zeros when unknown
  uint64_t memory_bytes = 0, max_buffer_bytes = 0, local_memory_bytes = 0;
  uint64_t capabilities = 0;  ///< TRINE_CAN_… bits of <trine/abi.h>
  uint32_t compute_units = 0, max_group_threads = 0;
  uint32_t version_major = 0, version_minor = 0;
  double peak_bandwidth = 0, peak_f32 = 0, peak_f64 = 0;  ///< bytes/s, flop/s; 0: unknown
};

/// A backend or rung pack that was looked for, present or not.
struct BackendInfo {
  std::string name;     ///< "cuda"; a pack's own name for packs
  std::string path;     ///< the file it came from or was looked for at
  std::string build;    ///< its version line, empty when absent
  std::string reason;   ///< why it is absent, or what of it is left out; empty when all is well
  std::string extends;  ///< packs: the backend whose ladder they extend; else empty
  std::vector<Facts> devices;
};

/// Everything the registry found: each backend with its devices, absent ones with the reason, then
/// the rung packs. Loads the backends on first use.
TRINE_API std::vector<BackendInfo> backends();

/// The devices that there are, of all backends: what open() takes is each one's `id`.
///   for (const trine::Facts& device : trine::devices()) std::cout << device.id << " " << device.name << "\n";
TRINE_API std::vector<Facts> devices();

/// The folders that were searched, in order.
TRINE_API std::vector<std::string> search_path();

/// Loads one rung pack, or every pack (trine_*.so with trine_rungs_v1) of a folder, and appends its
/// rungs to the ladders of the backend it extends. Packs in TRINE_BACKEND_PATH and beside the
/// backends load by themselves; those in lib/trine/packs/ (the vendor peers) only this way. Loading
/// a pack again does nothing. A pack that can't load is no error: its entry says why. Returns the
/// entries of the packs at `path`. A pack is never unloaded.
TRINE_API std::vector<BackendInfo> load_packs(const std::string& path);

/// A rung as its row describes it.
struct RungInfo {
  std::string name, summary, requirement;
  Numerics numerics = Numerics::reproducible;
  std::string pack;  ///< the pack it comes from, empty for the backend's own
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

class TRINE_API Device {
 public:
  Device() = default;  ///< no device; every use throws invalid_argument
  explicit operator bool() const noexcept { return state_ != nullptr; }
  const Facts& facts() const;
  const std::string& id() const;       ///< as opened: "cpu:threads=8"
  const std::string& backend() const;  ///< "cpu", "opencl", "cuda"
  /// The ladder of an operation, naive first, packs' rungs last.
  std::vector<RungInfo> rungs(Operation) const;
  /// CUdevice (as an integer in the pointer) and CUcontext; cl_device_id and cl_context; nulls.
  struct Native {
    void* device = nullptr;
    void* context = nullptr;
  };
  Native native() const;
  /// Same device of the same backend, options included.
  friend bool operator==(const Device& a, const Device& b) noexcept { return a.state_ == b.state_; }

 private:
  friend struct detail::Access;
  std::shared_ptr<detail::DeviceState> state_;
};

/// Opens a device by name: "cpu", "cpu:threads=8", "cuda", "cuda:0", "opencl:1".
/// "auto" needs an operation and where its data lives: see place(). Opening the same name again
/// gives the same device. Throws Error (not_found) that lists what exists, the closest match, and
/// why the others are absent.
TRINE_API Device open(std::string_view name);

}  // namespace trine
