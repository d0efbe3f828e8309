// Small files that Trine keeps for the user (program binaries, saved measurements): where they lie,
// read whole, replaced whole. No failure throws: the answer is 0 or an errno.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

namespace trine::kit {

constexpr uint64_t kHashPrime = 0x100000001b3u;  // FNV-1a, 64 bits

/// A checksum that every single damaged byte changes.
inline uint64_t checksum(const void* data, std::size_t bytes,
                         uint64_t hash = 0xcbf29ce484222325u) noexcept {
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * kHashPrime;
  return hash;
}

/// $own, else $xdg/trine, else $HOME/under_home/trine; "" where there is nowhere to keep anything:
/// own is empty, nothing is set, or the program is setuid.
template <class String>
String user_folder(const char* own, const char* xdg, const char* under_home) {
  if (const char* folder = secure_getenv(own)) return String(folder);
  if (const char* folder = secure_getenv(xdg); folder && *folder == '/') {
    return String(folder) + "/trine";
  }
  if (const char* home = secure_getenv("HOME"); home && *home == '/') {
    return String(home) + "/" + under_home + "/trine";
  }
  return {};
}

/// The folders that lead to the file `path`; what fails shows when the file is written.
template <class String>
void make_folders(String path) {
  for (std::size_t at = path.find('/', 1); at != String::npos; at = path.find('/', at + 1)) {
    path[at] = '\0';
    mkdir(path.c_str(), 0700);
    path[at] = '/';
  }
}

struct File {
  int descriptor;
  ~File() {
    if (descriptor >= 0) ::close(descriptor);
  }
};

/// The whole of a regular file of at most `most` bytes (EFBIG; EINVAL: no regular file).
template <class Bytes>
int read_file(const char* path, std::size_t most, Bytes& bytes) {
  // Not blocking: what lies there may be a pipe.
  const File file{::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat facts {};
  if (file.descriptor < 0 || fstat(file.descriptor, &facts) != 0) return errno;
  if (!S_ISREG(facts.st_mode)) return EINVAL;
  if (static_cast<uint64_t>(facts.st_size) > most) return EFBIG;
  bytes.resize(static_cast<std::size_t>(facts.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.descriptor, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;  // it shrank meanwhile
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return 0;
}

/// While it lives, a write that fails raises no signal in this thread: SIGXFSZ (the process may
/// write no larger file) and SIGPIPE (nobody reads) end a program that doesn't expect them.
class NoWriteSignals {
 public:
  NoWriteSignals() noexcept {
    sigemptyset(&raised_);
    for (const int signal : {SIGXFSZ, SIGPIPE}) sigaddset(&raised_, signal);
    pthread_sigmask(SIG_BLOCK, &raised_, &before_);
    sigset_t pending;
    if (sigpending(&pending) != 0) return;
    for (const int signal : {SIGXFSZ, SIGPIPE})  // what came before is the program's own
      if (sigismember(&pending, signal) == 1) sigdelset(&raised_, signal);
  }
  ~NoWriteSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoWriteSignals(const NoWriteSignals&) = delete;
  NoWriteSignals& operator=(const NoWriteSignals&) = delete;
  /// Takes back what a write that failed has raised.
  void take_back() const noexcept {
    const struct timespec now {};
    while (sigtimedwait(&raised_, nullptr, &now) > 0 || errno == EINTR) {}
  }

 private:
  sigset_t raised_, before_;
};

inline int write_all(int file, std::string_view bytes) {
  const NoWriteSignals none;
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (const int error = put > 0 ? 0 : put < 0 ? errno : EIO) return none.take_back(), error;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

/// Puts a file made of `pieces` at `path`, in the place of what was there: by a temporary beside it
/// and a rename, so a reader sees the old or the new one, whole, however many processes write.
/// `lasting`: on the disk before the old one goes.
template <class String>
int replace_file(const String& path, std::initializer_list<std::string_view> pieces, bool lasting) {
  static std::atomic<unsigned> counter{0};
  make_folders(path);
  String temporary;
  File file{-1};
  // Another machine or container that shares the folder may have a process of the same number.
  for (int tries = 0; file.descriptor < 0; ++tries) {
    char tail[48];
    std::snprintf(tail, sizeof tail, ".%ld.%u", static_cast<long>(getpid()), counter++);
    temporary = path + tail;
    file.descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.descriptor < 0 && (errno != EEXIST || tries == 16)) return errno;
  }
  int error = 0;
  for (const std::string_view piece : pieces) {
    if (error == 0) error = write_all(file.descriptor, piece);
  }
  if (error == 0 && lasting && fsync(file.descriptor) != 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(temporary.c_str());
  return error;
}

}  // namespace trine::kit
