// Wrappers around the OpenCL loader's functions, made from the table's members.
#include "opencl_table.hpp"

#include <atomic>
#include <cstring>
#include <tuple>
#include <type_traits>

#include "injector.hpp"

namespace faulty_opencl {
namespace {

using trine::opencl::Driver;

Driver real;

// What is counted, and the functions that make and give back.
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
      return made;
    } else {
      if (fails && !faults::gives_back(name)) return faults::plan.code;
      const cl_int code = (real.*Member)(parameters...);
      if (code == CL_SUCCESS) note(name);
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
  return text;
}

void reset() {
  for (auto& count : balance) count = 0;
}

}  // namespace faulty_opencl
