/// Devices: the list of what there is, opening one by name, its facts and its ladders of rungs. The
/// C form of <trine/device.hpp>, where the words backend, rung and rung pack are explained.
#pragma once

#include <trine/c/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A handle of an open device. The device stays open as long as a handle, queue or buffer of it
/// exists.
typedef struct trine_device_t trine_device_t;

/// The properties of a device. Properties that the driver doesn't tell are 0 or "".
typedef struct trine_facts_t {
  uint32_t size;
  /// A trine_device_kind.
  uint32_t kind;
  /// The name that trine_device_open() takes: "cuda:0", "opencl:1", "cpu".
  const char* id;
  /// The model, its maker, and the driver with its version.
  const char *name, *vendor, *driver;
  /// The result of the arithmetic probe, in words; "" before the device is opened.
  const char* probe;
  /// The PCI address, "0000:3b:00.0", the same from CUDA and OpenCL; "" where there is none.
  const char* pci;
  /// The GPU's UUID; all zeros when unknown.
  uint8_t uuid[16];
  /// Bytes: the device's memory, its largest buffer, and the local memory of one work-group.
  uint64_t memory_bytes, max_buffer_bytes, local_memory_bytes;
  /// A set of TRINE_CAN_… bits.
  uint64_t capabilities;
  /// Multiprocessors or cores in use, and the largest work-group in work-items.
  uint32_t compute_units, max_group_threads;
  /// CUDA: the compute capability; OpenCL: the version of OpenCL C; else zeros.
  uint32_t version_major, version_minor;
  /// The data sheet's peaks in bytes/s and flop/s; 0 when unknown.
  double peak_bandwidth, peak_f32, peak_f64;
} trine_facts_t;

/// A backend or rung pack that was found, or was looked for and is absent.
typedef struct trine_backend_info_t {
  uint32_t size;
  /// The number of devices; 0 for packs and absent backends.
  uint32_t device_count;
  const trine_facts_t* const* devices;
  /// The backend's name ("cuda"), or the pack's own; the file; its version and build options.
  const char *name, *path, *build;
  /// Why it is absent, or which part of it is left out; else "".
  const char* reason;
  /// The backend whose ladders a pack extends. "" for a backend.
  const char* extends;
} trine_backend_info_t;

/// A parameter of a rung, set as "rung:name=value".
typedef struct trine_rung_parameter_t {
  uint32_t size;
  uint32_t value_count;
  const char* const* values;
  const char *name, *default_value;
} trine_rung_parameter_t;

/// The description of one rung.
typedef struct trine_rung_info_t {
  uint32_t size;
  /// A trine_numerics: the promise about its bits.
  uint32_t numerics;
  /// The name that a call takes, one sentence on the idea, and the requirement in words (or "").
  const char *name, *summary, *requirement;
  /// The pack that the rung comes from; "" for the backend's own.
  const char* pack;
  const trine_rung_parameter_t* const* parameters;
  size_t parameter_count;
} trine_rung_info_t;

/// All backends with their devices, absent ones with the reason, then all rung packs;
/// trine::backends(). The first call in a process loads the backends, which may wake GPU drivers
/// (0.1 to 1 s).
/// ```c
/// const trine_backend_info_t* const* backends;
/// size_t count;
/// if (trine_list_backends(&backends, &count) != TRINE_OK) return 1;
/// for (size_t i = 0; i < count; ++i) printf("%s %s\n", backends[i]->name, backends[i]->reason);
/// trine_free(backends);
/// ```
TRINE_EXPORT trine_status trine_list_backends(const trine_backend_info_t* const** backends,
                                              size_t* count);
/// The devices of all backends; trine::devices().
TRINE_EXPORT trine_status trine_list_devices(const trine_facts_t* const** devices, size_t* count);
/// The folders in which backends and rung packs are looked for, in order; trine::search_path().
TRINE_EXPORT trine_status trine_list_search_path(const char* const** folders, size_t* count);
/// Loads the rung pack `path`, or all packs of the folder `path`, and lists them, those that can't
/// be loaded with the reason; trine::load_packs().
TRINE_EXPORT trine_status trine_load_packs(const char* path,
                                           const trine_backend_info_t* const** packs,
                                           size_t* count);

/// Opens a device by name; trine::open(). "cuda" is a backend's first device, or that of a rank of
/// MPI; "cpu:threads=8" has options. "auto" is refused: the trine_place_… functions choose a
/// device. Errors: TRINE_NOT_FOUND with the list of devices; TRINE_DEVICE_LOST in a forked child,
/// but for the cpu; TRINE_BACKEND_ERROR.
/// ```c
/// trine_device_t* device;
/// const trine_facts_t* facts;
/// if (trine_device_open("cpu:threads=2", &device) != TRINE_OK) return 1;
/// if (trine_device_get_facts(device, &facts) == TRINE_OK) printf("%s\n", facts->name);
/// trine_free(facts);
/// trine_device_close(device);
/// ```
TRINE_EXPORT trine_status trine_device_open(const char* name, trine_device_t** device);
/// Drops a handle. Never waits; NULL is legal.
TRINE_EXPORT void trine_device_close(trine_device_t* device);
/// The device's properties.
TRINE_EXPORT trine_status trine_device_get_facts(const trine_device_t* device,
                                                 const trine_facts_t** facts);
/// The name with which the device was opened, options included, and the name of its backend.
TRINE_EXPORT trine_status trine_device_get_id(const trine_device_t* device, const char** id);
TRINE_EXPORT trine_status trine_device_get_backend(const trine_device_t* device,
                                                   const char** backend);
/// The ladder of a trine_operation: the naive rung first, the rungs of packs last.
TRINE_EXPORT trine_status trine_device_list_rungs(const trine_device_t* device, uint32_t operation,
                                                  const trine_rung_info_t* const** rungs,
                                                  size_t* count);
/// The driver's own handles, which stay Trine's. CUDA: the CUdevice as an integer in the pointer,
/// and the CUcontext; OpenCL: cl_device_id and cl_context; cpu: NULL.
TRINE_EXPORT trine_status trine_device_get_native(const trine_device_t* device,
                                                  void** native_device, void** native_context);
/// Whether both handles refer to the same device, opened with the same options: 1 or 0.
TRINE_EXPORT int trine_device_is_same(const trine_device_t* a, const trine_device_t* b);

#ifdef __cplusplus
}
#endif
