#include "lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;

/// Pieces of a file, of which it never reads more than it may.
class Pieces {
 public:
  Pieces(std::string path, uint64_t most) : path_(std::move(path)), left_(most), most_(most) {
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) refuse();
  }
  ~Pieces() { close(file_); }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  /// Empty at the end.
  std::string_view next() {
    ssize_t got = 0;
    do got = read(file_, piece_, sizeof piece_);
    while (got < 0 && errno == EINTR);
    if (got < 0) refuse();
    const auto bytes = static_cast<uint64_t>(got);
    if (bytes > left_)
      throw Refusal(fmt::format("{}: larger than {} bytes, and no such file is", path_, most_));
    left_ -= bytes;
    return {piece_, bytes};
  }

 private:
  [[noreturn]] void refuse() const {
    throw Refusal(fmt::format("{}: can't be read: {}", path_, std::strerror(errno)));
  }

  std::string path_;
  uint64_t left_, most_;
  int file_ = -1;
  char piece_[1 << 16];
};

/// The lines of a file, without their ends; the last may have none.
class Lines {
 public:
  Lines(const std::string& path, const LineKind& kind)
      : path_(path), kind_(kind), pieces_(path, kind.most_bytes) {}

  bool next(std::string& line) {
    ++number;
    line.clear();
    while (true) {
      if (piece_.empty()) piece_ = pieces_.next();
      if (piece_.empty()) return !line.empty();
      const size_t end = piece_.find('\n');
      line += piece_.substr(0, end);
      if (line.size() > kLongestLine)
        throw Refusal(fmt::format("{}:{}: longer than {} bytes, and no line of {} is", path_,
                                  number, kLongestLine, kind_.variable));
      has_end = end != std::string_view::npos;
      piece_.remove_prefix(has_end ? end + 1 : piece_.size());
      if (has_end) return true;
    }
  }
  [[noreturn]] void refuse(int64_t which) const {
    throw Refusal(fmt::format("{}:{}: not a line of {}", path_, which, kind_.variable));
  }

  int64_t number = 0;
  bool has_end = false;  ///< of the last line

 private:
  const std::string& path_;
  const LineKind& kind_;
  Pieces pieces_;
  std::string_view piece_;
};

}  // namespace

std::string read_text(const std::string& path, uint64_t most) {
  Pieces pieces(path, most);
  std::string text;
  for (std::string_view piece; !(piece = pieces.next()).empty();) text += piece;
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
