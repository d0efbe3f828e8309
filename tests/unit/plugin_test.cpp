// A program loads a plug-in that is linked to Trine, uses it, and unloads it with work in flight.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Plugin {
  void* library = dlopen(TRINE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  Plugin() = default;
  Plugin(const Plugin&) = delete;
  Plugin& operator=(const Plugin&) = delete;
  ~Plugin() {
    if (library) dlclose(library);
  }
  template <class Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(dlsym(library, name));
  }
};

std::vector<std::string> devices() {
  const Plugin plugin;
  if (!plugin.library) return {dlerror()};
  std::vector<std::string> ids;
  for (const char* id = plugin.function<const char*()>("devices")(); *id; id += strlen(id) + 1)
    ids.emplace_back(id);
  return ids;
}

TEST(Plugin, MayBeUnloadedWithWorkInFlight) {
  for (const std::string& id : devices()) {
    {
      const Plugin plugin;
      ASSERT_NE(plugin.library, nullptr) << dlerror();
      plugin.function<void(const char*)>("leave_work_in_flight")(id.c_str());
    }
    EXPECT_EQ(dlopen(TRINE_TEST_PLUGIN, RTLD_NOW | RTLD_NOLOAD), nullptr) << "it was unloaded";
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the work ends meanwhile
  }
}

}  // namespace
