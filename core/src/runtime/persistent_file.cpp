#include "persistent_file.hpp"

#include <dirent.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <trine/version.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "backends/kit/words.hpp"

namespace trine::detail {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;
constexpr std::string_view kChecksum = "checksum ";
constexpr std::size_t kDigits = 16;

std::string folder() {
  return kit::user_folder<std::string>("TRINE_DATA_DIR", "XDG_DATA_HOME", ".local/share");
}

/// "tuning-cuda-0123456789abcdef.txt"
std::string path_of(std::string_view kind, const PersistentKey& key) {
  std::string path = folder();
  if (path.empty()) return path;
  std::string named;
  for (const PersistentKey::Line& line : key.lines) {
    if (line.names_the_file) append(named, cat(line.name, " ", line.value, "\n"));
  }
  return cat(path, "/", kind, "-", key.label, "-", hex(kit::checksum(named.data(), named.size())),
             ".txt");
}

bool is_file_of(std::string_view name, std::string_view kind) {
  constexpr std::string_view end = ".txt";
  if (!name.starts_with(cat(kind, "-")) || !name.ends_with(end)) return false;
  name.remove_suffix(end.size());
  const auto dash = name.rfind('-');
  return dash > kind.size() && name.size() - dash - 1 == kDigits &&
         name.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
}

/// Takes the first line off `text`, without its end; what has no end is no line.
bool take_line(std::string_view& text, std::string_view& line) {
  const auto end = text.find('\n');
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}

/// Checks the last line and takes it off. Everything after this reads what Trine itself wrote.
bool take_checksum(std::string_view& text) {
  const std::size_t bytes = kChecksum.size() + kDigits + 1;
  if (text.size() < bytes) return false;
  const std::string_view body = text.substr(0, text.size() - bytes);
  const std::string wanted = cat(kChecksum, hex(kit::checksum(body.data(), body.size())), "\n");
  if (text.substr(body.size()) != wanted) return false;
  text = body;
  return true;
}

/// The lines of the head, which it takes off; or the reason why there is none, in words.
std::string take_head(std::string_view& text, std::string_view kind, int version,
                      std::vector<PersistentKey::Line>& lines) {
  std::string_view line;
  if (!take_line(text, line) || !line.starts_with(cat("trine ", kind, " ")))
    return cat("it is not a file of kind ", kind);
  const std::string_view has = line.substr(line.rfind(' ') + 1);
  if (has != std::to_string(version))
    return cat("its format is ", has, ", this Trine's is ", version);
  while (take_line(text, line)) {
    if (line.empty()) return {};
    const auto space = std::min(line.find(' '), line.size());
    lines.push_back({std::string(line.substr(0, space)),
                     std::string(line.substr(std::min(space + 1, line.size()))), false});
  }
  return "its header has no end";
}

/// The reason why a head isn't that of `key`, or "".
std::string foreign(const std::vector<PersistentKey::Line>& lines, const PersistentKey& key) {
  for (std::size_t i = 0; i < key.lines.size(); ++i) {
    const PersistentKey::Line& wanted = key.lines[i];
    if (i >= lines.size() || lines[i].name != wanted.name)
      return cat("it doesn't say the ", wanted.name);
    if (lines[i].value != wanted.value)
      return cat("its ", wanted.name, " is '", lines[i].value, "', here it is '", wanted.value,
                 "'");
  }
  return lines.size() > key.lines.size() ? "its header has no end" : "";
}

/// One line of printable words: drivers put anything into a name.
std::string one_line(std::string_view value) {
  std::string line(value);
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
  return line;
}

[[noreturn]] void throw_nowhere() {
  fail(Status::unsupported,
       "There is no folder for saved measurements: set TRINE_DATA_DIR, XDG_DATA_HOME or HOME (a "
       "setuid program saves none).");
}

}  // namespace

std::string hex(uint64_t value) {
  std::string text(kDigits, '0');
  for (std::size_t i = kDigits; i-- > 0; value >>= 4) text[i] = "0123456789abcdef"[value & 15];
  return text;
}

std::string_view take_last(std::string_view& text) {
  const auto space = text.rfind(' ');
  if (space == std::string_view::npos) return {};
  const std::string_view word = text.substr(space + 1);
  text = text.substr(0, space);
  return word;
}

bool read_seconds(std::string_view word, double& value) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc{} && end == word.data() + word.size() && value > 0 && value < 1e9;
}

void make_saved_folder() {
  const std::string where = folder();
  if (!where.empty()) kit::make_folders(where + "/");
}

PersistentLock::PersistentLock() {
  const std::string where = folder();
  if (where.empty()) return;
  folder_.descriptor = ::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (folder_.descriptor >= 0 && flock(folder_.descriptor, LOCK_EX) != 0 && errno == EINTR) {}
}

// A child that was forked meanwhile has the descriptor too: closing ours would not give the lock
// back.
PersistentLock::~PersistentLock() {
  if (folder_.descriptor >= 0) flock(folder_.descriptor, LOCK_UN);
}

void PersistentKey::add(std::string name, std::string_view value, bool names_the_file) {
  lines.push_back({std::move(name), one_line(value), names_the_file});
}

std::string host_model() {
  char model[128];
  kit::line_value("/proc/cpuinfo", "model name", ':', "", model, sizeof model);
  if (*model != '\0') return model;
  utsname system{};
  return uname(&system) == 0 ? system.machine : "unknown";
}

PersistentKey saved_key(const DeviceState& device) {
  PersistentKey key;
  key.label = device.backend.name;
  key.add("host", host_model(), true);
  key.add("backend", device.backend.name, true);
  key.add("device", device.facts.name, true);
  key.add("units", std::to_string(device.facts.compute_units), true);
  key.add("driver", device.facts.driver, false);
  key.add("trine", TRINE_VERSION_STRING, false);
  return key;
}

std::string Saved::place_of(std::size_t row) const {
  return cat(path, ":", first_line + row, ": ");
}

Saved read_persistent_at(std::string path, std::string_view kind, int version,
                         std::vector<PersistentKey::Line>& lines) {
  Saved saved;
  saved.path = std::move(path);
  if (saved.path.empty()) return saved;
  std::string bytes;
  const int error = kit::read_file(saved.path.c_str(), kMostBytes, bytes);
  if (error == ENOENT || error == ENOTDIR) return saved;
  saved.found = true;
  std::string_view text = bytes;
  std::string reason;
  if (error == EFBIG) {
    reason = cat("it is larger than ", kMostBytes, " bytes");
  } else if (error == EINVAL) {
    reason = "it is no regular file";
  } else if (error != 0) {
    reason = cat("it can't be read: ", std::strerror(error));
  } else if (!take_checksum(text)) {
    reason = "it is damaged: its checksum doesn't match its contents";
  } else {
    reason = take_head(text, kind, version, lines);
  }
  if (!reason.empty()) {
    saved.refusal = cat(saved.path, ": ", reason);
    return saved;
  }
  saved.first_line = lines.size() + 3;  // behind the kind and an empty line
  for (std::string_view row; take_line(text, row);) saved.rows.emplace_back(row);
  return saved;
}

Saved read_persistent(std::string_view kind, int version, const PersistentKey& key) {
  std::vector<PersistentKey::Line> lines;
  Saved saved = read_persistent_at(path_of(kind, key), kind, version, lines);
  if (!saved.found || !saved.refusal.empty()) return saved;
  if (const std::string reason = foreign(lines, key); !reason.empty()) {
    saved.refusal = cat(saved.path, ": ", reason);
    saved.rows.clear();
  }
  return saved;
}

std::string write_persistent(std::string_view kind, int version, const PersistentKey& key,
                             const std::vector<std::string>& rows) {
  std::string path = path_of(kind, key);
  if (path.empty()) throw_nowhere();
  std::string text = cat("trine ", kind, " ", version, "\n");
  for (const PersistentKey::Line& line : key.lines)
    append(text, cat(line.name, " ", line.value, "\n"));
  append(text, "\n");
  for (const std::string& row : rows) append(text, cat(row, "\n"));
  const std::string end = cat(kChecksum, hex(kit::checksum(text.data(), text.size())), "\n");
  if (text.size() + end.size() > kMostBytes) {
    fail(Status::unsupported, path, ": ", rows.size(), " rows don't fit a file of ", kMostBytes,
         " bytes.");
  }
  const int error = kit::replace_file(path, {text, end}, true);
  if (error != 0)
    fail(Status::unsupported, path, ": can't be written: ", std::strerror(error), ".");
  return path;
}

void check_writable() {
  std::string where = folder();
  if (where.empty()) throw_nowhere();
  while (where != "." && where != "/" && access(where.c_str(), F_OK) != 0) {
    const std::size_t slash = where.rfind('/');  // writing makes those that lack
    where = slash == std::string::npos ? "." : slash == 0 ? "/" : where.substr(0, slash);
  }
  if (access(where.c_str(), W_OK | X_OK) != 0)
    fail(Status::unsupported, where, ": can't be written: ", std::strerror(errno), ".");
}

std::vector<std::string> forget_persistent(std::string_view kind) {
  const std::string where = folder();
  if (where.empty()) throw_nowhere();
  std::vector<std::string> paths;
  if (DIR* const listing = opendir(where.c_str())) {
    while (const dirent* entry = readdir(listing)) {
      if (is_file_of(entry->d_name, kind)) paths.push_back(cat(where, "/", entry->d_name));
    }
    closedir(listing);
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    if (unlink(path.c_str()) != 0 && errno != ENOENT)
      fail(Status::unsupported, path, ": can't be removed: ", std::strerror(errno), ".");
  }
  return paths;
}

}  // namespace trine::detail
