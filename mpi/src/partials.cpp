#include "partial_call.hpp"

#include <algorithm>

#include "collectives.hpp"

namespace trine::mpi::detail {
namespace {

using Words = std::span<const uint64_t>;

/// Twice the index that follows a block's last, of which the first word is `place`; and of its
/// first.
uint64_t end_of(uint64_t place) { return place + (place & -place); }
uint64_t begin_of(uint64_t place) { return place - (place & -place); }

/// The number of words before the zeros; they are blocks, each a place and a value.
size_t used_of(Words blocks) {
  size_t used = 0;
  while (used + 1 < blocks.size() && blocks[used] != 0) used += 2;
  return used;
}

/// Cuts a rank's blocks where indices are missing between them.
void add_runs(std::vector<Words>& runs, Words blocks) {
  size_t first = 0;
  for (size_t at = 2; at <= blocks.size(); at += 2) {
    if (at < blocks.size() && begin_of(blocks[at]) == end_of(blocks[at - 2])) continue;
    runs.push_back(blocks.subspan(first, at - first));
    first = at;
  }
}

/// The state of the sum that a Partial of floats is.
ExactSum::State sum_in(const Partial& partial) {
  ExactSum::State sum;
  std::copy_n(partial.state().begin() + 1, sum.size(), sum.begin());
  return sum;
}

}  // namespace

PartialCall::PartialCall(MPI_Comm comm, Partial& partial, int root)
    : Call(channel_of(comm)), partial_(partial) {
  ask(partial.function(), partial.map(), partial.dtype());
  asked_.root = root;
  attempt(failure_, [&] {
    if (root != Asked::everywhere) check_root();
    bring_state();
  });
}

void PartialCall::ask(Function function, Map map, Dtype dtype) {
  asked_ = {.call = Asked::partial,
            .function = uint8_t(function),
            .map = uint8_t(map),
            .dtype = uint8_t(dtype)};
}

void PartialCall::bring_state() {
  const Partial::State& state = partial_.state();
  switch (asked_.load()) {
    case Asked::Load::sum: return bring(Window(sum_in(partial_)));
    case Asked::Load::value: return bring({state[1], state[2]});
    case Asked::Load::length: break;
  }
  bring({used_of(Words(state).subspan(1)), 0});
  // A rank gathers no more: when it knows how much, the others count on it.
  gathered_.reserve((state.size() - 1) * size_t(channel().size));
}

ExactSum::State PartialCall::whole() const { return sum_in(partial_); }

bool PartialCall::work(MPI_Request* request) {
  if (!has_blocks()) return false;
  if (!gathered_.empty()) {
    attempt(failure_, [&] { merged_ = merged_blocks(); });
    return false;
  }
  const auto most = size_t(words()[0]);
  gathered_.resize(most * size_t(channel().size));
  std::copy_n(partial_.state().begin() + 1, most,
              gathered_.begin() + std::ptrdiff_t(most) * channel().rank);
  allgather(gathered_.data(), int(most * sizeof(uint64_t)), channel().comm, request);
  return true;
}

// In the order of indices what has been merged has few blocks at any time: those of its runs.
Partial PartialCall::merged_blocks() const {
  std::vector<Words> runs;
  const auto most = size_t(words()[0]);
  for (size_t begin = 0; begin < gathered_.size(); begin += most) {
    const Words blocks = Words(gathered_).subspan(begin, most);
    add_runs(runs, blocks.first(used_of(blocks)));
  }
  std::ranges::sort(runs, {}, [](Words run) { return run[0]; });
  Partial all(asked_.state_of({}));
  for (const Words run : runs) all.merge(Partial(asked_.state_of(run)));
  return all;
}

void PartialCall::finish() {
  if (!is_receiver()) return;
  switch (asked_.load()) {
    case Asked::Load::sum: partial_ = Partial(asked_.state_of(total().state())); return;
    case Asked::Load::value: partial_ = Partial(asked_.state_of(words())); return;
    case Asked::Load::length: break;
  }
  if (merged_) partial_ = *merged_;  // else all are of nothing
}

}  // namespace trine::mpi::detail

namespace trine::mpi {
namespace {

template <class Add>
Partial partial_of_all(MPI_Comm comm, Function function, Map map, Dtype dtype, Add&& add) {
  return detail::entry([&] {
    Partial partial(Function::sum, Dtype::f64);  // of what is asked for, the call makes one
    detail::PartialCall(comm, partial, function, map, dtype, add).run();
    return partial;
  });
}

}  // namespace

void allreduce(Partial& partial, MPI_Comm comm) {
  detail::run<detail::PartialCall>(comm, partial, detail::Asked::everywhere);
}

void reduce(Partial& partial, int root, MPI_Comm comm) {
  detail::run<detail::PartialCall>(comm, partial, detail::Asked::root_of(root));
}

Partial partial(Function function, const ConstHostView& part, int64_t first, Map map, MPI_Comm comm,
                const HostOptions& options) {
  return partial_of_all(comm, function, map, part.dtype,
                        [&](Partial& mine) { mine.add(part, first, options); });
}

Partial partial(Function function, Queue& queue, const View& part, int64_t first, Map map,
                MPI_Comm comm) {
  return partial_of_all(comm, function, map, part.dtype,
                        [&](Partial& mine) { mine.add(queue, part, first); });
}

}  // namespace trine::mpi
