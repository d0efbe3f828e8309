// Threads for calls on host data that don't block their callers.
#pragma once

#include <functional>

namespace trine::detail {

/// Runs `task`, which throws nothing, soon in another thread. If there is no thread, as in a forked
/// child, it runs the task before it returns. Tasks begin in the order given, some at the same
/// time. exit() waits for all of them, before the drivers of their `device`s end.
void run_in_background(const void* device, std::function<void()> task);

}  // namespace trine::detail
