// The contract's handles as values that clean up after themselves, and a host that counts and fails
// allocations. For tests that speak to a backend without core.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "backends/abi.h"

namespace faults {

/// A GPU that there isn't, with all that a rung may need.
inline trine_device_facts gpu() {
  trine_device_facts facts{};
  facts.kind = TRINE_DEVICE_GPU;
  facts.capabilities = ~uint64_t{0};
  facts.compute_units = 132;
  facts.max_group_threads = 1024;
  facts.local_memory_bytes = 48 << 10;
  facts.max_buffer_bytes = uint64_t{1} << 40;
  std::snprintf(facts.driver, sizeof facts.driver, "NVIDIA CUDA, driver 580.159.04");
  return facts;
}

/// Host services: counts what is alive, fails the Nth allocation (once, or from then on).
struct Host {
  std::atomic<long> alive{0}, asked{0}, fired{0};
  long fail_at = 0;
  bool forever = false;
  trine_host services{sizeof(trine_host), this, allocate, release};

  void reset(long at = 0, bool always = false) {
    asked = fired = 0;
    fail_at = at;
    forever = always;
  }

  static void* allocate(void* context, size_t bytes, size_t alignment) {
    auto& host = *static_cast<Host*>(context);
    const long number = ++host.asked;
    if (host.fail_at && (host.forever ? number >= host.fail_at : number == host.fail_at)) {
      ++host.fired;
      return nullptr;
    }
    if (alignment < 16) alignment = 16;
    ++host.alive;
    return std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  }
  static void release(void* context, void* pointer) {
    if (!pointer) return;
    --static_cast<Host*>(context)->alive;
    std::free(pointer);
  }
};

/// A call of the contract that failed.
struct Refused : std::runtime_error {
  Refused(trine_status code, const char* text) : std::runtime_error(text), status(code) {}
  trine_status status;
};

/// One opened device of a backend, with the contract's functions as members that throw Refused.
class Device {
 public:
  explicit Device(const trine_backend& backend, int index = 0) : abi(backend) {
    int count = 0;
    check(abi.device_count(&count));
    check(abi.device_open(index, "", &device));
  }
  ~Device() { abi.device_close(device); }
  Device(const Device&) = delete;

  void check(trine_status status) const {
    if (status != TRINE_OK) throw Refused(status, abi.last_error());
  }

  template <class T>
  using Handle = std::unique_ptr<T, void (*)(T*)>;
  Handle<trine_queue> queue() const {
    trine_queue* made = nullptr;
    check(abi.queue_create(device, &made));
    return {made, abi.queue_destroy};
  }
  Handle<trine_event> event(bool by_host = false) const {
    trine_event* made = nullptr;
    check(abi.event_create(device, by_host, &made));
    return {made, abi.event_destroy};
  }
  Handle<trine_buffer> buffer(uint64_t bytes, uint32_t kind = TRINE_MEMORY_DEVICE) const {
    trine_buffer* made = nullptr;
    check(abi.buffer_allocate(device, bytes, kind, &made));
    return {made, abi.buffer_free};
  }
  trine_buffer_facts facts(const Handle<trine_buffer>& buffer) const {
    trine_buffer_facts facts{};
    facts.size = sizeof facts;
    check(abi.buffer_facts(buffer.get(), &facts));
    return facts;
  }
  void* native(const Handle<trine_buffer>& buffer) const { return facts(buffer).native; }

  void copy(const Handle<trine_queue>& queue, uint32_t direction, const void* from, void* to,
            uint64_t bytes) const {
    copy_rows(queue, direction, from, bytes, to, bytes, bytes, 1);
  }
  void copy_rows(const Handle<trine_queue>& queue, uint32_t direction, const void* from,
                 uint64_t from_pitch, void* to, uint64_t to_pitch, uint64_t width,
                 uint64_t height) const {
    const trine_copy wanted{sizeof wanted, direction, from,  to,    0, 0,
                            from_pitch,    to_pitch,  width, height};
    check(abi.copy(queue.get(), &wanted));
  }
  /// The default rung of a call by its name, and why.
  std::string choice(const trine_call& call, std::string* why = nullptr) const {
    trine_selection selection{};
    selection.size = sizeof selection;
    check(abi.choose(device, &call, &selection));
    if (why) *why = selection.why ? selection.why : "";
    int count = 0;
    uint32_t stride = 0;
    const auto* rungs = reinterpret_cast<const char*>(abi.rungs(call.operation, &count, &stride));
    return reinterpret_cast<const trine_rung*>(rungs + static_cast<size_t>(selection.rung) * stride)
        ->name;
  }
  void wait(const Handle<trine_queue>& queue) const { check(abi.queue_wait(queue.get())); }

  /// The selection of a rung by its name, parameters by default.
  trine_selection select(uint32_t operation, const std::string& name) const {
    int count = 0;
    uint32_t stride = 0;
    const trine_rung* rungs = abi.rungs(operation, &count, &stride);
    trine_selection selection{};
    selection.size = sizeof selection;
    for (int r = 0; r < count; ++r) {
      const auto& rung = *reinterpret_cast<const trine_rung*>(reinterpret_cast<const char*>(rungs) +
                                                              static_cast<size_t>(r) * stride);
      if (rung.name != name) continue;
      selection.rung = r;
      for (int p = 0; p < rung.parameter_count; ++p) {
        selection.values[p] = rung.parameters[p].default_value;
      }
      return selection;
    }
    throw Refused(TRINE_NOT_FOUND, "no such rung");
  }

  const trine_backend& abi;
  trine_device* device = nullptr;
};

/// rows x cols, row-major, dense.
inline trine_view dense(void* memory, int64_t rows, int64_t cols) {
  return {memory, 0, rows, cols, 1, cols, 1, 0};
}
inline trine_transpose transpose_of(void* input, void* output, int64_t rows, int64_t cols,
                                    uint32_t element_size = 4) {
  trine_transpose op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.element_size = element_size;
  op.input = dense(input, rows, cols);
  op.output = dense(output, cols, rows);
  return op;
}

/// c = a b, of f64 or f32.
inline trine_gemm gemm_of(bool f64, const trine_view& a, const trine_view& b, const trine_view& c) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.dtype = f64 ? TRINE_F64 : TRINE_F32;
  f64 ? void(op.alpha.f64 = 1) : void(op.alpha.f32 = 1);
  op.a = a, op.b = b, op.c = c;
  return op;
}
/// Squares without memory: for what is asked and not launched.
inline trine_gemm gemm_of(bool f64, int64_t n) {
  const trine_view square = dense(nullptr, n, n);
  return gemm_of(f64, square, square, square);
}

/// The sum of rows x cols of f32.
inline trine_reduce sum_of(void* input, void* output, int64_t rows, int64_t cols) {
  trine_reduce op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.function = TRINE_SUM;
  op.map = TRINE_IDENTITY;
  op.axis = TRINE_ALL;
  op.dtype = op.result_dtype = TRINE_F32;
  op.input = dense(input, rows, cols);
  op.output = dense(output, 1, 1);
  return op;
}

}  // namespace faults
