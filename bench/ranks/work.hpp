// One operation on the ranks of a group: this rank's parts of the data, Trine's call and MPI's own.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "bench/cases/problem.hpp"
#include "job.hpp"

namespace trine::bench::ranks {

struct Work {
  std::function<void()> ours;
  std::function<void()> peer;     ///< MPI_Allreduce; empty for matrices, which MPI doesn't know
  std::vector<std::byte> result;  ///< this rank's part
  /// The whole result, on every rank; all call it.
  std::function<std::vector<std::byte>()> whole;
};

/// The ranks of `comm` have `problem` among them, as `inputs` has it whole; `device` is this
/// rank's.
std::unique_ptr<Work> work_on(MPI_Comm comm, const Problem& problem, int64_t block,
                              const std::vector<std::span<const std::byte>>& inputs,
                              const std::string& device);

}  // namespace trine::bench::ranks
