// The transpose of a distributed matrix. One rank sends another a dense matrix: some of its rows
// and columns, which are runs of rows times runs of columns (matrix.hpp). It goes column by column
// of a, and both sides know its place. Messages go in chunks, so that the memory is bounded and
// MPI's counts are small; a chunk is packed while the one before is under way. Elements are
// transposed where the two layouts differ: mostly at the receiver.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

#include "collectives.hpp"
#include "place.hpp"
#include "sizes.hpp"

namespace trine::mpi::detail {
namespace {

/// A part of a message.
struct Chunk {
  Runs rows, cols;

  /// Whether its runs are too many and too small for a transposition of each series of the more by
  /// each of the fewer.
  bool is_fragmented(int64_t element) const {
    constexpr int64_t kSmall = 1 << 15;  // bytes that take as long as the call does
    const auto calls = int64_t(std::min(rows.runs.size(), cols.runs.size()));
    return calls > 1 && rows.count * cols.count / calls * element < kSmall;
  }
  /// Calls visit(part of `local`, the same in `dense`) for each pair of runs, or for each batch of
  /// equal ones.
  template <class Local, class Dense, class Visit>
  void for_each_part(const Local& local, const Dense& dense, bool in_batches, Visit&& visit) const {
    const bool are_more_rows = rows.runs.size() >= cols.runs.size();
    for (const Series& across : cols.series(in_batches && !are_more_rows))
      for (const Series& down : rows.series(in_batches && are_more_rows)) {
        const auto part = [&](auto view, int64_t i, int64_t j, int64_t row_step, int64_t col_step) {
          view = block(view, i, j, down.first.length, across.first.length);
          view.batch = down.count * across.count;
          view.batch_stride =
              down.count > 1 ? row_step * view.row_stride : col_step * view.col_stride;
          return view;
        };
        visit(part(local, down.first.local, across.first.local, down.step, across.step),
              part(dense, down.first.at, across.first.at, down.first.length, across.first.length));
      }
  }
};

/// The messages that this rank sends to all others, or receives from them.
struct Side {
  struct Place {
    int row, col;
  };
  std::vector<Place> places;     ///< of each rank in the grid at the other end; -1
  std::vector<Runs> rows, cols;  ///< common with each row and column there
  std::vector<int> ranks;        ///< that have a place, by columns
  bool by_columns = true;        ///< what chunks have of a message: some columns, or rows
  struct Messages {
    std::vector<int> counts, begins;  ///< bytes, by rank
    Memory* memory;
  };
  Messages messages[2];  ///< of a chunk and the next

  void leave_messages() {
    for (Messages& m : messages) leave(m.counts), leave(m.begins), m.memory->leave();
  }

  void add(int row, int col) {
    if (row >= 0) ranks.push_back(int(places.size()));
    places.push_back({row, col});
  }
  void sort() {
    std::ranges::sort(ranks, {},
                      [this](int rank) { return std::pair(places[size_t(rank)].col, rank); });
  }

  /// The share of a message in a chunk: [begin, end) of the one extent, all of the other.
  struct Cut {
    int64_t begin, end, whole;
    int64_t count() const { return (end - begin) * whole; }
  };
  Cut cut(int rank, int64_t chunk, int64_t chunks) const {
    const auto [row, col] = places[size_t(rank)];
    if (row < 0) return {};
    const int64_t down = rows[size_t(row)].count, across = cols[size_t(col)].count;
    const int64_t extent = by_columns ? across : down;
    const auto at = [&](int64_t n) { return extent / chunks * n + extent % chunks * n / chunks; };
    return {at(chunk), at(chunk + 1), by_columns ? down : across};
  }
  /// The elements of a rank's longest chunk.
  int64_t most(int rank, int64_t chunks) const {
    Cut whole = cut(rank, 0, 1);
    whole.end = whole.end / chunks + (whole.end % chunks != 0 ? 1 : 0);
    return whole.count();
  }
  Chunk chunk(int rank, int64_t chunk, int64_t chunks) const {
    const Cut c = cut(rank, chunk, chunks);
    if (c.count() == 0) return {};
    const auto [row, col] = places[size_t(rank)];
    const Runs &down = rows[size_t(row)], &across = cols[size_t(col)];
    if (by_columns) return {down, across.slice(c.begin, c.end)};
    return {down.slice(c.begin, c.end), across};
  }
};

template <class Place>
class Transposition : public PlacedCall<Place> {
  using Base = PlacedCall<Place>;
  using Base::asked_, Base::failure_, Base::place_, Base::channel, Base::wait_until_ready,
      Base::plan_copy;

 public:
  using View = typename Place::View;
  Transposition(MPI_Comm comm, const typename Place::ConstMatrix& a,
                const typename Place::Matrix& b, const typename Place::Options& options)
      : Base(comm, options),
        a_(a),
        b_(b),
        to_(transposed(b.local)),
        element_(size_of(a.local.dtype)) {
    asked_.call = Asked::matrices;
    asked_.count = int64_t(
        digest({0, element_, int64_t(digest(a.distribution)), int64_t(digest(b.distribution))}));
    attempt(failure_, [&] {
      place_.begin();
      check_arguments();
      prepare();
    });
  }
  ~Transposition() override {
    this->end_work();
    if (under_way_[0] == MPI_REQUEST_NULL && under_way_[1] == MPI_REQUEST_NULL) return;
    send_.leave_messages(), receive_.leave_messages();  // MPI has failed
  }

 private:
  std::string asks_for() const override {
    return cat("transpose: ", words_of(a_.distribution, a_.local.dtype), " to ",
               words_of(b_.distribution, b_.local.dtype));
  }

  /// One rank has both matrices, row by row and column by column.
  bool is_alone() const { return channel().size == 1; }

  void check_arguments() {
    place_.check("a", a_, channel());
    place_.check("b", b_, channel());
    const Distribution &a = a_.distribution, &b = b_.distribution;
    if (a.rows != b.cols || a.cols != b.rows)
      refuse("a is ", a.rows, " x ", a.cols, ", and b ", b.rows, " x ", b.cols,
             "; b's extents are those of a's transpose.");
    if (size_of(b_.local.dtype) != element_)
      refuse("a is of ", name(a_.local.dtype), ", and b of ", name(b_.local.dtype),
             "; both have elements of one size.");
    check_apart(place_, "a", a_.local, "b", b_.local);
    // The device, the rung or a dtype may refuse it; on one rank the one call that works says so,
    // if it transposes.
    if (!is_alone() || !Place::transposes(a_.local, to_))
      place_.transpose(block(a_.local, 0, 0, 0, 0), block(b_.local, 0, 0, 0, 0));
  }

  /// Plans all messages and allocates all memory: a rank that lacked memory later couldn't take
  /// part.
  void prepare() {
    const Distribution &a = a_.distribution, &b = b_.distribution;
    if (a.rows == 0 || a.cols == 0 || is_alone()) return;
    const int me = channel().rank;
    const auto is_empty = [](const auto& part) { return part.rows == 0 || part.cols == 0; };
    const int from = is_empty(a_.local) ? -1 : me, to = is_empty(b_.local) ? -1 : me;
    send_.rows = shares(rows_of(a), a.grid_row(from), cols_of(b));
    send_.cols = shares(cols_of(a), a.grid_col(from), rows_of(b));
    receive_.rows = shares(cols_of(b), b.grid_col(to), rows_of(a));
    receive_.cols = shares(rows_of(b), b.grid_row(to), cols_of(a));
    for (int rank = 0; rank < channel().size; ++rank) {
      send_.add(b.grid_col(rank), b.grid_row(rank));
      receive_.add(a.grid_row(rank), a.grid_col(rank));
    }
    send_.sort(), receive_.sort();
    // Along the longer extent of what two share, as on the other side.
    send_.by_columns = receive_.by_columns = std::min(cols_of(a).most(), rows_of(b).most()) >=
                                             std::min(rows_of(a).most(), cols_of(b).most());
    const int64_t most =
        std::max(rows_of(a).most() * cols_of(a).most(), rows_of(b).most() * cols_of(b).most());
    const int64_t at_once = std::max<int64_t>(transposed_bytes(chunk_bytes) / element_, 1);
    chunks_ = (most + at_once - 1) / at_once;
    Memory* memory = channel().messages;
    for (Side* side : {&send_, &receive_})
      for (Side::Messages& messages : side->messages) messages.memory = memory++;
    beside_ = memory;
    for (Side* side : {&send_, &receive_}) allocate(*side);
    if (place_.names_rung()) plan_copies();
  }

  /// The rung that is named may refuse any of the copies.
  void plan_copies() {
    std::set<std::array<int64_t, 9>> planned;  // many blocks have one shape
    const auto plan = [this, &planned](const auto& from, const auto& to) {
      const std::array shape = {from.rows,       from.cols,         from.batch,
                                from.row_stride, from.col_stride,   to.row_stride,
                                to.col_stride,   from.batch_stride, to.batch_stride};
      if (planned.insert(shape).second) this->plan_copy(from, to);
    };
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      lay_out(send_, chunk), lay_out(receive_, chunk);
      if (!moves_columns(a_.local))
        for (const int rank : send_.ranks) pack(rank, chunk, plan);
      move_straight(chunk, plan);
      if (!moves_columns(to_))
        for (const int rank : receive_.ranks) unpack(rank, chunk, plan);
    }
  }

  void allocate(Side& side) {
    int64_t longest = 0, beside = 0;
    for (int rank = 0; rank < channel().size; ++rank) {
      const int64_t bytes = side.most(rank, chunks_) * element_;
      longest += bytes, beside = std::max(beside, bytes);
    }
    if (longest > INT32_MAX)
      refuse("this rank has ", longest, " bytes in a chunk, too many for MPI.");
    for (Side::Messages& messages : side.messages) {
      messages.counts.resize(size_t(channel().size)),
          messages.begins.resize(size_t(channel().size));
      place_.allocate(*messages.memory, longest);
    }
    if (!Place::is_queue) place_.allocate(*beside_, beside);
  }

  bool work(MPI_Request*) override {
    if (is_alone()) attempt(failure_, [&] { place_.copy(a_.local, to_, true); });
    for (int64_t chunk = 0; chunk <= chunks_; ++chunk) {
      if (chunk < chunks_) {
        const Side::Messages &out = pack(chunk), &in = lay_out(receive_, chunk);
        wait_until_ready();
        alltoall({out.memory->data(), out.counts.data(), out.begins.data()},
                 {in.memory->data(), in.counts.data(), in.begins.data()}, MPI_BYTE, channel().comm,
                 &under_way_[chunk % 2]);
      }
      if (chunk == 0) continue;
      check(MPI_Wait(&under_way_[(chunk - 1) % 2], MPI_STATUS_IGNORE), "MPI_Wait");
      unpack(chunk - 1);
    }
    place_.finish(failure_);
    return false;
  }

  /// Decides where the messages of a chunk are. This rank's own stays where it was packed, behind
  /// the others.
  Side::Messages& lay_out(Side& side, int64_t chunk) const {
    Side::Messages& messages = side.messages[chunk % 2];
    int begin = 0;
    for (int rank = 0; rank < channel().size; ++rank) {
      const bool is_mine = rank == channel().rank;
      messages.begins[size_t(rank)] = begin;
      messages.counts[size_t(rank)] =
          is_mine ? 0 : int(side.cut(rank, chunk, chunks_).count() * element_);
      begin += messages.counts[size_t(rank)];
    }
    messages.begins[size_t(channel().rank)] = begin;
    return messages;
  }

  /// Whether a part in host memory has the layout of the messages.
  template <class Part>
  static bool moves_columns(const Part& part) {
    return !Place::is_queue && is_unit_down(part);
  }
  /// A function that copies as the options ask.
  auto as_asked() {
    return [this](const auto& from, const auto& to) { place_.copy(from, to, true); };
  }

  const Side::Messages& pack(int64_t number) {
    const Side::Messages& messages = lay_out(send_, number);
    if (moves_columns(a_.local))
      attempt(failure_, [&] { move_columns<true>(send_, a_.local, number); });
    else
      for (const int rank : send_.ranks) attempt(failure_, [&] { pack(rank, number, as_asked()); });
    attempt(failure_, [&] {
      const HostView bytes = others(messages);
      place_.fetch(place_.at(*messages.memory, bytes), bytes);
      place_.mark();
    });
    return messages;
  }
  /// Calls copy(from, to) for what goes from a to a rank's message.
  template <class Copy>
  void pack(int rank, int64_t number, Copy&& copy) {
    if (goes_straight(rank, number)) return;
    const Chunk chunk = send_.chunk(rank, number, chunks_);
    const View message = view(send_.messages[number % 2], rank, chunk);
    const bool is_beside = goes_beside(a_.local, chunk);
    const View dense = is_beside ? beside(chunk) : message;
    chunk.for_each_part(a_.local, dense, !is_beside, copy);
    if (is_beside) copy(dense, message);
  }

  void unpack(int64_t number) {
    attempt(failure_, [&] {
      const Side::Messages& messages = receive_.messages[number % 2];
      const HostView bytes = others(messages);
      place_.bring(bytes, place_.at(*messages.memory, bytes));
      move_straight(number, as_asked());
    });
    if (moves_columns(to_))
      return attempt(failure_, [&] { move_columns<false>(receive_, to_, number); });
    for (const int rank : receive_.ranks)
      attempt(failure_, [&] { unpack(rank, number, as_asked()); });
  }
  /// Calls copy(from, to) for what goes from a rank's message to b.
  template <class Copy>
  void unpack(int rank, int64_t number, Copy&& copy) {
    if (goes_straight(rank, number)) return;
    const Chunk chunk = receive_.chunk(rank, number, chunks_);
    const View message = view(received(rank, number), rank, chunk);
    const bool is_beside = goes_beside(to_, chunk);
    const View dense = is_beside ? beside(chunk) : message;
    if (is_beside) copy(message, dense);
    chunk.for_each_part(to_, dense, !is_beside,
                        [&](const View& part, const View& in) { copy(in, part); });
  }
  /// This rank's own message stays where it was packed.
  const Side::Messages& received(int rank, int64_t number) const {
    return (rank == channel().rank ? send_ : receive_).messages[number % 2];
  }

  /// Whether a chunk of this rank's own is one block of a and of b: it goes from one to the other.
  bool goes_straight(int rank, int64_t number) const {
    return rank == channel().rank &&
           std::ranges::all_of(std::array{&send_, &receive_}, [&](const Side* side) {
             const Chunk chunk = side->chunk(rank, number, chunks_);
             return chunk.rows.runs.size() == 1 && chunk.cols.runs.size() == 1;
           });
  }
  template <class Copy>
  void move_straight(int64_t number, Copy&& copy) {
    const int me = channel().rank;
    if (!goes_straight(me, number)) return;
    const auto its_block = [&](const Side& side, const auto& part) {
      const Chunk chunk = side.chunk(me, number, chunks_);
      const Run &row = chunk.rows.runs.front(), &col = chunk.cols.runs.front();
      return block(part, row.local, col.local, row.length, col.length);
    };
    copy(its_block(send_, a_.local), its_block(receive_, to_));
  }

  /// In host memory, where both sides lie alike: column by column of the part, whatever ranks have
  /// its rows, so that its memory is walked through once; into messages or out of them.
  template <bool packs, class Part>
  void move_columns(const Side& side, const Part& part, int64_t number) {
    if constexpr (!Place::is_queue) {
      using Byte = std::conditional_t<packs, const std::byte, std::byte>;
      struct Share {
        Runs rows;
        std::byte* message;
      };
      std::vector<Share> shares;
      for (auto rank = side.ranks.begin(); rank != side.ranks.end();) {
        const int col = side.places[size_t(*rank)].col;
        Runs cols;
        shares.clear();
        for (; rank != side.ranks.end() && side.places[size_t(*rank)].col == col; ++rank) {
          Chunk chunk = side.chunk(*rank, number, chunks_);
          if (chunk.cols.count == 0 || goes_straight(*rank, number)) continue;
          const Side::Messages& in = packs ? send_.messages[number % 2] : received(*rank, number);
          shares.push_back({std::move(chunk.rows), in.memory->data() + in.begins[size_t(*rank)]});
          cols = std::move(chunk.cols);
        }
        for (const Run& run : cols.runs)
          for (int64_t i = 0; i < run.length; ++i) {
            auto* const column = static_cast<Byte*>(block(part, 0, run.local + i, 0, 0).data);
            for (Share& share : shares)
              for (const Run& row : share.rows.runs) {
                Byte* const mine = column + row.local * element_;
                const auto bytes = size_t(row.length * element_);
                if constexpr (packs)
                  std::memcpy(share.message, mine, bytes);
                else
                  std::memcpy(mine, share.message, bytes);
                share.message += bytes;
              }
          }
      }
    }
  }

  /// A message: column by column of a.
  View view(const Side::Messages& messages, int rank, const Chunk& chunk) const {
    const HostView message = host_col_major(messages.memory->data() + messages.begins[size_t(rank)],
                                            a_.local.dtype, chunk.rows.count, chunk.cols.count);
    return place_.at(*messages.memory, message);
  }
  /// All messages but this rank's own.
  HostView others(const Side::Messages& messages) const {
    return host_vector(messages.memory->data(), Dtype::b8, messages.begins[size_t(channel().rank)]);
  }
  /// Many small runs are first transposed as a whole in other memory, and then copied by columns. A
  /// device doesn't need that.
  template <class Local>
  bool goes_beside(const Local& local, const Chunk& chunk) const {
    return !Place::is_queue && !is_unit_down(local) && chunk.is_fragmented(element_);
  }
  View beside(const Chunk& chunk) const {
    return place_.at(*beside_, host_row_major(beside_->data(), a_.local.dtype, chunk.rows.count,
                                              chunk.cols.count));
  }

  typename Place::ConstMatrix a_;
  typename Place::Matrix b_;
  View to_;  ///< this rank's part of b, by the rows and columns of a
  int64_t element_, chunks_ = 0;
  Side send_, receive_;
  Memory* beside_ = nullptr;
  MPI_Request under_way_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace
}  // namespace trine::mpi::detail

namespace trine::mpi {

void transpose(const ConstMatrix& a, const Matrix& b, MPI_Comm comm, const HostOptions& options) {
  detail::run<detail::Transposition<detail::OnHost>>(comm, a, b, options);
}

void transpose(Queue& queue, const DeviceMatrix& a, const DeviceMatrix& b, MPI_Comm comm,
               const QueueOptions& options) {
  using detail::OnDevice;
  detail::run<detail::Transposition<OnDevice>>(comm, a, b, OnDevice::Options{queue, options});
}

}  // namespace trine::mpi
