// How trine_mpi fails: MPI's codes as Error, and the error of one rank for all others.
#pragma once

#include <trine/mpi.hpp>

#include <charconv>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <utility>

namespace trine::mpi::detail {

/// Throws what MPI says of a code other than MPI_SUCCESS; `function` returned it.
void check(int code, const char* function);

inline constexpr const char* kNoMemory = "Host memory is exhausted.";

/// The error of this rank, kept until all ranks know. To keep it takes no memory, as memory may be
/// exhausted.
using Failure = std::exception_ptr;

/// Runs `work`, and keeps its failure; the first stays.
template <class Work>
void attempt(Failure& failure, Work&& work) noexcept {
  if (failure) return;
  try {
    work();
  } catch (...) { failure = std::current_exception(); }
}

/// Runs a public function's body: Error is the one exception that leaves it.
template <class Body>
decltype(auto) entry(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) { throw Error(Status::out_of_memory, kNoMemory); }
}

/// A handle of MPI's, freed with its scope, which an error may end. `none` is MPI's word for no
/// handle.
template <class Handle, int (*free_handle)(Handle*)>
class Owned {
 public:
  explicit Owned(Handle none) noexcept : none_(none), handle_(none) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != none_) free_handle(&handle_);
  }
  Handle* get() noexcept { return &handle_; }
  Handle operator*() const noexcept { return handle_; }
  /// Somebody else frees it.
  void release() noexcept { handle_ = none_; }

 private:
  Handle none_, handle_;
};

/// Never frees the heap memory of `value`: MPI may still read or write it.
template <class T>
void leave(T& value) noexcept {
  union Kept {
    explicit Kept(T&& moved) noexcept : kept(std::move(moved)) {}
    ~Kept() {}
    T kept;
  };
  Kept{std::move(value)};
}

template <class Piece>
void append(std::string& text, const Piece& piece) {
  if constexpr (std::is_arithmetic_v<Piece>) {
    char digits[32];  // as few digits as identify the number
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
