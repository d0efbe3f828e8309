#include "lines.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse_reading(const std::string& path) {
  throw Refusal(fmt::format("{}: can't be read: {}", path, std::strerror(errno)));
}

std::ifstream opened(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  // A folder opens, but can't be read.
  if (!file || (file.peek(), file.bad())) refuse_reading(path);
  file.clear();
  return file;
}

void check_size(const std::string& path, uint64_t bytes, uint64_t most) {
  if (bytes > most)
    throw Refusal(fmt::format("{}: larger than {} bytes, and no such file is", path, most));
}

/// The lines of a file, without their ends; the last may have none. It never holds more than a
/// line.
class Lines {
 public:
  Lines(const std::string& path, const LineKind& kind)
      : path_(path), kind_(kind), file_(opened(path)), line_(kLongestLine + 2) {}

  bool next(std::string& line) {
    ++number;
    file_.getline(line_.data(), std::streamsize(line_.size()));
    const auto bytes = uint64_t(file_.gcount());
    if (file_.bad()) refuse_reading(path_);
    if (bytes == 0) return false;
    check_size(path_, read_ += bytes, kind_.most_bytes);
    has_end = !file_.eof();
    const uint64_t length = bytes - (has_end ? 1 : 0);
    if (file_.fail() || length > kLongestLine)
      throw Refusal(fmt::format("{}:{}: longer than {} bytes, and no line of {} is", path_, number,
                                kLongestLine, kind_.variable));
    line.assign(line_.data(), length);
    return true;
  }
  [[noreturn]] void refuse(int64_t which) const {
    throw Refusal(fmt::format("{}:{}: not a line of {}", path_, which, kind_.variable));
  }

  int64_t number = 0;
  bool has_end = false;  ///< of the last line

 private:
  const std::string& path_;
  const LineKind& kind_;
  std::ifstream file_;
  std::vector<char> line_;
  uint64_t read_ = 0;
};

}  // namespace

std::string read_text(const std::string& path, uint64_t most) {
  std::ifstream file = opened(path);
  std::string text;
  char chunk[1 << 16];
  while (file.read(chunk, sizeof chunk), file.gcount() > 0) {
    text.append(chunk, size_t(file.gcount()));
    check_size(path, text.size(), most);
  }
  if (file.bad()) refuse_reading(path);
  return text;
}

bool each_line(const std::string& path, const LineKind& kind,
               const std::function<void(const Json&, bool, int64_t)>& body) {
  Lines lines(path, kind);
  bool is_torn = false;
  int64_t torn = 0;  // a line that is none, or 0
  for (std::string text; lines.next(text);) {
    if (text.empty()) continue;
    const Json line = Json::parse(text, nullptr, false);
    const bool is_head = line.is_object() && line.contains(kind.head);
    if (torn != 0 && !is_head) lines.refuse(torn);
    torn = line.is_discarded() ? lines.number : 0;
    is_torn |= torn != 0;
    if (torn != 0) continue;
    if (!line.is_object()) lines.refuse(lines.number);
    if (is_head && !line.at(kind.head).is_number()) lines.refuse(lines.number);
    if (is_head && line.at(kind.head) != 1)
      throw Refusal(fmt::format("{}:{}: written by a later version of Trine", path, lines.number));
    try {
      body(line, is_head, lines.number);
    } catch (const std::exception&) { lines.refuse(lines.number); }
  }
  if (torn != 0 && lines.has_end) lines.refuse(torn);
  return is_torn;
}

void say_torn(const std::string& path) {
  say("{}: a line that isn't whole, where a program or the disk ended, doesn't count.", path);
}

int64_t count_of(const Json& line, const char* name) {
  const Json& value = line.at(name);
  // One without a sign may be beyond 2^63; a fraction would be cut.
  const int64_t count = value.is_number_integer() ? value.get<int64_t>() : -1;
  if (count < 0) throw std::invalid_argument(name);
  return count;
}

}  // namespace trine::bench
