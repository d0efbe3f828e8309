/// Reductions over the ranks of an MPI program: the same bits on 1, 7 or 10,000 ranks, however the
/// data is distributed, on any device, mixed ones in one job too.
/// ```cpp
/// // MPI_Init has been called. Each rank has a part, of any length.
/// int rank = 0;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// std::vector<double> part(1000 + rank, 0.1);
/// double total = trine::mpi::sum(part, MPI_COMM_WORLD);  // exact, rounded once, on all ranks
/// std::cout << total << "\n";
/// ```
/// CMake: `find_package(trine COMPONENTS mpi)`, target trine::mpi; pkg-config: trine-mpi. The
/// library uses the C API of MPI (3.0 or later) alone. The program calls MPI_Init or
/// MPI_Init_thread, and MPI_Finalize.
///
/// All functions are collective: all ranks of the communicator call them, in one order, as MPI's
/// own. Each function names the arguments that must be the same on all ranks; the first message of
/// each call checks that they are, before anything else moves. The first call on a communicator
/// duplicates it, without its hints, so that no message of the program meets one of Trine's. All
/// ranks wait for that, also in a call that doesn't block otherwise. The duplicate is freed with
/// the communicator, or by MPI_Finalize.
///
/// Errors: Error. All ranks throw where a rank finds an error in its arguments, data or device (as
/// thrown by the functions of <trine/host.hpp>), and where an argument isn't the same on all ranks
/// (invalid_argument). One sentence names the ranks; nothing was written then, if the error was
/// found before the data moved. These errors concern one rank alone: invalid_argument where MPI
/// isn't initialized or has ended, for MPI_COMM_NULL and for an intercommunicator; backend_error
/// with MPI's own sentence where MPI fails, if the error handler of the communicator lets it
/// return. MPI may then go on to use the inputs and outputs of a call that doesn't block.
///
/// Thread safety: that of the program's MPI. A call uses MPI in the calling thread alone. So a
/// program asks MPI_Init_thread for
/// - MPI_THREAD_FUNNELED, if it calls in its main thread. Devices have threads of their own, which
///   never call MPI; with MPI_THREAD_SINGLE, as by MPI_Init, the standard knows no such threads,
///   but Open MPI and MPICH don't tell these two levels apart.
/// - MPI_THREAD_SERIALIZED, if several threads call one after another, also on one communicator.
/// - MPI_THREAD_MULTIPLE, if they call at the same time; then each on communicators of its own.
///   test() and wait() of one thread may carry on a call that another has begun: until a Request
///   has ended, its buffers and options belong to it.
#pragma once

#include <trine/mpi_c_api.h>
#include <trine/partial.hpp>

#include <ranges>

#include <memory>

namespace trine::mpi {

/// Reduces element for element: output[i] is `function` over input[i] of all ranks, as
/// MPI_Allreduce's. Sums of floats are exact, rounded once; the rest is as Reduce has it, with the
/// rank as the index: argmin and argmax give the lowest rank that has the extremum, prod is one
/// fixed tree over the ranks. Each rank receives a slice of all ranks' values, reduces it on its
/// device, and the results are gathered.
/// - function: the same on all ranks.
/// - input: this rank's values, a dense vector or row-major matrix of f32, f64, i32, i64, u32 or
///   u64; dtype and length the same on all ranks. It isn't copied; a rank needs memory for at most
///   64 MiB of values and their results. Longer vectors go in chunks of that size, so their bytes
///   may exceed MPI's counts.
/// - output: as many elements, of result_dtype(function, Map::identity, dtype), dense. It may be
///   the input itself, where both have one size; else they share no memory.
/// - comm: the ranks that take part.
/// - options: where and how this rank computes; they may differ from rank to rank. No event. With
///   Numerics::fast the promise is fast's. The results that options point to are those of the last
///   chunk.
/// One rank whose results are its values copies them and asks no device, so what that lacks (f64,
/// say) isn't an error. An error that is found before data moves leaves the outputs as they were; a
/// device that fails later doesn't.
/// ```cpp
/// std::vector<double> forces(100, 0.1), total(100);
/// trine::mpi::allreduce(trine::Function::sum, forces, total, MPI_COMM_WORLD);
/// trine::mpi::allreduce(trine::Function::max, total, total, MPI_COMM_WORLD,
///                       {.device = "cpu"});  // in place
/// std::vector<int64_t> where(100);  // the rank that has the smallest
/// trine::mpi::allreduce(trine::Function::argmin, forces, where, MPI_COMM_WORLD);
/// ```
TRINE_API void allreduce(Function function, const ConstHostView& input, const HostView& output,
                         MPI_Comm comm, const HostOptions& options = {});
/// The same to one rank, `root`, which is the same on all ranks. The other ranks' `output` is
/// neither read nor written.
/// ```cpp
/// std::vector<float> mine(100, 0.1f), sums(100);
/// trine::mpi::reduce(trine::Function::sum, mine, sums, 0, MPI_COMM_WORLD);
/// ```
TRINE_API void reduce(Function function, const ConstHostView& input, const HostView& output,
                      int root, MPI_Comm comm, const HostOptions& options = {});

/// How the device of a queue computes, in calls whose data lies there.
struct QueueOptions {
  /// A rung as run() takes it, for the operations that the call launches: reductions, products, and
  /// transpositions if the two layouts differ; copies have no rung. Empty: Trine chooses.
  std::string_view rung = {};
  /// The promise that reductions and products ask for: reproducible, fast or exact, for which all
  /// ranks of a product ask together.
  Numerics numerics = Numerics::reproducible;
  /// For gemm: whether its chains begin at c (Gemm::continues); the same on all ranks.
  bool continues = false;
};

/// The same of vectors in a device's memory. Some ranks of a call may have theirs there, and others
/// in host memory.
/// - queue: of this rank's device. Its earlier operations are seen, and the call returns when all
///   of its work has ended. An adopted cl_command_queue is of Trine's own context
///   (Device::native()).
/// - input, output: dense views of the device's memory. Each rank needs room there for at most
///   64 MiB of values and their results. That memory, and the pinned memory that MPI needs, stay
///   with `comm` for the next call.
/// - options: may differ from rank to rank.
/// MPI's data goes through pinned memory, unless MPI is given the device's (docs/mpi.md, "Data on
/// devices"). A rank that loses its device while the sum of one number is written throws alone.
/// ```cpp
/// trine::Queue queue(trine::open("cpu"));
/// trine::View forces = trine::vector({queue.device(), 800}, trine::Dtype::f64, 100);
/// trine::fill(queue, forces, 1.0);
/// trine::mpi::allreduce(trine::Function::sum, queue, forces, forces, MPI_COMM_WORLD);  // in place
/// ```
TRINE_API void allreduce(Function function, Queue& queue, const View& input, const View& output,
                         MPI_Comm comm, const QueueOptions& options = {});
TRINE_API void reduce(Function function, Queue& queue, const View& input, const View& output,
                      int root, MPI_Comm comm, const QueueOptions& options = {});

namespace detail {
template <HostRange Range>
auto view_of(Range& range) {
  return host_vector(std::data(range), dtype_of<ElementOf<Range>>, int64_t(std::size(range)));
}
}  // namespace detail

/// The same of ranges: std::vector, std::span, an array.
template <HostRange Input, HostRange Output>
void allreduce(Function function, const Input& input, Output&& output, MPI_Comm comm,
               const HostOptions& options = {}) {
  allreduce(function, detail::view_of(input), detail::view_of(output), comm, options);
}
template <HostRange Input, HostRange Output>
void reduce(Function function, const Input& input, Output&& output, int root, MPI_Comm comm,
            const HostOptions& options = {}) {
  reduce(function, detail::view_of(input), detail::view_of(output), root, comm, options);
}

/// Merges the sums of all ranks; each rank then has the whole.
/// - sum: what this rank has added; after an error it is what it was before.
/// - comm: the ranks that take part.
/// ```cpp
/// trine::ExactSum energy;
/// for (int step = 0; step < 3; ++step) energy.add(std::vector<double>{0.1, 0.2});
/// trine::mpi::allreduce(energy, MPI_COMM_WORLD);
/// std::cout << energy.round<double>() << "\n";
/// ```
TRINE_API void allreduce(ExactSum& sum, MPI_Comm comm);
/// The same to one rank: `root`, the same on all, has the whole; the other ranks' sums stay what
/// they were.
TRINE_API void reduce(ExactSum& sum, int root, MPI_Comm comm);

/// The exact sum of map(x) for all x of all ranks' parts, on all ranks; of a dot product, of all x
/// * y.
/// - part, x, y: this rank's part, of any length, strides and place: host memory, or device memory
///   after the earlier operations of its `queue`. f32 or f64 and `map`, the same on all ranks.
/// - comm: the ranks that take part.
/// - options: as for ExactSum::add(); they may differ from rank to rank.
/// ```cpp
/// std::vector<float> rows(20 * 30, 0.5f);
/// trine::ConstHostView part = trine::host_row_major(rows.data(), trine::Dtype::f32, 20, 30);
/// trine::ExactSum squares = trine::mpi::exact_sum(part, trine::Map::square, MPI_COMM_WORLD);
/// std::cout << squares.round<double>() << "\n";
/// ```
TRINE_API ExactSum exact_sum(const ConstHostView& part, Map map, MPI_Comm comm,
                             const HostOptions& options = {});
TRINE_API ExactSum exact_dot(const ConstHostView& x, const ConstHostView& y, MPI_Comm comm,
                             const HostOptions& options = {});
TRINE_API ExactSum exact_sum(Queue& queue, const View& part, Map map, MPI_Comm comm);
TRINE_API ExactSum exact_dot(Queue& queue, const View& x, const View& y, MPI_Comm comm);

/// Merges the Partials of all ranks; each rank then has the whole.
/// - partial: of one function, map and dtype on all ranks. Where indices matter, no two ranks have
///   the same index. A product of floats that has an element twice, or needs more blocks than a
///   state holds, is an error on all ranks. After an error it is what it was before.
/// - comm: the ranks that take part.
/// ```cpp
/// int rank = 0;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// trine::Partial last(trine::Function::argmax, trine::Dtype::f64);
/// last.add(std::vector<double>{3, 1, 4}, 3 * rank);  // the part's first index in the whole
/// trine::mpi::allreduce(last, MPI_COMM_WORLD);
/// std::cout << last.result<int64_t>() << "\n";  // 2: the first 4
/// ```
TRINE_API void allreduce(Partial& partial, MPI_Comm comm);
/// The same to one rank: `root`, the same on all, has the whole; the other ranks' Partials stay
/// what they were.
TRINE_API void reduce(Partial& partial, int root, MPI_Comm comm);

/// The Partial of one array of which each rank has a part, on all ranks.
/// - function, map, and the dtype of `part`: the same on all ranks; what Partial takes.
/// - part: this rank's part, of any length, strides and place, as for exact_sum().
/// - first: the index of its first element in the whole, whose other elements follow without a gap.
///   It matters to argmin, argmax and prod of floats alone. The ranks' parts may lie in any order.
/// - comm, options: as for exact_sum().
TRINE_API Partial partial(Function function, const ConstHostView& part, int64_t first, Map map,
                          MPI_Comm comm, const HostOptions& options = {});
TRINE_API Partial partial(Function function, Queue& queue, const View& part, int64_t first, Map map,
                          MPI_Comm comm);

/// The same of ranges: the result of trine::sum() or trine::dot() of the whole, of floats rounded
/// once to their type. A rank's range may be empty; x and y have one length on each rank.
/// ```cpp
/// std::vector<double> x(100, 0.5), y(100, 0.25);
/// double norm1 = trine::mpi::sum(x, trine::Map::abs, MPI_COMM_WORLD);
/// double product = trine::mpi::dot(x, y, MPI_COMM_WORLD, {.device = "cpu"});
/// std::cout << norm1 << " " << product << "\n";
/// ```
template <HostRange Range>
auto sum(const Range& part, Map map, MPI_Comm comm, const HostOptions& options = {}) {
  using T = ElementOf<Range>;
  if constexpr (std::floating_point<T>)
    return exact_sum(detail::view_of(part), map, comm, options).template round<T>();
  else
    return partial(Function::sum, detail::view_of(part), 0, map, comm, options)
        .template result<Sum<T>>();
}
template <HostRange Range>
auto sum(const Range& part, MPI_Comm comm, const HostOptions& options = {}) {
  return sum(part, Map::identity, comm, options);
}
template <class X, class Y>
requires DotRanges<X, Y>
auto dot(const X& x, const Y& y, MPI_Comm comm, const HostOptions& options = {}) {
  return exact_dot(detail::view_of(x), detail::view_of(y), comm, options)
      .template round<ElementOf<X>>();
}

/// The results of trine::min(), max(), argmin(), argmax() and prod() for the whole, from the ranks'
/// parts; `first` as for partial().
/// ```cpp
/// int rank = 0;
/// MPI_Comm_rank(MPI_COMM_WORLD, &rank);
/// std::vector<float> part = {2.0f + rank, 1.0f + rank};
/// float smallest = trine::mpi::min(part, MPI_COMM_WORLD);                 // 1
/// int64_t where = trine::mpi::argmin(part, 2 * rank, MPI_COMM_WORLD);     // 1
/// // One tree on any number of ranks:
/// float product = trine::mpi::prod(part, 2 * rank, MPI_COMM_WORLD);
/// std::cout << smallest << " " << where << " " << product << "\n";
/// ```
template <HostRange Range>
auto min(const Range& part, MPI_Comm comm, const HostOptions& options = {}) {
  return partial(Function::min, detail::view_of(part), 0, Map::identity, comm, options)
      .template result<ElementOf<Range>>();
}
template <HostRange Range>
auto max(const Range& part, MPI_Comm comm, const HostOptions& options = {}) {
  return partial(Function::max, detail::view_of(part), 0, Map::identity, comm, options)
      .template result<ElementOf<Range>>();
}
template <HostRange Range>
int64_t argmin(const Range& part, int64_t first, MPI_Comm comm, const HostOptions& options = {}) {
  return partial(Function::argmin, detail::view_of(part), first, Map::identity, comm, options)
      .template result<int64_t>();
}
template <HostRange Range>
int64_t argmax(const Range& part, int64_t first, MPI_Comm comm, const HostOptions& options = {}) {
  return partial(Function::argmax, detail::view_of(part), first, Map::identity, comm, options)
      .template result<int64_t>();
}
template <HostRange Range>
auto prod(const Range& part, int64_t first, MPI_Comm comm, const HostOptions& options = {}) {
  return partial(Function::prod, detail::view_of(part), first, Map::identity, comm, options)
      .template result<Sum<ElementOf<Range>>>();
}

namespace detail {
class Call;
}

/// A call that has begun and goes on while the program does something else. It goes on only inside
/// of test() and wait() of any Request of the process, inside of MPI_Comm_free and MPI_Finalize,
/// and inside of calls that block on the same communicator, which end it first. It needs that on
/// all ranks: if a rank waits for another one that waits for something else, it waits for ever.
/// Calls on one communicator go on one after the other, in the order in which they began, which is
/// the same on all ranks.
///
/// Until it has ended, the program keeps the inputs, the outputs and the objects of the options in
/// memory, doesn't change the inputs, and doesn't touch the outputs. A Request may be moved; an
/// empty one has ended. Its destructor waits, so it must be destroyed before MPI_Finalize.
class TRINE_API Request {
 public:
  /// Empty.
  Request() noexcept = default;
  Request(Request&& other) noexcept;
  /// Waits for what it held before.
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// Goes on as far as possible without a wait, except for this rank's own arithmetic. Returns
  /// whether the call has ended. Throws the call's error, once.
  bool test();
  /// Goes on to the end. Throws as test().
  void wait();

  /// For Trine itself.
  explicit Request(std::shared_ptr<detail::Call> call) noexcept;

 private:
  std::shared_ptr<detail::Call> call_;
};

/// allreduce() and reduce() that return at once. Parameters and results are the same; errors come
/// from Request::test() and wait(), but for those of one rank alone. All ranks make the same kind
/// of call: one that blocks doesn't match one that doesn't. The first call on a communicator waits
/// for all ranks, as it duplicates it.
/// ```cpp
/// std::vector<double> forces(1000, 0.1), total(1000);
/// trine::mpi::Request request =
///     trine::mpi::iallreduce(trine::Function::sum, forces, total, MPI_COMM_WORLD);
/// while (!request.test()) {}  // or something that leaves both alone
/// ```
TRINE_API Request iallreduce(ExactSum& sum, MPI_Comm comm);
TRINE_API Request ireduce(ExactSum& sum, int root, MPI_Comm comm);
TRINE_API Request iallreduce(Partial& partial, MPI_Comm comm);
TRINE_API Request ireduce(Partial& partial, int root, MPI_Comm comm);
TRINE_API Request iallreduce(Function function, const ConstHostView& input, const HostView& output,
                             MPI_Comm comm, const HostOptions& options = {});
TRINE_API Request ireduce(Function function, const ConstHostView& input, const HostView& output,
                          int root, MPI_Comm comm, const HostOptions& options = {});
/// The same of vectors in a device's memory. The call's work has a queue of its own and begins
/// after the work that `queue` has now. It doesn't wait for later work on `queue`, nor does that
/// work wait for it. The sum of one number on each rank waits for the earlier work of `queue`.
TRINE_API Request iallreduce(Function function, Queue& queue, const View& input, const View& output,
                             MPI_Comm comm, const QueueOptions& options = {});
TRINE_API Request ireduce(Function function, Queue& queue, const View& input, const View& output,
                          int root, MPI_Comm comm, const QueueOptions& options = {});
/// The same of ranges that stay where they are: variables, or views of memory as std::span.
template <HostRange Input, HostRange Output>
requires std::ranges::borrowed_range<Input> && std::ranges::borrowed_range<Output> Request
iallreduce(Function function, Input&& input, Output&& output, MPI_Comm comm,
           const HostOptions& options = {}) {
  return iallreduce(function, detail::view_of(input), detail::view_of(output), comm, options);
}
template <HostRange Input, HostRange Output>
requires std::ranges::borrowed_range<Input> && std::ranges::borrowed_range<Output> Request
ireduce(Function function, Input&& input, Output&& output, int root, MPI_Comm comm,
        const HostOptions& options = {}) {
  return ireduce(function, detail::view_of(input), detail::view_of(output), root, comm, options);
}

}  // namespace trine::mpi
