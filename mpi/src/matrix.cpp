#include "matrix.hpp"

#include <trine/fitting.hpp>

#include <algorithm>

namespace trine::mpi {

int64_t local_extent(int64_t extent, int64_t block, int process, int first,
                     int processes) noexcept {
  const int64_t whole = extent / block;
  const int64_t place =
      (int64_t{process} - first + processes) % processes;  // in the order of blocks
  const int64_t more = whole % processes;
  return (whole / processes + (place < more ? 1 : 0)) * block +
         (place == more ? extent % block : 0);
}

int Distribution::grid_row(int rank) const noexcept {
  if (rank < 0 || int64_t{rank} >= int64_t{grid_rows} * grid_cols) return -1;
  return ranks_by_columns ? rank % grid_rows : rank / grid_cols;
}
int Distribution::grid_col(int rank) const noexcept {
  if (grid_row(rank) < 0) return -1;
  return ranks_by_columns ? rank / grid_rows : rank % grid_cols;
}
int64_t Distribution::local_rows(int rank) const noexcept {
  return detail::rows_of(*this).count(grid_row(rank));
}
int64_t Distribution::local_cols(int rank) const noexcept {
  return detail::cols_of(*this).count(grid_col(rank));
}

DeviceMatrix matrix(const Distribution& distribution, const Device& device, Dtype dtype,
                    MPI_Comm comm) {
  int rank = 0;
  detail::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  const int64_t rows = distribution.local_rows(rank), cols = distribution.local_cols(rank);
  const auto bytes = trine::detail::Fitting(rows) * cols * int64_t{size_of(dtype)};
  if (rows < 0 || cols < 0 || !bytes.fits())
    detail::refuse("a part of ", rows, " x ", cols, " ", name(dtype), " has no size.");
  return {distribution, col_major({device, uint64_t(bytes.value_or(0))}, dtype, rows, cols)};
}

namespace detail {

int64_t Dealt::count(int process) const noexcept {
  if (block < 1 || processes < 1) return 0;  // check_matrix() has words for these
  return process < 0 ? 0 : local_extent(extent, block, process, first, processes);
}

namespace {
/// A block larger than all is one of all; so sums of both stay in range.
int64_t bounded(int64_t block, int64_t extent) {
  return std::min(block, std::max<int64_t>(extent, 1));
}
}  // namespace

Dealt rows_of(const Distribution& d) noexcept {
  return {d.rows, bounded(d.block_rows, d.rows), d.first_row, d.grid_rows};
}
Dealt cols_of(const Distribution& d) noexcept {
  return {d.cols, bounded(d.block_cols, d.cols), d.first_col, d.grid_cols};
}

void Runs::add(int64_t local, int64_t length) {
  if (!runs.empty() && runs.back().local + runs.back().length == local)
    runs.back().length += length;
  else
    runs.push_back({local, count, length});
  count += length;
}

Runs Runs::slice(int64_t begin, int64_t end) const {
  Runs slice;
  auto run = std::ranges::upper_bound(runs, begin, {}, &Run::at);
  if (run != runs.begin()) --run;
  for (; run != runs.end() && run->at < end; ++run) {
    const int64_t from = std::max(begin, run->at), to = std::min(end, run->at + run->length);
    if (from < to) slice.add(run->local + from - run->at, to - from);
  }
  return slice;
}

std::vector<Series> Runs::series(bool joined) const {
  std::vector<Series> series;
  for (const Run& run : runs) {
    if (joined && !series.empty() && series.back().first.length == run.length) {
      Series& last = series.back();
      const int64_t step = (run.local - last.first.local) / last.count;
      if ((last.count == 1 || step == last.step) &&
          last.first.local + last.count * step == run.local) {
        last.step = step, ++last.count;
        continue;
      }
    }
    series.push_back({run, 1, 0});
  }
  return series;
}

std::vector<Runs> shares(const Dealt& mine, int process, const Dealt& other) {
  std::vector<Runs> shares(size_t(other.processes));
  if (process < 0) return shares;
  const int64_t blocks = mine.extent / mine.block + (mine.extent % mine.block != 0 ? 1 : 0);
  int64_t b = (process - mine.first + mine.processes) % mine.processes;
  for (; b < blocks; b += mine.processes)
    for (int64_t at = b * mine.block, next = 0; at < mine.end(b * mine.block); at = next) {
      next = std::min(mine.end(at), other.end(at));
      shares[size_t(other.owner(at))].add(mine.local(at), next - at);
    }
  return shares;
}

uint64_t digest(std::initializer_list<int64_t> numbers) noexcept {
  uint64_t digest = numbers.size();
  for (const int64_t number : numbers) {  // each step is SplitMix64's (Steele, Lea, Flood 2014)
    digest += uint64_t(number) + 0x9E3779B97F4A7C15;
    digest = (digest ^ (digest >> 30)) * 0xBF58476D1CE4E5B9;
    digest = (digest ^ (digest >> 27)) * 0x94D049BB133111EB;
    digest ^= digest >> 31;
  }
  return digest;
}
uint64_t digest(const Distribution& d) noexcept {
  return digest({d.rows, d.cols, d.block_rows, d.block_cols, d.grid_rows, d.grid_cols, d.first_row,
                 d.first_col, d.ranks_by_columns ? 1 : 0});
}

std::string words_of(const Distribution& d, Dtype dtype) {
  std::string text = cat(d.rows, " x ", d.cols, " ", name(dtype), " in blocks of ", d.block_rows,
                         " x ", d.block_cols, " on a grid of ", d.grid_rows, " x ", d.grid_cols);
  if (d.first_row != 0 || d.first_col != 0)
    append(text, cat(" from process ", d.first_row, ", ", d.first_col));
  return d.ranks_by_columns ? cat(text, " by columns") : text;
}

using Count = trine::detail::Fitting<int64_t>;

namespace {
void check_distribution(const char* which, const Distribution& d, int64_t size, int ranks) {
  if (d.rows < 0 || d.cols < 0 || d.block_rows < 1 || d.block_cols < 1)
    refuse(which, " is ", d.rows, " x ", d.cols, " in blocks of ", d.block_rows, " x ",
           d.block_cols, "; extents are 0 or more, and blocks have elements.");
  if (d.grid_rows < 1 || d.grid_cols < 1 || int64_t{d.grid_rows} * d.grid_cols > ranks)
    refuse(which, " is on a grid of ", d.grid_rows, " x ", d.grid_cols,
           " processes, and the communicator has ", ranks, " ranks.");
  if (d.first_row < 0 || d.first_row >= d.grid_rows || d.first_col < 0 ||
      d.first_col >= d.grid_cols)
    refuse(which, " begins at process ", d.first_row, ", ", d.first_col, ", which the grid of ",
           d.grid_rows, " x ", d.grid_cols, " doesn't have.");
  constexpr int64_t kMost = int64_t{1} << 48;  // bytes; so all sums of extents stay in range, too
  const Count most = Count(size) * rows_of(d).most() * cols_of(d).most();
  if (most.value_or(INT64_MAX) > kMost)
    refuse("a part of ", which, ", ", d.rows, " x ", d.cols, " over ", d.grid_rows, " x ",
           d.grid_cols, " processes, exceeds the address space of any.");
}

/// Checks the memory and the strides of a part that has elements.
void check_memory(const char* which, const ConstHostView& local, int64_t size) {
  const int64_t rows = local.rows, cols = local.cols;
  const bool down = is_unit_down(local) && (cols <= 1 || local.col_stride >= rows);
  const bool across = is_unit_down(transposed(local)) && (rows <= 1 || local.row_stride >= cols);
  if (!down && !across)
    refuse("the local part of ", which, " needs a unit stride along its ", rows, " rows or ", cols,
           " columns, and a leading dimension of no less; its strides are ", local.row_stride,
           " and ", local.col_stride, ".");
  const Count bytes =
      Count(16) * (down ? local.col_stride : rows) * (down ? cols : local.row_stride);
  if (!bytes.fits()) refuse("the local part of ", which, " exceeds the address space.");
  if (local.data == nullptr) refuse("the local part of ", which, " has no memory.");
  if (reinterpret_cast<uintptr_t>(local.data) % uint64_t(std::min<int64_t>(size, 8)) != 0)
    refuse("the address of the local part of ", which,
           " isn't a multiple of an element's size, or of 8 bytes.");
}
}  // namespace

void check_matrix(const char* which, const ConstMatrix& matrix, const Channel& channel) {
  const ConstHostView& local = matrix.local;
  const int64_t size = size_of(local.dtype);
  if (size == 0) refuse(which, " has no dtype.");
  check_distribution(which, matrix.distribution, size, channel.size);
  const int64_t rows = matrix.distribution.local_rows(channel.rank),
                cols = matrix.distribution.local_cols(channel.rank);
  if (local.rows != rows || local.cols != cols || local.batch != 1)
    refuse("the local part of ", which, " is ", local.rows, " x ", local.cols,
           local.batch == 1 ? "" : ", batched", ", and this rank has ", rows, " x ", cols,
           " of the whole.");
  if (rows != 0 && cols != 0) check_memory(which, local, size);
}

namespace {
/// Whether two parts lie in one column-major matrix, in other rows of it: as W(1:m, :) and W(m+1:n,
/// :) do.
bool lie_beside(const ConstHostView& in, const ConstHostView& out) {
  const int64_t in_size = size_of(in.dtype), out_size = size_of(out.dtype);
  const int64_t column = in.col_stride * in_size;
  if (!is_unit_down(in) || !is_unit_down(out) || column <= 0 || column != out.col_stride * out_size)
    return false;
  const int64_t between =
      static_cast<const std::byte*>(out.data) - static_cast<const std::byte*>(in.data);
  const int64_t at = (between % column + column) % column;
  return at >= in.rows * in_size && at + out.rows * out_size <= column;
}
}  // namespace

void check_apart(const char* input_is, const ConstHostView& input, const char* output_is,
                 const ConstHostView& output) {
  if (input.rows == 0 || input.cols == 0 || output.rows == 0 || output.cols == 0) return;
  const auto end = [](const ConstHostView& view) {
    const ConstHostView last =
        block(view, view.rows <= 1 ? 0 : view.rows - 1, view.cols <= 1 ? 0 : view.cols - 1, 1, 1);
    return static_cast<const std::byte*>(last.data) + size_of(view.dtype);
  };
  const bool is_apart = end(input) <= output.data || end(output) <= input.data;
  if (!is_apart && !lie_beside(input, output) && !lie_beside(transposed(input), transposed(output)))
    refuse("the local parts of ", input_is, " and ", output_is, " share memory.");
}

}  // namespace detail
}  // namespace trine::mpi
