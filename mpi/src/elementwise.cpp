#include "elementwise.hpp"

#include <trine/fitting.hpp>

#include <algorithm>
#include <cstring>

#include "collectives.hpp"

namespace trine::mpi::detail {

namespace {

/// MPI moves bits.
MPI_Datatype type_of(Dtype dtype) { return size_of(dtype) == 4 ? MPI_UINT32_T : MPI_UINT64_T; }

/// The number of a dense view's elements.
int64_t length_of(const ConstHostView& view, const char* which) {
  const auto length = trine::detail::Fitting(view.rows) * view.cols;
  const bool is_dense = view.batch == 1 && view.rows >= 0 && view.cols >= 0 &&
                        (view.cols <= 1 || view.col_stride == 1) &&
                        (view.rows <= 1 || view.row_stride == view.cols) && (length * 16).fits();
  if (!is_dense) refuse(which, " is no dense vector or row-major matrix.");
  if (length.value_or(0) != 0 && view.data == nullptr) refuse(which, " has no memory.");
  if (reinterpret_cast<uintptr_t>(view.data) % std::max(1u, size_of(view.dtype)) != 0)
    refuse("the address of ", which, " isn't a multiple of an element's size.");
  return length.value_or(0);
}

/// A dense view as the vector that it is.
template <class View>
View as_one_vector(View view, int64_t length) {
  view.rows = length, view.row_stride = 1;
  view.cols = 1, view.col_stride = 1;
  return view;
}

}  // namespace

template <class Place>
Elementwise<Place>::Elementwise(MPI_Comm comm, Function function, const ConstView& input,
                                const View& output, int root,
                                const typename Place::Options& options)
    : Base(comm, options),
      function_(function),
      dtype_(input.dtype),
      result_dtype_(result_dtype(function, Map::identity, input.dtype)),
      input_(input),
      output_(output) {
  asked_ = {.call = Asked::elementwise,
            .function = uint8_t(function),
            .dtype = uint8_t(dtype_),
            .root = root};
  attempt(failure_, [&] {
    place_.begin();
    asked_.count = length_of(Place::as_host(input), "the input");
    input_ = as_one_vector(input, asked_.count), output_ = as_one_vector(output, asked_.count);
    check_arguments(output);
    length_ = asked_.count;
    const bool is_float = dtype_ == Dtype::f32 || dtype_ == Dtype::f64;
    // By what is the same on all ranks alone: options may differ.
    goes_with_head_ = length_ == 1 && function_ == Function::sum && is_float;
    if (goes_with_head_) return bring_scalar();
    // On a device it needs no message. In place it would overlap.
    is_alone_ = Place::is_queue && channel().size == 1 &&
                (!Place::may_share(input_, output_) ||
                 Place::as_host(input_).data != Place::as_host(output_).data);
    is_copy_ = !Place::is_queue && channel().size == 1 && (is_index() || result_dtype_ == dtype_) &&
               !place_.tells_more();
    if (is_copy_) return find_device();
    ask_device();
    if (!is_alone_ && length_ != 0) prepare();
  });
}

template <class Place>
void Elementwise<Place>::check_arguments(const View& output) {
  // Core refuses functions and dtypes, so most calls needn't be checked here.
  if (function_ != Function::sum || (dtype_ != Dtype::f32 && dtype_ != Dtype::f64))
    Partial(function_, dtype_);
  if (asked_.root != Asked::everywhere) check_root();
  place_.check("the input", input_);
  if (is_receiver()) check_output(output);
}

template <class Place>
void Elementwise<Place>::check_output(const View& output) {
  if (length_of(Place::as_host(output), "the output") != asked_.count)
    refuse("the output has another number of elements than the input's ", asked_.count, ".");
  if (output.dtype != result_dtype_)
    refuse("the output is of ", name(output.dtype), ", and ", name(function_), " of ", name(dtype_),
           " gives ", name(result_dtype_), ".");
  place_.check("the output", output_);
  if (!Place::may_share(input_, output_)) return;
  const auto* const from = static_cast<const std::byte*>(Place::as_host(input_).data);
  const auto* const to = static_cast<const std::byte*>(Place::as_host(output_).data);
  const bool is_apart = to + asked_.count * size_of(result_dtype_) <= from ||
                        from + asked_.count * size_of(dtype_) <= to;
  const bool is_in_place = to == from && size_of(result_dtype_) == size_of(dtype_);
  if (!is_apart && !is_in_place && from != nullptr)
    refuse(
        "the output overlaps the input; it may be the input itself, where elements have one size.");
}

template <class Place>
void Elementwise<Place>::prepare() {
  const auto ranks = size_t(channel().size);
  chunk_ = std::clamp<int64_t>(length_, 1, longest_chunk());
  for (auto* list : {&slices_, &begins_, &mine_, &rows_}) list->resize(ranks);
  exchange_memory();
  memory_.resize(5);
  const int64_t slice = chunk_ / channel().size + 1;
  place_.allocate(matrix(), slice * channel().size * size_of(dtype_));
  place_.allocate(results(), slice * size_of(result_dtype_));
  for (const int64_t begin : {int64_t{0}, chunk_})
    if (begin < length_) place_.allocate_for(fetched(begin), input_, chunk_ * size_of(dtype_));
  if (is_receiver()) place_.allocate_for(gathered(), output_, chunk_ * size_of(result_dtype_));
}

template <class Place>
void Elementwise<Place>::exchange_memory() noexcept {
  const std::lock_guard lock(channel().vectors_mutex);
  std::swap(memory_, channel().vectors);
}

template <class Place>
void Elementwise<Place>::find_device() {
  if constexpr (!Place::is_queue) {
    const std::string_view device = place_.options().device;
    if (device != "auto") channel().open_named(device);
  }
}

template <class Place>
void Elementwise<Place>::ask_device() {
  if (is_alone_) return;  // its one call refuses the same, and then writes nothing
  const bool is_by_default = !place_.names_rung() && place_.numerics() == Numerics::reproducible;
  const uint64_t bit = uint64_t{1} << (8 * (uint32_t(function_) - 1) + uint32_t(dtype_));
  const Device device = place_.device(channel());
  if (is_by_default && channel().able == device && (channel().able_to & bit) != 0) return;
  const int64_t longest = longest_chunk();
  for (const int64_t chunk : {std::min(longest, length_), length_ % longest}) {
    const int64_t mine = begin_of(channel().rank + 1, chunk) - begin_of(channel().rank, chunk);
    plan_reduce(function_, row_major({}, dtype_, channel().size, mine),
                vector({}, result_dtype_, mine));
  }
  if (!is_by_default) return;
  if (channel().able != device) channel().able = device, channel().able_to = 0;
  channel().able_to |= bit;
}

template <class Place>
void Elementwise<Place>::bring_scalar() {
  // The first message computes the sum. But if the options ask for more, the device sums this
  // rank's number.
  if constexpr (!Place::is_queue) {
    double result = 0;
    if (place_.tells_more())
      trine::reduce(function_, Map::identity, Axis::all, input_,
                    host_vector(&result, result_dtype_, 1), place_.options());
    else
      find_device();
  } else if (place_.names_rung()) {
    plan_reduce(function_, row_major({}, dtype_, 1, 1), vector({}, result_dtype_, 1));
  }
  float as_float = 0;
  if (dtype_ == Dtype::f32)
    place_.take(input_, &as_float), scalar_ = as_float;
  else
    place_.take(input_, &scalar_);
  Base::bring(Window(scalar_));
}

template <class Place>
void Elementwise<Place>::finish() {
  if constexpr (!Place::is_queue) {
    const auto bytes = size_t(length_ * size_of(result_dtype_));
    if (is_copy_ && bytes != 0)
      is_index() ? std::memset(output_.data, 0, bytes)
                 : std::memmove(output_.data, input_.data, bytes);
  }
  if (!goes_with_head_ || !is_receiver()) return;
  const ExactSum sum = total();
  const auto write = [this](auto result) { place_.put(&result, output_); };
  if (dtype_ == Dtype::f32)
    write(sum.round<float>());
  else
    write(sum.round<double>());
}

template <class Place>
bool Elementwise<Place>::work(MPI_Request* request) {
  if (goes_with_head_ || is_copy_ || length_ == 0) return false;
  if (is_alone_) {
    attempt(failure_, [&] { place_.reduce_columns(function_, transposed(input_), output_); });
    place_.finish(failure_);
    return false;
  }
  switch (next_) {
    case Step::fetch: attempt(failure_, [&] { fetch(0), place_.mark(); }); break;
    case Step::scatter: scatter(request); break;
    case Step::reduce: attempt(failure_, [&] { reduce_slice(), place_.mark(); }); break;
    case Step::gather: gather(request); break;
    case Step::deliver:
      attempt(failure_, [&] {
        if (is_receiver())
          place_.bring(host_vector(gathered().data(), result_dtype_, length_of_chunk()),
                       block(output_, done_, 0, length_of_chunk(), 1));
        place_.mark();
      });
      done_ += length_of_chunk();
      next_ = done_ < length_ ? Step::scatter : Step::end;
      return true;
    case Step::end: place_.finish(failure_); return false;
  }
  next_ = Step(int(next_) + 1);
  return true;
}

/// Brings a chunk to the place where MPI reads it.
template <class Place>
void Elementwise<Place>::fetch(int64_t begin) {
  const int64_t length = std::min(chunk_, length_ - begin);
  if (length <= 0) return;
  place_.fetch(block(input_, begin, 0, length, 1),
               host_vector(fetched(begin).data(), dtype_, length));
}

template <class Place>
void Elementwise<Place>::scatter(MPI_Request* request) {
  const int64_t length = length_of_chunk();
  const int ranks = channel().size, me = channel().rank;
  const auto begin = [&](int rank) { return int(begin_of(rank, length)); };
  for (int rank = 0; rank < ranks; ++rank) {
    const auto i = size_t(rank);
    begins_[i] = begin(rank);
    slices_[i] = begin(rank + 1) - begin(rank);
    mine_[i] = begin(me + 1) - begin(me);
    rows_[i] = rank * mine_[i];
  }
  attempt(failure_, [&] { fetch(done_ + chunk_); });  // which arrives while this one is sent
  alltoall({place_.address(fetched(done_), block(input_, done_, 0, length, 1)), slices_.data(),
            begins_.data()},
           {matrix().data(), mine_.data(), rows_.data()}, type_of(dtype_), channel().comm, request);
}

/// My slice in memory for MPI, of one or all ranks.
template <class Place>
HostView Elementwise<Place>::slice(const Memory& memory, Dtype dtype, int64_t rows) const {
  return host_row_major(memory.data(), dtype, rows, mine_[0]);
}

template <class Place>
void Elementwise<Place>::reduce_slice() {
  const HostView arrived = slice(matrix(), dtype_, channel().size);
  const HostView sums = slice(results(), result_dtype_, 1);
  const View from = place_.at(matrix(), arrived), to = place_.at(results(), sums);
  place_.bring(arrived, from);
  place_.reduce_columns(function_, from, transposed(to));
  place_.fetch(to, sums);
}

template <class Place>
void Elementwise<Place>::gather(MPI_Request* request) {
  // The others' output isn't looked at: it may be null.
  std::byte* const output =
      is_receiver() ? place_.address(gathered(), block(output_, done_, 0, length_of_chunk(), 1))
                    : nullptr;
  const Blocks<std::byte> to = {output, slices_.data(), begins_.data()};
  const MPI_Datatype type = type_of(result_dtype_);
  const std::byte* const from = results().data();
  if (asked_.root == Asked::everywhere)
    allgather(from, mine_[0], to, type, channel().comm, request);
  else
    mpi::detail::gather(from, mine_[0], to, type, asked_.root, channel().comm, request);
}

template class Elementwise<OnHost>;
template class Elementwise<OnDevice>;

}  // namespace trine::mpi::detail

namespace trine::mpi {

using detail::Asked, detail::Elementwise, detail::OnDevice, detail::OnHost;

void allreduce(Function function, const ConstHostView& input, const HostView& output, MPI_Comm comm,
               const HostOptions& options) {
  detail::run<Elementwise<OnHost>>(comm, function, input, output, Asked::everywhere, options);
}

void reduce(Function function, const ConstHostView& input, const HostView& output, int root,
            MPI_Comm comm, const HostOptions& options) {
  detail::run<Elementwise<OnHost>>(comm, function, input, output, Asked::root_of(root), options);
}

void allreduce(Function function, Queue& queue, const View& input, const View& output,
               MPI_Comm comm, const QueueOptions& options) {
  detail::run<Elementwise<OnDevice>>(comm, function, input, output, Asked::everywhere,
                                     OnDevice::Options{queue, options});
}

void reduce(Function function, Queue& queue, const View& input, const View& output, int root,
            MPI_Comm comm, const QueueOptions& options) {
  detail::run<Elementwise<OnDevice>>(comm, function, input, output, Asked::root_of(root),
                                     OnDevice::Options{queue, options});
}

}  // namespace trine::mpi
