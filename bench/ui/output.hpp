// Files that the program writes: whole, or not at all.
#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace trine::bench {

/// Throws Refusal where no file of that name could be written.
void check_writable(const std::string& path);

/// The output of `write` goes to a temporary beside `path`, which then takes its place and, if
/// a file was there, that file's mode. Links are followed; a path that is no file (/dev/null, a
/// pipe) is written directly. Throws Refusal, and leaves nothing new, where that fails.
void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write);

}  // namespace trine::bench
