// Any reduction of a distributed array. Sums, extrema and products of integers end with the first
// message, which carries their states. A product of floats is a tree whose blocks merge to the
// whole in the order of their indices alone, so all ranks gather the blocks of all.
#pragma once

#include "call.hpp"

namespace trine::mpi::detail {

class PartialCall : public Call {
 public:
  /// Merges `partial`; all ranks have the result, or `root` alone.
  PartialCall(MPI_Comm comm, Partial& partial, int root);
  /// Merges the values that `add` adds on this rank to the Partial of nothing.
  template <class Add>
  PartialCall(MPI_Comm comm, Partial& partial, Function function, Map map, Dtype dtype, Add&& add)
      : Call(channel_of(comm)), partial_(partial) {
    ask(function, map, dtype);
    attempt(failure_, [&] {
      partial = Partial(function, dtype, map);
      add(partial);
      bring_state();
    });
  }

 private:
  bool work(MPI_Request* request) override;
  /// The merge of blocks may lack memory, or refuse them.
  bool can_fail() const noexcept override { return has_blocks(); }
  ExactSum::State whole() const override;
  void finish() override;

  void ask(Function function, Map map, Dtype dtype);
  void bring_state();
  bool has_blocks() const noexcept {
    return asked_.load() == Asked::Load::length && words()[0] != 0;
  }
  Partial merged_blocks() const;

  Partial& partial_;
  std::vector<uint64_t> gathered_;  ///< the words of all ranks' blocks, zeros behind each rank's
  std::optional<Partial> merged_;   ///< what these are
};

}  // namespace trine::mpi::detail
