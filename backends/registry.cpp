#include "registry.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <sys/auxv.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <ranges>
#include <string_view>

#include "kit/float_environment.hpp"
#include "kit/host.hpp"
#include "kit/signals.hpp"
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

int32_t Backend::devices(std::string* reason) const {
  std::call_once(asked_, [this] {
    const auto count = [&] { return api.device_count(&count_); };  // may start a driver's threads
    if (kit::without_signals(count) != TRINE_OK || count_ <= 0) {
      count_ = 0;
      reason_ = api.last_error();
    }
  });
  if (reason) *reason = reason_;
  return count_;
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
  auto* const made = new Registry(search_folders(
      std::getenv("TRINE_BACKEND_PATH"), getauxval(AT_SECURE) != 0, folder_of_this_library()));
  watch_exit();  // after the backends' own static objects were made, to hear of exit first
  registry.store(made, std::memory_order_release);
  return *made;
}

Registry::Registry(std::vector<std::string> folders) : folders_(std::move(folders)) {
  for (const std::string& folder : folders_) load_folder(folder);
  attach_packs();
  std::string searched;
  for (const std::string& folder : folders_) searched += (searched.empty() ? "" : ", ") + folder;
  for (const char* name : {"cpu", "opencl", "cuda"}) {
    const auto named = [&](const Absent& entry) { return entry.name == name; };
    if (find(name) || std::ranges::any_of(absent_, named)) continue;
    const std::string file = std::string("trine_") + name + ".so";
    note(name, folders_.empty() ? file : folders_.back() + "/" + file,
         "not installed: there is no " + file + " in " +
             (searched.empty() ? "no folder" : searched));
  }
}

void Registry::load_folder(const std::string& folder) {
  std::error_code error;
  // The last folder, beside the library, is searched by habit; the others somebody asked for.
  if (!fs::is_directory(folder, error) && folder != folders_.back()) {
    note("", folder, "TRINE_BACKEND_PATH names it, but it is no folder");
    return;
  }
  for (const std::string& path : modules_of(folder)) load_file(path, false);
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
  seen_.push_back(std::move(file));  // now, for one that threw may be tried again
  return path;
}

void Registry::load_library(const std::string& path, const std::string& real, bool packs_only) {
  std::string why = why_no_library(real);
  void* library = why.empty() ? dlopen(real.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library) {
    if (const char* words = why.empty() ? dlerror() : nullptr) why = words;
    return note(module_name(path), path, "it can't be loaded: " + why);
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
  if (const Backend* first = find(backend->name)) {
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

/// One that throws leaves its pack, and those after it, waiting for the next time.
void Registry::attach_packs() {
  for (; !waiting_.empty(); waiting_.erase(waiting_.begin())) attach(waiting_.front());
}

/// Appends the pack's rungs to its backend's ladders: all of them, or none.
void Registry::attach(std::unique_ptr<Pack>& pack) {
  Backend* backend = find(pack->extends);
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

Backend* Registry::find(std::string_view name) const {
  for (const auto& backend : backends_) {
    if (backend->name == name) return backend.get();
  }
  return nullptr;
}

std::vector<Backend*> Registry::backends() const {
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
