#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "error.hpp"

namespace trine::bench {

namespace fs = std::filesystem;

namespace {

/// Without links, and absolute: weakly_canonical() alone leaves a new file of the current folder
/// bare.
fs::path place_of(const std::string& path, std::error_code& error) {
  const fs::path whole = fs::absolute(path, error);
  return error ? whole : fs::weakly_canonical(whole, error);
}

/// A pipe, a terminal, /dev/null: written as it is, whatever folder it lies in.
bool is_straight(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

}  // namespace

void check_writable(const std::string& path) {
  std::error_code error;
  if (is_straight(path) && access(path.c_str(), W_OK) == 0) return;
  const fs::path target = place_of(path, error);
  if (path.empty() || error || fs::is_directory(target) ||
      access(target.parent_path().c_str(), W_OK | X_OK) != 0)
    throw Refusal(fmt::format("{}: no file can be written there", path.empty() ? "''" : path));
}

void write_whole(const std::string& path, const std::function<void(std::ostream&)>& write) {
  check_writable(path);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is refused as a full disk is
  std::error_code error;
  const bool straight = is_straight(path);
  const fs::path target = straight ? fs::path(path) : place_of(path, error);
  const fs::file_status before = fs::status(target);
  const fs::path file =
      straight ? target : fs::path(fmt::format("{}.{}.tmp", target.string(), getpid()));
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  std::error_code ignored;
  try {
    write(stream);
  } catch (...) {
    if (!straight) fs::remove(file, ignored);
    throw;
  }
  stream.close();
  if (!stream) error = std::error_code(errno, std::generic_category());
  if (!error && !straight && fs::exists(before)) fs::permissions(file, before.permissions(), error);
  if (!error && !straight) fs::rename(file, target, error);
  if (!error) return;
  if (!straight) fs::remove(file, ignored);
  throw Refusal(fmt::format("{}: can't be written: {}", path, error.message()));
}

}  // namespace trine::bench
