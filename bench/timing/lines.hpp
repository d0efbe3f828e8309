// Files that others wrote, read within bounds: whatever they hold, memory and time stay small, and
// what is wrong with them is said with the file and the line.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace trine::bench {

/// The whole of a file (or of a pipe) of at most `most` bytes; else throws Refusal.
std::string read_text(const std::string& path, uint64_t most);

/// A kind of file that has an object of JSON in each line; those of a process begin with a head.
struct LineKind {
  const char* variable;  ///< of the environment, which makes a program write it
  const char* head;      ///< the member that only heads have: the format's version, 1
  uint64_t most_bytes;   ///< in a file
};
constexpr uint64_t kLongestLine = 1 << 20;

/// body(line, is_head, its number) for each line. A program, or the disk, may end within a line:
/// one that is no JSON is left out where the file ends within it, or another program begins behind
/// it, and the answer is true. Throws Refusal where body() throws, and for every other line that is
/// none.
bool each_line(const std::string& path, const LineKind& kind,
               const std::function<void(const nlohmann::json&, bool, int64_t)>& body);

/// Says on the standard output that a line of this file was left out.
void say_torn(const std::string& path);

/// A number of such a line that counts something: 0 and up, and no fraction. Throws what
/// each_line() refuses.
int64_t count_of(const nlohmann::json& line, const char* name);

}  // namespace trine::bench
