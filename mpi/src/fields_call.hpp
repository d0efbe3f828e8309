// Many fields in one call: the first message has a head for each of them, and a second one the
// whole states of those sums whose windows were too narrow.
#pragma once

#include <trine/mpi_sums.hpp>

#include "call.hpp"

namespace trine::mpi::detail {

/// All that must be the same on all ranks of a call on fields.
struct FieldsAsked {
  Function function = Function::sum;
  Dtype dtype = Dtype::f64;
  int64_t count = 0, weighted = 0;  ///< of fields, and of those that have weights
  uint64_t digest = 0;              ///< which these are

  /// Whether each field has the state of an exact sum; else it has a value.
  bool has_states() const noexcept {
    return function == Function::sum && (dtype == Dtype::f32 || dtype == Dtype::f64);
  }
};

/// Where the states or values of this rank's parts go, field by field.
struct Slots {
  uint64_t* at;
  int64_t count, words;  ///< of fields, and of each
  Dtype dtype;           ///< u64 of states

  /// Those of `some` fields, as a reduction writes them.
  HostView of(int64_t first, int64_t some) const {
    uint64_t* const begin = at + first * words;
    if (words > 1) return host_row_major(begin, Dtype::u64, some, words);
    HostView values = host_vector(begin, dtype, some);
    values.row_stride = int64_t(sizeof *at / size_of(dtype));
    return values;
  }
};

class FieldsCall final : public Call {
 public:
  /// `parts` says what it is about, and computes this rank's states or values.
  template <class Parts>
  FieldsCall(MPI_Comm comm, Function function, Parts& parts, const HostView& results)
      : Call(channel_of(comm)) {
    asked_.call = Asked::fields;  // also of a rank that fails at once
    attempt(failure_, [&] {
      ask(parts.asked(function));
      take(results);
      parts.reduce(fields_, allocate(), channel());
      bring();
    });
  }

 private:
  bool work(MPI_Request*) override { return false; }
  bool can_fail() const noexcept override { return false; }
  std::span<ExactSum::State> wholes() override;
  std::string asks_for() const override;
  void finish() override;

  void ask(const FieldsAsked& fields);
  void take(const HostView& results);
  Slots allocate();
  using Call::bring;
  void bring();

  FieldsAsked fields_;
  HostView results_;
  std::vector<ExactSum::State> states_;
  std::vector<uint64_t> values_;
};

}  // namespace trine::mpi::detail
