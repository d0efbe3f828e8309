// The OpenCL side of a GPU backend's four objects. A Context holds what belongs to one cl_context
// (programs); a queue that a program brings along may live in a context of its own.
#pragma once

#include <memory>
#include <mutex>
#include <type_traits>

#include "backends/gpu/objects.hpp"
#include "opencl/cache.hpp"
#include "opencl/driver.hpp"

namespace trine::opencl {

/// A reference to an object of the driver, which is given back at the end; but not in a forked
/// child, where the driver doesn't work.
template <auto kRelease>
struct Release {
  void operator()(auto* object) const {
    if (!gpu::is_forked()) (driver().*kRelease)(object);
  }
};
template <class Handle, auto kRelease>
using Held = std::unique_ptr<std::remove_pointer_t<Handle>, Release<kRelease>>;
using HeldContext = Held<cl_context, &Driver::clReleaseContext>;
using HeldQueue = Held<cl_command_queue, &Driver::clReleaseCommandQueue>;
using HeldMemory = Held<cl_mem, &Driver::clReleaseMemObject>;
using HeldProgram = Held<cl_program, &Driver::clReleaseProgram>;
using HeldKernel = Held<cl_kernel, &Driver::clReleaseKernel>;
using HeldEvent = Held<cl_event, &Driver::clReleaseEvent>;

/// A platform's device as it was found; or a platform whose driver fails, which has none.
struct Found {
  cl_platform_id platform;
  cl_device_id device;
  cl_int failure;
};
/// All devices of all platforms, in their order, then the platforms whose driver fails: describing
/// or opening one of these says why. Returns their number; 0, with a reason reported, where no
/// device works.
int count_devices();
const Found& found_device(int index);
void describe_device(int index, trine_device_facts& facts);
/// NVIDIA's, 90 for 9.0; of a device with cl_nv_device_attribute_query.
int compute_capability_of(cl_device_id device);

struct Device;

struct Program : kit::Allocated {
  const char* file;
  kit::String defines, options;
  HeldProgram program;
};

/// Programs of one cl_context: built from the embedded sources at first use, or from the binaries
/// that the cache kept, and held until the context goes.
class Context : public kit::Allocated {
 public:
  Context(Device& device, HeldContext native) : device_(device), native_(std::move(native)) {}

  cl_context native() const { return native_.get(); }
  /// The specialization of the variant's file with these macro values, for the queue of this
  /// number.
  Program& program(const gpu::Variant& variant, const int* macro, int queue);

 private:
  bool build_from_binary(Program& program, const CacheKey& key);
  void build_from_source(Program& program, const char* source, std::size_t bytes);
  void retarget(Program& program);
  HeldProgram from_binary(const unsigned char* data, std::size_t bytes);
  kit::Vector<unsigned char> binary_of(const Program& program);
  void store(const Program& program, const CacheKey& key);
  cl_int build(Program& program);
  [[noreturn]] void fail_build(Program& program, cl_int code);

  Device& device_;
  const HeldContext native_;
  std::mutex mutex_;
  kit::Vector<std::unique_ptr<Program>> programs_;
};

struct Stamp {
  cl_mem memory = nullptr;  // null: none
  int slot = 0;
};

/// Places in device memory where stamp kernels write the time, for events on queues whose driver
/// should not do it (service/stamp.cl).
class Stamps {
 public:
  explicit Stamps(Device& device) : device_(device) {}

  Stamp take();
  /// `marker` comes after the stamp's kernel: when it has passed, the place is used again.
  void give_back(const Stamp& stamp, HeldEvent marker);
  /// Nanoseconds of the device's clock; the stamp's event has passed.
  uint64_t read(const Stamp& stamp);

 private:
  struct Retired {
    Stamp stamp;
    HeldEvent marker;
  };
  void grow();
  void recycle();

  Device& device_;
  std::mutex mutex_;
  kit::Vector<HeldMemory> blocks_;
  kit::Vector<Stamp> free_;
  kit::Vector<Retired> retired_;
};

struct Device final : trine_device {
  explicit Device(int device_index);

  void native(void** native_device, void** native_context) override;
  trine_queue* create_queue() override;
  trine_queue* adopt_queue(void* native_queue) override;
  trine_event* create_event(bool signalled_by_host) override;
  trine_buffer* allocate(uint64_t bytes, uint32_t kind) override;
  trine_buffer* adopt(void* native, uint64_t bytes) override;
  trine_buffer* wrap(void* host, uint64_t bytes) override;
  const char* lacks(const gpu::Variant& variant) override;
  trine_buffer* allocate_in(Context& home, uint64_t bytes, uint32_t kind);

  /// Throws unless `code` is CL_SUCCESS; a code that may mean the end of the device is looked into.
  void check(cl_int code, const char* call);

  bool uses_host_memory_in_place();

  const Found where;
  bool is_nvidia = false;      // the driver's own stamps cost 11 us a launch there
  int compute_capability = 0;  // NVIDIA's: 90 is 9.0
  // It has a cache of its own, and asked for a program's binary compiles all its kernels once more,
  // for work-groups of any size: half of what a first run took. See queue.cpp, too.
  bool is_pocl = false;
  std::unique_ptr<Context> context;
  HeldQueue service;  // maps and unmaps; whether the device lives
  std::mutex service_mutex;
  Stamps stamps{*this};
  std::atomic<bool> has_guests{false};  // queues or memory of a context of the program's own
};

struct Queue final : trine_queue {
  /// `its_context`: of a queue that the program brings along, unless it is the device's.
  Queue(Device& on, std::unique_ptr<Context> its_context, HeldQueue native_queue, bool is_profiled,
        bool is_ours);
  ~Queue() override;

  void* native() override { return queue; }
  void flush() override;
  void wait() override;
  bool idle() override;
  void wait_for(trine_event& event) override;
  void copy_and_wait(const trine_copy& copy) override;
  void fill(void* memory, uint64_t offset, uint64_t bytes, const void* pattern,
            uint32_t pattern_bytes) override;
  void launch(const gpu::Variant& variant, const gpu::Plan& plan) override;
  trine_buffer* allocate(uint64_t bytes) override;

  /// Does the driver stamp this queue's events? Else record_time() does, where it can.
  bool is_profiled() const { return profiled_; }
  void record_time(const Stamp& stamp);
  void note_work() { has_new_work_ = true; }
  /// Puts a marker behind the work so far, and flushes the queue so that the device reaches it.
  void mark(HeldEvent& marker);

  Device& device_;
  const std::unique_ptr<Context> guest;
  const HeldQueue held;
  Context& context;
  const cl_command_queue queue;

 private:
  /// clSetKernelArg is not thread-safe, so each queue has kernels of its own.
  struct Kernel {
    const gpu::Variant* variant;
    uint64_t specialization;
    int entry;
    HeldKernel kernel;
  };
  cl_kernel kernel_of(const gpu::Specialization& wanted, int entry);
  void check_context(const void* memory);
  void copy_row(const trine_copy& copy) override;
  bool copy_box(const trine_copy& copy) override;
  void check_contexts(const trine_copy& copy);
  cl_int enqueue_row(const trine_copy& copy, cl_bool blocking);
  cl_int enqueue_box(const trine_copy& copy);

  const bool profiled_, ours_;
  const int number_;           // a queue with programs of its own: see queue.cpp
  bool has_new_work_ = false;  // since the last wait or marker
  HeldEvent idle_marker_;
  kit::Vector<Kernel> kernels_;
};

struct Event final : trine_event {
  Event(Device& on, bool signalled_by_host);
  ~Event() override;

  void record(trine_queue& queue) override;
  void signal() override;
  bool passed() override;
  void wait() override;
  void notify(void (*function)(void*), void* argument) override;
  double seconds_since(trine_event& start) override;

  /// A marker in a queue, null when nothing is recorded, and where its time stands.
  struct Moment {
    HeldEvent marker;
    Stamp stamp;
    cl_context context = nullptr;  // borrowed
  };
  /// The moment as it is now, with a reference of its own.
  Moment take();

 private:
  Device& device_;
  bool signalled_ = false;
  std::mutex mutex_;  // record() may meet query() and wait() of other threads
  void wait_for(const Moment& moment);
  int64_t time_of(const Moment& moment);  // nanoseconds
  Moment moment_;
};

struct Buffer final : trine_buffer {
  Buffer(Device& on, uint32_t kind, uint64_t bytes) : trine_buffer(on, kind, bytes), device_(on) {}
  ~Buffer() override;
  Device& device_;
};

}  // namespace trine::opencl
