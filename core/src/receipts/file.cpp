#include "file.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <trine/version.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "backends/kit/files.hpp"
#include "backends/kit/words.hpp"
#include "core/src/runtime/error.hpp"

namespace trine::detail {

namespace {

bool ends_within_a_line(const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  char last = '\n';
  if (file >= 0 && lseek(file, -1, SEEK_END) >= 0 && read(file, &last, 1) != 1) last = '\n';
  if (file >= 0) close(file);
  return last != '\n';
}

}  // namespace

ReceiptFile* ReceiptFile::get() {
  static ReceiptFile* const file = open();  // never closed: calls may come from others' destructors
  return file;
}

ReceiptFile* ReceiptFile::open() {
  const char* const path = secure_getenv("TRINE_RECEIPTS");
  if (!path || !*path) return nullptr;
  auto* const made = new ReceiptFile;
  made->path_ = path;
  made->file_ = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (made->file_ < 0) {
    made->tell("it can't be written", errno);
    delete made;
    return nullptr;
  }
  if (ends_within_a_line(path)) made->write("");  // what a full disk cut stays a line of its own
  const char* const keep = secure_getenv("TRINE_RECEIPTS_KEEP");
  const std::string_view kept = keep ? keep : "";
  made->keeps_outputs_ = kept == "all";
  made->keeps_inputs_ = kept == "inputs" || made->keeps_outputs_;
  if (!kept.empty() && !made->keeps_inputs_)
    std::fprintf(stderr,
                 "libtrine: TRINE_RECEIPTS_KEEP=%s: neither 'inputs' nor 'all'; nothing is "
                 "kept.\n",
                 keep);
  struct utsname host {};
  uname(&host);
  made->write(cat("{\"trine_receipts\":1,\"version\":\"", TRINE_VERSION_STRING,
                  "\",\"program\":", kit::json_string(program_invocation_short_name),
                  ",\"process\":", getpid(), ",\"machine\":", kit::json_string(host.machine),
                  ",\"processors\":", std::thread::hardware_concurrency(), "}"));
  return made;
}

/// The library is silent; but this file was asked for, and the program can't see that it lacks lines.
void ReceiptFile::tell(const char* what, int error) {
  static std::atomic<bool> told{false};
  if (!told.exchange(true))
    std::fprintf(stderr, "libtrine: TRINE_RECEIPTS=%s: %s: %s. The calls go on without.\n",
                 path_.c_str(), what, std::strerror(error));
}

void ReceiptFile::write(std::string line) {
  line += '\n';
  ssize_t put = 0;
  do put = ::write(file_, line.data(), line.size());
  while (put < 0 && errno == EINTR);
  if (put != static_cast<ssize_t>(line.size()))
    tell("receipts are missing from here on", put < 0 ? errno : ENOSPC);
}

void ReceiptFile::keep(const std::string& digest, std::string_view bytes) {
  const std::string path = path_ + ".kept/" + digest;
  if (access(path.c_str(), F_OK) == 0) return;
  if (const int error = kit::replace_file(path, {bytes}, false))
    tell("operands can't be kept in the folder FILE.kept", error);
}

}  // namespace trine::detail
