// The parts of every function of the C API: it reads C structs, calls the C++ API, turns an
// Error into a status and a sentence, and gives results that trine_free() frees as a whole.
#pragma once

#include <trine/lists.h>
#include <trine/c.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <memory_resource>

#include "backends/kit/abi_struct.hpp"
#include "core/src/runtime/error.hpp"

// The handles: what C++ holds by value.
struct trine_device_t {
  trine::Device value;
};
struct trine_queue_t {
  trine::Queue value;
};
struct trine_event_t {
  trine::Event value;
};
struct trine_buffer_t {
  trine::Buffer value;
};

namespace trine::detail {

using c_api::failed;
using c_api::value_of;
using c_api::view_of;

// --- Arguments -------------------------------------------------------------------------------

/// The handle for C++: an empty one for NULL.
inline Device value_of(const trine_device_t* handle) { return handle ? handle->value : Device(); }
inline Event value_of(const trine_event_t* handle) { return handle ? handle->value : Event(); }
inline Buffer value_of(const trine_buffer_t* handle) { return handle ? handle->value : Buffer(); }

inline std::string_view text_of(const char* text) { return text ? text : std::string_view(); }

/// An enumerator, or the default that 0 stands for.
template <class Enum>
Enum value_or(uint32_t given, Enum otherwise) {
  return given == 0 ? otherwise : static_cast<Enum>(given);
}

Reduce value_of(const trine_reduce_t* operation);
Transpose value_of(const trine_transpose_t* operation);
Scalar scalar_of(double number, const trine_view_t& element);
Gemm value_of(const trine_gemm_t* operation);
std::vector<Device> values_of(const trine_device_t* const* devices, size_t count);

/// The options that C gives, with what they ask for; c_api::Options.
struct KeptOptions {
  explicit KeptOptions(const trine_options_t* options);
  void deliver();

  trine_options_t given{};
  Choice choice;
  std::string placement;
  HostTrace trace;
  std::unique_ptr<trine_event_t> event;
  Receipt receipt;
  HostOptions host;
};
/// Makes a call with the options that C gives, and hands back what they ask for.
void with_options(const trine_options_t* given, auto&& body) {
  KeptOptions options(given);
  body(options.host);
  options.deliver();
}

/// A struct that may have grown since its writer was compiled; what the writer didn't know is zero.
template <class T>
T read(const T* given, const char* what) {
  if (!given) refuse("The ", what, " is null.");
  T whole{};
  const size_t first = kit::sizes_of<T>[0], size = given->size == 0 ? first : given->size;
  if (!kit::is_size_of<T>(size))
    refuse("The size of the ", what, " is ", size, " bytes, which no version has: it is ", first,
           " since 0.1. Set it to sizeof the struct, or to 0.");
  if (!kit::take(given, whole, size))
    fail(Status::unsupported, "The size of the ", what, " is ", size, " bytes. Version ", version(),
         " knows ", sizeof(T), " of them, and the rest isn't zero.");
  if constexpr (requires { whole.reserved; }) {
    if (whole.reserved != 0)
      refuse("The reserved field of the ", what, " is ", whole.reserved,
             "; it must be zero. Initialize the whole struct.");
  }
  return whole;
}

template <class T>
void require(T* place) {
  if (!place) refuse("An argument for a result is null: there is no place to write it to.");
}

// --- Errors ----------------------------------------------------------------------------------

/// The sentence that failed() kept for the calling thread.
const char* last_sentence() noexcept;

/// The body of a function of the C API: no exception leaves it. Without the `places` for its
/// results it does nothing.
template <class Body, class... Places>
trine_status guard(Body&& body, Places*... places) noexcept {
  try {
    entry([&] {
      (require(places), ...);
      body();
    });
    return TRINE_OK;
  } catch (...) { return failed(); }
}

/// A function whose `body` uses a queue, without a place for a result.
trine_status on_queue(trine_queue_t* queue, auto&& body) {
  return guard([&] {
    Queue used = value_of(queue);
    body(used);
  });
}

// --- States ----------------------------------------------------------------------------------

/// The value whose state a C struct has.
template <class Value, class Struct>
Value of_state(const Struct* given) {
  require(given);
  typename Value::State state;
  std::ranges::copy(given->state, state.begin());
  return Value(state);
}

/// Replaces the state by that of the value after `body`.
template <class Value, class Struct>
trine_status change_state(Struct* given, auto&& body) {
  return guard([&] {
    Value value = of_state<Value>(given);
    body(value);
    std::ranges::copy(value.state(), given->state);
  });
}

// --- Results ---------------------------------------------------------------------------------

/// One result with all that it points to.
class Result {
 public:
  template <class T>
  T* array(size_t count) {
    return static_cast<T*>(allocate(count * sizeof(T)));
  }
  /// A struct of zeros that says its size.
  template <class T>
  T* structure() {
    T* const made = array<T>(1);
    made->size = sizeof(T);
    return made;
  }
  const char* text(std::string_view text);
  const trine_device_t* device(const Device& device) {
    devices_.push_back({device});
    return &devices_.back();
  }

  static void free(const void* given);

 private:
  /// Stands before all memory given, so that it leads back here.
  struct alignas(std::max_align_t) Owner {
    Result* result;
  };
  void* allocate(size_t bytes);

  std::pmr::monotonic_buffer_resource memory_;
  std::deque<trine_device_t> devices_;
};

// The C form of a value, as a part of a result.
inline const char* form(Result& result, const std::string& text) { return result.text(text); }
const trine_facts_t* form(Result& result, const Facts& facts);
const trine_backend_info_t* form(Result& result, const BackendInfo& backend);
const trine_rung_parameter_t* form(Result& result, const RungInfo::Parameter& parameter);
const trine_rung_info_t* form(Result& result, const RungInfo& rung);
const trine_choice_t* form(Result& result, const Choice& choice);
const trine_candidate_t* form(Result& result, const Candidate& candidate);
const trine_placement_t* form(Result& result, const Placement& placement);
const trine_roofs_t* form(Result& result, const Roofs& roofs);
const trine_calibrated_t* form(Result& result, const Calibrated& calibrated);
const trine_crossing_t* form(Result& result, const Crossing& crossing);
const trine_step_t* form(Result& result, const HostStep& step);
const trine_trace_t* form(Result& result, const HostTrace& trace);
const trine_tuned_t* form(Result& result, const Tuned& row);
const trine_tuning_t* form(Result& result, const Tuning& tuning);

/// A list: an array of pointers.
template <class Value>
auto form(Result& result, const std::vector<Value>& values) {
  using Pointer = decltype(form(result, values.front()));
  auto* const list = result.array<Pointer>(values.size());
  for (size_t i = 0; i < values.size(); ++i) list[i] = form(result, values[i]);
  return static_cast<const Pointer*>(list);
}

/// Writes the C form of `value` to `place`, for the caller to free.
template <class T, class Value>
void give(const T** place, const Value& value) {
  auto result = std::make_unique<Result>();
  *place = form(*result, value);
  (void)result.release();
}
template <class Pointer, class Value>
void give(Pointer** list, size_t* count, const std::vector<Value>& values) {
  give(list, values);
  *count = values.size();
}
/// Where the caller wants it.
template <class T, class Value>
void offer(const T** place, const Value& value) {
  if (place) give(place, value);
}

}  // namespace trine::detail
