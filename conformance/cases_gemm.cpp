// The cases of gemm.
#include <utility>

#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Values;
using Options = List::Options;

constexpr uint32_t kDtypes[] = {TRINE_F32, TRINE_F64, TRINE_I32};

trine_gemm plan(uint32_t dtype, int64_t m, int64_t n, int64_t k, double alpha = 1, double beta = 0,
                int64_t batch = 1) {
  return std::get<trine_gemm>(oracle::plan_gemm(dtype, m, n, k, alpha, beta, batch));
}

/// Its chains begin at c.
trine_gemm continued(trine_gemm op) {
  op.flags = TRINE_CONTINUES;
  op.beta = {};
  return op;
}

void add_shapes(List& list) {
  constexpr int64_t kShapes[][3] = {
      {0, 3, 3},      {3, 0, 3},     {3, 3, 0},      {1, 1, 1},     {1, 1, 100},  {2, 3, 4},
      {7, 5, 3},      {16, 16, 16},  {17, 15, 16},   {31, 33, 32},  {32, 32, 32}, {63, 65, 64},
      {64, 64, 64},   {65, 64, 63},  {66, 67, 65},   {1, 200, 33},  {200, 1, 33}, {128, 128, 17},
      {96, 100, 257}, {129, 127, 1}, {33, 35, 1025}, {128, 256, 64}};
  for (uint32_t dtype : kDtypes)
    for (const auto& [m, n, k] : kShapes)
      list.add(plan(dtype, m, n, k), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder,
                .quick = dtype == TRINE_F32 || (k == 63 && dtype == TRINE_F64),
                .fast = dtype == TRINE_F32});
  // Beyond one block of k: with beta the partial sums can't wait in C.
  for (uint32_t dtype : kDtypes) {
    list.add(plan(dtype, 65, 70, 1300, -1, 1), "nn", Values::kUniform, {.rungs = Rungs::kLadder});
    list.add(plan(dtype, 300, 310, 520, 1, 0), "nn", Values::kUniform, {.rungs = Rungs::kLadder});
    list.add(plan(dtype, 129, 513, 1100, 2, -0.5), "nn", Values::kUniform, {});
    list.add(plan(dtype, 384, 384, 384), "nn", Values::kUniform, {});
    list.add(plan(dtype, 1000, 3, 77, 1, 1), "nn", Values::kUniform, {});
    list.add(plan(dtype, 3, 1000, 77, 1, 1), "nn", Values::kUniform, {});
    list.add(plan(dtype, 5, 7, 5000), "nn", Values::kUniform, {});
  }
}

/// Row- and column-major for each operand, with padding and the smallest alignment.
void add_layouts(List& list) {
  const auto lay = [](trine_view& v, bool columns, int64_t pad) {
    v = columns ? oracle::dense_columns(v.rows, v.cols, v.batch)
                : oracle::dense_rows(v.rows, v.cols, v.batch);
    (columns ? v.col_stride : v.row_stride) += pad;
    v.batch_stride = (columns ? v.cols * v.col_stride : v.rows * v.row_stride) + pad;
  };
  for (uint32_t dtype : kDtypes)
    for (int mask = 0; mask < 8; ++mask)
      for (const auto& [m, n, k, batch] :
           {std::tuple<int64_t, int64_t, int64_t, int64_t>{33, 35, 37, 1},
            {64, 72, 48, 1},
            {19, 70, 21, 3},
            {1, 70, 21, 1},
            {70, 1, 21, 1}}) {
        const int64_t pad = m == 64 ? 0 : mask % 3 + 1;
        trine_gemm op = plan(dtype, m, n, k, 1, mask % 2 == 0 ? 0 : 1, batch);
        lay(op.a, (mask & 1) != 0, pad), lay(op.b, (mask & 2) != 0, pad),
            lay(op.c, (mask & 4) != 0, pad);
        if (pad == 1) op.a.offset = op.b.offset = op.c.offset = trine_dtype_size(dtype);
        const char letter[2] = {'n', 't'};
        const std::string name = {letter[mask & 1], letter[mask >> 1 & 1], letter[mask >> 2 & 1]};
        list.add(op, name, Values::kUniform,
                 {.rungs = m == 64 ? Rungs::kDefault : Rungs::kLadder,
                  .quick = dtype == TRINE_F32 && m == 33,
                  .detail = "pad=" + std::to_string(pad)});
        list.add(continued(op), name, Values::kUniform,
                 {.rungs = Rungs::kLadder, .detail = "pad=" + std::to_string(pad)});
      }
  // Each side that rungs for small products are compiled for.
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (int mask = 0; mask < 4; ++mask)
      for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{21, 24, 18},
                                    {32, 28, 31},
                                    {36, 40, 39},
                                    {48, 41, 47},
                                    {50, 56, 53},
                                    {64, 57, 60}}) {
        const int64_t pad = m % 8 == 0 ? 0 : 1;
        trine_gemm op = plan(dtype, m, n, k, -1, mask % 2, 2);
        lay(op.a, (mask & 1) != 0, pad), lay(op.b, (mask & 2) != 0, pad), lay(op.c, false, pad);
        const char letter[2] = {'n', 't'};
        list.add(op, {letter[mask & 1], letter[mask >> 1 & 1], 'n'}, Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = mask % 3 == 0});
      }
  // And of odd lines: without gaps, where every second matrix begins between vectors, of odd sides or with an even m
  // or k where that is no line; of even sides with gaps of one element.
  enum Odd { kSides, kLines, kGaps };
  for (int mask = 0; mask < 4; ++mask)
    for (const int64_t side : {23, 31, 39, 47, 55, 63})
      for (const Odd odd : {kSides, kLines, kGaps}) {
        if (odd == kLines && mask == 3) continue;  // each extent is one
        const bool turned = (mask & 1) != 0;
        const int64_t even = odd == kGaps;
        int64_t m = side + even, n = side - 2 + even, k = side - 4 + even;
        if (odd == kLines) ++(turned ? k : m);
        trine_gemm op = plan(TRINE_F64, m, n, k, -1, mask % 2, 3);
        lay(op.a, turned, even), lay(op.b, (mask & 2) != 0, even), lay(op.c, false, even);
        const char letter[2] = {'n', 't'};
        list.add(
            op, {letter[mask & 1], letter[mask >> 1 & 1], 'n'}, Values::kUniform,
            {.rungs = Rungs::kLadder, .quick = side == 31, .detail = even != 0 ? "pad=1" : ""});
      }
  for (uint32_t dtype : kDtypes) {
    trine_gemm op = plan(dtype, 40, 41, 23, 1, 0, 4);
    op.a.batch_stride = 0;
    list.add(op, "nn", Values::kUniform, {.rungs = Rungs::kLadder, .detail = "repeated_a"});
    op.b.batch_stride = 0, op.a.row_stride = 0;
    list.add(op, "nn", Values::kUniform, {.rungs = Rungs::kLadder, .detail = "repeated_row"});
    op = plan(dtype, 40, 41, 23);
    op.b.row_stride = 1, op.b.col_stride = 0;
    list.add(op, "nn", Values::kUniform, {.rungs = Rungs::kLadder, .detail = "repeated_column"});
  }
}

void add_scalars(List& list) {
  for (uint32_t dtype : kDtypes)
    for (const auto& [alpha, beta] : {std::pair{1.0, 1.0},
                                      {-2.0, 0.0},
                                      {3.0, -5.0},
                                      {0.0, 1.0},
                                      {0.0, 0.0},
                                      {0.0, -3.0},
                                      {1.0, -0.0},
                                      {-1.0, 1.0}})
      for (int64_t k : {0, 30}) {
        list.add(plan(dtype, 34, 45, k, alpha, beta), "nn", Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
      }
}

void add_values(List& list) {
  for (Values values : oracle::all_values())
    for (uint32_t dtype : kDtypes) {
      if (!oracle::suits(values, dtype)) continue;
      list.add(plan(dtype, 33, 39, 50), "nn", values,
               {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
      list.add(plan(dtype, 66, 20, 41, -2, 1), "nn", values, {.rungs = Rungs::kLadder});
    }
}

void add_parameters(List& list) {
  list.add(plan(TRINE_F32, 130, 77, 45, 1, 1), "nn", Values::kUniform,
           {.rungs = Rungs::kLadder, .parameters = true});
  list.add(plan(TRINE_F64, 130, 77, 45), "nn", Values::kUniform, {.rungs = Rungs::kLadder});
  // Multiples of every block, for parameters that ask for them.
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    list.add(plan(dtype, 128, 192, 96, -1, 2), "nn", Values::kUniform,
             {.rungs = Rungs::kLadder, .parameters = true});
  // Several of the largest blocks each way, and several of their stages of k.
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (int mask = 0; mask < 4; ++mask) {
      trine_gemm op = plan(dtype, 261, 517, 150, 3, mask % 2 == 0 ? 0 : -5, 2);
      if ((mask & 1) != 0) op.a = oracle::dense_columns(op.a.rows, op.a.cols, op.a.batch);
      if ((mask & 2) != 0) op.b = oracle::dense_columns(op.b.rows, op.b.cols, op.b.batch);
      const char letter[2] = {'n', 't'};
      list.add(op, {letter[mask & 1], letter[mask >> 1 & 1], 'n'}, Values::kUniform,
               {.rungs = Rungs::kLadder, .parameters = true});
    }
}

/// For rungs that split operands into parts, divide k and add sums up afterwards: chains of several such sums, of values
/// that have no parts, and a product so large that fast chooses such a rung.
void add_parts(List& list) {
  for (Values values : oracle::all_values())
    if (oracle::suits(values, TRINE_F32))
      list.add(plan(TRINE_F32, 70, 140, 1100, -1, 1), "nn", values, {.rungs = Rungs::kLadder});
  list.add(plan(TRINE_F32, 2048, 2048, 530), "nn", Values::kUniform, {.fast = true});
}

void add_hostile(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (Values values : {Values::kUniform, Values::kUnderflow, Values::kDenormal})
      list.add(plan(dtype, 66, 20, 41, -2, 1), "nn", values,
               {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32, .hostile_environment = true});
  // Scalars that a caller who takes denormals for zero would take for zero, and more steps than a block has.
  for (const auto& [dtype, tiny] :
       {std::pair(TRINE_F32, 0x1p-140), std::pair(TRINE_F64, 0x1p-1060)})
    for (const auto& [alpha, beta] :
         {std::pair(tiny, 0.0), std::pair(1.0, tiny), std::pair(tiny, tiny)})
      list.add(plan(uint32_t(dtype), 66, 20, 1300, alpha, beta), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder, .quick = true, .hostile_environment = true});
}

void add_continued(List& list) {
  constexpr int64_t kShapes[][3] = {{0, 3, 3},     {3, 3, 0},     {1, 1, 1},      {7, 5, 3},
                                    {16, 16, 16},  {63, 65, 64},  {66, 67, 65},   {1, 200, 33},
                                    {200, 1, 33},  {129, 127, 1}, {33, 35, 1025}, {65, 70, 1300},
                                    {5, 700, 1100}};
  for (uint32_t dtype : kDtypes) {
    for (const auto& [m, n, k] : kShapes)
      list.add(continued(plan(dtype, m, n, k)), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32, .fast = dtype == TRINE_F32});
    list.add(continued(plan(dtype, 384, 384, 384)), "nn", Values::kUniform, {});
    list.add(continued(plan(dtype, 384, 384, 17)), "nn", Values::kUniform,
             {.rungs = Rungs::kLadder, .parameters = true});
    list.add(continued(plan(dtype, 300, 310, 520, -1)), "nn", Values::kUniform, {});
    list.add(continued(plan(dtype, 130, 77, 45)), "nn", Values::kUniform,
             {.rungs = Rungs::kLadder, .parameters = true});
    for (const auto& [side, batch] : {std::pair{40, 4}, {32, 50}, {9, 1500}})
      list.add(continued(plan(dtype, side, side + 1, 23, 2, 0, batch)), "nn", Values::kUniform,
               {.rungs = Rungs::kLadder});
    for (const double alpha : {-2.0, 0.0, 3.0})
      for (int64_t k : {0, 30})
        list.add(continued(plan(dtype, 34, 45, k, alpha)), "nn", Values::kUniform,
                 {.rungs = Rungs::kLadder});
    for (Values values : oracle::all_values()) {
      if (!oracle::suits(values, dtype)) continue;
      for (int64_t k : {0, 50})
        list.add(continued(plan(dtype, 33, 39, k)), "nn", values,
                 {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
      if (dtype != TRINE_I32)
        list.add(continued(plan(dtype, 66, 20, 41, -2)), "nn", values,
                 {.rungs = Rungs::kLadder, .hostile_environment = true});
    }
  }
}

/// Chains in f64, of f32. The values that are wide, cancel or round to a denormal or to infinity tell one
/// rounding from two, and a chain in f64 from one in f32.
void add_accurate(List& list) {
  const auto add = [&](trine_gemm op, const char* layout, Values values, bool quick) -> Case& {
    op.numerics = TRINE_ACCURATE;
    return list.add(op, layout, values, {.rungs = Rungs::kLadder, .quick = quick});
  };
  constexpr int64_t kShapes[][3] = {{0, 3, 3},      {3, 3, 0},      {1, 1, 100},    {7, 5, 3},
                                    {17, 15, 16},   {63, 65, 64},   {64, 64, 64},   {66, 67, 65},
                                    {1, 200, 33},   {200, 1, 33},   {129, 127, 1},  {33, 35, 1025},
                                    {65, 70, 1300}, {128, 256, 64}, {300, 310, 520}};
  for (const auto& [m, n, k] : kShapes) {
    add(plan(TRINE_F32, m, n, k), "nn", Values::kUniform, k < 100);
    add(plan(TRINE_F32, m, n, k, -0.75, 1.25), "nn", Values::kUniform, false);
  }
  for (int mask = 0; mask < 8; ++mask)
    for (const int64_t batch : {1, 3}) {
      trine_gemm op = plan(TRINE_F32, 33, 70, 37, 1, mask % 2, batch);
      const auto lay = [&](trine_view& v, bool columns) {
        v = columns ? oracle::dense_columns(v.rows, v.cols, v.batch)
                    : oracle::dense_rows(v.rows, v.cols, v.batch);
        (columns ? v.col_stride : v.row_stride) += batch;
        v.batch_stride = (columns ? v.cols * v.col_stride : v.rows * v.row_stride) + batch;
      };
      lay(op.a, (mask & 1) != 0), lay(op.b, (mask & 2) != 0), lay(op.c, (mask & 4) != 0);
      if (batch == 3) op.a.offset = op.b.offset = op.c.offset = 4;
      const char letter[2] = {'n', 't'};
      const char name[] = {letter[mask & 1], letter[mask >> 1 & 1], letter[mask >> 2 & 1], 0};
      add(op, name, Values::kUniform, batch == 1);
    }
  // Several of the largest blocks each way, and several of their stages of k.
  for (int mask = 0; mask < 4; ++mask) {
    trine_gemm op = plan(TRINE_F32, 261, 517, 150, 3, mask % 2 == 0 ? 0 : -5, 2);
    if ((mask & 1) != 0) op.a = oracle::dense_columns(op.a.rows, op.a.cols, op.a.batch);
    if ((mask & 2) != 0) op.b = oracle::dense_columns(op.b.rows, op.b.cols, op.b.batch);
    const char letter[2] = {'n', 't'};
    add(op, std::string{letter[mask & 1], letter[mask >> 1 & 1], 'n'}.c_str(), Values::kUniform,
        false)
        .parameters = true;
  }
  add(plan(TRINE_F32, 128, 192, 96, -1, 2), "nn", Values::kUniform, false).parameters = true;
  trine_gemm repeated = plan(TRINE_F32, 40, 41, 23, 1, 0, 50);
  repeated.a.batch_stride = 0, repeated.b.row_stride = 0;
  add(repeated, "nn", Values::kUniform, false);
  for (const auto& [alpha, beta] : {std::pair{0.0, 1.0},
                                    {0.0, 0.0},
                                    {1.0, -0.0},
                                    {0x1p-140, 1.0},
                                    {1.0, 0x1p-140},
                                    {0x1p120, -3.0}})
    for (int64_t k : {0, 30})
      add(plan(TRINE_F32, 34, 45, k, alpha, beta), "nn", Values::kUniform, true);
  for (Values values : oracle::all_values()) {
    if (!oracle::suits(values, TRINE_F32)) continue;
    add(plan(TRINE_F32, 33, 39, 50), "nn", values, true);
    add(plan(TRINE_F32, 66, 20, 41, -2, 1), "nn", values, false).hostile_environment = true;
  }
}

}  // namespace

void add_gemm_cases(List& list) {
  add_shapes(list);
  add_layouts(list);
  add_scalars(list);
  add_values(list);
  add_parameters(list);
  add_parts(list);
  add_hostile(list);
  add_continued(list);
  add_accurate(list);
}

}  // namespace trine::conformance::detail
