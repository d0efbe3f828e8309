// TRINE_RECEIPTS=FILE: the file that receipts go to, and the folder FILE.kept.
#pragma once

#include <string>
#include <string_view>

#include "backends/kit/appended_file.hpp"

namespace trine::detail {

class ReceiptFile {
 public:
  /// The process's file; null without TRINE_RECEIPTS, or where it couldn't be opened, which is said
  /// once.
  static ReceiptFile* get();

  /// TRINE_RECEIPTS_KEEP: `inputs`, or `all` for outputs, too.
  bool keeps_inputs() const { return keeps_inputs_; }
  bool keeps_outputs() const { return keeps_outputs_; }

  /// Adds a line. A full disk is said once, and the program goes on.
  void write(std::string line) { file_.write(line += '\n'); }
  /// Keeps a sequence of elements under its digest, once. The first that can't be kept is the last.
  void keep(const std::string& digest, std::string_view bytes);

 private:
  static ReceiptFile* open();

  kit::AppendedFile file_{"libtrine", "TRINE_RECEIPTS"};
  std::atomic<bool> keeps_inputs_{false}, keeps_outputs_{false};
};

}  // namespace trine::detail
