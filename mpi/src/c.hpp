// The parts of every function of <trine/mpi.h>: no exception leaves it, and a rank whose arguments
// can't be read takes part in the call all the same, so that all ranks have its error.
#pragma once

#include <trine/mpi.h>
#include <trine/c.hpp>

#include <functional>
#include <optional>

#include "place.hpp"

struct trine_mpi_request_t {
  ~trine_mpi_request_t();
  /// Goes on; whether the call has ended. Then C has what it asked for besides the outputs.
  bool test();
  void wait();

  std::function<void()> deliver;  ///< empty when that has been done
  trine::mpi::Request request;
};

namespace trine::mpi::detail {

/// The body of a function that no other rank takes part in.
template <class Body>
trine_status guard(Body&& body) noexcept {
  try {
    entry(body);
    return TRINE_OK;
  } catch (...) { return c_api::failed(); }
}

/// Takes part in the other ranks' call with a failure, which all ranks throw. `request`: null, or
/// receives that call.
void refuse_call(MPI_Comm comm, const Failure& failure, trine_mpi_request_t** request);

/// A function's body: `read` makes values of C's arguments, `call` makes the call with them. If
/// `read` throws, all ranks have that error. `request`: null where the call blocks.
template <class Read, class Run>
trine_status collective(MPI_Comm comm, trine_mpi_request_t** request, Read&& read,
                        Run&& call) noexcept {
  return guard([&] {
    if (request) *request = nullptr;
    Failure failure;
    std::optional<decltype(read())> values;
    attempt(failure, [&] { values.emplace(read()); });
    if (failure) return refuse_call(comm, failure, request);
    call(*values);
  });
}

/// The arguments that a function has read which may begin a call, and that call's handle.
template <class Values>
struct Begun {
  /// The call of class C: to its end, or begun.
  template <class C, class... Arguments>
  void make(trine_mpi_request_t** place, Arguments&&... arguments) {
    if (!place) {
      run<C>(arguments...);
      return deliver();
    }
    request->request = begin<C>(arguments...);
    request->deliver = std::move(deliver);
    *place = request.release();
  }

  std::shared_ptr<Values> values;
  std::function<void()> deliver;  ///< what follows when the call has ended; it keeps the values
  std::unique_ptr<trine_mpi_request_t> request = std::make_unique<trine_mpi_request_t>();
};

template <class T>
T& pointed_to(T* pointer, const char* what) {
  if (!pointer) refuse(what, " is null.");
  return *pointer;
}

/// The value whose state a C struct has.
template <class Value, class Struct>
Value of_state(const Struct* given) {
  typename Value::State state;
  std::ranges::copy(pointed_to(given, "the state").state, state.begin());
  return Value(state);
}

QueueOptions queue_options(const trine_mpi_queue_options_t* given);

}  // namespace trine::mpi::detail
