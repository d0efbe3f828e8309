// Puts faults into a driver's table: the Nth call fails, once or from then on. The wrappers are
// made by the compiler from the table's members, so a function that joins the table is covered too.
#pragma once

#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>

namespace faults {

/// When to fail, and what happened. Calls are counted over all functions of a table.
struct Plan {
  std::mutex mutex;
  long calls = 0;
  long fail_at = 0;  // 1 is the first call; 0: never
  bool forever = false;
  int code = 0;
  long fired = 0;
  std::string first;  // the function that failed first

  void reset(long at = 0, bool always = false, int error = 0) {
    const std::lock_guard lock(mutex);
    calls = fired = 0;
    fail_at = at;
    forever = always;
    code = error;
    first.clear();
  }
  bool fails(const char* function) {
    const std::lock_guard lock(mutex);
    ++calls;
    if (fail_at == 0 || (forever ? calls < fail_at : calls != fail_at)) return false;
    if (fired++ == 0) first = function;
    return true;
  }
};
inline Plan plan;

/// Functions that give something back do so even when they report an error, as drivers do; and so
/// does the signal of a user event, for without it whoever waits would wait for ever.
inline bool gives_back(const char* name) {
  for (const char* word :
       {"Release", "Destroy", "Free", "Unload", "Unregister", "Unmap", "Pop", "SetUserEvent"}) {
    if (std::strstr(name, word)) return true;
  }
  return false;
}

}  // namespace faults
