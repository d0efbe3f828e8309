#include "elementwise.hpp"

#include <algorithm>
#include <cstring>

#include "collectives.hpp"

namespace trine::mpi::detail {

namespace {

/// MPI moves bits.
MPI_Datatype type_of(Dtype dtype) { return size_of(dtype) == 4 ? MPI_UINT32_T : MPI_UINT64_T; }

/// The number of a dense view's elements.
template <class View>
int64_t length_of(const View& view, const char* which) {
  int64_t length = 0;
  const bool is_dense = view.batch == 1 && view.rows >= 0 && view.cols >= 0 &&
                        (view.cols <= 1 || view.col_stride == 1) &&
                        (view.rows <= 1 || view.row_stride == view.cols) &&
                        !__builtin_mul_overflow(view.rows, view.cols, &length) &&
                        length <= INT64_MAX / 16;
  if (!is_dense) refuse(which, " is no dense vector or row-major matrix of host memory.");
  if (length != 0 && view.data == nullptr) refuse(which, " has no memory.");
  if (reinterpret_cast<uintptr_t>(view.data) % std::max(1u, size_of(view.dtype)) != 0)
    refuse("the address of ", which, " isn't a multiple of an element's size.");
  return length;
}

}  // namespace

Elementwise::Elementwise(MPI_Comm comm, Function function, const ConstHostView& input,
                         const HostView& output, int root, const HostOptions& options)
    : Call(channel_of(comm)),
      function_(function),
      dtype_(input.dtype),
      result_dtype_(result_dtype(function, Map::identity, input.dtype)),
      input_(static_cast<const std::byte*>(input.data)),
      output_(static_cast<std::byte*>(output.data)),
      options_(options) {
  asked_ = {.call = Asked::elementwise,
            .function = uint8_t(function),
            .dtype = uint8_t(dtype_),
            .root = root};
  attempt(failure_, [&] {
    asked_.count = length_of(input, "the input");
    check_arguments(input, output, options);
    length_ = asked_.count;
    options_.device = device_ = options.device;
    options_.rung = rung_ = options.rung;
    const bool is_float = dtype_ == Dtype::f32 || dtype_ == Dtype::f64;
    // By what is the same on all ranks alone: options may differ.
    goes_with_head_ = length_ == 1 && function_ == Function::sum && is_float;
    if (goes_with_head_) return bring_scalar();
    const auto ranks = size_t(channel().size);
    const int64_t longest = std::clamp<int64_t>(piece_bytes / size_of(dtype_), 1, INT32_MAX / 2);
    piece_ = std::min(length_, longest);
    for (auto* list : {&slices_, &begins_, &mine_, &rows_}) list->resize(ranks);
    const uint64_t slice = uint64_t(piece_) / ranks + 1;
    matrix_ = std::make_unique_for_overwrite<std::byte[]>(slice * ranks * size_of(dtype_));
    results_ = std::make_unique_for_overwrite<std::byte[]>(slice * size_of(result_dtype_));
  });
}

void Elementwise::check_arguments(const ConstHostView& input, const HostView& output,
                                  const HostOptions& options) {
  // What core has against a function or a dtype; most calls have none of either that needs a look.
  if (function_ != Function::sum || (dtype_ != Dtype::f32 && dtype_ != Dtype::f64))
    Partial(function_, dtype_);
  if (asked_.root != Asked::everywhere) check_root();
  if (options.event != nullptr)
    refuse(
        "HostOptions::event goes with calls on one rank; iallreduce and ireduce return a Request.");
  if (is_receiver()) check_output(input, output);
}

void Elementwise::check_output(const ConstHostView& input, const HostView& output) const {
  if (length_of(output, "the output") != asked_.count)
    refuse("the output has another number of elements than the input's ", asked_.count, ".");
  if (output.dtype != result_dtype_)
    refuse("the output is of ", name(output.dtype), ", and ", name(function_), " of ", name(dtype_),
           " gives ", name(result_dtype_), ".");
  const std::byte* const to = output_;
  const bool is_apart = to + asked_.count * size_of(result_dtype_) <= input_ ||
                        input_ + asked_.count * size_of(dtype_) <= to;
  const bool is_in_place = to == input_ && size_of(result_dtype_) == size_of(dtype_);
  if (!is_apart && !is_in_place && input.data != nullptr)
    refuse(
        "the output overlaps the input; it may be the input itself, where elements have one size.");
}

void Elementwise::bring_scalar() {
  // The message computes it, no device. But a device that is named must be there, and one that is asked more
  // sums this rank's number.
  const HostOptions& o = options_;
  if (o.choice || o.placement || o.trace || o.receipt || !rung_.empty()) {
    double result = 0;
    trine::reduce(function_, Map::identity, Axis::all, host_vector(input_, dtype_, 1),
                  host_vector(&result, result_dtype_, 1), o);
  } else if (device_ != "auto" && device_ != channel().device_name) {
    channel().device = open(device_);
    channel().device_name = device_;
  }
  float as_float = 0;
  if (dtype_ == Dtype::f32)
    std::memcpy(&as_float, input_, sizeof as_float), scalar_ = as_float;
  else
    std::memcpy(&scalar_, input_, sizeof scalar_);
  bring(Window(scalar_));
}

void Elementwise::finish() {
  if (!goes_with_head_ || !is_receiver()) return;
  const ExactSum sum = total();
  const auto write = [this](auto result) { std::memcpy(output_, &result, sizeof result); };
  if (dtype_ == Dtype::f32)
    write(sum.round<float>());
  else
    write(sum.round<double>());
}

bool Elementwise::work(MPI_Request* request) {
  if (is_scattered_) {
    attempt(failure_, [&] { reduce_slice(); });
    gather(request);
    done_ += piece_;
    is_scattered_ = false;
    return true;
  }
  if (goes_with_head_ || done_ == length_) return false;
  scatter(request);
  is_scattered_ = true;
  return true;
}

void Elementwise::scatter(MPI_Request* request) {
  piece_ = std::min(piece_, length_ - done_);
  const int ranks = channel().size, me = channel().rank;
  const auto begin = [&](int rank) { return int(piece_ * rank / ranks); };
  for (int rank = 0; rank < ranks; ++rank) {
    const auto i = size_t(rank);
    begins_[i] = begin(rank);
    slices_[i] = begin(rank + 1) - begin(rank);
    mine_[i] = begin(me + 1) - begin(me);
    rows_[i] = rank * mine_[i];
  }
  alltoall({input_ + done_ * size_of(dtype_), slices_.data(), begins_.data()},
           {matrix_.get(), mine_.data(), rows_.data()}, type_of(dtype_), channel().comm, request);
}

void Elementwise::reduce_slice() {
  const int64_t slice = mine_[0];
  if (slice == 0) return;
  trine::reduce(
      function_, Map::identity, Axis::each_column,
      host_row_major(static_cast<const std::byte*>(matrix_.get()), dtype_, channel().size, slice),
      host_vector(results_.get(), result_dtype_, slice), options_);
}

void Elementwise::gather(MPI_Request* request) {
  // The others' output isn't looked at: it may be null.
  std::byte* const output = is_receiver() ? output_ + done_ * size_of(result_dtype_) : nullptr;
  const Blocks<std::byte> to = {output, slices_.data(), begins_.data()};
  const MPI_Datatype type = type_of(result_dtype_);
  if (asked_.root == Asked::everywhere)
    allgather(results_.get(), mine_[0], to, type, channel().comm, request);
  else
    mpi::detail::gather(results_.get(), mine_[0], to, type, asked_.root, channel().comm, request);
}

}  // namespace trine::mpi::detail

namespace trine::mpi {

void allreduce(Function function, const ConstHostView& input, const HostView& output, MPI_Comm comm,
               const HostOptions& options) {
  using namespace detail;
  entry([&] { Elementwise(comm, function, input, output, Asked::everywhere, options).run(); });
}

void reduce(Function function, const ConstHostView& input, const HostView& output, int root,
            MPI_Comm comm, const HostOptions& options) {
  using namespace detail;
  entry([&] { Elementwise(comm, function, input, output, Asked::root_of(root), options).run(); });
}

}  // namespace trine::mpi
