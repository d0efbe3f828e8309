// Threads for calls on host data that don't block their callers.
#pragma once

#include <functional>

namespace trine::detail {

/// Runs `task`, which throws nothing, soon and in another thread; before it returns where no thread
/// is to be had, and in a forked child, which starts none. Tasks begin in the order given, some at
/// a time. exit() waits for all of them, before the drivers end that had been loaded when a task
/// first used their `device`.
void run_in_background(const void* device, std::function<void()> task);

}  // namespace trine::detail
