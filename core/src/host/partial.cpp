// The states of reductions: made of reductions of their parts, and merged.
#include <trine/partial.hpp>

#include <bit>
#include <cstring>

#include "core/src/operations/operations.hpp"
#include "core/src/runtime/state.hpp"
#include "product_tree.hpp"

namespace trine {
namespace {

using detail::Block;
using detail::Blocks;
using State = Partial::State;

static_assert(std::endian::native == std::endian::little, "the state's byte order");
constexpr size_t kMostBlocks = (Partial::words - 1) / 2;
constexpr size_t kCutsAtOnce = 1024;

bool is_float(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64; }
bool is_exact_sum(const Partial& p) { return p.function() == Function::sum && is_float(p.dtype()); }
bool is_tree(const Partial& p) { return p.function() == Function::prod && is_float(p.dtype()); }
bool has_index(Function f) { return f == Function::argmin || f == Function::argmax; }
/// min or max, for argmin or argmax.
Function value_of(Function f) {
  return f == Function::argmin ? Function::min : f == Function::argmax ? Function::max : f;
}
Dtype value_dtype(const Partial& p) {
  return result_dtype(value_of(p.function()), p.map(), p.dtype());
}

/// Checks a reduction of a view without a buffer as reduce() does. Returns the bits of the result
/// of nothing.
uint64_t check(Function function, Map map, const View& input, Dtype output) {
  const Reduce op{function, map, Axis::all, input, row_major({}, output, 1, 1)};
  const detail::Checked call = detail::plan_of(op);
  return call.is.empty(call.descriptor).bits;
}

/// The state's number, for which an integer comparison finds the extremum: the lowest; 0 of a NaN.
uint64_t rank(Function function, Dtype dtype, uint64_t bits) {
  if (detail::is_nan(dtype, bits)) return 0;
  constexpr uint64_t kSign = uint64_t{1} << 63;
  if (size_of(dtype) == 4) bits <<= 32;
  if (is_float(dtype))
    bits = (bits & kSign) != 0 ? ~bits : bits | kSign;
  else if (dtype == Dtype::i32 || dtype == Dtype::i64)
    bits ^= kSign;
  return value_of(function) == Function::min ? bits : ~bits;
}

/// A value, and for argmin and argmax the index at which it was first seen; -1, which counts as the
/// largest, if it wasn't.
struct Extremum {
  uint64_t rank, index, bits;
  friend bool operator<(const Extremum& a, const Extremum& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.index < b.index;
  }
};
Extremum extremum_of(const Partial& p) {
  const uint64_t bits = detail::canonical(value_dtype(p), p.state()[1]);
  return {rank(p.function(), value_dtype(p), bits), has_index(p.function()) ? p.state()[2] : 0,
          bits};
}

Blocks blocks_of(const Partial& p) {
  Blocks blocks;
  for (size_t w = 1; w + 1 < p.state().size() && p.state()[w] != 0; w += 2)
    blocks.push_back({p.state()[w], detail::canonical(p.dtype(), p.state()[w + 1])});
  return blocks;
}

void write(const Blocks& blocks, State& state) {
  if (blocks.size() > kMostBlocks) {
    detail::refuse("Partial: the pieces of this product lie too far apart: they are ",
                   blocks.size(), " blocks of its tree, and a state holds ", kMostBlocks,
                   ". Merge pieces with their neighbours first.");
  }
  std::fill(state.begin() + 1, state.end(), 0);
  for (size_t b = 0; b < blocks.size(); ++b) {
    state[1 + 2 * b] = blocks[b].place;
    state[2 + 2 * b] = blocks[b].value;
  }
}

ExactSum sum_of(const Partial& p) {
  ExactSum::State words;
  std::copy_n(p.state().begin() + 1, words.size(), words.begin());
  return ExactSum(words);
}
void write(const ExactSum& sum, State& state) { std::ranges::copy(sum.state(), state.begin() + 1); }

/// Reduces views of host memory, or of a queue's.
struct OnHost {
  const HostOptions& options;
  void add(ExactSum& sum, Map map, const ConstHostView& x) const { sum.add(x, map, options); }
  void reduce(Function function, Map map, const std::vector<ConstHostView>& views, Dtype dtype,
              uint64_t* bits) const {
    for (const ConstHostView& view : views)
      trine::reduce(function, map, Axis::all, view, host_vector(bits++, dtype, 1), options);
  }
};
struct OnQueue {
  Queue& queue;
  void add(ExactSum& sum, Map map, const View& x) const { sum.add(queue, x, map); }
  void reduce(Function function, Map map, const std::vector<View>& views, Dtype dtype,
              uint64_t* bits) const {
    const auto count = int64_t(views.size());
    const Buffer buffer = detail::memory_for(queue, sizeof(uint64_t) * views.size());
    for (size_t v = 0; v < views.size(); ++v)
      run(queue, Reduce{function, map, Axis::all, views[v], vector(buffer, dtype, 1, 8 * v)});
    copy(queue, vector(buffer, Dtype::u64, count), host_vector(bits, Dtype::u64, count));
    queue.wait();
  }
};

/// The bits of each view's result.
template <AnyView V>
std::vector<uint64_t> results(const auto& on, Function function, Map map,
                              const std::vector<V>& views) {
  std::vector<uint64_t> all(views.size());
  const Dtype dtype = result_dtype(function, map, views[0].dtype);
  on.reduce(function, map, views, dtype, all.data());
  for (uint64_t& bits : all) bits = detail::canonical(dtype, bits);
  return all;
}

/// The same elements in the same order, as rows that are as long as neighbours have one distance.
template <AnyView V>
V in_long_rows(const V& x) {
  if (x.cols == 1) return transposed(x);
  const auto dense = detail::Fitting(x.cols) * x.col_stride;
  if (x.rows == 1 || !dense.fits() || dense.value_or(0) != x.row_stride) return x;
  V row = x;
  row.cols *= row.rows;
  row.rows = 1;
  return row;
}

template <AnyView V>
void add_products(Blocks& blocks, const Partial& p, const V& part, int64_t first, const auto& on) {
  const V x = in_long_rows(part);
  std::vector<V> cuts;
  const auto multiply = [&] {
    if (cuts.empty()) return;
    Block* block = blocks.data() + (blocks.size() - cuts.size());
    for (const uint64_t product : results(on, Function::prod, p.map(), cuts))
      block++->value = product;
    cuts.clear();
    join_halves(blocks, p.dtype());
  };
  for (int64_t row = 0; row < x.rows; ++row) {
    const int64_t begin = first + row * x.cols;
    for (const Block& block : detail::cut_into_blocks(begin, x.cols)) {
      blocks.push_back(block);
      cuts.push_back(submatrix(x, row, int64_t(block.first()) - begin, 1, int64_t(block.width())));
      if (cuts.size() == kCutsAtOnce) multiply();
    }
  }
  multiply();
}

/// Writes the state of a part that isn't empty: its result, or the index of its extremum and the
/// value there.
template <AnyView V>
void write_value(State& state, const Partial& p, const V& part, int64_t first, const auto& on) {
  const auto result = [&](Function function, const V& x) {
    return results(on, function, p.map(), std::vector<V>{x})[0];
  };
  if (!has_index(p.function())) {
    state[1] = result(p.function(), part);
    return;
  }
  const auto at = int64_t(result(p.function(), part));
  state[1] = result(Function::min, submatrix(part, at / part.cols, at % part.cols, 1, 1));
  state[2] = uint64_t(first + at);
}

/// The state of `part` alone.
template <AnyView V>
Partial state_of(const Partial& like, const V& part, int64_t first, const auto& on) {
  if (part.dtype != like.dtype()) {
    detail::refuse("Partial: add: it is made for ", name(like.dtype()), ", the part is ",
                   name(part.dtype), ".");
  }
  const View shape{{},
                   part.dtype,
                   0,
                   part.rows,
                   part.cols,
                   part.batch,
                   part.row_stride,
                   part.col_stride,
                   part.batch_stride};
  check(like.function(), like.map(), shape,
        result_dtype(like.function(), like.map(), like.dtype()));
  const int64_t count = part.rows * part.cols;
  if (first < 0 || count > INT64_MAX - first) {
    detail::refuse("Partial: add: ", count, " elements from ", first,
                   " on have indices beyond 0 to 2^63 - 2.");
  }
  const Partial nothing(like.function(), like.dtype(), like.map());
  if (count == 0) return nothing;
  State state = nothing.state();
  if (is_exact_sum(like)) {
    ExactSum sum;
    on.add(sum, like.map(), part);
    write(sum, state);
  } else if (is_tree(like)) {
    Blocks blocks;
    add_products(blocks, like, part, first, on);
    write(blocks, state);
  } else {
    write_value(state, like, part, first, on);
  }
  return Partial(state);
}

}  // namespace

Partial::Partial(Function function, Dtype dtype, Map map) {
  detail::entry([&] {
    if (map == Map::product)
      detail::refuse("Partial: map product takes two inputs; ExactSum::add_dot() does.");
    const View nothing = row_major({}, dtype, 0, 1);
    check(function, map, nothing, result_dtype(function, map, dtype));
    state_[0] = uint64_t(function) | uint64_t(map) << 8 | uint64_t(dtype) << 16;
    if (is_exact_sum(*this) || is_tree(*this)) return;
    const Function value = value_of(function);
    state_[1] = check(value, map, nothing, result_dtype(value, map, dtype));
    if (has_index(function)) state_[2] = UINT64_MAX;
  });
}

// Words that a merge with nothing changes are no state.
Partial::Partial(const State& state)
    : Partial(Function(state[0] & 0xff), Dtype(state[0] >> 16 & 0xff), Map(state[0] >> 8 & 0xff)) {
  if (state[0] >> 32 != 0)
    detail::refuse("Partial: the state has version ", state[0] >> 32,
                   " of the format, this library knows 0.");
  Partial given = *this;
  given.state_ = state;
  given.state_[0] = state_[0];
  merge(given);
  if (state_ != state)
    detail::refuse("Partial: these ", words, " words are no state of a reduction.");
}

void Partial::add(const ConstHostView& part, int64_t first, const HostOptions& options) {
  detail::entry([&] {
    detail::refuse_event(options);
    if (options.numerics != Numerics::reproducible && options.numerics != Numerics::exact)
      detail::refuse(
          "Partial: add: parts become the whole's bits with numerics reproducible or exact.");
    merge(state_of(*this, part, first, OnHost{options}));
  });
}

void Partial::add(Queue& queue, const View& part, int64_t first) {
  detail::entry([&] { merge(state_of(*this, part, first, OnQueue{queue})); });
}

void Partial::merge(const Partial& other) {
  detail::entry([&] {
    if (state_[0] != other.state_[0]) {
      const auto kind = [](const Partial& p) {
        return detail::cat(name(p.function()), " ", name(p.map()), " ", name(p.dtype()));
      };
      detail::refuse("Partial: merge: this is of ", kind(*this), ", the other of ", kind(other),
                     ".");
    }
    if (is_exact_sum(*this)) {
      ExactSum sum = sum_of(*this);
      sum.merge(sum_of(other));
      write(sum, state_);
    } else if (is_tree(*this)) {
      Blocks blocks = blocks_of(*this);
      for (const Block& block : blocks_of(other)) blocks.push_back(block);
      join_halves(blocks, dtype());
      write(blocks, state_);
    } else if (function() == Function::sum) {
      state_[1] += other.state_[1];
    } else if (function() == Function::prod) {
      state_[1] *= other.state_[1];
    } else if (const Extremum theirs = extremum_of(other);
               theirs < extremum_of(*this) && int64_t(theirs.index) >= 0) {
      state_[1] = theirs.bits;
      state_[2] = theirs.index;
    }
  });
}

void Partial::result(Dtype dtype, void* value) const {
  detail::entry([&] {
    check(function(), map(), row_major({}, this->dtype(), 0, 1), dtype);
    uint64_t bits = state_[1];
    if (is_exact_sum(*this))
      bits = dtype == Dtype::f32 ? std::bit_cast<uint32_t>(sum_of(*this).round<float>())
                                 : std::bit_cast<uint64_t>(sum_of(*this).round<double>());
    else if (is_tree(*this))
      bits = root_of(blocks_of(*this), this->dtype());
    else if (has_index(function()))
      bits = state_[2];
    std::memcpy(value, &bits, size_of(dtype));
  });
}

}  // namespace trine
