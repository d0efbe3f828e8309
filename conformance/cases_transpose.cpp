// The cases of transpose.
#include "case.hpp"

#include <algorithm>
#include <utility>

namespace trine::conformance::detail {
namespace {

using oracle::Values;
using Options = List::Options;

constexpr uint32_t kSizes[] = {1, 2, 4, 8, 16};

trine_transpose plan(uint32_t element_size, int64_t rows, int64_t cols, int64_t batch = 1) {
  return std::get<trine_transpose>(oracle::plan_transpose(element_size, rows, cols, batch));
}

struct Layout {
  const char* name;
  void (*apply)(trine_transpose& op);
};

void pad(trine_view& v, int64_t by) {
  const bool by_rows = v.col_stride == 1;
  (by_rows ? v.row_stride : v.col_stride) += by;
  v.batch_stride = (by_rows ? v.rows * v.row_stride : v.cols * v.col_stride) + by;
}

const Layout kLayouts[] = {
    {"dense", [](trine_transpose&) {}},
    {"padded", [](trine_transpose& op) { pad(op.input, 5), pad(op.output, 3); }},
    {"unaligned",
     [](trine_transpose& op) {
       op.input.offset = op.output.offset = std::min(op.element_size, 4u);
       pad(op.output, 1);
     }},
    {"columns_in",
     [](trine_transpose& op) {
       op.input = oracle::dense_columns(op.input.rows, op.input.cols, op.input.batch);
     }},
    {"columns_out",
     [](trine_transpose& op) {
       op.output = oracle::dense_columns(op.output.rows, op.output.cols, op.output.batch);
       pad(op.output, 2);
     }},
    {"columns_both",
     [](trine_transpose& op) {
       op.input = oracle::dense_columns(op.input.rows, op.input.cols, op.input.batch);
       op.output = oracle::dense_columns(op.output.rows, op.output.cols, op.output.batch);
       pad(op.input, 7);
     }},
    {"repeated_row",
     [](trine_transpose& op) { op.input.row_stride = 0, op.input.batch_stride = 3; }},
    {"repeated_column",
     [](trine_transpose& op) {
       op.input.row_stride = 1, op.input.col_stride = 0, op.input.batch_stride = 1;
     }},
    {"repeated_batch", [](trine_transpose& op) { op.input.batch_stride = 0; }},
};

void add_shapes(List& list) {
  constexpr int64_t kShapes[][2] = {
      {0, 0},     {0, 5},     {5, 0},    {1, 1},    {1, 2},    {2, 1},   {1, 1000},  {1000, 1},
      {2, 2},     {3, 5},     {7, 7},    {8, 8},    {15, 17},  {16, 16}, {31, 33},   {32, 32},
      {33, 31},   {63, 65},   {64, 64},  {65, 63},  {97, 64},  {64, 97}, {127, 129}, {128, 128},
      {17, 1025}, {1025, 17}, {3, 4099}, {4099, 3}, {257, 509}};
  for (uint32_t size : kSizes)
    for (const auto& [rows, cols] : kShapes)
      list.add(plan(size, rows, cols), "dense", Values::kUniform,
               {.rungs = Rungs::kLadder, .quick = size == 4 || (rows == 65 && size == 8)});
  for (uint32_t size : kSizes) {
    list.add(plan(size, 1024, 1024), "dense", Values::kUniform, {.rungs = Rungs::kLadder});
    list.add(plan(size, 1023, 1025), "dense", Values::kUniform, {.quick = size == 1});
  }
}

void add_layouts(List& list) {
  for (uint32_t size : kSizes)
    for (const Layout& layout : kLayouts)
      for (const auto& [rows, cols, batch] :
           {std::tuple<int64_t, int64_t, int64_t>{67, 35, 1}, {64, 96, 1}, {33, 45, 3}}) {
        trine_transpose op = plan(size, rows, cols, batch);
        layout.apply(op);
        list.add(op, layout.name, Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = size == 4 && batch == 3});
      }
  for (uint32_t size : kSizes)
    list.add(plan(size, 15, 17, 50), "dense", Values::kUniform,
             {.rungs = Rungs::kLadder, .quick = size == 4});
  // Batches whose groups, the last one too, are whole multiples of eight bytes.
  list.add(plan(1, 3, 5, 4096), "dense", Values::kUniform,
           {.rungs = Rungs::kLadder, .quick = true});
  list.add(plan(1, 15, 17, 136), "dense", Values::kUniform, {.rungs = Rungs::kLadder});
  list.add(plan(2, 3, 5, 4096), "dense", Values::kUniform,
           {.rungs = Rungs::kLadder, .quick = true});
  // Many small matrices, more than a grid's last dimension may hold.
  list.add(plan(4, 3, 5, 70001), "dense", Values::kUniform, {});
  list.add(plan(8, 4, 2, 1000), "dense", Values::kUniform, {.rungs = Rungs::kLadder});
}

/// Long thin matrices whose narrow side has no gaps, of several pieces: lines begin and end within
/// words, the narrow side between boundaries of 16 bytes, or both sides at one.
void add_thin(List& list) {
  for (uint32_t size : {1u, 2u, 4u})
    for (const auto& [thin, length] :
         {std::pair<int64_t, int64_t>{2, 20001}, {3, 13002}, {16, 2051}})
      for (bool tall : {false, true}) {
        trine_transpose op = tall ? plan(size, length, thin) : plan(size, thin, length);
        op.input.offset = op.output.offset = 3 * size;
        list.add(op, "thin", Values::kUniform,
                 {.rungs = Rungs::kLadder, .quick = thin == 3 && size == 1});
      }
  for (uint32_t size : {1u, 2u})
    for (int64_t thin = 2; thin <= 8; ++thin)
      for (int64_t length : {int64_t{8192}, 8192 + 2 * thin + 1})
        for (bool tall : {false, true})
          list.add(tall ? plan(size, length, thin) : plan(size, thin, length), "dense",
                   Values::kUniform,
                   {.rungs = Rungs::kLadder, .quick = thin % 2 == 1 && length > 8192});
}

/// Thin matrices of each width from 9 to 31, so that lines, vectors and tiles end in the middle.
void add_narrow(List& list) {
  for (uint32_t size : kSizes)
    for (int64_t thin = 9; thin <= 31; ++thin) {
      const Options options{.rungs = Rungs::kLadder, .quick = size == 4 && thin % 8 == 1};
      list.add(plan(size, thin, 259), "dense", Values::kUniform, options);
      list.add(plan(size, 259, thin), "dense", Values::kUniform, options);
    }
}

/// Larger than a core's cache, where stores may go around it: rows that begin on cache lines, rows
/// that don't, and plain copies.
void add_large(List& list) {
  constexpr int64_t kBytes = int64_t{9} << 20;
  for (uint32_t size : kSizes) {
    int64_t side = 64;
    while (side * side * size < kBytes) side += 64;
    list.add(plan(size, side, side + 5), "dense", Values::kUniform, {});
    list.add(plan(size, side + 3, side + 1), "dense", Values::kUniform, {});
    trine_transpose copied = plan(size, side + 1, side + 7);
    kLayouts[3].apply(copied);
    list.add(copied, kLayouts[3].name, Values::kUniform, {});
  }
}

void add_parameters(List& list) {
  list.add(plan(4, 131, 77, 2), "dense", Values::kUniform,
           {.rungs = Rungs::kLadder, .parameters = true});
}

void add_far(List& list) {
  trine_transpose apart = plan(1, 3, 5);
  apart.input.row_stride = (int64_t{1} << 30) + 7;
  list.add(apart, "far", Values::kUniform, {.far = true});
}

}  // namespace

void add_transpose_cases(List& list) {
  add_shapes(list);
  add_layouts(list);
  add_thin(list);
  add_narrow(list);
  add_large(list);
  add_parameters(list);
  add_far(list);
}

}  // namespace trine::conformance::detail
