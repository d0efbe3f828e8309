// One operation on the ranks of one group: their parts of the data, Trine's call and the peer's, and the whole result.
#pragma once

#include <trine/mpi_matrix.hpp>

#include <memory>
#include <optional>

#include "bench/timing/expectation.hpp"
#include "job.hpp"
#include "model.hpp"

namespace trine::bench::ranks {

/// A rank's parts on its device too.
class Resident {
 public:
  explicit Resident(const std::string& device) : queue(open(device)) {}
  /// A dense part: the same on the device.
  View add(const HostView& here);
  mpi::DeviceMatrix add(const mpi::Matrix& here) { return {here.distribution, add(here.local)}; }
  /// All of them, to the device and back.
  void upload();
  void download();

  Queue queue;

 private:
  std::vector<std::pair<HostView, View>> copies_;  ///< as bytes
};

/// The name of a device; makes `resident` where it begins with @.
std::string place_on(const std::string& device, std::optional<Resident>& resident);

class Work {
 public:
  virtual ~Work() = default;

  virtual void ours() = 0;
  /// Where the data lies on the device, and the peer is the same call on host data.
  std::optional<Resident> resident;
  virtual bool has_peer() const { return true; }
  virtual const char* peer_name() const = 0;
  virtual void peer() = 0;
  /// This rank's part of the result.
  virtual std::span<std::byte> mine() = 0;
  /// The whole result on the group's first rank; elsewhere it may be null. Throws nothing: where the ranks should have
  /// equal results and haven't, `differ` is set on the first.
  virtual const std::byte* collect(bool& differ) = 0;
};

/// The ranks of `comm` have `problem` among them, as `inputs` has it whole; `device` is this rank's: @cuda:0 has the
/// data too.
std::unique_ptr<Work> work_on(MPI_Comm comm, const Problem& problem, int64_t block,
                              const std::vector<std::span<const std::byte>>& inputs,
                              const std::string& device);

/// What one of several ranks computes, done with the whole by this rank alone: the model's basis. `in_runs`: a
/// transpose as on grids that aren't square, after each slab of which the ranks of `comm` meet.
std::function<void()> local_work(const Problem& problem, int64_t block,
                                 const std::vector<std::span<const std::byte>>& inputs,
                                 const std::string& device, bool in_runs, MPI_Comm comm);

// The kinds, each in a file.
std::unique_ptr<Work> sum_of_all(MPI_Comm comm, const Problem& problem,
                                 std::span<const std::byte> whole, const std::string& device);
std::unique_ptr<Work> sum_of_vectors(MPI_Comm comm, const Problem& problem,
                                     std::span<const std::byte> whole, const std::string& device);
std::unique_ptr<Work> matrices(MPI_Comm comm, const Problem& problem, int64_t block,
                               const std::vector<std::span<const std::byte>>& inputs,
                               const std::string& device);
/// A transpose as ranks on a grid do it that isn't square: packed and unpacked in runs of a block's rows, in slabs.
std::function<void()> transpose_in_runs(const Problem& problem, int64_t block,
                                        std::span<const std::byte> whole, const std::string& device,
                                        MPI_Comm comm);

}  // namespace trine::bench::ranks
