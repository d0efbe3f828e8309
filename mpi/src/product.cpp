// The product of distributed matrices, by SUMMA (van de Geijn and Watts 1997): step by step along k, the columns of a
// go along the rows of the grid, the rows of b along its columns, and each process multiplies what it has of both:
//
//   c(i, j) of a process  <-  its rows of a's columns [k0, k1)  *  its columns of b's rows [k0, k1)
//
// So a chain has its k in ascending order, and one process has all of it; a step continues the chains of the one
// before. That gives the bits of one device for any grid and blocks. A step's operands are under way while the one before
// is multiplied.
#include <algorithm>
#include <bit>
#include <tuple>

#include "collectives.hpp"
#include "matrix.hpp"

namespace trine::mpi::detail {
namespace {

/// a, or the transpose of b: lines, which this process shares with its row or column of the grid, times k. A panel lies
/// and goes as a and b mostly lie, column-major: so k is the faster one in b's.
class Operand {
 public:
  enum class Fast { lines, k };
  Operand(const ConstHostView& local, const Dealt& k, Fast fast, Memory* memory_for_two_steps)
      : local_(local), k_(k), fast_(fast), memory_(memory_for_two_steps) {}

  /// Memory for two steps of `width`; none where this process has all lines of k.
  void prepare(int64_t width) {
    if (k_.processes == 1) return;
    for (Memory* step = memory_; step < memory_ + 2; ++step)
      step->of(width * local_.rows * size_of(local_.dtype));
  }
  /// No less than the messages of a step.
  int64_t messages(int64_t width) const {
    return width + 2 * width * local_.rows * size_of(local_.dtype) / message_bytes;
  }
  void leave_memory() noexcept { memory_[0].leave(), memory_[1].leave(); }
  /// Begins a step: who has a part of its k sends it to all in `comm`, where this process is number `me`.
  void begin(int64_t k0, int64_t k1, int step, MPI_Comm comm, int me, const HostOptions& options,
             Failure& failure, std::vector<MPI_Request>& requests) {
    if (k_.processes == 1 || local_.rows == 0) return;
    const HostView panel = sent(k0, k1, step);
    for (int64_t k = k0, next = 0; k < k1; k = next) {
      next = std::min(k1, k_.end(k));
      const int owner = k_.owner(k);
      const HostView part = block(panel, 0, k - k0, panel.rows, next - k);
      if (owner == me)
        attempt(failure,
                [&] { copy(block(local_, 0, k_.local(k), local_.rows, next - k), part, options); });
      broadcast(fast_ == Fast::k ? transposed(part) : part, message_bytes, owner, comm, requests);
    }
  }
  /// What was sent, when it is there.
  ConstHostView panel(int64_t k0, int64_t k1, int step) const {
    if (k_.processes == 1) return block(local_, 0, k0, local_.rows, k1 - k0);
    return ConstHostView(sent(k0, k1, step));
  }

 private:
  HostView sent(int64_t k0, int64_t k1, int step) const {
    std::byte* const data = memory_[step].data();
    return fast_ == Fast::k ? host_row_major(data, local_.dtype, local_.rows, k1 - k0)
                            : host_col_major(data, local_.dtype, local_.rows, k1 - k0);
  }

  ConstHostView local_;
  Dealt k_;
  Fast fast_;
  Memory* memory_;
};

class Product : public Call {
 public:
  Product(MPI_Comm comm, double alpha, const ConstMatrix& a, const ConstMatrix& b, double beta,
          const Matrix& c, const HostOptions& options)
      : Call(channel_of(comm)),
        alpha_(alpha),
        beta_(beta),
        a_(a),
        b_(b),
        c_(c),
        options_(options),
        along_rows_(a.local, cols_of(a.distribution), Operand::Fast::lines, channel().messages),
        along_cols_(transposed(b.local), rows_of(b.distribution), Operand::Fast::k,
                    channel().messages + 2) {
    asked_.call = Asked::matrices;
    asked_.dtype = uint8_t(c.local.dtype);
    asked_.count =
        int64_t(digest({1, std::bit_cast<int64_t>(alpha), std::bit_cast<int64_t>(beta),
                        options.continues ? 1 : 0, int64_t(digest(a.distribution)),
                        int64_t(digest(b.distribution)), int64_t(digest(c.distribution))}));
    attempt(failure_, [&] {
      check_arguments();
      prepare();
    });
  }
  ~Product() override {
    const auto is_under_way = [](MPI_Request request) { return request != MPI_REQUEST_NULL; };
    if (std::ranges::none_of(requests_[0], is_under_way) &&
        std::ranges::none_of(requests_[1], is_under_way))
      return;
    along_rows_.leave_memory(), along_cols_.leave_memory();  // MPI has failed
  }

 private:
  std::string asks_for() const override {
    return cat("gemm", options_.continues ? ", continued" : "", ": alpha ", alpha_, ", a ",
               words_of(a_.distribution, a_.local.dtype), ", b ",
               words_of(b_.distribution, b_.local.dtype), ", beta ", beta_, ", c ",
               words_of(c_.distribution, c_.local.dtype));
  }

  void check_arguments() const {
    check_options(options_);
    check_matrix("a", a_, channel());
    check_matrix("b", b_, channel());
    check_matrix("c", c_, channel());
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
    check_apart("a", a_.local, "c", c_.local);
    check_apart("b", b_.local, "c", c_.local);
    // What the device, the rung, a dtype or a scalar has against it.
    trine::gemm(alpha_, block(a_.local, 0, 0, 0, 0), block(b_.local, 0, 0, 0, 0), beta_,
                block(c_.local, 0, 0, 0, 0), options_);
  }

  bool has_chain() const {
    const Distribution& c = c_.distribution;
    return a_.distribution.cols != 0 && alpha_ != 0 && c.rows != 0 && c.cols != 0;
  }

  void prepare() {
    if (!has_chain()) return;
    constexpr int64_t kWidth = 512;  // c is read and written once a step
    const int64_t lines = rows_of(c_.distribution).most() + cols_of(c_.distribution).most();
    const int64_t line = std::max<int64_t>(1, lines * size_of(c_.local.dtype));
    width_ = std::clamp<int64_t>(piece_bytes / 2 / line, 1, kWidth);
    along_rows_.prepare(width_);
    along_cols_.prepare(width_);
    for (auto& requests : requests_)
      requests.reserve(size_t(along_rows_.messages(width_) + along_cols_.messages(width_)));
    chains_ = c_.local;
    if (beta_ == 0) return;
    // c is needed to the end, so the chains run beside it, in its order.
    const int64_t rows = chains_.rows, cols = chains_.cols;
    tile_.of(rows * cols * size_of(chains_.dtype));
    chains_ = is_unit_down(c_.local) ? host_col_major(tile_.data(), chains_.dtype, rows, cols)
                                     : host_row_major(tile_.data(), chains_.dtype, rows, cols);
  }

  bool work(MPI_Request*) override {
    const Distribution& grid = c_.distribution;
    channel().join(grid);
    if (grid.grid_row(channel().rank) < 0) return false;
    if (!has_chain()) {
      attempt(failure_, [&] {
        trine::gemm(alpha_, block(a_.local, 0, 0, a_.local.rows, 0),
                    block(b_.local, 0, 0, 0, b_.local.cols), beta_, c_.local, options_);
      });
      return false;
    }
    const int64_t depth = a_.distribution.cols;
    begin(0);
    for (int64_t k = 0; k < depth; k += width_) {
      std::vector<MPI_Request>& arriving = requests_[k / width_ % 2];
      check(MPI_Waitall(int(arriving.size()), arriving.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
      arriving.clear();
      if (k + width_ < depth) begin(k + width_);
      attempt(failure_, [&] { multiply(k); });
    }
    if (beta_ != 0) attempt(failure_, [&] { add_c(); });
    return false;
  }

  int64_t end(int64_t k) const { return std::min(k + width_, a_.distribution.cols); }

  void begin(int64_t k) {
    const Distribution& grid = c_.distribution;
    const int step = int(k / width_ % 2), me = channel().rank;
    const HostOptions on_device = {.device = options_.device};
    along_rows_.begin(k, end(k), step, channel().row, grid.grid_col(me), on_device, failure_,
                      requests_[step]);
    along_cols_.begin(k, end(k), step, channel().col, grid.grid_row(me), on_device, failure_,
                      requests_[step]);
  }

  void multiply(int64_t k) {
    const int step = int(k / width_ % 2);
    const bool is_last = end(k) == a_.distribution.cols;
    HostOptions options = options_;
    options.continues = options_.continues || k != 0;
    trine::gemm(is_last && beta_ == 0 ? alpha_ : 1, along_rows_.panel(k, end(k), step),
                transposed(along_cols_.panel(k, end(k), step)), 0, chains_, options);
  }

  /// c = fma(beta, c, alpha * chain): as the product of each line of chains and a 1 x 1 matrix that is 1, whose
  /// chains fma(chain, 1, +0) change nothing, as they end with + (+0) already.
  void add_c() {
    HostView to = c_.local, chains = chains_;
    if (to.rows == 0 || to.cols == 0) return;
    if (!is_unit_down(to)) to = transposed(to), chains = transposed(chains);
    const float one_f32 = 1;
    const double one_f64 = 1;
    const int32_t one_i32 = 1;
    const void* const one = to.dtype == Dtype::f32   ? static_cast<const void*>(&one_f32)
                            : to.dtype == Dtype::f64 ? static_cast<const void*>(&one_f64)
                                                     : &one_i32;
    const auto lines = [](const HostView& view) {
      HostView batch = view;
      batch.batch = view.cols, batch.batch_stride = view.col_stride;
      batch.cols = 1, batch.row_stride = 1, batch.col_stride = view.rows;
      return batch;
    };
    ConstHostView unit = host_vector(one, to.dtype, 1);
    unit.batch = to.cols;
    trine::gemm(alpha_, lines(chains), unit, beta_, lines(to), {.device = options_.device});
  }

  double alpha_, beta_;
  ConstMatrix a_, b_;
  Matrix c_;
  HostOptions options_;
  Operand along_rows_, along_cols_;  ///< of the grid
  int64_t width_ = 1;                ///< of a step, in k
  std::vector<MPI_Request> requests_[2];
  Memory tile_;
  HostView chains_;
};

}  // namespace
}  // namespace trine::mpi::detail

namespace trine::mpi {

void gemm(double alpha, const ConstMatrix& a, const ConstMatrix& b, double beta, const Matrix& c,
          MPI_Comm comm, const HostOptions& options) {
  using namespace detail;
  entry([&] { Product(comm, alpha, a, b, beta, c, options).run(); });
}

}  // namespace trine::mpi
