// Element for element over the ranks: each rank receives one slice of every rank's values
// (all-to-all), reduces it on its device as the columns of a matrix with a row a rank, and the
// slices of results are gathered. That is the traffic of MPI's own allreduce of large vectors
// (reduce-scatter, then allgather), and the local work is a call like any other. Long vectors go
// chunk by chunk, so that the memory is bounded and MPI's counts are small.
#pragma once

#include "call.hpp"
#include "place.hpp"

namespace trine::mpi::detail {

template <class Place>
class Elementwise : public PlacedCall<Place> {
  using Base = PlacedCall<Place>;
  using Base::asked_, Base::failure_, Base::place_, Base::channel;
  using Base::is_receiver, Base::check_root, Base::total, Base::plan_reduce;

 public:
  using ConstView = typename Place::ConstView;
  using View = typename Place::View;
  /// To `root`, or everywhere. The objects that the options point to stay until the call has ended.
  Elementwise(MPI_Comm comm, Function function, const ConstView& input, const View& output,
              int root, const typename Place::Options& options);
  ~Elementwise() override {
    this->end_work();
    if (!memory_.empty()) exchange_memory();
  }

 private:
  bool work(MPI_Request* request) override;
  bool can_fail() const noexcept override { return length_ != 0 && !goes_with_head_ && !is_copy_; }
  ExactSum::State whole() const override { return Window(scalar_).state(); }
  void finish() override;

  void check_arguments(const View& output);
  void check_output(const View& output);
  bool is_index() const noexcept {
    return function_ == Function::argmin || function_ == Function::argmax;
  }
  /// Refuses calls that the device, or the named rung, refuses. Without a named rung the device is
  /// asked once for each function and dtype.
  void ask_device();
  /// Opens the named device, because no other call does: it must exist.
  void find_device();
  void bring_scalar();
  void prepare();
  /// Takes the memory that the last call has left with the communicator, or leaves it.
  void exchange_memory() noexcept;

  int64_t longest_chunk() const noexcept {
    return std::clamp<int64_t>(chunk_bytes / size_of(dtype_), 1, INT32_MAX / 2);
  }
  int64_t length_of_chunk() const noexcept { return std::min(chunk_, length_ - done_); }
  /// The beginning of a rank's slice of a chunk.
  int64_t begin_of(int rank, int64_t chunk) const noexcept { return chunk * rank / channel().size; }
  void fetch(int64_t begin);
  void scatter(MPI_Request* request);
  void reduce_slice();
  void gather(MPI_Request* request);
  HostView slice(const Memory& memory, Dtype dtype, int64_t rows) const;
  Memory& fetched(int64_t begin) noexcept { return memory_[size_t(begin / chunk_ % 2)]; }
  Memory& matrix() noexcept { return memory_[2]; }
  Memory& results() noexcept { return memory_[3]; }
  Memory& gathered() noexcept { return memory_[4]; }

  Function function_;
  Dtype dtype_, result_dtype_;
  ConstView input_;
  View output_;  ///< both as vectors
  int64_t length_ = 0;

  bool goes_with_head_ = false;  ///< one sum of floats: the first message is enough
  double scalar_ = 0;            ///< then
  bool is_alone_ = false;        ///< one rank, on a device
  bool is_copy_ = false;  ///< one rank, on the host: its values are the results, its rank is 0
  int64_t chunk_ = 0, done_ = 0;  ///< elements
  enum class Step { fetch, scatter, reduce, gather, deliver, end } next_ = Step::fetch;
  /// For each rank: the length and the beginning of its slice of a chunk; the same of my slice in
  /// each rank's chunk.
  std::vector<int> slices_, begins_, mine_, rows_;
  std::vector<Memory> memory_;
};
extern template class Elementwise<OnHost>;
extern template class Elementwise<OnDevice>;

}  // namespace trine::mpi::detail
