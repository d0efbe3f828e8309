// The cases of reduce.
#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Operation;
using oracle::Values;
using Options = List::Options;

constexpr uint32_t kDtypes[] = {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64, TRINE_U32, TRINE_U64};
constexpr uint32_t kAxes[] = {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN};
constexpr uint32_t kFunctions[] = {TRINE_SUM, TRINE_PROD,   TRINE_MIN,
                                   TRINE_MAX, TRINE_ARGMIN, TRINE_ARGMAX};
constexpr uint32_t kMaps[] = {TRINE_IDENTITY, TRINE_ABS, TRINE_SQUARE};

trine_reduce plan(uint32_t function, uint32_t map, uint32_t axis, uint32_t dtype, int64_t rows,
                  int64_t cols) {
  return std::get<trine_reduce>(oracle::plan_reduce(function, map, axis, dtype, rows, cols));
}
trine_reduce sum(uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols) {
  return plan(TRINE_SUM, TRINE_IDENTITY, axis, dtype, rows, cols);
}

trine_reduce dot(uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols) {
  return plan(TRINE_SUM, TRINE_PRODUCT, axis, dtype, rows, cols);
}

struct Layout {
  const char* name;
  void (*apply)(trine_reduce& op);
};

/// How the input (and the output's spacing) may lie in memory.
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

void add_sizes(List& list) {
  for (int64_t n :
       {0,   1,   2,   3,   7,    31,   32,   33,   63,   64,   65,   127,  129,   255,
        256, 257, 511, 513, 1023, 1024, 1025, 2047, 2049, 4093, 4097, 8191, 16385, 65537}) {
    const bool quick = n < 3 || n == 33 || n == 257 || n == 1023 || n == 4097 || n == 65537;
    list.add(sum(TRINE_ALL, TRINE_F32, 1, n), "dense", Values::kUniform,
             {.rungs = Rungs::kLadder, .quick = quick, .fast = quick});
    list.add(sum(TRINE_ALL, TRINE_F64, n, 1), "dense", Values::kWide, {.rungs = Rungs::kLadder});
    list.add(sum(TRINE_ALL, TRINE_I32, 1, n), "dense", Values::kExtremes,
             {.rungs = Rungs::kLadder});
    list.add(plan(TRINE_PROD, TRINE_IDENTITY, TRINE_ALL, TRINE_F32, 1, n), "dense",
             Values::kNearOne, {.quick = n == 1023});
    list.add(plan(TRINE_ARGMAX, TRINE_IDENTITY, TRINE_ALL, TRINE_F32, 1, n), "dense", Values::kTies,
             {});
  }
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 5},
                                   {5, 0},
                                   {1, 1000},
                                   {1000, 1},
                                   {4, 2000},
                                   {2000, 4},
                                   {3, 1025},
                                   {1025, 3},
                                   {64, 64},
                                   {65, 33}})
    for (uint32_t axis : kAxes) {
      list.add(sum(axis, TRINE_F32, rows, cols), "dense", Values::kCancel,
               {.rungs = Rungs::kLadder});
      list.add(sum(axis, TRINE_F64, rows, cols), "dense", Values::kUniform, {});
      list.add(plan(TRINE_PROD, TRINE_ABS, axis, TRINE_F64, rows, cols), "dense", Values::kNearOne,
               {});
      list.add(plan(TRINE_MIN, TRINE_IDENTITY, axis, TRINE_I32, rows, cols), "dense",
               Values::kUniform, {});
      list.add(plan(TRINE_ARGMIN, TRINE_ABS, axis, TRINE_F64, rows, cols), "dense", Values::kTies,
               {});
    }
}

/// Long enough for several blocks or threads to share the work.
void add_long(List& list) {
  constexpr int64_t kLong = (1 << 20) + 7;
  for (Values values :
       {Values::kUniform, Values::kWide, Values::kCancel, Values::kMixed, Values::kHalfway}) {
    list.add(sum(TRINE_ALL, TRINE_F32, 1, kLong), "dense", values,
             {.rungs = values == Values::kUniform ? Rungs::kLadder : Rungs::kDefault});
    list.add(sum(TRINE_ALL, TRINE_F64, 1, kLong / 2), "dense", values,
             {.quick = values == Values::kCancel});
  }
  for (uint32_t function : kFunctions)
    for (uint32_t dtype : {TRINE_F32, TRINE_I64})
      list.add(plan(function, TRINE_IDENTITY, TRINE_ALL, dtype, 1, kLong / 2), "dense",
               dtype == TRINE_F32 ? Values::kNearOne : Values::kUniform, {});
  for (const auto& [rows, cols] :
       {std::pair<int64_t, int64_t>{3, 100003}, {100003, 3}, {700, 701}, {4, 65536}, {65536, 4}})
    for (uint32_t axis : kAxes) {
      list.add(sum(axis, TRINE_F32, rows, cols), "dense", Values::kWide, {});
      list.add(sum(axis, TRINE_F64, rows, cols), "dense", Values::kCancel, {});
      list.add(plan(TRINE_ARGMAX, TRINE_IDENTITY, axis, TRINE_F32, rows, cols), "dense",
               Values::kUniform, {});
      list.add(plan(TRINE_PROD, TRINE_IDENTITY, axis, TRINE_F32, rows, cols), "dense",
               Values::kNearOne, {});
    }
}

/// What only shows when partial states of several threads or groups meet.
void add_long_values(List& list) {
  constexpr int64_t kLong = (1 << 18) + 13;
  // Columns that groups share, by rows of the memory and by parts of them.
  for (Values values : oracle::all_values())
    for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{100003, 5}, {16411, 70}})
      list.add(sum(TRINE_EACH_COLUMN, TRINE_F32, rows, cols), "dense", values,
               {.quick = values == Values::kMixed});
  for (Values values : oracle::all_values())
    for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      list.add(sum(TRINE_ALL, dtype, 1, kLong), "dense", values, {.quick = true});
      list.add(plan(TRINE_SUM, TRINE_SQUARE, TRINE_ALL, dtype, 1, kLong), "dense", values, {});
      list.add(sum(TRINE_EACH_COLUMN, dtype, kLong / 4, 3), "dense", values, {});
      list.add(sum(TRINE_EACH_ROW, dtype, 2, kLong / 2), "dense", values, {});
      if (dtype == TRINE_F64) continue;
      trine_reduce wide = plan(TRINE_SUM, TRINE_ABS, TRINE_ALL, dtype, 1, kLong);
      wide.result_dtype = TRINE_F64;
      list.add(wide, "dense", values, {});
    }
  for (uint32_t function : {TRINE_MIN, TRINE_MAX, TRINE_ARGMIN, TRINE_ARGMAX})
    for (Values values : {Values::kNan, Values::kZeros, Values::kTies, Values::kConstant,
                          Values::kInfinities, Values::kDenormal})
      for (uint32_t axis : kAxes)
        list.add(
            plan(function, TRINE_IDENTITY, axis, TRINE_F32, axis == TRINE_EACH_ROW ? 3 : kLong / 3,
                 axis == TRINE_EACH_ROW ? kLong / 3 : 3),
            "dense", values, {});
}

/// What a work-item's few doubles don't hold though neighbours are alike; for one sum's own rungs the
/// long ones are several chunks a work-item, on large GPUs too.
void add_cancelling(List& list) {
  for (Values values : {Values::kCancelModerate, Values::kCancelSlowly})
    for (uint32_t dtype : {TRINE_F32, TRINE_F64})
      list.add(sum(TRINE_ALL, dtype, 1, (1 << 18) + 13), "dense", values,
               {.rungs = Rungs::kLadder});
  list.add(sum(TRINE_ALL, TRINE_F32, 1, (1 << 22) + 5), "dense", Values::kCancelModerate, {});
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    list.add(sum(TRINE_ALL, dtype, 1, (1 << 22) + 5), "dense", Values::kCancelSlowly,
             {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F32});
}

/// Lines of 9 to 31 elements: one to four vectors and a rest. The cpu has ways of its own for two to four vectors, and GPUs
/// move several lines in a group.
void add_short_lines(List& list) {
  for (int64_t cols = 9; cols <= 31; ++cols) {
    const bool quick = cols == 9 || cols == 17 || cols == 31;
    list.add(sum(TRINE_EACH_ROW, TRINE_F32, 261, cols), "dense", Values::kUniform,
             {.rungs = Rungs::kLadder, .quick = quick});
    list.add(sum(TRINE_EACH_ROW, TRINE_F64, 131, cols), "dense", Values::kMixed, {});
    trine_reduce padded = dot(TRINE_EACH_ROW, TRINE_F32, 67, cols);
    kLayouts[1].apply(padded);
    list.add(padded, "padded", Values::kUniform, {});
  }
}

/// Few columns of rows without gaps: a vector holds several of them, groups share them all. The long ones are several
/// chunks a work-item, on large GPUs too, and on up to 16 cores more than its digits take without a carry.
void add_few_columns(List& list) {
  for (Values values : oracle::all_values()) {
    for (int64_t cols : {4, 8, 16, 32})
      list.add(sum(TRINE_EACH_COLUMN, TRINE_F32, 262147 / cols, cols), "dense", values,
               {.rungs = Rungs::kLadder, .quick = cols == 4 || cols == 32});
    trine_reduce wide = plan(TRINE_SUM, TRINE_ABS, TRINE_EACH_COLUMN, TRINE_F32, 2503, 8);
    wide.result_dtype = TRINE_F64;
    wide.input.offset = sizeof(float);
    list.add(wide, "offset", values, {.rungs = Rungs::kLadder});
  }
  for (Values values : {Values::kUniform, Values::kWide, Values::kTail, Values::kLateInfinity})
    list.add(sum(TRINE_EACH_COLUMN, TRINE_F32, (1 << 20) + 5003, 4), "dense", values,
             {.rungs = Rungs::kLadder});
}

/// An infinity behind what a work-item's few doubles don't hold: whoever stops there still has to see it.
void add_late(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    for (uint32_t map : {TRINE_IDENTITY, TRINE_SQUARE, TRINE_PRODUCT})
      list.add(plan(TRINE_SUM, map, TRINE_ALL, dtype, 1, (1 << 22) + 5), "dense",
               Values::kLateInfinity, {.rungs = Rungs::kLadder, .quick = map == TRINE_IDENTITY});
}

/// Numbers of one sign and size that a superaccumulator takes: its digits fill up and have to be carried.
void add_tail(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_F64})
    list.add(sum(TRINE_ALL, dtype, 1, (1 << 22) + 5), "dense", Values::kTail,
             {.rungs = Rungs::kLadder, .quick = dtype == TRINE_F64});
}

/// Vectors that begin between the boundaries of wide loads, in groups of which some hold their numbers in
/// a few doubles and others don't: each element counts once, whichever way its group takes.
void add_ways_apart(List& list) {
  // So few that one warp, or one vector, has them all.
  for (int64_t n : {1, 2, 33})
    list.add(sum(TRINE_ALL, TRINE_F64, 1, n), "dense", Values::kDenormal,
             {.rungs = Rungs::kLadder});
  for (Values values : {Values::kLone, Values::kCancelModerate, Values::kCancelSlowly})
    for (uint32_t dtype : {TRINE_F32, TRINE_F64})
      for (uint32_t map : {TRINE_IDENTITY, TRINE_SQUARE, TRINE_PRODUCT}) {
        trine_reduce op = plan(TRINE_SUM, map, TRINE_ALL, dtype, 1, (1 << 18) + 13);
        op.input.offset = op.second.offset = (dtype == TRINE_F32 ? 3 : 1) * trine_dtype_size(dtype);
        if (map != TRINE_PRODUCT) op.second = {};
        list.add(op, "offset", values, {.rungs = Rungs::kLadder});
      }
}

void add_values(List& list) {
  for (Values values : oracle::all_values())
    for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      const bool f32 = dtype == TRINE_F32;
      // Quick on every rung for f32 alone: PoCL compiles one of them for ten seconds a dtype.
      list.add(sum(TRINE_ALL, dtype, 1, 5003), "dense", values,
               {.rungs = Rungs::kLadder, .quick = f32, .fast = f32});
      list.add(sum(TRINE_EACH_ROW, dtype, 11, 389), "padded", values, {.rungs = Rungs::kLadder});
      list.add(sum(TRINE_EACH_COLUMN, dtype, 389, 11), "dense", values, {.rungs = Rungs::kLadder});
      auto square = plan(TRINE_SUM, TRINE_SQUARE, TRINE_ALL, dtype, 1, 3001);
      list.add(square, "dense", values, {.rungs = Rungs::kLadder});
      if (!f32) continue;
      square.result_dtype = TRINE_F64;
      list.add(square, "dense", values, {});
    }
}

void add_layouts(List& list) {
  for (const Layout& layout : kLayouts)
    for (uint32_t axis : kAxes) {
      const auto add = [&](trine_reduce op, Values values, const Options& options) {
        layout.apply(op);
        list.add(op, layout.name, values, options);
      };
      add(sum(axis, TRINE_F32, 37, 53), Values::kUniform, {.rungs = Rungs::kLadder});
      add(sum(axis, TRINE_F64, 130, 67), Values::kWide, {.quick = axis != TRINE_ALL});
      add(sum(axis, TRINE_I64, 37, 530), Values::kUniform, {});
      add(plan(TRINE_ARGMAX, TRINE_IDENTITY, axis, TRINE_F32, 37, 53), Values::kTies, {});
      add(plan(TRINE_ARGMIN, TRINE_ABS, axis, TRINE_I32, 260, 19), Values::kSmall, {});
      add(plan(TRINE_PROD, TRINE_IDENTITY, axis, TRINE_F64, 37, 53), Values::kNearOne, {});
      add(plan(TRINE_MAX, TRINE_ABS, axis, TRINE_U64, 37, 53), Values::kUniform, {});
    }
}

/// Each rung on each dtype and axis, and on a choice of functions.
void add_ladder(List& list) {
  for (uint32_t dtype : kDtypes)
    for (uint32_t axis : kAxes)
      list.add(sum(axis, dtype, 41, 59), "dense", Values::kUniform, {.rungs = Rungs::kLadder});
  constexpr uint32_t kMore[][3] = {
      {TRINE_MIN, TRINE_IDENTITY, TRINE_F32},  {TRINE_ARGMAX, TRINE_IDENTITY, TRINE_F32},
      {TRINE_MAX, TRINE_ABS, TRINE_I32},       {TRINE_ARGMIN, TRINE_IDENTITY, TRINE_F64},
      {TRINE_PROD, TRINE_IDENTITY, TRINE_F64}, {TRINE_PROD, TRINE_IDENTITY, TRINE_U32}};
  for (const auto& [function, map, dtype] : kMore)
    for (uint32_t axis : kAxes)
      for (Values values : {Values::kTies, Values::kNan, Values::kExtremes, Values::kNearOne})
        if (oracle::suits(values, dtype))
          list.add(plan(function, map, axis, dtype, 23, 91), "dense", values,
                   {.rungs = Rungs::kLadder});
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
            trine_reduce op = plan(function, map, axis, dtype, 29, 67);
            const bool padded = (function + map + dtype + axis + uint32_t(values)) % 2 != 0;
            kLayouts[padded ? 1 : 0].apply(op);
            list.add(op, padded ? "padded" : "dense", values, {});
            if (dtype != TRINE_F32 || function != TRINE_SUM) continue;
            op.result_dtype = TRINE_F64;
            op.output.offset = 0;
            list.add(op, padded ? "padded" : "dense", values, {});
          }
  // What is packed of long rows and what is read where it lies meet within a subtree.
  for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
    trine_reduce op = plan(TRINE_PROD, TRINE_IDENTITY, TRINE_ALL, dtype, 3, 20011);
    kLayouts[1].apply(op);
    list.add(op, "padded", Values::kNearOne, {});
  }
}

/// Every value of every parameter of every rung, where blocks end in the middle.
void add_parameters(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_I32})
    list.add(sum(TRINE_ALL, dtype, 1, 70001), "dense", Values::kUniform,
             {.rungs = Rungs::kLadder, .parameters = true});
  // Which a GPU's atomic addition takes for zero.
  list.add(sum(TRINE_ALL, TRINE_F32, 1, 1025), "dense", Values::kDenormal,
           {.rungs = Rungs::kLadder, .parameters = true});
}

/// Evenly spaced elements, which are all that some rungs take: from any offset (wider loads than an
/// element's have a head and a tail then), next to each other or not. Sums of integers show each
/// element that is lost or taken twice.
void add_sequences(List& list) {
  for (uint32_t dtype : {TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64})
    for (int64_t stride : {1, 2, 0})
      for (int64_t n : {2, 5, 1021, 30011}) {
        trine_reduce op = sum(TRINE_ALL, dtype, 1, n);
        op.input.col_stride = stride;
        op.input.offset = uint64_t(n % 4) * trine_dtype_size(dtype);
        list.add(op,
                 stride == 1   ? "offset"
                 : stride == 0 ? "repeated"
                               : "every_other",
                 Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = dtype == TRINE_I32 && n == 1021});
      }
}

void add_hostile(List& list) {
  const Options hostile{.quick = true, .hostile_environment = true};
  list.add(sum(TRINE_ALL, TRINE_F32, 1, 5003), "dense", Values::kDenormal, hostile);
  list.add(sum(TRINE_ALL, TRINE_F64, 1, 5003), "dense", Values::kDenormal, hostile);
  for (uint32_t axis : kAxes)
    for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      Options options = hostile;
      options.quick = dtype == TRINE_F32 && axis == TRINE_ALL;
      list.add(sum(axis, dtype, 300, 301), "dense", Values::kMixed, options);
      list.add(sum(axis, dtype, 300, 301), "dense", Values::kUniform, options);
      list.add(plan(TRINE_SUM, TRINE_SQUARE, axis, dtype, 130, 67), "dense", Values::kUnderflow,
               options);
      list.add(plan(TRINE_PROD, TRINE_IDENTITY, axis, dtype, 130, 67), "dense", Values::kNearOne,
               options);
      list.add(plan(TRINE_PROD, TRINE_IDENTITY, axis, dtype, 3, 3), "dense", Values::kUnderflow,
               options);
      list.add(plan(TRINE_ARGMIN, TRINE_ABS, axis, dtype, 130, 67), "dense", Values::kDenormal,
               options);
    }
}

/// More than 2^31 elements, in little memory: one row repeated, or a row of repeated elements.
void add_huge(List& list) {
  trine_reduce repeated = sum(TRINE_ALL, TRINE_F32, (int64_t{1} << 21) + 1, 1024);
  repeated.input.row_stride = 0;
  list.add(repeated, "repeated_row", Values::kWide, {});
  // The winner stands in the last row, beyond index 2^31.
  trine_reduce far = plan(TRINE_ARGMAX, TRINE_ABS, TRINE_ALL, TRINE_I32, 3, (int64_t{1} << 30) + 1);
  far.input.row_stride = 1, far.input.col_stride = 0;
  list.add(far, "repeated_column", Values::kUniform, {});
  trine_reduce rows = sum(TRINE_EACH_ROW, TRINE_F32, 2, (int64_t{1} << 30) + 3);
  rows.input.row_stride = 1, rows.input.col_stride = 0;
  list.add(rows, "repeated_column", Values::kUniform, {});
  // Few elements, so far apart that an index of 32 bits can't reach them.
  trine_reduce apart = sum(TRINE_EACH_ROW, TRINE_I32, 3, 5);
  apart.input.row_stride = (int64_t{1} << 28) + 5;
  list.add(apart, "far", Values::kUniform, {.far = true});
}

// --- Dot products: two inputs, each in a layout of its own -----------------------------------------

void add_dot_layouts(List& list) {
  for (size_t i = 0; i < std::size(kLayouts); ++i)
    for (const size_t other :
         {size_t{0}, i, (i + 1) % std::size(kLayouts), (i + 3) % std::size(kLayouts)})
      for (uint32_t axis : kAxes) {
        const auto add = [&](trine_reduce op, Values values, const Options& options) {
          trine_reduce model = op;
          kLayouts[other].apply(model);
          kLayouts[i].apply(op);
          op.second = model.input;
          list.add(op, std::string(kLayouts[i].name) + " by " + kLayouts[other].name, values,
                   options);
        };
        add(dot(axis, TRINE_F32, 37, 53), Values::kUniform,
            {.rungs = Rungs::kLadder, .quick = other == i});
        add(dot(axis, TRINE_F64, 130, 67), Values::kWide, {});
        add(dot(axis, TRINE_F64, 3, 5003), Values::kCancel, {});
        add(dot(axis, TRINE_F32, 5003, 3), Values::kMixed, {});
      }
}

void add_dots(List& list) {
  for (int64_t n : {0, 1, 2, 7, 15, 33, 255, 257, 1025, 4097, 65537})
    for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      list.add(dot(TRINE_ALL, dtype, 1, n), "dense", Values::kUniform,
               {.rungs = Rungs::kLadder, .quick = n < 300});
      list.add(dot(TRINE_ALL, dtype, n, 1), "dense", Values::kWide, {});
    }
  for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 5},
                                   {5, 0},
                                   {1, 1000},
                                   {1000, 1},
                                   {3, 1025},
                                   {1025, 3},
                                   {4, 65536},
                                   {65536, 4},
                                   {700, 701}})
    for (uint32_t axis : kAxes)
      for (uint32_t dtype : {TRINE_F32, TRINE_F64})
        list.add(dot(axis, dtype, rows, cols), "dense", Values::kUniform, {});
  constexpr int64_t kLong = (1 << 18) + 13;
  for (Values values : oracle::all_values())
    for (uint32_t dtype : {TRINE_F32, TRINE_F64}) {
      list.add(dot(TRINE_ALL, dtype, 1, 5003), "dense", values,
               {.rungs = Rungs::kLadder, .quick = true});
      list.add(dot(TRINE_EACH_ROW, dtype, 11, 389), "dense", values, {.rungs = Rungs::kLadder});
      list.add(dot(TRINE_EACH_COLUMN, dtype, 389, 11), "dense", values, {.rungs = Rungs::kLadder});
      // One factor for all: what cancels in the first input cancels in the products, whatever their range.
      trine_reduce scaled = dot(TRINE_ALL, dtype, 1, 5003);
      scaled.second.col_stride = 0;
      list.add(scaled, "by repeated", values, {.rungs = Rungs::kLadder});
      list.add(dot(TRINE_ALL, dtype, 1, kLong), "dense", values, {});
      list.add(dot(TRINE_EACH_COLUMN, dtype, kLong / 4, 3), "dense", values, {});
      list.add(dot(TRINE_EACH_ROW, dtype, 2, kLong / 2), "dense", values, {});
      if (dtype == TRINE_F64) continue;
      trine_reduce wide = dot(TRINE_ALL, dtype, 1, 3001);
      wide.result_dtype = TRINE_F64;
      list.add(wide, "dense", values, {});
    }
  for (uint32_t axis : kAxes)
    for (uint32_t dtype : {TRINE_F32, TRINE_F64})
      for (Values values : {Values::kUnderflow, Values::kMixed, Values::kDenormal})
        list.add(dot(axis, dtype, 130, 67), "dense", values,
                 {.quick = axis == TRINE_ALL, .hostile_environment = true});
  trine_reduce repeated = dot(TRINE_ALL, TRINE_F32, (int64_t{1} << 21) + 1, 1024);
  repeated.input.row_stride = repeated.second.row_stride = 0;
  list.add(repeated, "repeated_row", Values::kWide, {});
}

}  // namespace

void add_reduce_cases(List& list) {
  add_sizes(list);
  add_values(list);
  add_layouts(list);
  add_ladder(list);
  add_product(list);
  add_long(list);
  add_long_values(list);
  add_parameters(list);
  add_sequences(list);
  add_hostile(list);
  add_huge(list);
  add_dots(list);
  add_dot_layouts(list);
  add_cancelling(list);
  add_few_columns(list);
  add_short_lines(list);
  add_late(list);
  add_tail(list);
  add_ways_apart(list);
}

}  // namespace trine::conformance::detail
