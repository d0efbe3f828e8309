// Transposes and products of matrices in blocks over a grid, beside ScaLAPACK's on the same parts.
#include <cstring>
#include <optional>

#include "mpi/src/sizes.hpp"
#include "scalapack.hpp"
#include "work.hpp"

namespace trine::bench::ranks {
namespace {

using mpi::Distribution;

/// Calls visit(place in the part, place in the whole) for each element that a rank has; parts are column-major, the
/// whole row-major.
template <class Visit>
void for_each_element(const Distribution& d, int rank, Visit visit) {
  const int64_t rows = d.local_rows(rank), cols = d.local_cols(rank);
  const auto in_whole = [](int64_t local, int64_t block, int processes, int process) {
    return (local / block * processes + process) * block + local % block;
  };
  for (int64_t j = 0; j < cols; ++j) {
    const int64_t col = in_whole(j, d.block_cols, d.grid_cols, d.grid_col(rank));
    for (int64_t i = 0; i < rows; ++i)
      visit(size_t(j * rows + i),
            size_t(in_whole(i, d.block_rows, d.grid_rows, d.grid_row(rank)) * d.cols + col));
  }
}

template <class T>
struct Part {
  Part(MPI_Comm is_on, const Distribution& d) : comm(is_on), distribution(d) {
    MPI_Comm_rank(comm, &rank);
    elements.resize(size_of_part(rank));
  }
  Part(MPI_Comm is_on, const Distribution& d, std::span<const std::byte> whole) : Part(is_on, d) {
    const T* const from = reinterpret_cast<const T*>(whole.data());
    for_each_element(d, rank, [&](size_t part, size_t place) { elements[part] = from[place]; });
  }

  size_t size_of_part(int of) const {
    return size_t(distribution.local_rows(of) * distribution.local_cols(of));
  }
  auto matrix() { return mpi::matrix(distribution, elements.data(), comm); }

  /// The whole, from all parts, on the first rank.
  std::vector<T> whole() const {
    const MPI_Datatype type = sizeof(T) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
    if (rank != 0) {
      MPI_Send(elements.data(), int(elements.size()), type, 0, 0, comm);
      return {};
    }
    std::vector<T> all(size_t(distribution.rows * distribution.cols)), part = elements;
    for (int from = 0; from < distribution.grid_rows * distribution.grid_cols; ++from) {
      part.resize(size_of_part(from));
      if (from != 0)
        MPI_Recv(part.data(), int(part.size()), type, from, 0, comm, MPI_STATUS_IGNORE);
      for_each_element(distribution, from,
                       [&](size_t local, size_t place) { all[place] = part[local]; });
    }
    return all;
  }

  MPI_Comm comm;
  Distribution distribution;
  int rank = 0;
  std::vector<T> elements;
};

Distribution dealt(MPI_Comm comm, int64_t rows, int64_t cols, int64_t block) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  const Grid grid = grid_of(ranks);
  return {.rows = rows,
          .cols = cols,
          .block_rows = block,
          .block_cols = block,
          .grid_rows = grid.rows,
          .grid_cols = grid.cols};
}

template <class T>
class Matrices : public Work {
 public:
  Matrices(MPI_Comm comm, const Problem& p, Part<T> a, const Distribution& result,
           const std::string& device)
      : problem_(p),
        a_(std::move(a)),
        result_(comm, result),
        device_(place_on(device, this->resident)) {
    if (resident) {
      there_ = {resident->add(a_.matrix()), resident->add(result_.matrix())};
      return;
    }
    if (!has_scalapack()) return;
    context_.emplace(comm, Grid{result.grid_rows, result.grid_cols});
    of_a_.emplace(*context_, a_.distribution, a_.rank);
    of_result_.emplace(*context_, result, a_.rank);
  }

  bool has_peer() const override { return resident || has_scalapack(); }
  const char* peer_name() const override { return resident ? "host data" : scalapack_name(); }
  void ours() override { resident ? on_device(resident->queue) : on_host(); }
  void peer() override { resident ? on_host() : scalapack(); }
  std::span<std::byte> mine() override {
    return std::as_writable_bytes(std::span(result_.elements));
  }
  const std::byte* collect(bool& differ) override {
    differ = false;
    whole_ = result_.whole();
    return reinterpret_cast<const std::byte*>(whole_.data());
  }

 protected:
  virtual const char* scalapack_name() const = 0;
  virtual void on_host() = 0;
  virtual void on_device(Queue& queue) = 0;
  virtual void scalapack() = 0;

  Problem problem_;
  Part<T> a_, result_;
  std::vector<mpi::DeviceMatrix> there_;
  std::optional<Context> context_;
  std::optional<Descriptor> of_a_, of_result_;
  std::vector<T> whole_;
  std::string device_;
};

template <class T>
class Transposed : public Matrices<T> {
 public:
  using Matrices<T>::Matrices;
  const char* scalapack_name() const override { return sizeof(T) == 4 ? "pstran" : "pdtran"; }
  void on_host() override {
    mpi::transpose(this->a_.matrix(), this->result_.matrix(), this->a_.comm,
                   {.device = this->device_});
  }
  void on_device(Queue& queue) override {
    mpi::transpose(queue, this->there_[0], this->there_[1], this->a_.comm);
  }
  void scalapack() override {
    scalapack_transpose(this->problem_, this->a_.elements.data(), *this->of_a_,
                        this->result_.elements.data(), *this->of_result_);
  }
};

template <class T>
class Multiplied : public Matrices<T> {
 public:
  Multiplied(MPI_Comm comm, const Problem& p, Part<T> a, Part<T> b, const Distribution& result,
             const std::string& device)
      : Matrices<T>(comm, p, std::move(a), result, device), b_(std::move(b)) {
    if (this->resident)
      this->there_.push_back(this->resident->add(b_.matrix()));
    else if (has_scalapack())
      of_b_.emplace(*this->context_, b_.distribution, b_.rank);
  }
  const char* scalapack_name() const override { return sizeof(T) == 4 ? "psgemm" : "pdgemm"; }
  void on_host() override {
    mpi::gemm(1, this->a_.matrix(), b_.matrix(), 0, this->result_.matrix(), this->a_.comm,
              {.device = this->device_});
  }
  void on_device(Queue& queue) override {
    mpi::gemm(queue, 1, this->there_[0], this->there_[2], 0, this->there_[1], this->a_.comm);
  }
  void scalapack() override {
    scalapack_gemm(this->problem_, this->a_.elements.data(), *this->of_a_, b_.elements.data(),
                   *of_b_, this->result_.elements.data(), *this->of_result_);
  }

 private:
  Part<T> b_;
  std::optional<Descriptor> of_b_;
};

template <class T>
std::unique_ptr<Work> of_type(MPI_Comm comm, const Problem& p, int64_t block,
                              const std::vector<std::span<const std::byte>>& inputs,
                              const std::string& device) {
  const auto [m, n, k] = p.size;
  if (p.operation == Operation::transpose)
    return std::make_unique<Transposed<T>>(comm, p,
                                           Part<T>(comm, dealt(comm, m, n, block), inputs[0]),
                                           dealt(comm, n, m, block), device);
  return std::make_unique<Multiplied<T>>(
      comm, p, Part<T>(comm, dealt(comm, m, k, block), inputs[0]),
      Part<T>(comm, dealt(comm, k, n, block), inputs[1]), dealt(comm, m, n, block), device);
}

}  // namespace

std::unique_ptr<Work> matrices(MPI_Comm comm, const Problem& p, int64_t block,
                               const std::vector<std::span<const std::byte>>& inputs,
                               const std::string& device) {
  return p.dtype == Dtype::f32 ? of_type<float>(comm, p, block, inputs, device)
                               : of_type<double>(comm, p, block, inputs, device);
}

std::function<void()> transpose_in_runs(const Problem& p, int64_t block,
                                        std::span<const std::byte> whole, const std::string& device,
                                        MPI_Comm comm) {
  const int64_t rows = p.size.rows, cols = p.size.cols, element = size_of(p.dtype);
  const int64_t slab = std::max<int64_t>(
      1, mpi::detail::slab_bytes(mpi::detail::usual_piece) / std::max<int64_t>(1, rows * element));
  const int64_t bytes = rows * element * std::min(slab, cols);
  std::vector<std::byte> result(whole.size()), message(static_cast<size_t>(bytes));
  // As a column-major matrix; which values it has doesn't matter.
  return [=, result = std::move(result), message = std::move(message)]() mutable {
    for (int64_t first = 0; first < cols; first += slab) {
      const int64_t here = std::min(slab, cols - first);
      for (int64_t j = 0; j < here; ++j)
        for (int64_t i = 0; i < rows; i += block)
          std::memcpy(message.data() + (j * rows + i) * element,
                      whole.data() + ((first + j) * rows + i) * element,
                      size_t(std::min(block, rows - i) * element));
      const auto unpack = [&](int64_t j, int64_t run, int64_t runs) {
        HostView from = host_col_major(message.data() + j * rows * element, p.dtype, rows, run);
        HostView to = host_col_major(result.data() + (first + j) * element, p.dtype, run, rows);
        to.col_stride = cols;
        from.batch = to.batch = runs;
        from.batch_stride = run * rows, to.batch_stride = run;
        trine::transpose(from, to, {.device = device});
      };
      // A message of each rank: how long a device's call is decides how it stores.
      const int64_t runs = here / block, messages = size_in(comm);
      for (int64_t m = 0; m < messages; ++m) {
        const int64_t begin = runs * m / messages;
        unpack(begin * block, block, runs * (m + 1) / messages - begin);
      }
      unpack(here / block * block, here % block, 1);
      MPI_Barrier(comm);
    }
  };
}

}  // namespace trine::bench::ranks
