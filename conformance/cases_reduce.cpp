// The cases of reduce.
#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Values;
using Options = List::Options;

constexpr uint32_t kDtypes[] = {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64, TRINE_U32, TRINE_U64};
constexpr uint32_t kFloats[] = {TRINE_F32, TRINE_F64};
constexpr uint32_t kAxes[] = {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN};
constexpr uint32_t kFunctions[] = {TRINE_SUM, TRINE_PROD,   TRINE_MIN,
                                   TRINE_MAX, TRINE_ARGMIN, TRINE_ARGMAX};
constexpr uint32_t kMaps[] = {TRINE_IDENTITY, TRINE_ABS, TRINE_SQUARE};
const Options kLadder = {.rungs = Rungs::kLadder};

trine_reduce plan(uint32_t function, uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols,
                  uint32_t map = TRINE_IDENTITY) {
  return std::get<trine_reduce>(oracle::plan_reduce(function, map, axis, dtype, rows, cols));
}
trine_reduce sum(uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols,
                 uint32_t map = TRINE_IDENTITY) {
  return plan(TRINE_SUM, axis, dtype, rows, cols, map);
}
trine_reduce dot(uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols) {
  return sum(axis, dtype, rows, cols, TRINE_PRODUCT);
}
/// A sum of f32 that gives f64.
trine_reduce widened(trine_reduce op) {
  op.result_dtype = TRINE_F64;
  return op;
}

void add_dense(List& list, const trine_reduce& op, Values values, const Options& options = {}) {
  list.add(op, "dense", values, options);
}

struct Layout {
  const char* name;
  void (*apply)(trine_reduce& op);
};

/// How the input may lie in memory, and how far results are apart.
const Layout kLayouts[] = {
    {"dense", [](trine_reduce&) {}},
    {"padded",
     [](trine_reduce& op) {
       op.input.row_stride = op.input.cols + 3;
       op.input.offset = trine_dtype_size(op.dtype);
       op.output.offset = trine_dtype_size(op.result_dtype);
       op.output.row_stride = 3;
     }},
    {"columns",
     [](trine_reduce& op) { op.input.row_stride = 1, op.input.col_stride = op.input.rows; }},
    {"columns_padded",
     [](trine_reduce& op) {
       op.input.row_stride = 1, op.input.col_stride = op.input.rows + 5;
       op.input.offset = 3 * trine_dtype_size(op.dtype);
     }},
    {"every_other",
     [](trine_reduce& op) {
       op.input.col_stride = 2, op.input.row_stride = 2 * op.input.cols + 1;
     }},
    {"repeated_row", [](trine_reduce& op) { op.input.row_stride = 0; }},
    {"repeated_column", [](trine_reduce& op) { op.input.col_stride = 0, op.input.row_stride = 1; }},
    {"overlapping", [](trine_reduce& op) { op.input.col_stride = 1, op.input.row_stride = 1; }},
};
trine_reduce repeated_row(trine_reduce op) {
  op.input.row_stride = op.second.row_stride = 0;
  return op;
}
trine_reduce repeated_column(trine_reduce op) {
  kLayouts[6].apply(op);
  return op;
}

void add_sizes(List& list) {
  for (int64_t n :
       {0,   1,   2,   3,   7,    31,   32,   33,   63,   64,   65,   127,  129,   255,
        256, 257, 511, 513, 1023, 1024, 1025, 2047, 2049, 4093, 4097, 8191, 16385, 65537}) {
    const bool quick = n < 3 || n == 33 || n == 257 || n == 1023 || n == 4097 || n == 65537;
    add_dense(list, sum(TRINE_ALL, TRINE_F32, 1, n), Values::kUniform,
              {.rungs = Rungs::kLadder, .quick = quick, .fast = quick});
    add_dense(list, sum(TRINE_ALL, TRINE_F64, n, 1), Values::kWide, kLadder);
    add_dense(list, sum(TRINE_ALL, TRINE_I32, 1, n), Values::kExtremes, kLadder);
    add_dense(list, plan(TRINE_PROD, TRINE_ALL, TRINE_F32, 1, n), Values::kNearOne,
              {.quick = n == 1023});
    add_dense(list, plan(TRINE_ARGMAX, TRINE_ALL, TRINE_F32, 1, n), Values::kTies);
  }
  constexpr int64_t kShapes[][2] = {{0, 5},    {5, 0},    {1, 1000}, {1000, 1}, {4, 2000},
                                    {2000, 4}, {3, 1025}, {1025, 3}, {64, 64},  {65, 33}};
  for (const auto& [rows, cols] : kShapes)
    for (uint32_t axis : kAxes) {
      add_dense(list, sum(axis, TRINE_F32, rows, cols), Values::kCancel, kLadder);
      add_dense(list, sum(axis, TRINE_F64, rows, cols), Values::kUniform);
      add_dense(list, plan(TRINE_PROD, axis, TRINE_F64, rows, cols, TRINE_ABS), Values::kNearOne);
      add_dense(list, plan(TRINE_MIN, axis, TRINE_I32, rows, cols), Values::kUniform);
      add_dense(list, plan(TRINE_ARGMIN, axis, TRINE_F64, rows, cols, TRINE_ABS), Values::kTies);
    }
}

/// Long enough for several blocks or threads to share the work.
void add_long(List& list) {
  constexpr int64_t kLong = (1 << 20) + 7;
  for (Values values :
       {Values::kUniform, Values::kWide, Values::kCancel, Values::kMixed, Values::kHalfway}) {
    add_dense(list, sum(TRINE_ALL, TRINE_F32, 1, kLong), values,
              values == Values::kUniform ? kLadder : Options{});
    add_dense(list, sum(TRINE_ALL, TRINE_F64, 1, kLong / 2), values,
              {.quick = values == Values::kCancel});
  }
  for (uint32_t function : kFunctions)
    for (uint32_t dtype : {TRINE_F32, TRINE_I64})
      add_dense(list, plan(function, TRINE_ALL, dtype, 1, kLong / 2),
                dtype == TRINE_F32 ? Values::kNearOne : Values::kUniform);
  constexpr int64_t kShapes[][2] = {{3, 100003}, {100003, 3}, {700, 701}, {4, 65536}, {65536, 4}};
  for (const auto& [rows, cols] : kShapes)
    for (uint32_t axis : kAxes) {
      add_dense(list, sum(axis, TRINE_F32, rows, cols), Values::kWide);
      add_dense(list, sum(axis, TRINE_F64, rows, cols), Values::kCancel);
      add_dense(list, plan(TRINE_ARGMAX, axis, TRINE_F32, rows, cols), Values::kUniform);
      add_dense(list, plan(TRINE_PROD, axis, TRINE_F32, rows, cols), Values::kNearOne);
    }
}

/// Values whose mistakes only show when partial states of several threads or groups are merged.
void add_long_values(List& list) {
  constexpr int64_t kLong = (1 << 18) + 13;
  // Columns that groups share, by rows of the memory and by parts of them.
  constexpr int64_t kShared[][2] = {{100003, 5}, {16411, 70}};
  for (Values values : oracle::all_values())
    for (const auto& [rows, cols] : kShared)
      add_dense(list, sum(TRINE_EACH_COLUMN, TRINE_F32, rows, cols), values,
                {.quick = values == Values::kMixed});
  for (Values values : oracle::all_values())
    for (uint32_t dtype : kFloats) {
      add_dense(list, sum(TRINE_ALL, dtype, 1, kLong), values, {.quick = true});
      add_dense(list, sum(TRINE_ALL, dtype, 1, kLong, TRINE_SQUARE), values);
      add_dense(list, sum(TRINE_EACH_COLUMN, dtype, kLong / 4, 3), values);
      add_dense(list, sum(TRINE_EACH_ROW, dtype, 2, kLong / 2), values);
      if (dtype == TRINE_F32)
        add_dense(list, widened(sum(TRINE_ALL, dtype, 1, kLong, TRINE_ABS)), values);
    }
  for (uint32_t function : {TRINE_MIN, TRINE_MAX, TRINE_ARGMIN, TRINE_ARGMAX})
    for (Values values : {Values::kNan, Values::kZeros, Values::kTies, Values::kConstant,
                          Values::kInfinities, Values::kDenormal})
      for (uint32_t axis : kAxes) {
        const bool wide = axis == TRINE_EACH_ROW;
        add_dense(list, plan(function, axis, TRINE_F32, wide ? 3 : kLong / 3, wide ? kLong / 3 : 3),
                  values);
      }
}

/// Sums that a work-item's few doubles don't hold, although neighbours are alike. For the rungs of
/// one sum the long ones are several chunks a work-item, on large GPUs too.
void add_cancelling(List& list) {
  for (Values values : {Values::kCancelModerate, Values::kCancelSlowly})
    for (uint32_t dtype : kFloats)
      add_dense(list, sum(TRINE_ALL, dtype, 1, (1 << 18) + 13), values, kLadder);
  add_dense(list, sum(TRINE_ALL, TRINE_F32, 1, (1 << 22) + 5), Values::kCancelModerate);
  for (uint32_t dtype : kFloats)
    add_dense(list, sum(TRINE_ALL, dtype, 1, (1 << 22) + 5), Values::kCancelSlowly,
              {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
}

/// Rows of 9 to 31 elements: one to four vectors and a rest. The cpu has ways of its own for two to
/// four vectors, and GPUs move several rows in a group.
void add_short_rows(List& list) {
  for (int64_t cols = 9; cols <= 31; ++cols) {
    const bool quick = cols == 9 || cols == 17 || cols == 31;
    add_dense(list, sum(TRINE_EACH_ROW, TRINE_F32, 261, cols), Values::kUniform,
              {.rungs = Rungs::kLadder, .quick = quick});
    add_dense(list, sum(TRINE_EACH_ROW, TRINE_F64, 131, cols), Values::kMixed);
    trine_reduce padded = dot(TRINE_EACH_ROW, TRINE_F32, 67, cols);
    kLayouts[1].apply(padded);
    list.add(padded, "padded", Values::kUniform, {});
  }
}

/// Few columns of rows without gaps: a vector holds several of them, groups share them all. The
/// long ones are several chunks a work-item, on large GPUs too, and on up to 16 cores more than its
/// digits take without a carry.
void add_few_columns(List& list) {
  for (Values values : oracle::all_values()) {
    for (int64_t cols : {4, 8, 16, 32})
      add_dense(list, sum(TRINE_EACH_COLUMN, TRINE_F32, 262147 / cols, cols), values,
                {.rungs = Rungs::kLadder, .quick = cols == 4 || cols == 32});
    trine_reduce wide = widened(sum(TRINE_EACH_COLUMN, TRINE_F32, 2503, 8, TRINE_ABS));
    wide.input.offset = sizeof(float);
    list.add(wide, "offset", values, kLadder);
  }
  for (Values values : {Values::kUniform, Values::kWide, Values::kTail, Values::kLateInfinity})
    add_dense(list, sum(TRINE_EACH_COLUMN, TRINE_F32, (1 << 20) + 5003, 4), values, kLadder);
}

/// An infinity behind numbers that a work-item's few doubles don't hold: a kernel that stops at
/// these must still find it.
void add_late(List& list) {
  for (uint32_t dtype : kFloats)
    for (uint32_t map : {TRINE_IDENTITY, TRINE_SQUARE, TRINE_PRODUCT})
      add_dense(list, sum(TRINE_ALL, dtype, 1, (1 << 22) + 5, map), Values::kLateInfinity,
                {.rungs = Rungs::kLadder, .quick = map == TRINE_IDENTITY});
}

/// Numbers of one sign and size that a superaccumulator takes: its digits fill up and have to be
/// carried.
void add_tail(List& list) {
  for (uint32_t dtype : kFloats)
    add_dense(list, sum(TRINE_ALL, dtype, 1, (1 << 22) + 5), Values::kTail,
              {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F64});
}

/// Vectors that begin between the boundaries of wide loads, in groups of which some hold their
/// numbers in a few doubles and others don't: each element counts once, whichever way its group
/// takes.
void add_ways_apart(List& list) {
  // So few that one warp, or one vector, has them all.
  for (int64_t n : {1, 2, 33})
    add_dense(list, sum(TRINE_ALL, TRINE_F64, 1, n), Values::kDenormal, kLadder);
  for (Values values : {Values::kLone, Values::kCancelModerate, Values::kCancelSlowly})
    for (uint32_t dtype : kFloats)
      for (uint32_t map : {TRINE_IDENTITY, TRINE_SQUARE, TRINE_PRODUCT}) {
        trine_reduce op = sum(TRINE_ALL, dtype, 1, (1 << 18) + 13, map);
        op.input.offset = (dtype == TRINE_F32 ? 3 : 1) * trine_dtype_size(dtype);
        if (map == TRINE_PRODUCT) op.second.offset = op.input.offset;
        list.add(op, "offset", values, kLadder);
      }
}

void add_values(List& list) {
  for (Values values : oracle::all_values())
    for (uint32_t dtype : kFloats) {
      const bool f32 = dtype == TRINE_F32;
      // Quick on every rung for f32 alone: PoCL compiles one of them for ten seconds a dtype.
      add_dense(list, sum(TRINE_ALL, dtype, 1, 5003), values,
                {.rungs = Rungs::kLadder, .quick = f32, .fast = f32});
      list.add(sum(TRINE_EACH_ROW, dtype, 11, 389), "padded", values, kLadder);
      add_dense(list, sum(TRINE_EACH_COLUMN, dtype, 389, 11), values, kLadder);
      const trine_reduce square = sum(TRINE_ALL, dtype, 1, 3001, TRINE_SQUARE);
      add_dense(list, square, values, kLadder);
      if (f32) add_dense(list, widened(square), values);
    }
}

void add_layouts(List& list) {
  for (const Layout& layout : kLayouts)
    for (uint32_t axis : kAxes) {
      const auto add = [&](trine_reduce op, Values values, const Options& options = {}) {
        layout.apply(op);
        list.add(op, layout.name, values, options);
      };
      add(sum(axis, TRINE_F32, 37, 53), Values::kUniform, kLadder);
      add(sum(axis, TRINE_F64, 130, 67), Values::kWide, {.quick = axis != TRINE_ALL});
      add(sum(axis, TRINE_I64, 37, 530), Values::kUniform);
      add(plan(TRINE_ARGMAX, axis, TRINE_F32, 37, 53), Values::kTies);
      add(plan(TRINE_ARGMIN, axis, TRINE_I32, 260, 19, TRINE_ABS), Values::kSmall);
      add(plan(TRINE_PROD, axis, TRINE_F64, 37, 53), Values::kNearOne);
      add(plan(TRINE_MAX, axis, TRINE_U64, 37, 53, TRINE_ABS), Values::kUniform);
    }
}

/// Each rung on each dtype and axis, and on a choice of functions.
void add_ladder(List& list) {
  for (uint32_t dtype : kDtypes)
    for (uint32_t axis : kAxes)
      add_dense(list, sum(axis, dtype, 41, 59), Values::kUniform, kLadder);
  constexpr uint32_t kMore[][3] = {
      {TRINE_MIN, TRINE_IDENTITY, TRINE_F32},  {TRINE_ARGMAX, TRINE_IDENTITY, TRINE_F32},
      {TRINE_MAX, TRINE_ABS, TRINE_I32},       {TRINE_ARGMIN, TRINE_IDENTITY, TRINE_F64},
      {TRINE_PROD, TRINE_IDENTITY, TRINE_F64}, {TRINE_PROD, TRINE_IDENTITY, TRINE_U32}};
  for (const auto& [function, map, dtype] : kMore)
    for (uint32_t axis : kAxes)
      for (Values values : {Values::kTies, Values::kNan, Values::kExtremes, Values::kNearOne})
        if (oracle::suits(values, dtype))
          add_dense(list, plan(function, axis, dtype, 23, 91, map), values, kLadder);
}

/// Every function × map × dtype × axis × value class on the default rung.
void add_product(List& list) {
  for (uint32_t function : kFunctions)
    for (uint32_t map : kMaps)
      for (uint32_t dtype : kDtypes)
        for (uint32_t axis : kAxes)
          for (Values values :
               {Values::kUniform, Values::kMixed, Values::kDenormal, Values::kZeros, Values::kNan,
                Values::kInfinities, Values::kTies, Values::kExtremes, Values::kSmall}) {
            if (map == TRINE_SQUARE && function != TRINE_SUM) continue;
            if (!oracle::suits(values, dtype)) continue;
            trine_reduce op = plan(function, axis, dtype, 29, 67, map);
            const Layout& layout = kLayouts[(function + map + dtype + axis + uint32_t(values)) % 2];
            layout.apply(op);
            list.add(op, layout.name, values, {});
            if (dtype != TRINE_F32 || function != TRINE_SUM) continue;
            op.output.offset = 0;
            list.add(widened(op), layout.name, values, {});
          }
  // Elements that are packed, of long rows, and elements that are read in place meet within a
  // subtree.
  for (uint32_t dtype : kFloats) {
    trine_reduce op = plan(TRINE_PROD, TRINE_ALL, dtype, 3, 20011);
    kLayouts[1].apply(op);
    list.add(op, "padded", Values::kNearOne, {});
  }
}

/// Every value of every parameter of every rung, where blocks end in the middle.
void add_parameters(List& list) {
  const Options all = {.rungs = Rungs::kLadder, .parameters = true};
  for (uint32_t dtype : {TRINE_F32, TRINE_I32})
    add_dense(list, sum(TRINE_ALL, dtype, 1, 70001), Values::kUniform, all);
  // Values that a GPU's atomic addition takes for zero.
  add_dense(list, sum(TRINE_ALL, TRINE_F32, 1, 1025), Values::kDenormal, all);
}

/// Evenly spaced elements, which are all that some rungs take: from any offset (wider loads than an
/// element's have a head and a tail then), next to each other or not. Sums of integers show each
/// element that is lost or taken twice.
void add_sequences(List& list) {
  constexpr const char* kNames[] = {"repeated", "offset", "every_other"};
  for (uint32_t dtype : {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64})
    for (int64_t stride : {1, 2, 0})
      for (int64_t n : {2, 5, 1021, 30011}) {
        trine_reduce op = sum(TRINE_ALL, dtype, 1, n);
        op.input.col_stride = stride;
        op.input.offset = uint64_t(n % 4) * trine_dtype_size(dtype);
        list.add(op, kNames[stride], Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = dtype == TRINE_I32 && n == 1021});
      }
}

void add_hostile(List& list) {
  for (uint32_t dtype : kFloats)
    add_dense(list, sum(TRINE_ALL, dtype, 1, 5003), Values::kDenormal,
              {.quick = true, .hostile_environment = true});
  for (uint32_t axis : kAxes)
    for (uint32_t dtype : kFloats) {
      const auto add = [&](const trine_reduce& op, Values values) {
        add_dense(list, op, values,
                  {.quick = dtype == TRINE_F32 && axis == TRINE_ALL, .hostile_environment = true});
      };
      add(sum(axis, dtype, 300, 301), Values::kMixed);
      add(sum(axis, dtype, 300, 301), Values::kUniform);
      add(sum(axis, dtype, 130, 67, TRINE_SQUARE), Values::kUnderflow);
      add(plan(TRINE_PROD, axis, dtype, 130, 67), Values::kNearOne);
      add(plan(TRINE_PROD, axis, dtype, 3, 3), Values::kUnderflow);
      add(plan(TRINE_ARGMIN, axis, dtype, 130, 67, TRINE_ABS), Values::kDenormal);
    }
}

/// More than 2^31 elements, in little memory: one row repeated, or a row of repeated elements.
void add_huge(List& list) {
  constexpr int64_t kRows = (int64_t{1} << 21) + 1, kCols = int64_t{1} << 30;
  list.add(repeated_row(sum(TRINE_ALL, TRINE_F32, kRows, 1024)), "repeated_row", Values::kWide, {});
  // The winner stands in the last row, beyond index 2^31.
  const trine_reduce far = plan(TRINE_ARGMAX, TRINE_ALL, TRINE_I32, 3, kCols + 1, TRINE_ABS);
  list.add(repeated_column(far), "repeated_column", Values::kUniform, {});
  const trine_reduce rows = sum(TRINE_EACH_ROW, TRINE_F32, 2, kCols + 3);
  list.add(repeated_column(rows), "repeated_column", Values::kUniform, {});
  // Few elements, so far apart that an index of 32 bits can't reach them.
  trine_reduce apart = sum(TRINE_EACH_ROW, TRINE_I32, 3, 5);
  apart.input.row_stride = (int64_t{1} << 28) + 5;
  list.add(apart, "far", Values::kUniform, {.far = true});
}

// --- Dot products: two inputs, each in a layout of its own --------------------------------------

void add_dot_layouts(List& list) {
  constexpr size_t kCount = std::size(kLayouts);
  for (size_t i = 0; i < kCount; ++i)
    for (const size_t other : {size_t{0}, i, (i + 1) % kCount, (i + 3) % kCount})
      for (uint32_t axis : kAxes) {
        const auto add = [&](trine_reduce op, Values values, const Options& options = {}) {
          trine_reduce model = op;
          kLayouts[other].apply(model);
          kLayouts[i].apply(op);
          op.second = model.input;
          list.add(op, std::string(kLayouts[i].name) + " by " + kLayouts[other].name, values,
                   options);
        };
        add(dot(axis, TRINE_F32, 37, 53), Values::kUniform,
            {.rungs = Rungs::kLadder, .quick = other == i});
        add(dot(axis, TRINE_F64, 130, 67), Values::kWide);
        add(dot(axis, TRINE_F64, 3, 5003), Values::kCancel);
        add(dot(axis, TRINE_F32, 5003, 3), Values::kMixed);
      }
}

void add_dots(List& list) {
  for (int64_t n : {0, 1, 2, 7, 15, 33, 255, 257, 1025, 4097, 65537})
    for (uint32_t dtype : kFloats) {
      add_dense(list, dot(TRINE_ALL, dtype, 1, n), Values::kUniform,
                {.rungs = Rungs::kLadder, .quick = n < 300});
      add_dense(list, dot(TRINE_ALL, dtype, n, 1), Values::kWide);
    }
  constexpr int64_t kShapes[][2] = {{0, 5},    {5, 0},     {1, 1000},  {1000, 1}, {3, 1025},
                                    {1025, 3}, {4, 65536}, {65536, 4}, {700, 701}};
  for (const auto& [rows, cols] : kShapes)
    for (uint32_t axis : kAxes)
      for (uint32_t dtype : kFloats)
        add_dense(list, dot(axis, dtype, rows, cols), Values::kUniform);
  constexpr int64_t kLong = (1 << 18) + 13;
  for (Values values : oracle::all_values())
    for (uint32_t dtype : kFloats) {
      add_dense(list, dot(TRINE_ALL, dtype, 1, 5003), values,
                {.rungs = Rungs::kLadder, .quick = true});
      add_dense(list, dot(TRINE_EACH_ROW, dtype, 11, 389), values, kLadder);
      add_dense(list, dot(TRINE_EACH_COLUMN, dtype, 389, 11), values, kLadder);
      // All elements have one factor, so elements that cancel in the first input cancel in the
      // products, whatever their range.
      trine_reduce scaled = dot(TRINE_ALL, dtype, 1, 5003);
      scaled.second.col_stride = 0;
      list.add(scaled, "by repeated", values, kLadder);
      add_dense(list, dot(TRINE_ALL, dtype, 1, kLong), values);
      add_dense(list, dot(TRINE_EACH_COLUMN, dtype, kLong / 4, 3), values);
      add_dense(list, dot(TRINE_EACH_ROW, dtype, 2, kLong / 2), values);
      if (dtype == TRINE_F32) add_dense(list, widened(dot(TRINE_ALL, dtype, 1, 3001)), values);
    }
  for (uint32_t axis : kAxes)
    for (uint32_t dtype : kFloats)
      for (Values values : {Values::kUnderflow, Values::kMixed, Values::kDenormal})
        add_dense(list, dot(axis, dtype, 130, 67), values,
                  {.quick = axis == TRINE_ALL, .hostile_environment = true});
  constexpr int64_t kRows = (int64_t{1} << 21) + 1;
  list.add(repeated_row(dot(TRINE_ALL, TRINE_F32, kRows, 1024)), "repeated_row", Values::kWide, {});
}

}  // namespace

void add_reduce_cases(List& list) {
  for (const auto add :
       {add_sizes,      add_values,      add_layouts,     add_ladder,     add_product,
        add_long,       add_long_values, add_parameters,  add_sequences,  add_hostile,
        add_huge,       add_dots,        add_dot_layouts, add_cancelling, add_few_columns,
        add_short_rows, add_late,        add_tail,        add_ways_apart, add_state_cases})
    add(list);
}

}  // namespace trine::conformance::detail
