// The CPU backend's entry: opening devices, the table, and the one exported symbol.
#include <algorithm>
#include <cstring>

#include "backends/kit/abi_struct.hpp"
#include "backends/kit/fork.hpp"
#include "backends/kit/options.hpp"
#include "handles.hpp"

namespace trine::cpu {
namespace {

// --- Open ------------------------------------------------------------------------------------

void check_index(std::int32_t index) {
  if (index != 0) kit::fail(TRINE_NOT_FOUND, "cpu: there is one CPU device, not number %d", index);
}

trine_device_facts facts_of(int threads) {
  trine_device_facts facts{};
  facts.size = sizeof facts;
  describe_processor(facts);
  const int length = std::snprintf(facts.driver, sizeof facts.driver,
                                   "%s; Kokkos %s, OpenMP, runs the kokkos rungs", loops_words(),
                                   kokkos_version());
  if (is_bounded())
    std::snprintf(facts.driver + length, sizeof facts.driver - std::size_t(length),
                  ", %d threads at most", kMostThreads);
  facts.compute_units = static_cast<std::uint32_t>(std::min(threads, kMostThreads));
  facts.max_group_threads = 1;
  return facts;
}

trine_status device_count(std::int32_t* count) {
  *count = 1;
  return TRINE_OK;
}

trine_status device_describe(std::int32_t index, trine_device_facts* facts) {
  return kit::guard([&] {
    check_index(index);
    kit::give(facts_of(process_cpus()), facts);
  });
}

trine_status device_open(std::int32_t index, const char* text, trine_device** device) {
  return checked([&] {
    check_index(index);
    const int64_t threads = kit::integer_option(text ? text : "", "threads", 1, 65536, 65536);
    Executor* executor = Executor::start();
    const auto most = std::min<std::int64_t>(threads, executor->threads());
    *device = new trine_device{{}, executor, static_cast<int>(most)};
  });
}

void device_close(trine_device* device) {
  if (device) release(device);
}

trine_status device_facts(trine_device* device, trine_device_facts* facts) {
  return checked([&] { kit::give(facts_of(device->threads), facts); });
}

trine_status device_native(trine_device*, void** native_device, void** native_context) {
  *native_device = nullptr;
  *native_context = nullptr;
  return TRINE_OK;
}

// --- Table -----------------------------------------------------------------------------------

const trine_backend& table() {
  static const trine_backend filled = [] {
    trine_backend table{};
    table.size = sizeof table;
    table.version = TRINE_ABI_VERSION;
    table.name = "cpu";
    table.build = cpu_build_line();
    table.last_error = kit::last_error;
    TRINE_DEVICE_FUNCTIONS(TRINE_SET)
    fill_queue_table(table);
    fill_buffer_table(table);
    fill_operation_table(table);
    return table;
  }();
  return filled;
}

}  // namespace
}  // namespace trine::cpu

trine_status trine_backend_v1(const trine_host* host, const trine_backend** backend) {
  return trine::kit::guard([&] {
    trine_host services;
    if (!trine::kit::take(host, services))
      trine::kit::fail(TRINE_UNSUPPORTED, "cpu: the host's services are of an unknown form");
    trine::kit::use_host(services);
    trine::kit::watch_forks();
    *backend = &trine::cpu::table();
  });
}
