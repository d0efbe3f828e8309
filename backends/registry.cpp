#include "registry.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <string_view>

#include "kit/float_environment.hpp"
#include "kit/handlers.hpp"
#include "kit/host.hpp"
#include "kit/signals.hpp"
#include "kit/words.hpp"
#include "services.hpp"

namespace trine::registry {
namespace fs = std::filesystem;
namespace {

std::string folder_of_this_library() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void*>(&folder_of_this_library), &info) || !info.dli_fname)
    return {};
  std::error_code ignored;
  const fs::path real = fs::canonical(info.dli_fname, ignored);
  return real.empty() ? std::string{} : real.parent_path().string();
}

bool is_module(const fs::path& path) {
  return path.extension() == ".so" && path.filename().string().starts_with("trine_");
}

/// "cuda" of ".../trine_cuda.so".
std::string module_name(const std::string& path) {
  std::string name = fs::path(path).stem().string();
  return name.starts_with("trine_") ? name.substr(6) : name;
}

/// More than any machine has: a backend that counts them is broken.
constexpr int32_t kMostDevices = 4096;

/// "cpu, cuda".
std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

struct Close {
  void operator()(DIR* listing) const { closedir(listing); }
};

/// Not by fs::directory_iterator: libstdc++ 12's ends the process where it finds no memory.
std::vector<std::string> modules_of(const std::string& folder) {
  std::vector<std::string> paths;
  const std::unique_ptr<DIR, Close> listing(opendir(folder.c_str()));
  while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
    if (const fs::path path = fs::path(folder) / entry->d_name; is_module(path))
      paths.push_back(path.string());
  }
  std::ranges::sort(paths);
  return paths;
}

/// Appends an owner's rows to the ladders; the reason why they can't be used, or "".
template <class Table>
std::string add_rungs(const Table& table, const Pack* pack, Ladders& ladders) {
  for (uint32_t i = 0; i < kOperations; ++i) {
    int32_t count = 0;
    uint32_t stride = 0;
    const trine_rung* rows = table.rungs(i + 1, &count, &stride);
    std::string why = accept_rungs(rows, count, stride, pack, ladders[i]);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace

bool is_short() {
  const int any = ::open("/", O_PATH | O_CLOEXEC);
  if (any >= 0) ::close(any);
  return any < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM);
}

std::vector<std::string> search_folders(const char* path, bool secure, const std::string& beside) {
  std::vector<std::string> folders;
  std::string_view list = path && !secure ? path : "";
  while (!list.empty()) {
    const size_t end = std::min(list.find(':'), list.size());
    if (list.starts_with('/')) folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  if (!beside.empty()) folders.push_back(beside + "/trine");
  return folders;
}

std::vector<std::string> names_of(const char* list) {
  std::vector<std::string> names;
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string_view name = rest.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

// None is not kept: the reason may have been a passing one.
int32_t Backend::devices(std::string* reason) const {
  if (reason) reason->clear();
  if (is_awake()) return count_.load(std::memory_order_acquire);
  const Loading loading;  // a fork waits meanwhile
  if (is_awake()) return count_.load(std::memory_order_acquire);
  const kit::HandlersKept handlers;
  int32_t count = 0;
  const auto ask = [&] { return api.device_count(&count); };  // may start a driver's threads
  const bool counts = kit::without_signals(ask) == TRINE_OK;
  std::string why;
  if (counts && count > kMostDevices) {
    why = "it counts " + std::to_string(count) + " devices, more than any machine has (at most " +
          std::to_string(kMostDevices) + "): the backend is broken";
  } else if (!counts || count <= 0) {
    why = api.last_error();
  } else {
    count_.store(count, std::memory_order_release);
  }
  if (reason) *reason = std::move(why);
  return is_awake() ? count : 0;
}

bool Backend::is_candidate(int32_t gpus, std::string& reason) const {
  if (is_awake() || !api.is_candidate || api.is_candidate(gpus) == TRINE_OK) return true;
  reason = api.last_error();
  return false;
}

void Backend::publish(Ladders ladders) {
  kept_.push_back(std::make_unique<const Ladders>(std::move(ladders)));
  ladders_.store(kept_.back().get(), std::memory_order_release);
}

Registry& Registry::get() {
  // Never destroyed: handles may outlive every static object of this library.
  static constinit std::atomic<Registry*> registry{nullptr};
  if (Registry* const made = registry.load(std::memory_order_acquire)) return *made;
  const Loading loading;
  if (Registry* const made = registry.load(std::memory_order_acquire)) return *made;
  // Libraries that are loaded raise what the program may trap, as do libstdc++'s paths.
  const kit::WholeFloatEnvironment environment;
  kit::use_host(services());
  auto* const made =
      new Registry(search_folders(std::getenv("TRINE_BACKEND_PATH"), getauxval(AT_SECURE) != 0,
                                  folder_of_this_library()),
                   names_of(std::getenv("TRINE_BACKENDS")));
  watch_exit();  // after the backends' own static objects were made, to hear of exit first
  registry.store(made, std::memory_order_release);
  return *made;
}

Registry::Registry(std::vector<std::string> folders, std::vector<std::string> only)
    : folders_(std::move(folders)), only_(std::move(only)) {
  look();
}

void Registry::look() try {
  is_incomplete_ = false;
  for (const std::string& folder : folders_) load_folder(folder);
  note_what_is_missing();
  attach_packs();
} catch (...) {
  is_incomplete_ = true;
  throw;
}

/// Looks again for entries that couldn't be had, for want of a descriptor for example.
void Registry::look_again() {
  const auto passing = [](const Absent& entry) { return entry.is_passing; };
  if (!is_incomplete_ && std::ranges::none_of(absent_, passing)) return;
  std::erase_if(absent_, passing);
  look();
}

bool Registry::is_complete() const {
  const Loading loading;
  return !is_incomplete_ &&
         std::ranges::none_of(absent_, [](const Absent& entry) { return entry.is_passing; });
}

bool Registry::may_load(const std::string& name) const {
  const auto has = [&](const std::string& word) {
    return std::ranges::find(only_, word) != only_.end();
  };
  const bool names_some = std::ranges::any_of(only_, [](const auto& w) { return w[0] != '-'; });
  return !has("-" + name) && (!names_some || has(name));
}

/// Backends that everybody looks for, or that TRINE_BACKENDS names.
void Registry::note_what_is_missing() {
  std::vector<std::string> usual{"cpu", "opencl", "cuda"}, wanted = usual;
  for (const std::string& word : only_) {
    const std::string name = word.substr(word[0] == '-' ? 1 : 0);
    if (std::ranges::find(usual, name) == usual.end()) wanted.push_back(name);
  }
  for (const std::string& name : wanted) {
    const auto named = [&](const Absent& entry) { return entry.name == name; };
    const auto is_its = [&](const File& file) { return module_name(file.path) == name; };
    if (loaded(name) || std::ranges::any_of(absent_, named) || std::ranges::any_of(seen_, is_its))
      continue;
    const std::string file = "trine_" + name + ".so";
    std::string why = "not installed: there is no " + file + " in " +
                      (folders_.empty() ? "no folder" : list_of(folders_));
    if (std::ranges::find(usual, name) == usual.end()) {
      why = "TRINE_BACKENDS names it, but there is no " + file + " in " + list_of(folders_);
      const std::string_view near = kit::closest(name, usual.begin(), usual.end());
      if (!near.empty()) why += ". Did you mean '" + std::string(near) + "'?";
    }
    note(name, folders_.empty() ? file : folders_.back() + "/" + file, std::move(why));
    absent_.back().is_passing = is_incomplete_;
  }
}

void Registry::load_folder(const std::string& folder) {
  std::error_code error;
  // The last folder, beside the library, is searched by habit; the others somebody asked for.
  if (!fs::is_directory(folder, error) && folder != folders_.back()) {
    const auto named = [&](const Absent& entry) { return entry.path == folder; };
    if (std::ranges::any_of(absent_, named)) return;
    note("", folder, "TRINE_BACKEND_PATH names it, but it is no folder");
    return;
  }
  const std::vector<std::string> paths = modules_of(folder);
  if (paths.empty() && is_short()) is_incomplete_ = true;
  for (const std::string& path : paths) load_file(path, false);
}

std::string Registry::load_file(const std::string& path, bool packs_only) {
  std::error_code ignored;
  const fs::path canonical = fs::canonical(path, ignored);
  std::string real = canonical.empty() ? path : canonical.string();
  for (const File& known : seen_)
    if (known.real == real) return known.path;
  File file{path, std::move(real)};
  seen_.reserve(seen_.size() + 1);
  load_library(path, file.real, packs_only);
  if (!absent_.empty() && absent_.back().is_passing && absent_.back().path == path) return path;
  seen_.push_back(std::move(file));  // now, for one that threw may be tried again
  return path;
}

void Registry::load_library(const std::string& path, const std::string& real, bool packs_only) {
  if (!packs_only && !may_load(module_name(path))) {
    return note(module_name(path), path,
                "left out by the variable TRINE_BACKENDS, which is " + list_of(only_));
  }
  const kit::HandlersKept handlers;
  std::string why = why_no_library(real);
  void* library = why.empty() ? dlopen(real.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    if (const char* words = why.empty() ? dlerror() : nullptr) why = words;
    const bool passing = is_short();
    note(module_name(path), path, "it can't be loaded: " + why);
    absent_.back().is_passing = passing;
    return;
  }
  if (void* entry = packs_only ? nullptr : dlsym(library, "trine_backend_v1")) {
    return load_backend(entry, path);
  }
  if (void* entry = dlsym(library, "trine_rungs_v1")) return load_pack(entry, path);
  note(module_name(path), path,
       packs_only ? "it exports no trine_rungs_v1, so it is no rung pack"
                  : "it exports neither trine_backend_v1 nor trine_rungs_v1");
}

/// Asks an entry for its table and copies it into what it becomes here, or notes why it can't.
template <class Owner, class Entry>
std::unique_ptr<Owner> Registry::take(void* entry, const std::string& path) {
  auto owner = std::make_unique<Owner>();
  const decltype(owner->api)* table = nullptr;
  const trine_status status = reinterpret_cast<Entry>(entry)(&services(), &table);
  std::string why = status == TRINE_OK ? accept(table, owner->api)
                                       : "its entry failed with status " + std::to_string(status);
  std::string extends;
  if (status != TRINE_OK && table) {
    if (table->last_error) why += std::string(": ") + table->last_error();
    if constexpr (std::is_same_v<Owner, Pack>) extends = table->backend ? table->backend : "";
  }
  if (!why.empty()) {
    note(module_name(path), path, std::move(why), std::move(extends));
    return nullptr;
  }
  owner->name = owner->api.name;
  owner->path = path;
  owner->build = owner->api.build ? owner->api.build : "";
  return owner;
}

void Registry::load_backend(void* entry, const std::string& path) {
  auto backend = take<Backend, trine_backend_entry>(entry, path);
  if (!backend) return;
  if (const Backend* first = loaded(backend->name)) {
    return note(backend->name, path, "hidden by " + first->path + ", which was found first");
  }
  Ladders ladders;
  if (std::string why = add_rungs(backend->api, nullptr, ladders); !why.empty())
    return note(backend->name, path, std::move(why));
  backend->publish(std::move(ladders));
  backends_.push_back(std::move(backend));
}

void Registry::load_pack(void* entry, const std::string& path) {
  auto pack = take<Pack, trine_rungs_entry>(entry, path);
  if (!pack) return;
  pack->extends = pack->api.backend;
  waiting_.push_back(std::move(pack));
}

/// One that throws leaves its pack, and those after it, waiting for the next time; so does a
/// backend that may still come.
void Registry::attach_packs() {
  const bool may_come = is_incomplete_ || std::ranges::any_of(absent_, [](const Absent& entry) {
                          return entry.is_passing;
                        });
  for (auto pack = waiting_.begin(); pack != waiting_.end();) {
    if (may_come && !loaded((*pack)->extends)) {
      ++pack;
      continue;
    }
    attach(*pack);
    pack = waiting_.erase(pack);
  }
}

/// Appends the pack's rungs to its backend's ladders: all of them, or none.
void Registry::attach(std::unique_ptr<Pack>& pack) {
  Backend* backend = loaded(pack->extends);
  if (!backend) {
    return note(pack->name, pack->path, "it extends '" + pack->extends + "', which isn't there",
                pack->extends);
  }
  Ladders grown;
  for (uint32_t i = 0; i < kOperations; ++i) grown[i] = backend->ladder(i + 1);
  if (std::string why = add_rungs(pack->api, pack.get(), grown); !why.empty())
    return note(pack->name, pack->path, std::move(why), pack->extends);
  packs_.reserve(packs_.size() + 1);
  backend->publish(std::move(grown));
  packs_.push_back(std::move(pack));
}

std::vector<std::string> Registry::load_packs(const std::string& path) {
  const Loading loading;
  std::error_code error;
  std::vector<std::string> paths{path};
  if (fs::is_directory(path, error)) paths = modules_of(path);
  for (std::string& file : paths) file = load_file(file, true);
  attach_packs();
  return paths;
}

void Registry::note(std::string name, std::string path, std::string reason, std::string extends) {
  absent_.push_back({std::move(name), std::move(path), std::move(reason), std::move(extends)});
}

Backend* Registry::loaded(std::string_view name) const {
  for (const auto& backend : backends_) {
    if (backend->name == name) return backend.get();
  }
  return nullptr;
}

Backend* Registry::find(std::string_view name) {
  const Loading loading;
  if (!loaded(name)) look_again();
  return loaded(name);
}

std::vector<Backend*> Registry::backends() {
  const Loading loading;
  look_again();
  std::vector<Backend*> all;
  for (const auto& backend : backends_) all.push_back(backend.get());
  return all;
}

std::vector<const Pack*> Registry::packs() const {
  const Loading loading;
  std::vector<const Pack*> all;
  for (const auto& pack : packs_) all.push_back(pack.get());
  return all;
}

std::vector<Absent> Registry::absent() const {
  const Loading loading;
  return absent_;
}

}  // namespace trine::registry
