// Sums that end with the first message: it carries them.
#pragma once

#include "call.hpp"

namespace trine::mpi::detail {

class SumCall : public Call {
 public:
  /// Merges `sum`; all ranks have the result, or `root` alone.
  SumCall(MPI_Comm comm, ExactSum& sum, int root = Asked::everywhere)
      : Call(channel_of(comm)), sum_(sum) {
    asked_.root = root;
    if (root != Asked::everywhere) attempt(failure_, [&] { check_root(); });
    bring(Window(sum.state()));
  }
  /// Merges the values that `add` adds to a sum on this rank.
  template <class Add>
  SumCall(MPI_Comm comm, ExactSum& sum, Map map, Dtype dtype, Add&& add)
      : Call(channel_of(comm)), sum_(sum) {
    asked_.call = Asked::exact_sum;
    asked_.map = uint8_t(map);
    asked_.dtype = uint8_t(dtype);
    attempt(failure_, [&] { add(sum); });
    bring(Window(sum.state()));
  }

 private:
  bool work(MPI_Request*) override { return false; }
  bool can_fail() const noexcept override { return false; }
  ExactSum::State whole() const override { return sum_.state(); }
  void finish() override {
    if (is_receiver()) sum_ = total();
  }

  ExactSum& sum_;
};

}  // namespace trine::mpi::detail
