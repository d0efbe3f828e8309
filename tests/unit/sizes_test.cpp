// Structs whose size no version has, in both interfaces that begin them with it. The headers prove
// that the lists have all structs.
#include <trine/trine.h>

#include <cstring>
#include <functional>
#include <map>

#include "backends/kit/abi_struct.hpp"
#include "conformance/guarded.hpp"
#include "fixture.hpp"
#include "headers.hpp"

namespace trine::testing {
namespace {

/// Every struct that begins with its size, and that size in version 0.1.
#define STRUCTS_OF_C(X)            \
  X(trine_facts_t, 144)            \
  X(trine_backend_info_t, 56)      \
  X(trine_rung_parameter_t, 32)    \
  X(trine_rung_info_t, 56)         \
  X(trine_reduce_t, 240)           \
  X(trine_transpose_t, 152)        \
  X(trine_gemm_t, 392)             \
  X(trine_choice_t, 64)            \
  X(trine_candidate_t, 56)         \
  X(trine_placement_t, 48)         \
  X(trine_roofs_t, 80)             \
  X(trine_calibrate_options_t, 32) \
  X(trine_calibrated_t, 24)        \
  X(trine_crossing_t, 80)          \
  X(trine_step_t, 32)              \
  X(trine_trace_t, 24)             \
  X(trine_options_t, 88)           \
  X(trine_tuned_t, 48)             \
  X(trine_tuning_t, 40)
#define STRUCTS_OF_THE_CONTRACT(X) \
  X(trine_host, 32)                \
  X(trine_device_facts, 696)       \
  X(trine_buffer_facts, 40)        \
  X(trine_copy, 72)                \
  X(trine_elementwise, 256)        \
  X(trine_parameter, 32)           \
  X(trine_rung, 56)                \
  X(trine_selection, 48)           \
  X(trine_call, 16)                \
  X(trine_witness, 24)             \
  X(trine_workspace, 32)           \
  X(trine_backend, 352)            \
  X(trine_native, 48)              \
  X(trine_pack, 88)                \
  X(trine_reduce, 224)             \
  X(trine_transpose, 144)          \
  X(trine_gemm, 232)

/// Memory that ends where a program may not read, but for the alignment of a struct.
conformance::Guarded guarded(std::size_t bytes) {
  return conformance::Guarded((std::max(bytes, sizeof(uint32_t)) + 7) / 8 * 8);
}

template <class T>
void check_sizes(const char* name, std::size_t first) {
  EXPECT_EQ(kit::sizes_of<T>[0], first) << name << " in version 0.1";
  EXPECT_EQ(*std::rbegin(kit::sizes_of<T>), sizeof(T)) << name;
  const std::set<std::size_t> known(std::begin(kit::sizes_of<T>), std::end(kit::sizes_of<T>));
  for (uint32_t size = 0; size <= sizeof(T) + 64; ++size) {
    const conformance::Guarded memory = guarded(size);
    std::memcpy(memory.data(), &size, sizeof size);
    const T* const given = reinterpret_cast<const T*>(memory.data());
    T whole;
    EXPECT_EQ(kit::take(given, whole), size > sizeof(T) || known.contains(size)) << name << size;
    if (size <= sizeof(T)) continue;
    memory.data()[size - 1] = 1;
    EXPECT_FALSE(kit::take(given, whole)) << name << size;
  }
}

TEST(Sizes, OfEveryStructAreThoseOfVersions) {
  Names listed;
#define CHECK(Struct, bytes) check_sizes<Struct>(#Struct, bytes), listed.insert(#Struct);
  STRUCTS_OF_C(CHECK)
  STRUCTS_OF_THE_CONTRACT(CHECK)
#undef CHECK
  EXPECT_EQ(listed, found_in(c_headers() + text_of("backends/abi.h") + text_of("backends/ops.h"),
                             R"(typedef struct (\w+) \{\s*uint32_t size;)"));
}

/// A struct that a caller writes: how it is filled so that the call takes it, and the call.
struct Input {
  std::size_t bytes;
  std::function<void(void*)> fill;
  std::function<trine_status(const void*)> call;
};

template <class T, class Fill, class Call>
Input input(Fill fill, Call call) {
  return {sizeof(T), [fill](void* memory) { fill(*static_cast<T*>(memory)); },
          [call](const void* memory) { return call(static_cast<const T*>(memory)); }};
}

std::map<std::string, Input> inputs(const trine_device_t* device) {
  const auto square = [] { return trine_row_major(nullptr, TRINE_F32, 4, 4, 0); };
  std::map<std::string, Input> all;
  all["trine_options_t"] =
      input<trine_options_t>([](trine_options_t& o) { o.device = "cpu"; },
                             [](const trine_options_t* o) {
                               float x = 1, sum = 0;
                               return trine_host_sum(trine_host_vector(&x, TRINE_F32, 1), &sum, o);
                             });
  all["trine_reduce_t"] = input<trine_reduce_t>(
      [=](trine_reduce_t& r) {
        r.input = square(), r.output = trine_vector(nullptr, TRINE_F32, 1, 0);
      },
      [=](const trine_reduce_t* r) {
        const trine_choice_t* made = nullptr;
        const trine_status status = trine_choose_reduce(device, r, nullptr, &made);
        trine_free(made);
        return status;
      });
  all["trine_transpose_t"] = input<trine_transpose_t>(
      [=](trine_transpose_t& t) { t.input = t.output = square(); },
      [=](const trine_transpose_t* t) {
        const char* key = nullptr;
        const trine_status status = trine_get_tuning_key_transpose(t, &key);
        trine_free(key);
        return status;
      });
  all["trine_gemm_t"] = input<trine_gemm_t>(
      [=](trine_gemm_t& g) { g.alpha = 1, g.a = g.b = g.c = square(); },
      [=](const trine_gemm_t* g) {
        const trine_placement_t* made = nullptr;
        const trine_status status = trine_place_gemm(g, TRINE_WHERE_HOST, 1, &device, 1, &made);
        trine_free(made);
        return status;
      });
  all["trine_calibrate_options_t"] = input<trine_calibrate_options_t>(
      [](trine_calibrate_options_t& c) {
        c.rounds = -1;  // its own reason: a calibration takes minutes
      },
      [=](const trine_calibrate_options_t* c) {
        const trine_calibrated_t* made = nullptr;
        const trine_status status = trine_calibrate(&device, 1, c, &made);
        trine_free(made);
        return status;
      });
  all["trine_tuned_t"] = input<trine_tuned_t>(
      [](trine_tuned_t& row) {
        row.call = "no call", row.rung = "", row.date = "2026-11-21";
        row.seconds = row.default_seconds = 1;
      },
      [=](const trine_tuned_t* row) { return trine_save_tuning(device, &row, 1, nullptr); });
  return all;
}

/// How a call with a struct of that size ends.
struct Ended {
  trine_status status;
  std::string sentence;
};
Ended ended(const Input& input, uint32_t size, bool has_tail) {
  const conformance::Guarded memory = guarded(size == 0 ? input.bytes : size);
  std::vector<char> whole(std::max<std::size_t>(size, input.bytes));
  input.fill(whole.data());
  std::memcpy(whole.data(), &size, sizeof size);
  if (has_tail) whole[size - 1] = 1;
  std::memcpy(memory.data(), whole.data(),
              size == 0 ? input.bytes : std::max<std::size_t>(size, sizeof size));
  const trine_status status = input.call(memory.data());
  return {status, status == TRINE_OK ? "" : trine_last_error()};
}

TEST(Sizes, OfEveryStructThatCallsTake) {
  trine_device_t* device = nullptr;
  ASSERT_EQ(trine_device_open("cpu", &device), TRINE_OK);
  Names listed;
  for (const auto& [name, input] : inputs(device)) {
    listed.insert(name);
    // The call has its own reason where the struct is only a row.
    const Ended good = ended(input, uint32_t(input.bytes), false);
    for (uint32_t size = 0; size <= input.bytes + 64; ++size) {
      const std::string where = name + ", " + std::to_string(size) + " bytes";
      const Ended was = ended(input, size, false);
      if (size != 0 && size < input.bytes) {
        EXPECT_EQ(was.status, TRINE_INVALID_ARGUMENT) << where;
        EXPECT_THAT(was.sentence, HasSubstr("which no version has")) << where << was.sentence;
      } else {
        EXPECT_EQ(was.status, good.status) << where << was.sentence;
        EXPECT_EQ(was.sentence, good.sentence) << where;
      }
      if (size <= input.bytes) continue;
      const Ended tailed = ended(input, size, true);
      EXPECT_EQ(tailed.status, TRINE_UNSUPPORTED) << where;
      EXPECT_THAT(tailed.sentence, HasSubstr("the rest isn't zero")) << where;
    }
  }
  const Names sized = found_in(c_headers(), R"(typedef struct (\w+) \{\s*uint32_t size;)");
  Names taken;
  for (const std::string& name :
       found_in(c_headers(), R"(const (trine_\w+_t)\*(?: const\*)? \w+[,)])"))
    if (sized.contains(name)) taken.insert(name);
  EXPECT_EQ(listed, taken);
  trine_device_close(device);
}

}  // namespace
}  // namespace trine::testing
