// Finds and loads backends and rung packs, and keeps what was found: tables checked once and copied
// into this library's own struct sizes, ladders with the packs' rungs appended, and the reasons of
// what is absent. Nothing is ever unloaded, so tables, rows and their strings live for the process.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "lists.h"

namespace trine::registry {

struct Pack;

/// A row of a ladder, in this library's struct sizes.
struct Rung {
  trine_rung row{};
  std::vector<trine_parameter> parameters;
  const Pack* pack = nullptr;  ///< nullptr: the backend's own
  int32_t index = 0;           ///< in its owner's rungs()
};

/// The ladder of one operation; immutable, grown ones replace them.
using Ladder = std::vector<std::shared_ptr<const Rung>>;

constexpr uint32_t kOperations = TRINE_OPERATION_COUNT;
using Ladders = std::array<Ladder, kOperations>;

struct Backend {
  std::string name, path, build;
  trine_backend api{};

  /// Number of devices, kept once there are some; 0 comes with the reason. Wakes the driver.
  int32_t devices(std::string* reason = nullptr) const;
  /// Whether the driver was asked for its devices, and has some.
  bool is_awake() const { return count_.load(std::memory_order_acquire) > 0; }
  /// Whether `auto` should ask it for its devices, where others have that many GPUs; if not,
  /// `reason` says why. Wakes no driver.
  bool is_candidate(int32_t gpus, std::string& reason) const;
  const Ladder& ladder(uint32_t operation) const {
    return (*ladders_.load(std::memory_order_acquire))[operation - 1];
  }

  /// Puts all ladders in place, or throws and puts none; those before them stay, another thread may
  /// be reading them.
  void publish(Ladders ladders);

 private:
  std::atomic<const Ladders*> ladders_{nullptr};
  std::vector<std::unique_ptr<const Ladders>> kept_;
  mutable std::atomic<int32_t> count_{0};
};

struct Pack {
  std::string name, path, build, extends;
  trine_pack api{};
};

/// A backend or pack that was looked for and isn't there, or can't be used.
struct Absent {
  std::string name, path, reason;
  std::string extends;  ///< a pack's backend, where known
  bool is_passing =
      false;  ///< for want of something that may be there again: it is looked for again
};

class Registry {
 public:
  /// The process's registry; loads the backends on first use.
  static Registry& get();

  /// `only`: the backends that may load, by the NAME of trine_NAME.so; or, as -NAME, those that may
  /// not. Empty: all.
  explicit Registry(std::vector<std::string> folders, std::vector<std::string> only = {});

  const std::vector<std::string>& folders() const { return folders_; }
  std::vector<Backend*> backends();
  std::vector<const Pack*> packs() const;
  std::vector<Absent> absent() const;
  /// Whether nothing is absent for a passing reason.
  bool is_complete() const;
  Backend* find(std::string_view name);

  /// Loads a pack, or all packs of a folder, that isn't loaded yet. Returns the paths under
  /// which they are listed: those by which they were first found.
  std::vector<std::string> load_packs(const std::string& path);

 private:
  void look();
  void look_again();
  bool may_load(const std::string& name) const;
  void note_what_is_missing();
  Backend* loaded(std::string_view name) const;
  void load_folder(const std::string& folder);
  /// Returns the path by which the file was found first, whatever it is called now.
  std::string load_file(const std::string& path, bool packs_only);
  void load_library(const std::string& path, const std::string& real, bool packs_only);
  template <class Owner, class Entry>
  std::unique_ptr<Owner> take(void* entry, const std::string& path);
  void load_backend(void* entry, const std::string& path);
  void load_pack(void* entry, const std::string& path);
  void attach_packs();
  void attach(std::unique_ptr<Pack>& pack);
  void note(std::string name, std::string path, std::string reason, std::string extends = {});

  std::vector<std::string> folders_, only_;
  bool is_incomplete_ = false;  ///< a folder couldn't be read for now
  struct File {
    std::string path, real;
  };
  std::vector<File> seen_;
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<std::unique_ptr<Pack>> packs_;
  std::vector<std::unique_ptr<Pack>> waiting_;  ///< packs whose backend isn't loaded yet
  std::vector<Absent> absent_;
};

/// The folders to search: those of TRINE_BACKEND_PATH (`path`, colon-separated; ignored when
/// `secure`, that is in a setuid program; only absolute ones), then `beside`/trine.
std::vector<std::string> search_folders(const char* path, bool secure, const std::string& beside);

/// Whether the process lacks what it may have again (a descriptor, the system's memory), so that
/// what failed now need not fail later.
bool is_short();

/// The words of a list like TRINE_BACKENDS, "cpu,cuda".
std::vector<std::string> names_of(const char* list);

/// Why the file can't be given to the loader, which hangs or dies of what is no whole library; or
/// "".
std::string why_no_library(const std::string& path);

/// Checks a backend's or pack's table and copies it; the reason why it can't be used, or "".
template <class Table>
std::string accept(const Table* foreign, Table& ours);

/// Copies an owner's rows; the reason why they can't be used, or "".
std::string accept_rungs(const trine_rung* rows, int32_t count, uint32_t stride, const Pack* pack,
                         Ladder& ladder);

}  // namespace trine::registry
