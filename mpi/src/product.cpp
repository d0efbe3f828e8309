// The product of distributed matrices, by SUMMA (van de Geijn and Watts 1997): step by step along
// k, the columns of a go along the rows of the grid, the rows of b along its columns, and each
// process multiplies what it has of both:
//
//   c(i, j) of a process  <-  its rows of a's columns [k0, k1)  *  its columns of b's rows [k0, k1)
//
// So a chain has its k in ascending order, and one process has all of it; a step continues the
// chains of the one before. That gives the bits of one device for any grid and blocks. A step's
// operands are under way while the one before is multiplied.
#include <algorithm>
#include <bit>
#include <tuple>

#include "collectives.hpp"
#include "place.hpp"
#include "sizes.hpp"

namespace trine::mpi::detail {
namespace {

/// One operand of the product: a, or the transpose of b. Its rows are those that this process
/// shares with its row or column of the grid, its columns are k. Panels are column-major, as a and
/// b mostly are, so in b's panels k is contiguous.
template <class Place>
class Operand {
 public:
  using ConstView = typename Place::ConstView;
  enum class Fast { lines, k };
  Operand(const ConstView& local, const Dealt& k, Fast fast, Memory* memory_for_two_steps)
      : local_(local), k_(k), fast_(fast), memory_(memory_for_two_steps) {}

  /// Memory for two steps of `width`; none where this process has all lines of k.
  void prepare(const Place& place, int64_t width) {
    if (k_.processes == 1) return;
    for (Memory* step = memory_; step < memory_ + 2; ++step)
      place.allocate(*step, width * local_.rows * size_of(local_.dtype));
  }
  /// No less than the messages of a step.
  int64_t messages(int64_t width) const {
    return width + 2 * width * local_.rows * size_of(local_.dtype) / message_bytes;
  }
  void leave_memory() noexcept { memory_[0].leave(), memory_[1].leave(); }

  /// Begins a step: this process, number `me`, packs its part of the step's k and sends it to all
  /// in `comm`; the other parts arrive.
  void pack(Place& place, int64_t k0, int64_t k1, int step, int me) const {
    for_each_part(k0, k1, step, [&](const HostView& part, int64_t k, int owner) {
      if (owner != me) return;
      const auto here = place.at(memory_[step], part);
      place.copy(block(local_, 0, k_.local(k), local_.rows, part.cols), here);
      place.fetch(here, part);
    });
  }
  void send(int64_t k0, int64_t k1, int step, MPI_Comm comm,
            std::vector<MPI_Request>& requests) const {
    for_each_part(k0, k1, step, [&](const HostView& part, int64_t, int owner) {
      broadcast(fast_ == Fast::k ? transposed(part) : part, message_bytes, owner, comm, requests);
    });
  }
  void bring(Place& place, int64_t k0, int64_t k1, int step, int me) const {
    for_each_part(k0, k1, step, [&](const HostView& part, int64_t, int owner) {
      if (owner != me) place.bring(part, place.at(memory_[step], part));
    });
  }
  /// The panel that was sent, when it is there.
  ConstView panel(int64_t k0, int64_t k1, int step) const {
    if (k_.processes == 1) return block(local_, 0, k0, local_.rows, k1 - k0);
    return Place::at(memory_[step], sent(k0, k1, step));
  }

 private:
  /// Calls visit(part of the panel, its first k, its owner) for what goes along the grid.
  template <class Visit>
  void for_each_part(int64_t k0, int64_t k1, int step, Visit&& visit) const {
    if (k_.processes == 1 || local_.rows == 0) return;
    const HostView panel = sent(k0, k1, step);
    for (int64_t k = k0, next = 0; k < k1; k = next) {
      next = std::min(k1, k_.end(k));
      visit(block(panel, 0, k - k0, panel.rows, next - k), k, k_.owner(k));
    }
  }
  HostView sent(int64_t k0, int64_t k1, int step) const {
    std::byte* const data = memory_[step].data();
    return fast_ == Fast::k ? host_row_major(data, local_.dtype, local_.rows, k1 - k0)
                            : host_col_major(data, local_.dtype, local_.rows, k1 - k0);
  }

  ConstView local_;
  Dealt k_;
  Fast fast_;
  Memory* memory_;
};

template <class Place>
class Product : public PlacedCall<Place> {
  using Base = PlacedCall<Place>;
  using Base::asked_, Base::failure_, Base::place_, Base::channel, Base::wait_until_ready,
      Base::plan_gemm;

 public:
  Product(MPI_Comm comm, double alpha, const typename Place::ConstMatrix& a,
          const typename Place::ConstMatrix& b, double beta, const typename Place::Matrix& c,
          const typename Place::Options& options)
      : Base(comm, options),
        alpha_(alpha),
        beta_(beta),
        a_(a),
        b_(b),
        c_(c),
        along_rows_(a.local, cols_of(a.distribution), Operand<Place>::Fast::lines,
                    channel().messages),
        along_cols_(transposed(b.local), rows_of(b.distribution), Operand<Place>::Fast::k,
                    channel().messages + 2) {
    asked_.call = Asked::matrices;
    asked_.dtype = uint8_t(c.local.dtype);
    asked_.count =
        int64_t(digest({1, std::bit_cast<int64_t>(alpha), std::bit_cast<int64_t>(beta),
                        place_.continues() ? 1 : 0, int64_t(digest(a.distribution)),
                        int64_t(digest(b.distribution)), int64_t(digest(c.distribution))}));
    attempt(failure_, [&] {
      place_.begin();
      check_arguments();
      prepare();
    });
  }
  ~Product() override {
    this->end_work();
    const auto is_under_way = [](MPI_Request request) { return request != MPI_REQUEST_NULL; };
    if (std::ranges::none_of(requests_[0], is_under_way) &&
        std::ranges::none_of(requests_[1], is_under_way))
      return;
    along_rows_.leave_memory(), along_cols_.leave_memory();  // MPI has failed
  }

 private:
  std::string asks_for() const override {
    return cat("gemm", place_.continues() ? ", continued" : "", ": alpha ", alpha_, ", a ",
               words_of(a_.distribution, a_.local.dtype), ", b ",
               words_of(b_.distribution, b_.local.dtype), ", beta ", beta_, ", c ",
               words_of(c_.distribution, c_.local.dtype));
  }

  void check_arguments() {
    place_.check("a", a_, channel());
    place_.check("b", b_, channel());
    place_.check("c", c_, channel());
    const Distribution &a = a_.distribution, &b = b_.distribution, &c = c_.distribution;
    if (a.rows != c.rows || b.cols != c.cols || a.cols != b.rows)
      refuse("a is ", a.rows, " x ", a.cols, ", b ", b.rows, " x ", b.cols, " and c ", c.rows,
             " x ", c.cols, "; they are m x k, k x n and m x n.");
    const auto grid = [](const Distribution& d) {
      return std::tuple(d.grid_rows, d.grid_cols, d.ranks_by_columns);
    };
    if (grid(a) != grid(c) || grid(b) != grid(c))
      refuse("a, b and c are on different grids; transpose() moves a matrix to another one.");
    if (rows_of(a) != rows_of(c))
      refuse("the rows of a and c are dealt out differently: blocks of ", a.block_rows,
             " from process ", a.first_row, ", and of ", c.block_rows, " from ", c.first_row, ".");
    if (cols_of(b) != cols_of(c))
      refuse("the columns of b and c are dealt out differently: blocks of ", b.block_cols,
             " from process ", b.first_col, ", and of ", c.block_cols, " from ", c.first_col, ".");
    check_apart(place_, "a", a_.local, "c", c_.local);
    check_apart(place_, "b", b_.local, "c", c_.local);
    if (place_.numerics() == Numerics::exact && a_.local.dtype == Dtype::f32)
      refuse(
          "accurate chains of f32 are f64, which parts of c can't hand on: rounded once is for one "
          "device.");
    // The device, the rung, a dtype or a scalar may refuse it.
    place_.gemm(alpha_, block(a_.local, 0, 0, 0, 0), block(b_.local, 0, 0, 0, 0), beta_,
                block(c_.local, 0, 0, 0, 0), place_.continues());
  }

  bool has_chain() const {
    const Distribution& c = c_.distribution;
    return a_.distribution.cols != 0 && alpha_ != 0 && c.rows != 0 && c.cols != 0;
  }

  void prepare() {
    allocate();
    if (c_.distribution.grid_row(channel().rank) < 0 || !place_.names_rung()) return;
    const auto plan = [this](auto&&... product) { plan_gemm(product...); };
    if (!has_chain()) return without_chain(plan);
    for (int64_t k = 0; k < a_.distribution.cols; k += width_) with_step(k, plan);
  }

  void allocate() {
    if (!has_chain()) return;
    const int64_t lines = rows_of(c_.distribution).most() + cols_of(c_.distribution).most();
    width_ = panel_width(piece_bytes, lines * size_of(c_.local.dtype));
    along_rows_.prepare(place_, width_);
    along_cols_.prepare(place_, width_);
    for (auto& requests : requests_)
      requests.reserve(size_t(along_rows_.messages(width_) + along_cols_.messages(width_)));
    chains_ = c_.local;
    if (beta_ == 0) return;
    // c is read at the end, so the chains are computed in other memory, in c's order.
    const int64_t rows = chains_.rows, cols = chains_.cols;
    place_.allocate(tile_, rows * cols * size_of(chains_.dtype), false);
    chains_ = place_.at(tile_, is_unit_down(c_.local)
                                   ? host_col_major(tile_.data(), chains_.dtype, rows, cols)
                                   : host_row_major(tile_.data(), chains_.dtype, rows, cols));
  }

  bool work(MPI_Request*) override {
    const Distribution& grid = c_.distribution;
    channel().join(grid);
    if (grid.grid_row(channel().rank) < 0) return false;
    if (!has_chain()) {
      attempt(failure_,
              [&] { without_chain([this](auto&&... product) { place_.gemm(product...); }); });
      place_.finish(failure_);
      return false;
    }
    attempt(failure_, [&] { place_.split(); });
    const int64_t depth = a_.distribution.cols;
    begin(0);
    for (int64_t k = 0; k < depth; k += width_) {
      std::vector<MPI_Request>& arriving = requests_[k / width_ % 2];
      check(MPI_Waitall(int(arriving.size()), arriving.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
      arriving.clear();
      if (Place::is_queue) multiply(k);
      if (k + width_ < depth) begin(k + width_);
      if (!Place::is_queue) multiply(k);
    }
    if (beta_ != 0) attempt(failure_, [&] { place_.add(alpha_, chains_, beta_, c_.local); });
    place_.finish(failure_);
    return false;
  }

  int64_t end(int64_t k) const { return std::min(k + width_, a_.distribution.cols); }
  int step(int64_t k) const { return int(k / width_ % 2); }
  /// The number of this process in its row, and in its column, of the grid.
  int in_row() const { return c_.distribution.grid_col(channel().rank); }
  int in_col() const { return c_.distribution.grid_row(channel().rank); }

  void begin(int64_t k) {
    attempt(failure_, [&] {
      place_.reuse(step(k));
      along_rows_.pack(place_, k, end(k), step(k), in_row());
      along_cols_.pack(place_, k, end(k), step(k), in_col());
      place_.mark();
    });
    wait_until_ready();
    std::vector<MPI_Request>& requests = requests_[step(k)];
    along_rows_.send(k, end(k), step(k), channel().row, requests);
    along_cols_.send(k, end(k), step(k), channel().col, requests);
  }

  void multiply(int64_t k) {
    attempt(failure_, [&] {
      along_rows_.bring(place_, k, end(k), step(k), in_row());
      along_cols_.bring(place_, k, end(k), step(k), in_col());
      place_.join();
      with_step(k, [this](auto&&... product) { place_.gemm(product...); });
      place_.used(step(k));
    });
  }

  /// Calls gemm(alpha, a, b, beta, c, continues) with the product of a step; and with that of no k
  /// at all.
  template <class Gemm>
  void with_step(int64_t k, Gemm&& gemm) const {
    const bool is_last = end(k) == a_.distribution.cols;
    gemm(is_last && beta_ == 0 ? alpha_ : 1, along_rows_.panel(k, end(k), step(k)),
         transposed(along_cols_.panel(k, end(k), step(k))), 0, chains_,
         place_.continues() || k != 0);
  }
  template <class Gemm>
  void without_chain(Gemm&& gemm) const {
    gemm(alpha_, block(a_.local, 0, 0, a_.local.rows, 0), block(b_.local, 0, 0, 0, b_.local.cols),
         beta_, c_.local, place_.continues());
  }

  double alpha_, beta_;
  typename Place::ConstMatrix a_, b_;
  typename Place::Matrix c_;
  Operand<Place> along_rows_, along_cols_;  ///< of the grid
  int64_t width_ = 1;                       ///< of a step, in k
  std::vector<MPI_Request> requests_[2];
  Memory tile_;
  typename Place::View chains_;
};

}  // namespace
}  // namespace trine::mpi::detail

namespace trine::mpi {

void gemm(double alpha, const ConstMatrix& a, const ConstMatrix& b, double beta, const Matrix& c,
          MPI_Comm comm, const HostOptions& options) {
  detail::run<detail::Product<detail::OnHost>>(comm, alpha, a, b, beta, c, options);
}

void gemm(Queue& queue, double alpha, const DeviceMatrix& a, const DeviceMatrix& b, double beta,
          const DeviceMatrix& c, MPI_Comm comm, const QueueOptions& options) {
  using detail::OnDevice;
  detail::run<detail::Product<OnDevice>>(comm, alpha, a, b, beta, c,
                                         OnDevice::Options{queue, options});
}

}  // namespace trine::mpi
