// Element for element over the ranks: each rank receives one slice of every rank's values (all-to-all), reduces it
// on its device as the columns of a matrix with a row a rank, and the slices of results are gathered. That is the
// traffic of MPI's own allreduce of large vectors (reduce-scatter, then allgather), and the local work is a call
// like any other. Long vectors go piece by piece, so that the memory for it is bounded, and MPI's counts are small.
#pragma once

#include "call.hpp"

namespace trine::mpi::detail {

class Elementwise : public Call {
 public:
  /// To `root`, or everywhere. What the options point to stays until the call has ended.
  Elementwise(MPI_Comm comm, Function function, const ConstHostView& input, const HostView& output,
              int root, const HostOptions& options);

 private:
  bool work(MPI_Request* request) override;
  bool can_fail() const noexcept override { return length_ != 0 && !goes_with_head_; }
  ExactSum::State whole() const override { return Window(scalar_).state(); }
  void finish() override;

  void check_arguments(const ConstHostView& input, const HostView& output,
                       const HostOptions& options);
  void check_output(const ConstHostView& input, const HostView& output) const;
  void bring_scalar();
  void scatter(MPI_Request* request);
  void reduce_slice();
  void gather(MPI_Request* request);

  Function function_;
  Dtype dtype_, result_dtype_;
  const std::byte* input_;
  std::byte* output_;
  int64_t length_ = 0;
  std::string device_, rung_;  ///< what the options name
  HostOptions options_;

  bool goes_with_head_ = false;   ///< one sum of floats: the first message is enough
  double scalar_ = 0;             ///< then
  int64_t piece_ = 0, done_ = 0;  ///< elements
  bool is_scattered_ = false;
  /// Of a piece, by rank: the lengths of slices and where they begin; my slice's, of each rank's piece.
  std::vector<int> slices_, begins_, mine_, rows_;
  std::unique_ptr<std::byte[]> matrix_, results_;
};

}  // namespace trine::mpi::detail
