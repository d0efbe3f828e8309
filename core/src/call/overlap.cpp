#include "overlap.hpp"

#include <chrono>
#include <future>
#include <new>
#include <system_error>
#include <vector>

namespace trine::detail {

bool run_overlapped(Lane& in, Lane& kernel, Lane& out, const Stages& stages) {
  // First, since its end waits for the thread: where something failed, a broken promise has ended that.
  std::future<void> taken;
  std::vector<std::promise<Event>> computed(static_cast<std::size_t>(stages.chunks));
  std::vector<std::future<Event>> moments;
  for (std::promise<Event>& chunk : computed) moments.push_back(chunk.get_future());
  // Takes the chunks back, in a thread of its own: bringing and taking both block while bytes are moved.
  auto take_all = [&out, &stages, moments = std::move(moments)]() mutable {
    for (int i = 0; i < stages.chunks; ++i) {
      out.queue.wait(moments[static_cast<std::size_t>(i)].get());
      stages.take(out, i);
    }
  };
  try {
    taken = std::async(std::launch::async, std::move(take_all));
  } catch (const std::system_error&) { return false; } catch (const std::bad_alloc&) {
    return false;
  }
  for (int i = 0; i < stages.chunks; ++i) {
    stages.bring(in, i);
    kernel.queue.wait(in.queue.record());
    in.queue.flush();
    stages.compute(kernel.queue, i);
    Event moment = kernel.queue.record();
    kernel.queue.flush();
    if (taken.wait_for(std::chrono::seconds(0)) == std::future_status::ready) taken.get();
    computed[static_cast<std::size_t>(i)].set_value(std::move(moment));
  }
  taken.get();
  in.queue.wait();
  kernel.queue.wait();  // what failed in there, only its own wait tells
  out.queue.wait();
  return true;
}

}  // namespace trine::detail
