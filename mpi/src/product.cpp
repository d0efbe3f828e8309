// The product of distributed matrices, by SUMMA (van de Geijn and Watts 1997): step by step along
// k, the columns of a go along the rows of the grid, the rows of b along its columns, and each
// process multiplies its parts of both:
//
//   c(i, j) of a process  <-  its rows of a's columns [k0, k1)  *  its columns of b's rows [k0, k1)
//
// So a chain has its k in ascending order, and one process has all of it; a step continues the
// chains of the one before. That gives the bits of one device for any grid and blocks. A step's
// operands are under way while the one before is multiplied.
//
// The sums of an exact product can't be handed on in c, because they are rounded there. So its
// panels have all of k, of some rows of a and some columns of b, and give a block of c at once.
// Steps along k collect them; a panel of a stays while those of b pass by.
#include <algorithm>
#include <bit>
#include <tuple>

#include "collectives.hpp"
#include "place.hpp"
#include "sizes.hpp"

namespace trine::mpi::detail {
namespace {

/// Some rows of an operand and some of k, as one matrix that a process has when all of it has come.
struct Panel {
  int64_t row, rows, k, depth;
  int slot;          ///< which of two memories has it
  int64_t from, to;  ///< the k that a step sends of it
};

/// One operand of the product: a, or the transpose of b. Its rows are those that this process
/// shares with its row or column of the grid, its columns are k. Panels are column-major, as a and
/// b mostly are, so in b's panels k is contiguous.
template <class Place>
class Operand {
 public:
  using ConstView = typename Place::ConstView;
  enum class Fast { rows, k };
  Operand(const ConstView& local, int64_t most_rows, const Dealt& k, Fast fast,
          Memory* memory_for_two_panels)
      : local_(local),
        most_rows_(most_rows),
        height_(most_rows),
        k_(k),
        fast_(fast),
        memory_(memory_for_two_panels) {}

  /// Cuts panels of all k; they and those that are under way take up to half of `room`.
  void cut(int64_t room) {
    if (is_sent()) height_ = panel_rows(room, most_rows_, k_.extent * size_of(local_.dtype));
  }
  /// How many there are, on each process.
  int64_t panels() const { return (most_rows_ + height_ - 1) / height_; }
  /// The k that `count` messages have at least.
  int64_t k_of(int64_t count) const { return is_sent() ? count * k_.block : k_.extent; }

  /// Memory for up to two panels of `depth`; none where this process has all of k.
  void prepare(const Place& place, int64_t depth, int64_t panels) {
    if (!is_sent()) return;
    for (Memory* slot = memory_; slot < memory_ + std::min<int64_t>(panels, 2); ++slot)
      place.allocate(*slot, bytes(depth));
  }
  /// No less than the messages of a step of `width`.
  int64_t messages(int64_t width) const {
    return is_sent() ? width / k_.block + 2 + 2 * bytes(width) / message_bytes : 0;
  }
  void leave_memory() noexcept { memory_[0].leave(), memory_[1].leave(); }

  /// A panel; its number counts those of all k. It may have fewer rows here than elsewhere.
  Panel panel(int64_t number, int64_t k, int64_t end, int64_t slot) const {
    const int64_t row = std::min(number * height_, local_.rows);
    return {row, std::min(height_, local_.rows - row), k, end - k, int(slot), k, end};
  }
  /// Begins a step: this process, number `me`, packs its part of what the step sends of a panel,
  /// and sends it to all in `comm`; the other parts arrive.
  void pack(Place& place, const Panel& panel, int me) const {
    for_each_part(panel, [&](const HostView& part, int64_t k, int owner) {
      if (owner != me) return;
      const auto here = place.at(memory_[panel.slot], part);
      place.copy(block(local_, panel.row, k_.local(k), panel.rows, part.cols), here);
      place.fetch(here, part);
    });
  }
  void send(const Panel& panel, MPI_Comm comm, std::vector<MPI_Request>& requests) const {
    for_each_part(panel, [&](const HostView& part, int64_t, int owner) {
      broadcast(fast_ == Fast::k ? transposed(part) : part, message_bytes, owner, comm, requests);
    });
  }
  void bring(Place& place, const Panel& panel, int me) const {
    for_each_part(panel, [&](const HostView& part, int64_t, int owner) {
      if (owner != me) place.bring(part, place.at(memory_[panel.slot], part));
    });
  }
  /// The panel's matrix, when all of it is there.
  ConstView matrix(const Panel& panel) const {
    if (!is_sent()) return block(local_, panel.row, panel.k, panel.rows, panel.depth);
    return Place::at(memory_[panel.slot], sent(panel));
  }

 private:
  /// Whether k goes along the grid.
  bool is_sent() const { return k_.processes > 1; }
  int64_t bytes(int64_t width) const {
    return width * std::min(height_, local_.rows) * size_of(local_.dtype);
  }
  /// Calls visit(part of the panel, its first k, its owner) for what a step sends.
  template <class Visit>
  void for_each_part(const Panel& panel, Visit&& visit) const {
    if (!is_sent() || panel.rows == 0) return;
    const HostView all = sent(panel);
    for (int64_t k = panel.from, next = 0; k < panel.to; k = next) {
      next = std::min(panel.to, k_.end(k));
      visit(block(all, 0, k - panel.k, panel.rows, next - k), k, k_.owner(k));
    }
  }
  HostView sent(const Panel& panel) const {
    std::byte* const data = memory_[panel.slot].data();
    return fast_ == Fast::k ? host_row_major(data, local_.dtype, panel.rows, panel.depth)
                            : host_col_major(data, local_.dtype, panel.rows, panel.depth);
  }

  ConstView local_;
  int64_t most_rows_, height_;  ///< of a process that has the most, and of a panel
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
        is_exact_(place_.numerics() == Numerics::exact && a.local.dtype != Dtype::i32),
        along_rows_(a.local, rows_of(a.distribution).most(), cols_of(a.distribution),
                    Operand<Place>::Fast::rows, channel().messages),
        along_cols_(transposed(b.local), cols_of(b.distribution).most(), rows_of(b.distribution),
                    Operand<Place>::Fast::k, channel().messages + 2) {
    asked_.call = Asked::matrices;
    asked_.dtype = uint8_t(c.local.dtype);
    asked_.count = int64_t(
        digest({1, std::bit_cast<int64_t>(alpha), std::bit_cast<int64_t>(beta),
                (is_exact_ ? 2 : 0) + (place_.continues() ? 1 : 0), int64_t(digest(a.distribution)),
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
    return cat("gemm", is_exact_ ? ", exact" : "", place_.continues() ? ", continued" : "",
               ": alpha ", alpha_, ", a ", words_of(a_.distribution, a_.local.dtype), ", b ",
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
    for (int64_t number = 0; number < steps_; ++number) with_panels(step(number), plan);
  }

  void allocate() {
    if (!has_chain()) return;
    const auto bytes = [this](const Distribution& d) {
      return rows_of(d).most() * cols_of(d).most() * size_of(c_.local.dtype);
    };
    const int64_t depth = a_.distribution.cols;
    if (is_exact_) {
      const int64_t room = panels_room(
          chunk_bytes, bytes(a_.distribution) + bytes(b_.distribution) + bytes(c_.distribution));
      along_rows_.cut(room), along_cols_.cut(room);
      width_ = std::min({along_rows_.k_of(most_width), along_cols_.k_of(most_width), depth});
    } else {
      const int64_t rows = rows_of(c_.distribution).most() + cols_of(c_.distribution).most();
      width_ = panel_width(chunk_bytes, rows * size_of(c_.local.dtype));
    }
    steps_along_k_ = (depth + width_ - 1) / width_;
    steps_ = steps_along_k_ * along_rows_.panels() * along_cols_.panels();
    along_rows_.prepare(place_, is_exact_ ? depth : width_, is_exact_ ? along_rows_.panels() : 2);
    along_cols_.prepare(place_, is_exact_ ? depth : width_, is_exact_ ? along_cols_.panels() : 2);
    for (auto& requests : requests_)
      requests.reserve(size_t(along_rows_.messages(width_) + along_cols_.messages(width_)));
    if (!is_exact_) allocate_chains();
  }

  void allocate_chains() {
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
    begin(0);
    for (int64_t number = 0; number < steps_; ++number) {
      std::vector<MPI_Request>& arriving = requests_[number % 2];
      check(MPI_Waitall(int(arriving.size()), arriving.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
      arriving.clear();
      if (Place::is_queue) multiply(number);
      if (number + 1 < steps_) begin(number + 1);
      if (!Place::is_queue) multiply(number);
    }
    if (beta_ != 0 && !is_exact_)
      attempt(failure_, [&] { place_.add(alpha_, chains_, beta_, c_.local); });
    place_.finish(failure_);
    return false;
  }

  /// A step sends its share of the panels, and multiplies them if they are complete then.
  struct Step {
    Panel of_a, of_b;
    int slot;  ///< of the events
    bool is_complete;
  };
  Step step(int64_t number) const {
    const int64_t depth = a_.distribution.cols, k = number % steps_along_k_ * width_;
    const int64_t end = std::min(k + width_, depth);
    if (!is_exact_)
      return {along_rows_.panel(0, k, end, number % 2), along_cols_.panel(0, k, end, number % 2),
              int(number % 2), true};
    const int64_t pair = number / steps_along_k_, panels_of_b = along_cols_.panels();
    const int64_t i = pair / panels_of_b, j = pair % panels_of_b;
    Step step = {along_rows_.panel(i, 0, depth, i % 2),
                 along_cols_.panel(j, 0, depth, panels_of_b == 1 ? 0 : pair % 2), int(pair % 2),
                 end == depth};
    const auto sends = [&](Panel& panel, bool is_new) {
      panel.from = k, panel.to = is_new ? end : k;
    };
    sends(step.of_a, j == 0), sends(step.of_b, i == 0 || panels_of_b > 1);
    return step;
  }

  /// The number of this process in its row, and in its column, of the grid.
  int in_row() const { return c_.distribution.grid_col(channel().rank); }
  int in_col() const { return c_.distribution.grid_row(channel().rank); }

  void begin(int64_t number) {
    const Step step = this->step(number);
    attempt(failure_, [&] {
      place_.reuse(step.slot);
      along_rows_.pack(place_, step.of_a, in_row());
      along_cols_.pack(place_, step.of_b, in_col());
      place_.mark();
    });
    wait_until_ready();
    std::vector<MPI_Request>& requests = requests_[number % 2];
    along_rows_.send(step.of_a, channel().row, requests);
    along_cols_.send(step.of_b, channel().col, requests);
  }

  void multiply(int64_t number) {
    const Step step = this->step(number);
    attempt(failure_, [&] {
      along_rows_.bring(place_, step.of_a, in_row());
      along_cols_.bring(place_, step.of_b, in_col());
      if (!step.is_complete) return;
      place_.join();
      with_panels(step, [this](auto&&... product) { place_.gemm(product...); });
      place_.used(step.slot);
    });
  }

  /// Calls gemm(alpha, a, b, beta, c, continues) with the product of a step's panels; and with that
  /// of no k at all.
  template <class Gemm>
  void with_panels(const Step& step, Gemm&& gemm) const {
    const Panel &a = step.of_a, &b = step.of_b;
    const auto multiply = [&](double alpha, double beta, const auto& c, bool continues) {
      gemm(alpha, along_rows_.matrix(a), transposed(along_cols_.matrix(b)), beta, c, continues);
    };
    if (!is_exact_) {
      const bool is_last = a.k + a.depth == a_.distribution.cols;
      multiply(is_last && beta_ == 0 ? alpha_ : 1, 0, chains_, place_.continues() || a.k != 0);
    } else if (step.is_complete && a.rows != 0 && b.rows != 0) {
      multiply(alpha_, beta_, block(c_.local, a.row, b.row, a.rows, b.rows), false);
    }
  }
  template <class Gemm>
  void without_chain(Gemm&& gemm) const {
    gemm(alpha_, block(a_.local, 0, 0, a_.local.rows, 0), block(b_.local, 0, 0, 0, b_.local.cols),
         beta_, c_.local, place_.continues());
  }

  double alpha_, beta_;
  typename Place::ConstMatrix a_, b_;
  typename Place::Matrix c_;
  bool is_exact_;                           ///< rounded once, of floats
  Operand<Place> along_rows_, along_cols_;  ///< of the grid
  int64_t width_ = 1;                       ///< of a step, in k
  int64_t steps_along_k_ = 0, steps_ = 0;
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
