// How a reduction is cut into pieces for the threads, and how a piece reads its elements.
//
// Along: a piece is a chunk of one result's elements; SIMD lanes hold elements of one result.
// Across: a piece is a strip of neighbouring results; a lane holds one result and walks down rows.
//
//   each_row of n x 4096: along      each_row of n x 4: across (lanes are rows, packed)
//   each_column, row-major: across   all: along
//
// A result with more elements than a piece should have is cut into parts, whose partial states meet
// in the workspace, those of one part side by side.
#pragma once

#include <algorithm>
#include <bit>

#include "problem.hpp"
#include "rung.hpp"

namespace trine::cpu {

struct Plan {
  bool across;
  std::int64_t unit;         // results in a piece
  std::int64_t units;        // ceil(outputs / unit)
  std::int64_t parts;        // pieces per unit
  std::int64_t part_length;  // elements of each result in a piece

  std::int64_t pieces() const { return units * parts; }
};

inline constexpr std::int64_t kChunk = 4096;             // elements read at a time
inline constexpr std::int64_t kStrip = 256;              // results side by side, across
inline constexpr std::int64_t kPieceElements = 1 << 16;  // below, handing out a piece costs more

// `tree`: parts are whole subtrees of a product, so their length is a power of two.
inline Plan plan_of(const Problem& p, int threads, bool tree = false) {
  const std::int64_t length = p.length();
  const std::int64_t shortest = std::max<std::int64_t>(1, length);
  Plan plan{};
  // Rows shorter than 256 leave a vector half empty too often; strides decide for the others.
  plan.across = p.outputs > 1 && p.outer == 1 &&
                (length < 256 || (p.inner_step != 1 && p.output_step < p.inner_step));
  plan.unit = std::max<std::int64_t>(1, kPieceElements / shortest);
  if (plan.across) {
    // Up to four strips where each thread has some: a row is read in longer chunks.
    const std::int64_t strips = std::min<std::int64_t>(4, p.outputs / (threads * kStrip));
    plan.unit = std::max(divide_up(plan.unit, kStrip), strips) * kStrip;
  }
  plan.unit = std::min(plan.unit, p.outputs);
  plan.units = divide_up(p.outputs, plan.unit);
  // More pieces than threads, so that a late thread leaves little to wait for.
  const std::int64_t wanted =
      threads == 1 ? 1 : divide_up((plan.across ? 8 : 32) * std::int64_t(threads), plan.units);
  const std::int64_t elements = length * std::min(plan.unit, kStrip);
  // Small ones only where threads would have none.
  const std::int64_t possible =
      std::max(divide_up(elements, 2 * kPieceElements),
               std::min(divide_up(threads, plan.units), elements / (kPieceElements / 4)));
  plan.parts = std::max<std::int64_t>(1, std::min(wanted, possible));
  plan.part_length =
      round_up(divide_up(shortest, plan.parts), plan.across ? kChunk / kStrip : kChunk);
  if (tree)
    plan.part_length =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(plan.part_length)));
  plan.parts = std::max<std::int64_t>(1, divide_up(length, plan.part_length));
  return plan;
}

struct Nothing {};

// A piece of work with what its thread has for it.
template <class Scratch, class State>
struct Piece {
  const Problem* problem;
  const Plan* plan;
  Scratch* scratch;
  State* partials;  // null when the plan has one part: results are stored

  std::int64_t place(std::int64_t r, std::int64_t part) const {
    return part * problem->outputs + r;
  }
  State& partial(std::int64_t r, std::int64_t part) const { return partials[place(r, part)]; }
  // Each partial state's room that is seldom used, which lies behind all states.
  auto& behind(std::int64_t r, std::int64_t part) const {
    using Behind = typename State::Behind;
    return reinterpret_cast<Behind*>(partials + problem->outputs * plan->parts)[place(r, part)];
  }

  // Results [first, last), elements [begin, end) of each.
  struct Block {
    std::int64_t first, last, part, begin, end;
  };
  Block block(std::int64_t index) const {
    const std::int64_t part = index % plan->parts, begin = part * plan->part_length;
    const std::int64_t first = index / plan->parts * plan->unit;
    return {first, std::min(problem->outputs, first + plan->unit), part, begin,
            std::min(problem->length(), begin + plan->part_length)};
  }

  // Calls along(r, part, begin, end) for each result, elements [begin, end) of which are part
  // `part`; or across(first, width, part, begin, end) for each strip of results.
  template <class Along, class Across>
  void each_part(const Block& block, Along&& along, Across&& across) const {
    const auto [first, last, part, begin, end] = block;
    if (plan->across) {
      for (std::int64_t r = first; r < last; r += kStrip)
        across(r, std::min(kStrip, last - r), part, begin, end);
    } else {
      for (std::int64_t r = first; r < last; ++r) along(r, part, begin, end);
    }
  }
};

// The functions for a piece, by its index, and for the parts of a result, by the result's.
template <class Scratch, class State>
struct Work {
  void (*piece)(const Piece<Scratch, State>& piece, std::int64_t index);
  void (*finish)(const Piece<Scratch, State>& piece, std::int64_t r);
};

// A lambda by its address: how elements are read is compiled once per dtype, not once for each
// function, map and instruction set.
template <class... Args>
class Take {
 public:
  template <class Body>
  Take(const Body& body)  // NOLINT(google-explicit-constructor): lambdas become one
      : body_(&body),
        call_([](const void* self, Args... args) { (*static_cast<const Body*>(self))(args...); }) {}
  void operator()(Args... args) const { call_(body_, args...); }

 private:
  const void* body_;
  void (*call_)(const void* self, Args... args);
};

// take(data, count, first_index) for the elements [begin, end) of result `r`, in order, each time
// `count` neighbours in memory: where they lie, or packed into `buffer` (kChunk elements).
// `aligned`: first indices are multiples of kChunk, if `begin` is one.
template <class T>
void each_chunk(const Elements& p, std::int64_t r, std::int64_t begin, std::int64_t end, T* buffer,
                bool aligned, Take<const T*, std::int64_t, std::int64_t> take) {
  const T* origin = p.begin<T>(r);
  while (begin < end) {
    const std::int64_t o = p.outer == 1 ? 0 : begin / p.inner;
    const std::int64_t i = begin - o * p.inner;
    const T* from = origin + o * p.outer_step + i * p.inner_step;
    std::int64_t run = std::min(end - begin, p.inner - i);
    if (p.inner_step == 1 && (run == end - begin || (run >= 512 && !aligned))) {
      const std::int64_t most = p.witness ? kChunk : run;
      for (std::int64_t count; run > 0; run -= count, from += count, begin += count) {
        count = std::min(run, most);
        if (p.witness) p.witness->see(p.witness->context, from, from + count);
        take(from, count, begin);
      }
      continue;
    }
    std::int64_t filled = 0;
    const std::int64_t wanted = std::min(kChunk, end - begin);
    std::int64_t row = o;
    std::int64_t column = i;
    while (filled < wanted) {
      run = std::min(wanted - filled, p.inner - column);
      const T* source = origin + row * p.outer_step + column * p.inner_step;
      for (std::int64_t j = 0; j < run; ++j) buffer[filled + j] = source[j * p.inner_step];
      filled += run;
      ++row;
      column = 0;
    }
    take(buffer, filled, begin);
    begin += filled;
  }
}

// take(rows, step, count, first_row) for rows [begin, end) of results [r, r + width), width <=
// kStrip: rows[i * step + j] belongs to result r + j. In place when results are neighbours, else
// packed.
template <class T>
void each_tile(const Elements& p, std::int64_t r, std::int64_t width, std::int64_t begin,
               std::int64_t end, T* buffer,
               Take<const T*, std::int64_t, std::int64_t, std::int64_t> take) {
  const T* origin = p.begin<T>(r);
  if (p.output_step == 1) {
    take(origin + begin * p.inner_step, p.inner_step, end - begin, begin);
    return;
  }
  const std::int64_t rows = std::max<std::int64_t>(1, kChunk / width);
  for (; begin < end; begin += rows) {
    const std::int64_t count = std::min(rows, end - begin);
    const T* source = origin + begin * p.inner_step;
    for (std::int64_t j = 0; j < width; ++j)
      for (std::int64_t i = 0; i < count; ++i)
        buffer[i * width + j] = source[j * p.output_step + i * p.inner_step];
    take(buffer, width, count, begin);
  }
}

}  // namespace trine::cpu
