// The cases of gemm.
#include <utility>

#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Values;
using Options = List::Options;

constexpr uint32_t kDtypes[] = {TRINE_F32, TRINE_F64, TRINE_I32};
const Options kLadder = {.rungs = Rungs::kLadder};

struct Shape {
  int64_t m, n, k;
};

trine_gemm plan(uint32_t dtype, const Shape& s, double alpha = 1, double beta = 0,
                int64_t batch = 1) {
  return std::get<trine_gemm>(oracle::plan_gemm(dtype, s.m, s.n, s.k, alpha, beta, batch));
}

/// Its chains begin at c.
trine_gemm continued(trine_gemm op) {
  op.flags = TRINE_CONTINUES;
  op.beta = {};
  return op;
}

void move_origins(trine_gemm& op) {
  op.a.offset = op.b.offset = op.c.offset = trine_dtype_size(op.dtype);
}

void add_shapes(List& list) {
  constexpr Shape kShapes[] = {
      {0, 3, 3},      {3, 0, 3},     {3, 3, 0},      {1, 1, 1},     {1, 1, 100},  {2, 3, 4},
      {7, 5, 3},      {16, 16, 16},  {17, 15, 16},   {31, 33, 32},  {32, 32, 32}, {63, 65, 64},
      {64, 64, 64},   {65, 64, 63},  {66, 67, 65},   {1, 200, 33},  {200, 1, 33}, {128, 128, 17},
      {96, 100, 257}, {129, 127, 1}, {33, 35, 1025}, {128, 256, 64}};
  for (uint32_t dtype : kDtypes)
    for (const Shape& s : kShapes)
      list.add(plan(dtype, s), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder,
                .quick = dtype == TRINE_F32 || (s.k == 63 && dtype == TRINE_F64),
                .fast = dtype == TRINE_F32});
  // Beyond one block of k: with beta the partial sums can't wait in C.
  for (uint32_t dtype : kDtypes) {
    const auto add = [&](const Shape& s, double alpha, double beta, const Options& options = {}) {
      list.add(plan(dtype, s, alpha, beta), "nn", Values::kUniform, options);
    };
    add({65, 70, 1300}, -1, 1, kLadder);
    add({300, 310, 520}, 1, 0, kLadder);
    add({129, 513, 1100}, 2, -0.5);
    add({384, 384, 384}, 1, 0);
    add({1000, 3, 77}, 1, 1);
    add({3, 1000, 77}, 1, 1);
    add({5, 7, 5000}, 1, 0);
  }
}

/// Row- and column-major for each operand, with padding and the smallest alignment.
void add_layouts(List& list) {
  constexpr int64_t kShapes[][4] = {
      {33, 35, 37, 1}, {64, 72, 48, 1}, {19, 70, 21, 3}, {1, 70, 21, 1}, {70, 1, 21, 1}};
  for (uint32_t dtype : kDtypes)
    for (int mask = 0; mask < 8; ++mask)
      for (const auto& [m, n, k, batch] : kShapes) {
        const int64_t pad = m == 64 ? 0 : mask % 3 + 1;
        trine_gemm op = plan(dtype, {m, n, k}, 1, mask % 2 == 0 ? 0 : 1, batch);
        const std::string name = lay_out(op, mask, pad);
        if (pad == 1) move_origins(op);
        Options options = {.rungs = m == 64 ? Rungs::kDefault : Rungs::kLadder,
                           .quick = dtype == TRINE_F32 && m == 33,
                           .detail = "pad=" + std::to_string(pad)};
        list.add(op, name, Values::kUniform, options);
        options.rungs = Rungs::kLadder, options.quick = false;
        list.add(continued(op), name, Values::kUniform, options);
      }
}

/// Each side that rungs for small products are compiled for.
void add_small(List& list) {
  constexpr Shape kShapes[] = {{21, 24, 18}, {32, 28, 31}, {36, 40, 39},
                               {48, 41, 47}, {50, 56, 53}, {64, 57, 60}};
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (int mask = 0; mask < 4; ++mask)
      for (const Shape& s : kShapes) {
        trine_gemm op = plan(dtype, s, -1, mask % 2, 2);
        const std::string name = lay_out(op, mask, s.m % 8 == 0 ? 0 : 1);
        list.add(op, name, Values::kUniform, {.rungs = Rungs::kLadder, .quick = mask % 3 == 0});
      }
  // Odd rows and columns. Some have no gaps, so that every second matrix begins between vectors;
  // among them are even m and k that aren't the length of a row or column. Others have even sides
  // and gaps of one element.
  enum Odd { kSides, kLengths, kGaps };
  for (int mask = 0; mask < 4; ++mask)
    for (const int64_t side : {23, 31, 39, 47, 55, 63})
      for (const Odd odd : {kSides, kLengths, kGaps}) {
        if (odd == kLengths && mask == 3) continue;  // each extent is one
        const int64_t even = odd == kGaps;
        Shape s = {side + even, side - 2 + even, side - 4 + even};
        if (odd == kLengths) ++((mask & 1) != 0 ? s.k : s.m);
        trine_gemm op = plan(TRINE_F64, s, -1, mask % 2, 3);
        const std::string name = lay_out(op, mask, even);
        list.add(
            op, name, Values::kUniform,
            {.rungs = Rungs::kLadder, .quick = side == 31, .detail = even != 0 ? "pad=1" : ""});
      }
}

/// Inputs that repeat a matrix, a row or a column.
void add_repeated(List& list) {
  for (uint32_t dtype : kDtypes) {
    trine_gemm op = plan(dtype, {40, 41, 23}, 1, 0, 4);
    const auto add = [&](const char* detail) {
      list.add(op, "nn", Values::kUniform, {.rungs = Rungs::kLadder, .detail = detail});
    };
    op.a.batch_stride = 0;
    add("repeated_a");
    op.b.batch_stride = 0, op.a.row_stride = 0;
    add("repeated_row");
    op = plan(dtype, {40, 41, 23});
    op.b.row_stride = 1, op.b.col_stride = 0;
    add("repeated_column");
  }
}

void add_scalars(List& list) {
  constexpr double kScalars[][2] = {{1, 1}, {-2, 0}, {3, -5},   {0, 1},
                                    {0, 0}, {0, -3}, {1, -0.0}, {-1, 1}};
  for (uint32_t dtype : kDtypes)
    for (const auto& [alpha, beta] : kScalars)
      for (int64_t k : {0, 30})
        list.add(plan(dtype, {34, 45, k}, alpha, beta), "nn", Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
}

void add_values(List& list) {
  for (Values values : oracle::all_values())
    for (uint32_t dtype : kDtypes) {
      if (!oracle::suits(values, dtype)) continue;
      list.add(plan(dtype, {33, 39, 50}), "nn", values,
               {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
      list.add(plan(dtype, {66, 20, 41}, -2, 1), "nn", values, kLadder);
    }
}

/// Several of the largest blocks in each direction, and several of their stages of k.
void add_blocks(List& list, uint32_t dtype) {
  for (int mask = 0; mask < 4; ++mask) {
    trine_gemm op = plan(dtype, {261, 517, 150}, 3, mask % 2 == 0 ? 0 : -5, 2);
    const std::string name = lay_out(op, mask);
    list.add(op, name, Values::kUniform, {.rungs = Rungs::kLadder, .parameters = true});
  }
}

void add_parameters(List& list) {
  const Options all = {.rungs = Rungs::kLadder, .parameters = true};
  list.add(plan(TRINE_F32, {130, 77, 45}, 1, 1), "nn", Values::kUniform, all);
  list.add(plan(TRINE_F64, {130, 77, 45}), "nn", Values::kUniform, kLadder);
  // Multiples of every block, for parameters that ask for them.
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    list.add(plan(dtype, {128, 192, 96}, -1, 2), "nn", Values::kUniform, all);
  for (uint32_t dtype : {TRINE_F32, TRINE_F64}) add_blocks(list, dtype);
}

/// For rungs that split operands into parts, divide k and add sums afterwards: chains of several
/// such sums, values that have no parts, and a product so large that fast chooses such a rung.
void add_parts(List& list) {
  for (Values values : oracle::all_values())
    if (oracle::suits(values, TRINE_F32))
      list.add(plan(TRINE_F32, {70, 140, 1100}, -1, 1), "nn", values, kLadder);
  list.add(plan(TRINE_F32, {2048, 2048, 530}), "nn", Values::kUniform, {.fast = true});
}

void add_hostile(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (Values values : {Values::kUniform, Values::kUnderflow, Values::kDenormal})
      list.add(plan(dtype, {66, 20, 41}, -2, 1), "nn", values,
               {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32, .hostile_environment = true});
  // Scalars that a caller who takes denormals for zero would take for zero, and more steps than a
  // block has.
  for (const auto& [dtype, tiny] :
       {std::pair(TRINE_F32, 0x1p-140), std::pair(TRINE_F64, 0x1p-1060)})
    for (const auto& [alpha, beta] :
         {std::pair(tiny, 0.0), std::pair(1.0, tiny), std::pair(tiny, tiny)})
      list.add(plan(uint32_t(dtype), {66, 20, 1300}, alpha, beta), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder, .quick = true, .hostile_environment = true});
}

void add_continued(List& list) {
  constexpr Shape kShapes[] = {{0, 3, 3},     {3, 3, 0},     {1, 1, 1},      {7, 5, 3},
                               {16, 16, 16},  {63, 65, 64},  {66, 67, 65},   {1, 200, 33},
                               {200, 1, 33},  {129, 127, 1}, {33, 35, 1025}, {65, 70, 1300},
                               {5, 700, 1100}};
  const Options all = {.rungs = Rungs::kLadder, .parameters = true};
  for (uint32_t dtype : kDtypes) {
    const bool f32 = dtype == TRINE_F32;
    const auto add = [&](const trine_gemm& op, const Options& options,
                         Values values = Values::kUniform) {
      list.add(continued(op), "nn", values, options);
    };
    for (const Shape& s : kShapes)
      add(plan(dtype, s), {.rungs = Rungs::kLadder, .quick = f32, .fast = f32});
    add(plan(dtype, {384, 384, 384}), {});
    add(plan(dtype, {384, 384, 17}), all);
    add(plan(dtype, {300, 310, 520}, -1), {});
    add(plan(dtype, {130, 77, 45}), all);
    for (const auto& [side, batch] : {std::pair{40, 4}, {32, 50}, {9, 1500}})
      add(plan(dtype, {side, side + 1, 23}, 2, 0, batch), kLadder);
    for (const double alpha : {-2.0, 0.0, 3.0})
      for (int64_t k : {0, 30}) add(plan(dtype, {34, 45, k}, alpha), kLadder);
    for (Values values : oracle::all_values()) {
      if (!oracle::suits(values, dtype)) continue;
      for (int64_t k : {0, 50})
        add(plan(dtype, {33, 39, k}), {.rungs = Rungs::kLadder, .quick = f32}, values);
      if (dtype != TRINE_I32)
        add(plan(dtype, {66, 20, 41}, -2), {.rungs = Rungs::kLadder, .hostile_environment = true},
            values);
    }
  }
}

}  // namespace

std::string lay_out(trine_gemm& op, int mask, int64_t pad) {
  std::string name;
  for (trine_view* v : {&op.a, &op.b, &op.c}) {
    const bool columns = (mask >> name.size() & 1) != 0;
    *v = columns ? oracle::dense_columns(v->rows, v->cols, v->batch)
                 : oracle::dense_rows(v->rows, v->cols, v->batch);
    int64_t& pitch = columns ? v->col_stride : v->row_stride;
    pitch += pad;
    v->batch_stride = (columns ? v->cols : v->rows) * pitch + pad;
    name += columns ? 't' : 'n';
  }
  return name;
}

void add_gemm_cases(List& list) {
  add_shapes(list);
  add_layouts(list);
  add_small(list);
  add_repeated(list);
  add_scalars(list);
  add_values(list);
  add_parameters(list);
  add_parts(list);
  add_hostile(list);
  add_continued(list);
  add_exact_cases(list);
}

}  // namespace trine::conformance::detail
