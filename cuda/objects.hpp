// The CUDA side of a GPU backend's four objects, over the device's primary context, so that
// pointers and streams of a program that uses the CUDA runtime just work.
#pragma once

#include <condition_variable>
#include <mutex>

#include "backends/gpu/objects.hpp"
#include "cuda/driver.hpp"

namespace trine::cuda {

/// Number of devices; 0 with a reason reported.
int count_devices();
bool is_candidate(int gpus);
void describe_device(int index, trine_device_facts& facts);
int attribute(DeviceId id, int which);

/// A word of pinned memory that streams wait on and the host writes. Its value only grows, so a
/// word can serve the next event while a stream still looks at it for the last.
struct Flag {
  uint32_t* host = nullptr;
  Pointer device = 0;
  uint32_t value = 0;
};

struct Device;

/// The embedded fatbins of one device: a module a kernel file, loaded when its first kernel is
/// wanted.
class Modules {
 public:
  explicit Modules(Device& device) : device_(device) {}
  void unload();
  /// The entry of the variant's specialization with these macro values.
  Function function(const gpu::Variant& variant, const int* macro, int entry);

 private:
  Module module_of(const char* file);

  struct Loaded {
    const char* file;
    Module module;
  };
  Device& device_;
  std::mutex mutex_;
  kit::Vector<Loaded> loaded_;
};

struct Device final : trine_device {
  explicit Device(int device_index);
  ~Device() override;

  void native(void** native_device, void** native_context) override;
  trine_queue* create_queue() override;
  trine_queue* adopt_queue(void* native_stream) override;
  trine_event* create_event(bool signalled_by_host) override;
  trine_buffer* allocate(uint64_t bytes, uint32_t kind) override;
  trine_buffer* adopt(void* native_pointer, uint64_t bytes) override;
  trine_buffer* wrap(void* host, uint64_t bytes) override;
  const char* lacks(const gpu::Variant& variant) override;
  /// Does this device run code of the build for architectures from `lowest` on (nullptr: any)?
  bool has_code_of(const char* lowest) const;

  /// Throws unless `code` is kSuccess; a sticky error makes the device lost.
  void check(Result code, const char* call);

  Flag take_flag();
  void give_back(const Flag& flag);

  DeviceId id = 0;
  Context context = nullptr;
  bool has_pools = false;
  bool begins_early = false;  // may kernels begin early that await earlier launches themselves?
  std::size_t max_pitch = 0;
  Modules modules{*this};
  Stream service = nullptr;  // orders allocations, and nothing else

 private:
  void grow_flags();
  std::mutex flag_mutex_;
  kit::Vector<void*> flag_blocks_;
  kit::Vector<Flag> free_flags_;
};

/// Makes the device's context current for a while, and restores what the caller had. Meanwhile
/// memory, modules and other streams may be used although this thread captures a stream.
class Current {
 public:
  explicit Current(Device& device);
  Current(Device& device, std::nothrow_t);  // for destructors: does what can be done
  ~Current();
  Current(const Current&) = delete;

 private:
  void exchange_capture_mode();

  bool pushed_ = false;
  int mode_ = kCaptureRelaxed;  ///< the caller's, meanwhile
};

struct Queue final : trine_queue {
  Queue(Device& on, Stream native_stream, bool is_ours);
  ~Queue() override;

  void* native() override { return stream; }
  void flush() override {}  // CUDA hands over at once
  void wait() override;
  bool idle() override;
  bool is_captured() override;
  void wait_for(trine_event& event) override;
  void copy_and_wait(const trine_copy& copy) override;
  void fill(void* memory, uint64_t offset, uint64_t bytes, const void* pattern,
            uint32_t pattern_bytes) override;
  void launch(const gpu::Variant& variant, const gpu::Plan& plan) override;

  Device& device_;
  Stream stream;  // null while ours is being made

 private:
  struct Kernel {
    const gpu::Variant* variant;
    uint64_t specialization;
    int entry;
    Function function;
    uint32_t dynamic_bytes;  // what the function is allowed by now
  };
  Kernel& kernel_of(const gpu::Specialization& wanted, int entry);
  void copy_row(const trine_copy& copy) override;
  bool copy_box(const trine_copy& copy) override;
  void await_turn(const trine_copy& copy, uint64_t bytes);

  const bool ours_;
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

  void hold_back(Queue& queue);  // what comes later on `queue` waits for this event

 private:
  Device& device_;
  NativeEvent event_ = nullptr;
  Flag flag_;
  std::mutex mutex_;
  std::condition_variable signalled_condition_;
  bool signalled_ = false;
  gpu::Notice* notices_ = nullptr;  // to be delivered by signal()
};

/// Host memory of the program, made known to the driver. The driver takes a range once, but
/// programs wrap what they have wrapped: ranges are counted, for all devices of the process.
struct Pin;

/// Whether the driver knows the whole range as one, pinned by whomever.
bool is_pinned(const void* begin, uint64_t bytes);

struct Buffer final : trine_buffer {
  Buffer(Device& on, uint32_t kind, uint64_t bytes) : trine_buffer(on, kind, bytes), device_(on) {}
  ~Buffer() override;
  Device& device_;
  Pin* pin = nullptr;  // of wrapped memory that isn't pinned by the program itself
};

}  // namespace trine::cuda
