// Long work shows where it is, and ends early without losing what it has: by Ctrl-C or a time
// limit.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>

namespace trine::bench {

/// One of these lives while a command measures. The first SIGINT or SIGTERM asks it to stop, a
/// second ends the program as ever.
class Control {
 public:
  static constexpr std::chrono::milliseconds kPatience{500};

  /// `limit`: seconds from now; 0 is none.
  explicit Control(double limit = 0);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// True from when the work should end; asked between two measurements, by any thread, and for
  /// good: work that was left behind may ask when the object is gone.
  static bool stop();
  /// From now on the work ends, for that reason.
  static void end(const std::string& why);
  /// Whether stop() has said so: the results are marked partial.
  static bool partial() { return !why().empty(); }
  /// "interrupted", "the time limit of 60 s is up"; empty when the work ended by itself. It stays
  /// what it was first, whatever comes after.
  static std::string why();
  static bool interrupted();

  /// Runs `work` on a thread of its own and returns what it returns; what it throws comes out.
  /// Nothing where the work should end before it, or where it is still not done kPatience later:
  /// then it is left behind, and the program ends without waiting for it (was_left_behind()). So
  /// `work` owns all that it touches.
  template <class Work>
  static auto step(Work work) -> std::optional<std::invoke_result_t<Work&>> {
    if (stop()) return std::nullopt;
    return closing_step(std::move(work), kPatience);
  }
  /// The same also where the work should have ended: for what must still be done with what was
  /// measured.
  template <class Work>
  static auto closing_step(Work work, std::chrono::milliseconds patience = 2 * kPatience)
      -> std::optional<std::invoke_result_t<Work&>> {
    using Returned = std::invoke_result_t<Work&>;
    std::packaged_task<Returned()> task(std::move(work));
    std::future<Returned> done = task.get_future();
    std::thread thread(std::move(task));
    if (!await([&](auto time) { return done.wait_for(time) == std::future_status::ready; },
               patience)) {
      thread.detach();
      return std::nullopt;
    }
    thread.join();
    return done.get();
  }
  /// Waits until `is_done`, which is given a time to wait, or until the work should have ended
  /// `patience` ago: then false, and what is waited for counts as left behind.
  static bool await(const std::function<bool(std::chrono::milliseconds)>& is_done,
                    std::chrono::milliseconds patience = kPatience);
  /// Whether threads are still at work that nobody waits for: the program must end by _Exit().
  static bool was_left_behind();

  /// One line on stderr that the next one replaces; nothing where stderr is no terminal.
  static void show(const std::string& text);
};

}  // namespace trine::bench
