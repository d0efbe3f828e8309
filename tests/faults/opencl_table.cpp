// Wrappers around the OpenCL loader's functions, made from the table's members.
#include "opencl_table.hpp"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <type_traits>

#include "injector.hpp"

namespace faulty_opencl {
namespace {

using trine::opencl::Driver;

Driver real;

// The kinds of objects that are counted, and the functions that make and give them back.
enum Kind { kContexts, kQueues, kBuffers, kPrograms, kKernels, kEvents, kMaps, kKinds };
constexpr const char* kKindNames[kKinds] = {"contexts", "queues", "buffers", "programs",
                                            "kernels",  "events", "mappings"};
std::atomic<long> balance[kKinds];

struct Change {
  const char* function;
  Kind kind;
  int by;
};
constexpr Change kChanges[] = {
    {"clCreateContext", kContexts, 1},
    {"clRetainContext", kContexts, 1},
    {"clReleaseContext", kContexts, -1},
    {"clCreateCommandQueue", kQueues, 1},
    {"clRetainCommandQueue", kQueues, 1},
    {"clReleaseCommandQueue", kQueues, -1},
    {"clCreateBuffer", kBuffers, 1},
    {"clRetainMemObject", kBuffers, 1},
    {"clReleaseMemObject", kBuffers, -1},
    {"clCreateProgramWithSource", kPrograms, 1},
    {"clCreateProgramWithBinary", kPrograms, 1},
    {"clReleaseProgram", kPrograms, -1},
    {"clCreateKernel", kKernels, 1},
    {"clReleaseKernel", kKernels, -1},
    {"clCreateUserEvent", kEvents, 1},
    {"clRetainEvent", kEvents, 1},
    {"clEnqueueMarkerWithWaitList", kEvents, 1},
    {"clReleaseEvent", kEvents, -1},
    {"clEnqueueMapBuffer", kMaps, 1},
    {"clEnqueueUnmapMemObject", kMaps, -1},
};

void note(const char* function) {
  for (const Change& change : kChanges) {
    if (std::strcmp(function, change.function) == 0) balance[change.kind] += change.by;
  }
}

// Transfers to and from host memory that nobody has waited for: until somebody does, that memory
// may not go. A queue that is gone can't be waited for any more.
struct Transfers {
  std::mutex mutex;
  std::map<cl_command_queue, long> in_flight;  // of the queues alive
  long deserted = 0;

  void release(cl_command_queue queue) {
    const std::lock_guard lock(mutex);
    deserted += in_flight[queue];
    in_flight.erase(queue);
  }
  void set(cl_command_queue queue, long count) {
    const std::lock_guard lock(mutex);
    in_flight[queue] = count;
  }
  void add(cl_command_queue queue) {
    const std::lock_guard lock(mutex);
    ++in_flight[queue];
  }
} transfers;

template <auto Member>
using Is = std::integral_constant<decltype(Member), Member>;
template <auto Member, auto... Others>
constexpr bool is_any = (std::is_same_v<Is<Member>, Is<Others>> || ...);

// After a call that did its work, with its arguments.
template <auto Member, class... Parameters>
void follow(Parameters... parameters) {
  const auto all = std::make_tuple(parameters...);
  if constexpr (is_any<Member, &Driver::clFinish>) {
    transfers.set(std::get<0>(all), 0);
  } else if constexpr (is_any<Member, &Driver::clReleaseCommandQueue>) {
    transfers.release(std::get<0>(all));
  } else if constexpr (is_any<Member, &Driver::clEnqueueReadBuffer, &Driver::clEnqueueWriteBuffer,
                              &Driver::clEnqueueReadBufferRect,
                              &Driver::clEnqueueWriteBufferRect>) {
    if (std::get<2>(all) == CL_FALSE) transfers.add(std::get<0>(all));
  } else if constexpr (is_any<Member, &Driver::clGetPlatformInfo>) {
    // Not PoCL, whose binaries nobody asks for: what keeps them meets faults, too.
    const auto& [platform, what, bytes, answer, needed] = all;
    if (what == CL_PLATFORM_NAME && answer)
      std::strncpy(static_cast<char*>(answer), "A platform without a cache", bytes);
  }
}

template <auto Member>
const char* symbol;
template <auto Member, class Function>
struct Wrapped;

// A status, or a handle with the status in the last argument.
template <auto Member, class Result, class... Parameters>
struct Wrapped<Member, Result (*)(Parameters...)> {
  static Result call(Parameters... parameters) {
    const char* name = symbol<Member>;
    const bool fails = faults::plan.fails(name);
    if constexpr (std::is_pointer_v<Result>) {
      cl_int* status = std::get<sizeof...(Parameters) - 1>(std::tie(parameters...));
      if (fails) return *status = faults::plan.code, nullptr;
      const Result made = (real.*Member)(parameters...);
      if (made) note(name);
      if constexpr (is_any<Member, &Driver::clCreateCommandQueue>) {
        if (made) transfers.set(made, 0);
      }
      return made;
    } else {
      if (fails && !faults::gives_back(name)) return faults::plan.code;
      const cl_int code = (real.*Member)(parameters...);
      if (code == CL_SUCCESS) note(name), follow<Member>(parameters...);
      return fails ? faults::plan.code : code;
    }
  }
};

Driver make() {
  Driver faulty = real;
#define WRAP(name)                \
  symbol<& Driver::name> = #name; \
  faulty.name = Wrapped<&Driver::name, decltype(Driver::name)>::call;
  TRINE_OPENCL_FUNCTIONS(WRAP)
#undef WRAP
  return faulty;
}

}  // namespace

const Driver* table() {
  static const Driver* const made = []() -> const Driver* {
    const char* reason = "";
    const Driver* found = trine::opencl::find_driver(&reason);
    if (!found) return nullptr;
    real = *found;
    static const Driver faulty = make();
    return &faulty;
  }();
  return made;
}

std::string leftovers() {
  std::string text;
  for (int kind = 0; kind < kKinds; ++kind) {
    if (balance[kind]) text += std::to_string(balance[kind]) + " " + kKindNames[kind] + "; ";
  }
  const std::lock_guard lock(transfers.mutex);
  long unfinished = transfers.deserted;
  for (const auto& [queue, count] : transfers.in_flight) unfinished += count;
  if (unfinished) text += std::to_string(unfinished) + " transfers nobody waited for; ";
  return text;
}

void reset() {
  for (auto& count : balance) count = 0;
  const std::lock_guard lock(transfers.mutex);
  transfers.deserted = 0;
}

void drain() {
  const std::lock_guard lock(transfers.mutex);
  for (auto& [queue, count] : transfers.in_flight) {
    if (real.clFinish(queue) == CL_SUCCESS) count = 0;
  }
}

}  // namespace faulty_opencl
