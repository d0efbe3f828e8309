// A kernel variant of a GPU rung, as data: what it is called, which program specializations it has,
// when it refuses, and how a call becomes kernel launches. Both GPU backends read the same
// variants; only how a specialization is compiled (CUDA ahead of time, OpenCL on first use) and
// launched differs.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "../abi.h"
#include "../lists.h"

namespace trine::gpu {

enum Backends : uint32_t { kCuda = 1, kOpencl = 2, kBoth = 3 };

struct Variant;

/// The facts that a variant may know of the device it plans for.
struct Target {
  Backends backend;  ///< kCuda or kOpencl
  const trine_device_facts* facts;
  trine_device* device = nullptr;  ///< the backend's own; nullptr in tests of variants
  bool (*runs_here)(trine_device&, const Variant&) = nullptr;

  /// Can `variant` run here: is there code of it for this device, and did its self-check pass
  /// (which runs now if it hasn't yet)? prefer_… may name no variant that can't.
  bool runs(const Variant& variant) const { return !runs_here || runs_here(*device, variant); }
  bool has(uint64_t capabilities) const {
    return (facts->capabilities & capabilities) == capabilities;
  }
  bool is_cpu() const { return facts->kind == TRINE_DEVICE_CPU; }
  /// Whether the CPU device is PoCL's, of this major version or later: its newer compilers abort on
  /// or miscompile kernels whose barriers PoCL 3 and GPUs take.
  bool is_pocl_since(int major) const {
    constexpr std::string_view kName = "Portable Computing Language";
    const std::string_view driver = facts->driver;
    const size_t at = driver.find(kName);
    if (!is_cpu() || at == driver.npos) return false;
    const size_t version = driver.find_first_of("0123456789", at + kName.size());
    return version != driver.npos && std::atoi(driver.data() + version) >= major;
  }
};

/// A preprocessor macro of a kernel file and the values it takes. Every combination of a variant's
/// macros is one program specialization; the kernel sees `#define NAME value`.
struct Macro {
  const char* name;
  std::span<const char* const> values;
  /// More macros that a value stands for, as a tile for its sizes: their names, and the number of
  /// each for a value.
  std::span<const char* const> constants = {};
  int (*constant)(int value, size_t index) = nullptr;
};

/// A variant that needs more fails as a defect of the backend, with the exception of array::at().
constexpr int kMaxMacros = 8, kMaxArguments = 36, kMaxLaunches = 8;
constexpr int kMaxRungs = 64;               // an operation and backend
constexpr int64_t kMaxGroups = 0x7fffffff;  // of a one-dimensional grid

constexpr int64_t divide_up(int64_t n, int64_t by) { return n / by + (n % by != 0); }

/// Are rows x cols x batch more groups than a launch may have?
constexpr bool too_many_groups(int64_t rows, int64_t cols, int64_t batch) {
  if (rows == 0 || cols == 0 || batch == 0) return false;
  return rows > kMaxGroups / cols || rows * cols > kMaxGroups / batch;
}

/// A kernel argument. Memory goes as its native handle: a pointer in CUDA, a cl_mem in OpenCL.
struct Argument {
  enum Kind : uint8_t { kMemory, kI32, kI64, kF32, kF64 } kind;
  union {
    void* memory;
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
  };
};

/// One kernel launch: grid x block as CUDA counts them (OpenCL's global size is their product).
struct Launch {
  int entry = 0;                   ///< index into Variant::kernels()
  const Variant* other = nullptr;  ///< whose kernel it is, if not the planned variant's
  int macro[kMaxMacros] = {};      ///< then the chosen value of each of other->macros
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t dynamic_local_bytes =
      0;  ///< CUDA dynamic shared memory; in OpenCL the arrays are static
  int argument_count = 0;
  std::array<Argument, kMaxArguments> arguments;

  Launch& memory(void* handle) { return push(Argument::kMemory).memory = handle, *this; }
  Launch& i32(int32_t value) { return push(Argument::kI32).i32 = value, *this; }
  Launch& i64(int64_t value) { return push(Argument::kI64).i64 = value, *this; }
  Launch& f32(float value) { return push(Argument::kF32).f32 = value, *this; }
  Launch& f64(double value) { return push(Argument::kF64).f64 = value, *this; }

 private:
  Argument& push(Argument::Kind kind) {
    Argument& argument = arguments.at(static_cast<size_t>(argument_count));
    ++argument_count;
    argument.kind = kind;
    return argument;
  }
};

/// The plan of a call: one program specialization and its launches, in order, some of which may be
/// another variant's (one of no ladder, so that its kernels aren't compiled for each specialization
/// of this one). Launches are ordered as if on one in-order queue. No allocation: a plan lives on
/// the stack of launch().
struct Plan {
  int macro[kMaxMacros] = {};  ///< chosen value of each of Variant::macros
  int launch_count = 0;
  std::array<Launch, kMaxLaunches> launches;

  Launch& add(int entry) {
    Launch& launch = launches.at(static_cast<size_t>(launch_count));
    ++launch_count;
    launch = Launch{};
    launch.entry = entry;
    return launch;
  }
  /// Launches the first kernel of a variant whose only macro has this value.
  Launch& add(const Variant& other, int value) {
    Launch& launch = add(0);
    launch.other = &other;
    launch.macro[0] = value;
    return launch;
  }
};

/// The variant that has the kernel of a launch of a plan for `planned`, and that variant's values
/// of its macros.
struct Specialization {
  const Variant& variant;
  const int* macro;
  Specialization(const Variant& planned, const Plan& plan, const Launch& launch)
      : variant(launch.other ? *launch.other : planned),
        macro(launch.other ? launch.macro : plan.macro) {}
};

/// A call as a variant's functions see it. `as<>()` casts to the variant's operation.
struct Request {
  const Target& target;
  const trine_selection& selection;  ///< parameter values, as indices
  const trine_call& call;
  const trine_workspace* workspace;  ///< NULL in refuses and workspace_bytes
  template <class Descriptor>
  const Descriptor& as() const {
    return *static_cast<const Descriptor*>(call.descriptor);
  }
};

/// Arithmetic that must be proven on the device before a variant may claim its numerics (tensor
/// cores as an fma chain). The backend runs it once per device and process, at the variant's first
/// use.
struct SelfCheck {
  uint64_t input_bytes, output_bytes;
  void (*fill)(void* input);
  void (*plan)(const Target&, void* input, void* output, Plan& plan);
  bool (*passes)(const void* input, const void* output);
};

struct Variant {
  const char* name;
  uint32_t operation = 0;  ///< trine_operation; 0: of no ladder
  uint32_t numerics = TRINE_REPRODUCIBLE;
  const char* summary;
  const char* requirement = nullptr;  ///< in words, if any
  const char* default_for = nullptr;  ///< who gets it by default, in words; nullptr: nobody
  const char* file;                   ///< "reduce/sequential": cuda/….cu and opencl/….cl
  uint32_t backends = kBoth;          ///< Backends mask
  std::span<const trine_parameter> parameters = {};
  std::span<const Macro> macros = {};
  std::span<const char* const> entries = {};  ///< kernels in the file; none: one of the rung's name
  /// False for combinations of macro values that no plan uses (not compiled); nullptr: all exist.
  bool (*exists)(const int* macro) = nullptr;
  /// A static sentence, or nullptr when the rung takes the call.
  const char* (*refuses)(const Request&) = nullptr;
  bool writes_states = false;  ///< of sums; trine_writes_states()
  uint64_t takes = 0;          ///< trine_rung::takes
  /// Bytes, TRINE_CONTROL_BYTES included where any; nullptr: none needed.
  uint64_t (*workspace_bytes)(const Request&) = nullptr;
  void (*plan)(const Request&, Plan& plan) = nullptr;
  std::span<const SelfCheck> self_checks = {};  ///< all must pass
  uint32_t self_check_on = kBoth;               ///< Backends mask: who runs them
  /// CUDA: its kernels await earlier launches themselves, so they may begin while those end.
  bool begins_early = false;
  const char* options = nullptr;  ///< extra compiler words for OpenCL ("-cl-std=CL1.2" is given)
  const char* architectures =
      nullptr;  ///< CUDA: lowest architecture it is compiled for ("90a"), nullptr: all

  std::span<const char* const> kernels() const {
    return entries.empty() ? std::span(&name, 1) : entries;
  }
};

/// The ladders, naive first: reduce_sum_variants.cpp and reduce_variants.cpp,
/// transpose_variants.cpp, gemm_study_variants.cpp, gemm_variants.cpp,
/// gemm_hopper_variants.cpp and gemm_cuda_variants.cpp.
#define TRINE_VARIANTS(VALUE, word, ...) std::span<const Variant> word##_variants();
TRINE_OPERATIONS(TRINE_VARIANTS)
#undef TRINE_VARIANTS
std::span<const Variant> variants_of(uint32_t operation);

/// Why the rung can't take the call on such a device, in words; nullptr where it can. Whether this
/// very device runs it is another question (Target::runs).
const char* reason_against(const Variant& variant, const Request& request);

/// The rungs that an operation prefers for a call, the best first, each with its first parameter's
/// value. Nobody has asked them yet whether they take it.
struct Preferred {
  struct One {
    const Variant* variant;
    int32_t value;
    const char* why;
  };
  std::array<One, 25> all;
  size_t count = 0;

  void add(const Variant* variant, int32_t value, const char* why) {
    all.at(count) = {variant, value, why};
    ++count;
  }
};
#define TRINE_PREFER(VALUE, word, ...) Preferred prefer_##word(const Target&, const trine_##word&);
TRINE_OPERATIONS(TRINE_PREFER)
#undef TRINE_PREFER

/// The default rung and parameters for a call: the one place of selection on a GPU backend. Sets
/// `selection.values` and `selection.why`; core has named none. The first of the preferred that
/// takes the call, else the last reproducible rung that does, with its parameters' defaults; where
/// all refuse, the last of the preferred, whose reason is then the call's.
const Variant* choose_variant(const Target&, const trine_call&, trine_selection& selection);

}  // namespace trine::gpu
