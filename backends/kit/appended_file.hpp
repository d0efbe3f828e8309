// A file that the library adds lines to, and keeps open, while a program runs: its receipts, the
// log of its BLAS calls.
#pragma once

#include <limits.h>

#include <atomic>
#include <cstring>
#include <string>
#include <string_view>

#include "files.hpp"

namespace trine::kit {

/// Threads and processes may share one, and a child may be forked at any time: it has no lock. The
/// library is silent; but the user asked for this file, and can't see in it what it lacks: the
/// first failure is said on stderr, and is the end of the file. The program goes on.
class AppendedFile {
 public:
  /// `who` and `variable` begin its sentences: "libtrine: TRINE_RECEIPTS=FILE: …".
  AppendedFile(const char* who, const char* variable) : who_(who), variable_(variable) {}

  /// Opens the file; false: nothing can be added. It keeps an absolute path, because the program
  /// may change its folder.
  bool open(const char* path) {
    path_ = path;
    char folder[PATH_MAX];
    if (*path != '/' && getcwd(folder, sizeof folder)) path_ = std::string(folder) + "/" + path;
    if (Opened* const first = opened(path_)) return opened_ = first, true;
    return tell("it can't be opened", errno), false;
  }

  /// Adds whole lines by one write, so that nobody else's come between.
  void write(std::string_view lines) {
    if (is_ended_) return;
    Opened* now = opened_;
    // A daemon closes all descriptors: the number may be that of a file of the program's own, which
    // is neither written nor closed here.
    if (!now->is_still_there()) {
      Opened* const again = opened(path_);
      if (!again) return tell("the program closed it, and it can't be opened again", errno);
      now = opened_ = again;  // of two threads that come here, one leaves a descriptor behind
    }
    if (const int error = write_all(now->descriptor, lines)) tell("it can't be written", error);
  }

  const std::string& path() const { return path_; }

 private:
  void tell(const char* what, int error) {
    if (is_ended_.exchange(true)) return;
    write_all(STDERR_FILENO, std::string(who_) + ": " + variable_ + "=" + path_ + ": " + what +
                                 ": " + std::strerror(error) +
                                 ". It gets no further lines. The calls go on without.\n");
  }

  /// A descriptor, and the file that it was opened for. Never freed: another thread may be reading
  /// it.
  struct Opened {
    int descriptor;
    struct stat facts;

    bool is_still_there() const {
      struct stat now {};
      constexpr int kFlags = O_ACCMODE | O_APPEND;
      return fstat(descriptor, &now) == 0 && now.st_dev == facts.st_dev &&
             now.st_ino == facts.st_ino &&
             (fcntl(descriptor, F_GETFL) & kFlags) == (O_WRONLY | O_APPEND);
    }
  };

  /// Null and errno where it can't be opened. A pipe must have its reader: no program waits for one
  /// here.
  static Opened* opened(const std::string& path) {
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file >= 0 && file <= STDERR_FILENO) {  // or the program's own output would go there
      const int low = file;
      file = fcntl(low, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
      ::close(low);
    }
    if (file < 0) return nullptr;
    fcntl(file, F_SETFL, O_APPEND);
    auto* const made = new Opened{file, {}};
    fstat(file, &made->facts);
    // A line that a full disk or a killed program cut stays a line of its own.
    if (S_ISREG(made->facts.st_mode) && ends_within_a_line(path)) write_all(file, "\n");
    return made;
  }

  static bool ends_within_a_line(const std::string& path) {
    const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    char last = '\n';
    return file.descriptor >= 0 && lseek(file.descriptor, -1, SEEK_END) >= 0 &&
           read(file.descriptor, &last, 1) == 1 && last != '\n';
  }

  const char *who_, *variable_;
  std::string path_;
  std::atomic<Opened*> opened_{nullptr};
  std::atomic<bool> is_ended_{false};
};

}  // namespace trine::kit
