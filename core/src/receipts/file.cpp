#include "file.hpp"

#include <sys/utsname.h>
#include <trine/version.h>

#include <atomic>
#include <memory>
#include <thread>

#include "backends/kit/words.hpp"
#include "backends/services.hpp"
#include "core/src/runtime/error.hpp"

namespace trine::detail {

ReceiptFile* ReceiptFile::get() {
  // Never closed: calls may come from others' destructors. Loading, not a static's own guard, for
  // which a child that was forked meanwhile would wait for ever.
  static constinit std::atomic<bool> is_known{false};
  static constinit ReceiptFile* file = nullptr;
  if (is_known.load(std::memory_order_acquire)) return file;
  const registry::Loading whole;
  if (!is_known.load(std::memory_order_relaxed)) {
    file = open();
    is_known.store(true, std::memory_order_release);
  }
  return file;
}

ReceiptFile* ReceiptFile::open() {
  const char* const path = secure_getenv("TRINE_RECEIPTS");
  if (!path || !*path) return nullptr;
  auto made = std::make_unique<ReceiptFile>();
  if (!made->file_.open(path)) return nullptr;
  const char* const keep = secure_getenv("TRINE_RECEIPTS_KEEP");
  const std::string_view kept = keep ? keep : "";
  made->keeps_outputs_ = kept == "all";
  made->keeps_inputs_ = kept == "inputs" || kept == "all";
  if (!kept.empty() && !made->keeps_inputs_)
    kit::write_all(STDERR_FILENO, cat("libtrine: TRINE_RECEIPTS_KEEP=", kept,
                                      ": neither 'inputs' nor 'all'; nothing is kept.\n"));
  struct utsname host {};
  uname(&host);
  made->write(cat("{\"trine_receipts\":1,\"version\":\"", TRINE_VERSION_STRING,
                  "\",\"program\":", kit::json_string(program_invocation_short_name),
                  ",\"process\":", getpid(), ",\"machine\":", kit::json_string(host.machine),
                  ",\"processors\":", std::thread::hardware_concurrency(), "}"));
  return made.release();
}

void ReceiptFile::keep(const std::string& digest, std::string_view bytes) {
  const std::string folder = file_.path() + ".kept", path = folder + "/" + digest;
  if (access(path.c_str(), F_OK) == 0) return;
  const int error = kit::replace_file(path, {bytes}, false);
  if (error == 0) return;
  keeps_outputs_ = false;
  if (keeps_inputs_.exchange(false))
    kit::write_all(STDERR_FILENO,
                   cat("libtrine: TRINE_RECEIPTS_KEEP: ", folder,
                       ": it can't be written: ", std::strerror(error),
                       ". No further operands are kept. The calls go on without.\n"));
}

}  // namespace trine::detail
