// A CUDA driver that needs no GPU: it keeps memory, copies, orders streams and events, and records
// every launch. Kernels compute nothing, but for the arithmetic probe and the fill. Work runs when
// somebody looks (a query, a wait), on the caller's thread, so that tests are repeatable.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver.hpp"

namespace fake_cuda {

struct Launch {
  std::string name;  // "naive__4_32": entry and specialization
  unsigned grid[3], block[3], dynamic_bytes;
  std::vector<uint64_t> arguments;  // eight bytes each; of a 32-bit one the lower four count
  bool begins_early = false;        // while the launch before it ends
  int32_t i32(std::size_t index) const { return static_cast<int32_t>(arguments.at(index)); }
};

/// The table, with faults::plan in front of every function.
const trine::cuda::Driver& table();
/// The same without faults, for what a test itself asks of the driver.
const trine::cuda::Driver& plain();

/// Everything as new: no objects, no launches, a device of compute capability 9.0 with pools.
void reset();
/// From now on all calls report a sticky error.
void break_device(int code);
/// Whether the program captures the stream into a graph; and whether nothing has spoilt that.
void set_captured(trine::cuda::Stream stream, bool captured);
bool is_capture_intact(trine::cuda::Stream stream);
void set_has_pools(bool has);
/// Memory of the pool is there when the host waits for it, or after a second.
void set_memory_is_late(bool late);
void set_compute_capability(int major, int minor);
void set_version(int version);
void set_shared_memory(int bytes);

const std::vector<Launch>& launches();
/// How many blocks of memory the pool has had to get, because it had none to give again.
int mapped();
/// How often the host has waited for a stream or an event.
int host_waits();
/// Contexts retained, streams, events, blocks of memory, registered ranges and modules alive, in
/// words; "" when there is none.
std::string leftovers();
/// Does the probe get its arithmetic right?
void set_probe_fuses(bool contracts);

}  // namespace fake_cuda
