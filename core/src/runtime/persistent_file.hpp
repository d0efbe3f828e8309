// Small text files of measurements that Trine keeps for the user, one for each device: a header
// with the kind and its version, what it was measured on, rows of words, a checksum over all of
// that.
//
//   trine tuning 1                      the kind, the version of its rows
//   host Intel(R) Xeon(R) …             what it is about, and under which versions: PersistentKey
//   …
//                                       an empty line
//   reduce sum f32 all 16 …             the rows, whatever the kind says
//   checksum 0123456789abcdef
//
// They lie in TRINE_DATA_DIR (empty: nothing is kept), else XDG_DATA_HOME/trine, else
// HOME/.local/share/trine; nowhere in a setuid program. A file is read whole and all of it is
// checked before any of it is used. It is replaced whole (a temporary, fsync, rename), so any
// number of processes may read and write at once: the last one wins, PersistentLock keeps them
// apart. docs/decisions/persistent-files.md says why so.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backends/kit/files.hpp"
#include "state.hpp"

namespace trine::detail {

/// The subject of a file: where one line differs, the file is foreign.
struct PersistentKey {
  struct Line {
    std::string name, value;
    /// Part of the file's name: another host or device has a file of its own. A line that changes
    /// on the same device (its driver, Trine) is not: the file that went out of date is refused by
    /// name.
    bool names_the_file = false;
  };
  std::string label;  ///< the readable part of the file's name, letters alone: "cuda"
  std::vector<Line> lines;

  void add(std::string name, std::string_view value, bool names_the_file);
};

/// Host, backend, device and its units name the file; driver and Trine's version are checked.
PersistentKey saved_key(const DeviceState& device);
/// The CPU's model, as the system calls it.
std::string host_model();

struct Saved {
  std::string path = {};  ///< where it is or would be; "" where nothing is kept
  std::vector<std::string> rows = {};
  std::string refusal = {};    ///< why the file that is there can't be used, in words; then no rows
  bool found = false;          ///< a file is there, usable or not
  std::size_t first_line = 1;  ///< of the file: that of the first row
  /// "PATH:12: ", where a row stands.
  std::string place_of(std::size_t row) const;
};
/// Never throws but for want of memory: no file, no folder, no right to read are ordinary states.
Saved read_persistent(std::string_view kind, int version, const PersistentKey& key);

/// The file at `path`, whatever it is about: `lines` receives that, unchecked.
Saved read_persistent_at(std::string path, std::string_view kind, int version,
                         std::vector<PersistentKey::Line>& lines);

/// Replaces the file and returns its path. Throws Error (unsupported) with the reason where nothing
/// can be kept; what was there is then as it was. A row is one line, not empty.
std::string write_persistent(std::string_view kind, int version, const PersistentKey& key,
                             const std::vector<std::string>& rows);

/// Makes the folder where it isn't there yet: before the lock of who is going to write the first
/// file.
void make_saved_folder();

/// While it lives, no other process or thread has one: for who reads a file, adds to it and writes
/// it. The kernel gives it back for a process that died. Where the folder isn't there, nothing
/// needs it; where it can't be locked (a file system without locks), the last one wins as ever.
class PersistentLock {
 public:
  PersistentLock();
  ~PersistentLock();
  PersistentLock(const PersistentLock&) = delete;

 private:
  kit::File folder_{-1};
};

/// 16 digits.
std::string hex(uint64_t value);
/// Takes the last word off a row's text; "" where there is but one.
std::string_view take_last(std::string_view& text);
/// A positive number of seconds that is all of `word`.
bool read_seconds(std::string_view word, double& value);

/// Before long work whose end is write_persistent(): throws as that would where the folder, or the
/// one to make it in, takes no file.
void check_writable();

/// Removes every file of the kind, of all devices, and returns their paths. Throws as
/// write_persistent().
std::vector<std::string> forget_persistent(std::string_view kind);

}  // namespace trine::detail
