// The first message of every call tells whether all ranks ask for the same. It has a rank's
// request, a mark if that has failed already, and a sum or a small state. The messages of
// all ranks are merged in pairs, or by MPI with an operation of ours.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "check.hpp"
#include "sizes.hpp"
#include "window.hpp"

namespace trine::mpi::detail {

/// The part of a rank's request that must be the same on all ranks; it is compared as bytes.
struct Asked {
  enum Call : uint8_t { merge, exact_sum, elementwise, partial, matrices, fields };
  /// A dtype or a map that doesn't matter.
  static constexpr uint8_t none = 255;
  /// All ranks receive the result. The root of reduce() is more.
  static constexpr int32_t everywhere = INT32_MIN;
  static int32_t root_of(int root) { return std::max(root, everywhere + 1); }

  uint8_t call = merge, function = uint8_t(Function::sum), map = none, dtype = none;
  int32_t root = everywhere;
  int64_t count = 0;  ///< of elements; of matrices and fields, the digest of what must be the same

  friend bool operator==(const Asked&, const Asked&) = default;
  /// "allreduce: sum of 1000 f64". Calls with matrices or fields have words of their own.
  std::string words() const;

  /// The content of a message: a sum; the words of a Partial that has a value and its index; for a
  /// product of floats, whose blocks follow, the number of words of the longest state.
  enum class Load { sum, value, length };
  Load load() const;
  /// The state of a Partial of the requested kind, whose value and index are `words`.
  Partial::State state_of(std::span<const uint64_t> words) const;
};

/// The message. It is short, as a message of one number costs no less.
struct Head {
  /// Bits of `trouble`: the ranks ask for different things; one of them failed, or a merge did.
  enum : uint64_t { differ = 1, failed = 2 };

  Asked asked;
  uint64_t trouble = 0;
  union {  // as asked.load() says
    Window sum = {};
    std::array<uint64_t, 2> words;
  };

  void merge(const Head& other) noexcept;
  bool is_too_wide() const { return asked.load() == Asked::Load::sum && sum.is_too_wide(); }
};
static_assert(sizeof(Head) == head_bytes);

/// MPI's operations over heads, and over states of sums where a window is too narrow. Where a
/// sum exceeds a state, its first word is `too_large`.
constexpr uint64_t too_large = ~0ull;
extern "C" void trine_mpi_merge_heads(void* others, void* into, int* count, MPI_Datatype*);
extern "C" void trine_mpi_merge_states(void* others, void* into, int* count, MPI_Datatype*);

/// The report of a rank when a call fails: a plain block of bytes that all ranks gather.
struct Report {
  uint32_t status = TRINE_OK;
  char sentence[1020] = {};  ///< how it failed; else what it asks for

  Report() = default;
  Report(Status status, std::string_view sentence);
  explicit Report(const Failure& failure);
};

/// The error that all ranks throw, the same on each, from the reports of all; `trouble` as the
/// heads had it, 0 where something else went wrong later.
Error error_of(std::span<const Report> reports, uint64_t trouble);

}  // namespace trine::mpi::detail
