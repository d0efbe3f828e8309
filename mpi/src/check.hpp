// How trine_mpi fails: MPI's codes as Error, and what one rank has to tell the others.
#pragma once

#include <trine/mpi.hpp>

#include <charconv>
#include <iterator>
#include <new>
#include <string>

namespace trine::mpi::detail {

/// Throws what MPI says of a code other than MPI_SUCCESS; `function` returned it.
void check(int code, const char* function);

/// What went wrong on this rank, kept until all ranks know.
struct Failure {
  Status status = Status::ok;
  std::string sentence;

  explicit operator bool() const noexcept { return status != Status::ok; }
};

/// Runs `work`, and keeps its failure; the first stays.
template <class Work>
void attempt(Failure& failure, Work&& work) {
  if (failure) return;
  try {
    work();
  } catch (const Error& error) {
    failure = {error.status(), error.what()};
  } catch (const std::bad_alloc&) {
    failure = {Status::out_of_memory, "Host memory is exhausted."};
  }
}

/// Runs a public function's body: Error is the one exception that leaves it.
template <class Body>
decltype(auto) entry(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw Error(Status::out_of_memory, "Host memory is exhausted.");
  }
}

template <class Piece>
void append(std::string& text, const Piece& piece) {
  if constexpr (std::is_arithmetic_v<Piece>) {
    char digits[32];  // as few as tell a number from all others
    text.append(digits, std::to_chars(digits, std::end(digits), piece).ptr);
  } else {
    text += piece;
  }
}
/// "rank " + 3 + "…": one string of all pieces.
template <class... Pieces>
std::string cat(const Pieces&... pieces) {
  std::string text;
  (append(text, pieces), ...);
  return text;
}

template <class... Pieces>
[[noreturn]] void refuse(const Pieces&... pieces) {
  throw Error(Status::invalid_argument, cat("trine::mpi: ", pieces...));
}

}  // namespace trine::mpi::detail
