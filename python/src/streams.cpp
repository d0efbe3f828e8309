#include "streams.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace trine::python {
namespace {

struct Known {
  Device device;
  void* stream;
  std::thread::id thread;
  Queue queue;
};
constexpr uint64_t kPerThread = 2;  ///< CUDA's name for another stream in each thread

/// The queue over a stream. CUDA's is kept for the next call, with its workspace, which a graph
/// that the program captures may use for ever, and never dropped, since its stream may be gone by
/// then. With the interpreter's lock.
Queue queue_over(const Device& device, void* stream) {
  if (device.backend() != "cuda") return Queue::adopt(device, stream);
  static auto& known = *new std::vector<Known>;
  const std::thread::id thread = reinterpret_cast<uint64_t>(stream) == kPerThread
                                     ? std::this_thread::get_id()
                                     : std::thread::id();
  for (const Known& one : known)
    if (one.stream == stream && one.device == device && one.thread == thread) return one.queue;
  return known.emplace_back(device, stream, thread, Queue::adopt(device, stream)).queue;
}

/// Arrays whose work is in flight on a stream that isn't their library's.
struct Kept {
  Event end;
  std::vector<nb::object> arrays;
};
std::vector<Kept>& kept() {
  static auto& all = *new std::vector<Kept>;
  return all;
}

/// Whether an event has passed; also of work that failed, which the next call reports.
bool has_passed(const Kept& one) {
  try {
    return one.end.done();
  } catch (const Error&) { return true; }
}

}  // namespace

void forget_kept() { kept().clear(); }

Ordered::Ordered(const Plan& plan, const Call& call)
    : plan_(plan), is_named_(call.stream.has_value()) {
  const Array& output = plan.output();
  const Device& device = output.device();
  if (!device) {
    if (is_named_) refuse("stream= is for arrays on a device; these lie in the host's memory.");
    return;
  }
  void* const stream = is_named_ ? stream_named(*call.stream) : output.stream();
  queue_ = queue_over(device, stream);
  waits_ = !is_named_ && !output.is_ordered();
  std::vector<void*> streams = {stream};
  for (const auto& [name, array] : plan.arrays) {
    keeps_ = keeps_ || array->stream() != stream || !array->is_ordered();
    if (std::ranges::find(streams, array->stream()) != streams.end()) continue;
    streams.push_back(array->stream());
    others_.push_back(queue_over(device, array->stream()));
  }
}

Ordered::~Ordered() {
  if (!queue_) return;
  std::erase_if(kept(), has_passed);
  if (!keeps_ || waits_) return;
  std::vector<nb::object> owners;
  for (const Named& one : plan_.arrays) owners.push_back(one.array->owner());
  kept().push_back({std::move(end_), std::move(owners)});
}

void Ordered::begin() {
  for (Queue& other : others_) queue_.wait(other.record());
}

void Ordered::end() {
  if (waits_) return queue_.wait();
  try {
    if (keeps_) end_ = queue_.record();
    if (is_named_) return;  // the caller orders what comes later
    for (Queue& other : others_) other.wait(end_);
  } catch (const Error&) {
    queue_.wait();  // the streams can't: so the host does
    throw;
  }
}

}  // namespace trine::python
