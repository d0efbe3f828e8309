// The fake driver in the place of CUDA's, as soon as the cuda backend's library is loaded; and what
// tests in other languages ask of it.
#include <algorithm>

#include "fake_state.hpp"
#include "injector.hpp"

static const bool replaced = (trine::cuda::replace_driver(&fake_cuda::table()), true);

namespace {

using namespace fake_cuda;

bool is_held = false;
std::string text;

/// Runs `work` in the context, which is this thread's no longer afterwards.
template <class Work>
void in_context(Work&& work) {
  plain().cuCtxPushCurrent(&state.context);
  work();
  Context old = nullptr;
  plain().cuCtxPopCurrent(&old);
}

}  // namespace

#define TRINE_SHOWN extern "C" __attribute__((visibility("default")))

/// Memory of the device, until the process ends.
TRINE_SHOWN void* fake_gpu_memory(std::size_t bytes) {
  Pointer memory = 0;
  in_context([&] { plain().cuMemAlloc(&memory, bytes); });
  return host_of(memory);
}

TRINE_SHOWN Stream fake_gpu_stream() {
  Stream stream = nullptr;
  in_context([&] { plain().cuStreamCreate(&stream, 0); });
  return stream;
}

/// From now on the stream stands still, until fake_gpu_go_on().
TRINE_SHOWN void fake_gpu_hold(Stream stream) {
  const Lock lock(state.mutex);
  is_held = true;
  enqueue(stream, [] { return !is_held; });
}
TRINE_SHOWN void fake_gpu_go_on() {
  const Lock lock(state.mutex);
  is_held = false;
  pump();
}

TRINE_SHOWN void fake_gpu_capture(Stream stream, bool begins) { set_captured(stream, begins); }
TRINE_SHOWN bool fake_gpu_is_capture_intact(Stream stream) { return is_capture_intact(stream); }

/// The driver's n-th call from now on fails; 0: none.
TRINE_SHOWN void fake_gpu_fail(long n) { faults::plan.reset(n, false, kInvalidValue); }
/// Calls of the driver since then.
TRINE_SHOWN long fake_gpu_calls() { return faults::plan.calls; }
TRINE_SHOWN bool fake_gpu_has_failed() { return faults::plan.fired > 0; }

/// The work that was enqueued since the last look, a line each: "launch STREAM", "copy STREAM",
/// "record STREAM EVENT", "wait STREAM EVENT", "host waits STREAM". The text stands until the next
/// call.
TRINE_SHOWN const char* fake_gpu_log() {
  constexpr const char* words[] = {"copy", "copy", "record", "wait", "host waits", "launch"};
  const Lock lock(state.mutex);
  text.clear();
  const auto number = [](const void* handle) {
    return std::string(1, ' ').append(std::to_string(reinterpret_cast<std::uint64_t>(handle)));
  };
  for (const auto& [what, stream, event] : state.context.enqueued)
    text += words[what] + number(stream) + (event ? number(event) : "") + "\n";
  state.context.enqueued.clear();
  return text.c_str();
}
