#include "opencl/vendors.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "backends/gpu/device_files.hpp"
#include "backends/kit/error.hpp"
#include "opencl/driver.hpp"

namespace trine::opencl {
namespace {

constexpr const char* kFolder = "/etc/OpenCL/vendors";

/// PoCL; Intel's runtime for CPUs under its names; Oclgrind; FreeOCL.
constexpr std::string_view kOfTheCpu[] = {"libpocl", "libintelocl", "libcpu_device", "liboclgrind",
                                          "libfreeocl"};

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};

bool is_folder(const char* path) {
  struct stat facts {};
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/// The first line of an .icd file.
void add_vendor(const char* file, kit::Vector<kit::String>& all) {
  const std::unique_ptr<std::FILE, Close> open(std::fopen(file, "re"));
  char line[1024];
  if (!open || !std::fgets(line, sizeof line, open.get())) return;
  std::string_view library(line);
  library = library.substr(0, library.find_first_of("\r\n"));
  library = library.substr(0, library.find_last_not_of(" \t") + 1);
  if (!library.empty()) all.emplace_back(library);
}

void add_folder(const char* folder, kit::Vector<kit::String>& all) {
  const std::unique_ptr<DIR, Close> listing(opendir(folder));
  while (const dirent* entry = listing ? readdir(listing.get()) : nullptr) {
    if (!std::string_view(entry->d_name).ends_with(".icd")) continue;
    add_vendor((kit::String(folder) + "/" + entry->d_name).c_str(), all);
  }
}

/// A folder, a file of one, or a library.
void add_place(const char* place, kit::Vector<kit::String>& all) {
  const std::string_view name(place);
  if (is_folder(place)) return add_folder(place, all);
  if (!name.ends_with(".icd")) return void(all.emplace_back(name));
  const bool is_path = name.find('/') != name.npos;
  add_vendor(((is_path ? kit::String() : kit::String(kFolder) + "/") + place).c_str(), all);
}

/// A variable that says something; ignored in a setuid program, as the loader ignores it.
const char* variable(const char* name) {
  const char* text = secure_getenv(name);
  return text && *text ? text : nullptr;
}

}  // namespace

kit::Vector<kit::String> vendors() {
  kit::Vector<kit::String> all;
  const char* place = variable("OCL_ICD_VENDORS");
  if (!place) place = variable("OPENCL_VENDOR_PATH");
  add_place(place ? place : kFolder, all);
  const char* more = variable("OCL_ICD_FILENAMES");
  for (std::string_view rest = more ? more : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    add_place(kit::String(rest.substr(0, end)).c_str(), all);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return all;
}

bool drives_the_cpu(std::string_view library) {
  library = library.substr(library.rfind('/') + 1);
  return std::ranges::any_of(kOfTheCpu,
                             [&](std::string_view known) { return library.starts_with(known); });
}

bool is_candidate(const kit::Vector<kit::String>& vendors, GpuFiles files, int gpus) {
  if (!files.nvidia && !files.others) {
    kit::report(TRINE_NOT_FOUND,
                "auto leaves it out: there is no device file of a GPU, such as "
                "/dev/dri/renderD128 or /dev/nvidiactl");
    return false;
  }
  if (gpus > 0 && !files.others) {
    kit::report(TRINE_NOT_FOUND,
                "auto leaves it out: the GPUs here are NVIDIA's, which another backend has");
    return false;
  }
  if (vendors.empty() || !std::ranges::all_of(vendors, drives_the_cpu)) return true;
  kit::report(TRINE_NOT_FOUND,
              "auto leaves it out: its drivers compute on the CPU, as the cpu backend does: %s%s",
              vendors.front().c_str(), vendors.size() > 1 ? " and others" : "");
  return false;
}

bool is_candidate(int gpus) {
  return has_driver() ||
         is_candidate(vendors(), {gpu::has_nvidia_file(), gpu::has_other_file()}, gpus);
}

}  // namespace trine::opencl
