// The rows of reduce on made-up devices: what is chosen, refused and launched, without a driver.
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "backends/gpu/variant.hpp"
#include "tests/faults/abi_objects.hpp"

namespace {

using namespace trine::gpu;

struct Device {
  explicit Device(uint32_t kind, const char* driver, uint64_t capabilities = ~uint64_t{0}) {
    facts.kind = kind;
    facts.capabilities = capabilities;
    std::snprintf(facts.driver, sizeof facts.driver, "%s", driver);
  }
  trine_device_facts facts = faults::gpu();
};

trine_reduce reduce_of(uint32_t function, uint32_t axis, uint32_t dtype, int64_t rows,
                       int64_t cols) {
  trine_reduce op = faults::sum_of(nullptr, nullptr, rows, cols);
  op.function = function;
  op.axis = axis;
  op.dtype = op.result_dtype = dtype;
  return op;
}

std::string_view chosen(const Device& device, const trine_reduce& op, Backends backend = kOpencl) {
  const Target target{backend, &device.facts};
  const Preferred wishes = prefer_reduce(target, op);
  EXPECT_NE(wishes.all[0].why, nullptr);
  return wishes.all[0].variant->name;
}

/// The reason why the variant `name` refuses the call, "" when it takes the call.
std::string_view refusal(const char* name, Backends backend, const Device& device,
                         const trine_reduce& op) {
  const Target target{backend, &device.facts};
  const trine_selection selection{};
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  for (const Variant& variant : reduce_variants()) {
    if (std::string_view(variant.name) != name) continue;
    const char* reason = reason_against(variant, {target, selection, call, nullptr});
    return reason ? reason : "";
  }
  return "no such rung";
}

constexpr const char* kPocl3 = "Portable Computing Language, driver 3.1+debian";
constexpr const char* kPocl5 = "Portable Computing Language, driver 5.0-2build3";
constexpr const char* kNvidia = "NVIDIA CUDA, driver 580.159.04";

const Variant& row_called(std::string_view name) {
  for (const Variant& variant : reduce_variants())
    if (variant.name == name) return variant;
  throw std::invalid_argument("no such rung");
}

/// The one launch of a row's plan on an H200, without memory.
Launch launch_of(const char* name, const trine_reduce& op) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  const Target target{kCuda, &h200.facts};
  const trine_selection selection{};
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  const trine_workspace workspace{sizeof workspace, nullptr, 0, 1 << 20};
  Plan plan;
  row_called(name).plan({target, selection, call, &workspace}, plan);
  EXPECT_EQ(plan.launch_count, 1);
  return plan.launches[0];
}

TEST(ReduceRows, ChooseVectorsOnCpusAndGroupsOnGpus) {
  for (uint32_t function = TRINE_SUM; function <= TRINE_ARGMAX; ++function) {
    const auto op = reduce_of(function, TRINE_ALL, TRINE_F32, 1, 1000);
    EXPECT_EQ(chosen(Device(TRINE_DEVICE_CPU, kPocl5), op), "exact_vector");
    EXPECT_EQ(chosen(Device(TRINE_DEVICE_GPU, kNvidia), op), function == TRINE_SUM ? "exact_stream"
                                                             : function == TRINE_PROD
                                                                 ? "product_stream"
                                                                 : "exact");
  }
}

TEST(ReduceRows, SumManyLinesByTheirOwnLanes) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  const auto lines = [&](uint32_t axis, int64_t rows, int64_t cols, uint32_t dtype = TRINE_F32) {
    return chosen(h200, reduce_of(TRINE_SUM, axis, dtype, rows, cols), kCuda);
  };
  EXPECT_EQ(lines(TRINE_EACH_ROW, 4096, 4096), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 4 << 20, 4), "exact_short");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 16, 1 << 20), "exact_short");
  EXPECT_EQ(chosen(h200, reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 4096, 4096), kOpencl),
            "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 16384, 1024), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 1000, 1000), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 5000, 77), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 9000, 77), "exact_columns");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 1000, 1000), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 300, 30000), "exact_stream");  // a group each
  EXPECT_EQ(lines(TRINE_EACH_ROW, 721, 2049), "exact_stream");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 722, 2049), "exact_lines");
  EXPECT_EQ(chosen(h200, reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 300, 30000), kOpencl),
            "exact");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 1000, 100000), "exact_lines");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 30000, 300), "exact_columns");
  EXPECT_EQ(lines(TRINE_EACH_ROW, 4, 4 << 20), "exact_stream");  // too few lines to fill the device
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 4 << 20, 4), "exact_columns");
  EXPECT_EQ(lines(TRINE_EACH_COLUMN, 4 << 20, 5), "exact_columns");
  EXPECT_EQ(lines(TRINE_ALL, 4096, 4096), "exact_stream");
  EXPECT_NE(refusal("exact_lines", kCuda, h200,
                    reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F64, 4096, 4096)),
            "");
  for (const uint32_t map : {TRINE_SQUARE, TRINE_PRODUCT}) {
    trine_reduce products = reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 4096, 4096);
    products.map = map;
    EXPECT_NE(refusal("exact_lines", kCuda, h200, products), "") << map;
  }
}

TEST(ReduceRows, LongRowsHaveMoreLanesWhereTheLastGroupsAreFew) {
  // 528 groups are on an H200 at once. The last ones: rows too short for more, or a full device.
  for (const auto& [rows, cols, lanes] : std::vector<std::array<int64_t, 3>>{{3000, 50000, 128},
                                                                             {5000, 20000, 128},
                                                                             {10000, 10000, 64},
                                                                             {3000, 5000, 32},
                                                                             {4096, 4096, 32}}) {
    const auto op = reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, rows, cols);
    EXPECT_EQ(launch_of("exact_lines", op).grid[0], divide_up(rows, 256 / lanes)) << rows;
  }
}

TEST(ReduceRows, StreamOneSumOfNeighbours) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  trine_reduce op = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F64, 1, 1000);
  EXPECT_EQ(refusal("exact_stream", kCuda, h200, op), "");
  op.map = TRINE_SQUARE;
  EXPECT_EQ(refusal("exact_stream", kCuda, h200, op), "");
  EXPECT_EQ(chosen(h200, op, kCuda), "exact_stream");
  EXPECT_EQ(chosen(h200, op, kOpencl), "exact_stream");
  op.map = TRINE_PRODUCT;
  EXPECT_NE(refusal("exact_stream", kCuda, h200, op), "") << "two inputs of 106 bits a term";
  op.map = TRINE_SQUARE;
  op.dtype = TRINE_F32;
  EXPECT_EQ(refusal("exact_stream", kCuda, h200, op), "");
  EXPECT_EQ(chosen(h200, op, kCuda), "exact_stream");
  EXPECT_EQ(chosen(h200, op, kOpencl), "exact_stream");
  op.input.col_stride = 2;
  EXPECT_NE(refusal("exact_stream", kCuda, h200, op), "");
  EXPECT_NE(refusal("exact_stream", kCuda, h200,
                    reduce_of(TRINE_SUM, TRINE_EACH_COLUMN, TRINE_F32, 2000, 2)),
            "");
  // One group a multiprocessor, small ones up to two loads a work-item; all records find room.
  for (const auto& [n, groups, threads] :
       std::vector<std::array<int64_t, 3>>{{1000, 1, 256},
                                           {4097, 2, 256},
                                           {1 << 18, 64, 256},
                                           {1 << 20, 132, 256},
                                           {1100000, 132, 512},
                                           {1 << 24, 132, 512},
                                           {1 << 26, 132, 512}}) {
    const auto one = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, n);
    const Launch launch = launch_of("exact_stream", one);
    EXPECT_EQ(launch.grid[0], groups) << n;
    EXPECT_EQ(launch.block[0], threads) << n;
    EXPECT_LE(groups * 24, TRINE_CONTROL_BYTES);
  }
  auto squares = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, 1 << 25);
  squares.map = TRINE_SQUARE;
  EXPECT_EQ(launch_of("exact_stream", squares).block[0], 1024);
  // Rows share the multiprocessors; what waits for others is there with them.
  for (const auto& [rows, groups] :
       std::vector<std::array<int64_t, 2>>{{2, 132}, {5, 130}, {66, 132}, {100, 100}, {500, 500}}) {
    const auto few = reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, rows, 1 << 22);
    const Launch launch = launch_of("exact_stream", few);
    EXPECT_EQ(launch.grid[0], groups) << rows;
  }
}

TEST(ReduceRows, StreamSumsOfF64OnlyWhereThatWasMeasured) {
  const Device nvidia(TRINE_DEVICE_GPU, kNvidia),
      other(TRINE_DEVICE_GPU, "another", ~uint64_t{TRINE_CAN_INLINE_PTX});
  const auto f32 = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, 1 << 22),
             f64 = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F64, 1, 1 << 22);
  EXPECT_EQ(chosen(nvidia, f64, kCuda), "exact_stream");
  EXPECT_EQ(chosen(nvidia, f64), "exact_stream");
  EXPECT_EQ(chosen(other, f64), "exact");
  EXPECT_EQ(chosen(other, f32), "exact_stream");
}

TEST(ReduceRows, FoldNeighboursByWarps) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  trine_reduce op = reduce_of(TRINE_ARGMIN, TRINE_ALL, TRINE_F32, 1, 1000);
  EXPECT_EQ(refusal("fold_stream", kCuda, h200, op), "");
  EXPECT_EQ(chosen(h200, op, kCuda), "fold_stream");
  EXPECT_EQ(chosen(h200, op, kOpencl), "exact");
  const Device without_warps(TRINE_DEVICE_GPU, "another", ~uint64_t{TRINE_CAN_INLINE_PTX});
  EXPECT_NE(refusal("fold_stream", kOpencl, without_warps, op), "");
  EXPECT_EQ(chosen(without_warps, op), "exact");
  op.input.col_stride = 2;
  EXPECT_NE(refusal("fold_stream", kCuda, h200, op), "");
  for (const auto& [function, dtype] : {std::pair{TRINE_MIN, TRINE_I32},
                                        {TRINE_MIN, TRINE_F64},
                                        {TRINE_SUM, TRINE_F32},
                                        {TRINE_PROD, TRINE_F32}})
    EXPECT_NE(refusal("fold_stream", kCuda, h200, reduce_of(function, TRINE_ALL, dtype, 1, 9)), "");
  EXPECT_EQ(chosen(h200, reduce_of(TRINE_MAX, TRINE_EACH_ROW, TRINE_F32, 133, 1 << 20), kCuda),
            "exact");
  // A group a multiprocessor, of a span at least, alone there; a record takes up to two words.
  for (const auto& [n, rows, groups] : std::vector<std::array<int64_t, 3>>{
           {8192, 1, 1}, {8193, 1, 2}, {1 << 24, 1, 132}, {1 << 24, 5, 130}}) {
    const auto axis = rows == 1 ? TRINE_ALL : TRINE_EACH_ROW;
    const Launch launch =
        launch_of("fold_stream", reduce_of(TRINE_ARGMAX, axis, TRINE_F32, rows, n));
    EXPECT_EQ(launch.grid[0], groups) << n;
    EXPECT_LE(groups * 16, TRINE_CONTROL_BYTES);
    EXPECT_GT(2 * launch.dynamic_local_bytes, h200.facts.local_memory_bytes);
  }
}

TEST(ReduceRows, ProductsOfNeighboursByWarps) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  trine_reduce op = reduce_of(TRINE_PROD, TRINE_ALL, TRINE_F32, 1, 1000);
  EXPECT_EQ(refusal("product_stream", kCuda, h200, op), "");
  const Device without_warps(TRINE_DEVICE_GPU, "another", ~uint64_t{TRINE_CAN_INLINE_PTX});
  EXPECT_NE(refusal("product_stream", kOpencl, without_warps, op), "");
  op.input.col_stride = 2;
  EXPECT_NE(refusal("product_stream", kCuda, h200, op), "");
  // Units of 8192, which double where their products would be more than one unit.
  for (const auto& [n, groups] : std::vector<std::array<int64_t, 2>>{
           {8192, 1}, {8193, 2}, {1 << 20, 128}, {1 << 24, 528}, {(1 << 26) + 1, 528}}) {
    const auto one = reduce_of(TRINE_PROD, TRINE_ALL, TRINE_F32, 1, n);
    const Launch launch = launch_of("product_stream", one);
    EXPECT_EQ(launch.grid[0], groups) << n;
  }
}

TEST(ReduceRows, ShortLinesTakeWholeGroups) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  for (const auto& [cols, at_once] : std::vector<std::array<int64_t, 2>>{
           {1, 4}, {3, 4}, {4, 4}, {5, 2}, {8, 2}, {9, 1}, {16, 1}}) {
    const auto op = reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 100000, cols);
    const Launch launch = launch_of("exact_short", op);
    EXPECT_EQ(launch.grid[0], divide_up(100000, 256 * at_once)) << cols;
  }
  EXPECT_NE(refusal("exact_short", kCuda, h200,
                    reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 100000, 17)),
            "");
}

TEST(ReduceRows, ColumnsAreSharedByAllGroups) {
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  const auto columns = [](int64_t rows, int64_t cols) {
    return reduce_of(TRINE_SUM, TRINE_EACH_COLUMN, TRINE_F32, rows, cols);
  };
  for (int64_t cols : {2, 3, 4, 10, 33, 64, 100, 128}) {
    EXPECT_EQ(launch_of("exact_columns", columns(1 << 22, cols)).grid[0], 132u) << cols;
    EXPECT_LE(launch_of("exact_columns", columns(2048 / cols, cols)).grid[0], 4u) << cols;
  }
  // Tiles cover them, of 32 columns at most where the device holds all of those, in groups that are
  // on the device at once; columns of rows that don't begin at 16 bytes are those of two or four
  // rows. The kernel gets the number of tiles and what divides a work-item's number by the vectors
  // of a tile's row.
  for (const auto& [rows, cols, joined] : std::vector<std::array<int64_t, 3>>{{30000, 300, 1},
                                                                              {1000, 1000, 1},
                                                                              {5000, 77, 1},
                                                                              {4096, 4096, 1},
                                                                              {9999, 999, 1},
                                                                              {3000, 5000, 1},
                                                                              {100000, 100, 1},
                                                                              {99999, 10, 2},
                                                                              {99999, 63, 4}}) {
    const Launch launch = launch_of("exact_columns", columns(rows, cols));
    const int64_t width = launch.arguments[13].i32, splits = launch.arguments[17].i32;
    EXPECT_EQ(launch.arguments[8].i64, joined) << cols;
    EXPECT_LE(width, joined > 1 ? 256 : cols > 4224 ? 128 : 32);  // 132 tiles of 32
    EXPECT_EQ(launch.grid[0], divide_up(cols * joined, width) * splits);
    EXPECT_EQ(launch.grid[0], launch.arguments[11].i64 * splits);
    const int32_t inverse = launch.arguments[16].i32;
    for (int32_t k = 0; k <= 512; ++k) EXPECT_EQ(k * inverse >> 16, k / (width / 4)) << width;
    EXPECT_LE(launch.grid[0], 132u);
  }
  const auto refused = [&](const trine_reduce& op) {
    return refusal("exact_columns", kCuda, h200, op);
  };
  EXPECT_EQ(refused(columns(1 << 22, 4)), "");
  EXPECT_NE(refused(columns(1 << 22, 1)), "");
  EXPECT_NE(refused(columns(int64_t{1} << 36, 4)), "") << "its doubles don't hold so many";
  EXPECT_NE(refused(columns(int64_t{1} << 31, 4)), "") << "64 bits don't hold so many";
  trine_reduce gaps = columns(1 << 22, 4);
  gaps.input.row_stride = 5;
  EXPECT_EQ(refused(gaps), "");
  gaps.input.row_stride = 3;
  EXPECT_NE(refused(gaps), "") << "rows overlap";
  gaps.input.row_stride = 10;
  gaps.input.col_stride = 2;
  EXPECT_NE(refused(gaps), "");
  EXPECT_NE(refused(reduce_of(TRINE_SUM, TRINE_EACH_ROW, TRINE_F32, 1 << 22, 4)), "");
}

TEST(ReduceRows, LinesTakeWholeGroups) {
  // Every line once, by lanes that fill the device and have sixteen elements each where there are
  // so many.
  const Device h200(TRINE_DEVICE_GPU, kNvidia);
  const Target target{kCuda, &h200.facts};
  const trine_selection selection{};
  for (uint32_t axis : {TRINE_EACH_ROW, TRINE_EACH_COLUMN}) {
    for (const auto& [rows, cols] : std::vector<std::pair<int64_t, int64_t>>{
             {1, 1}, {4096, 4096}, {4095, 4097}, {1024, 16384}, {4 << 20, 4}, {3, 5000}}) {
      const auto op = reduce_of(TRINE_SUM, axis, TRINE_F32, rows, cols);
      const trine_call call{sizeof call, TRINE_REDUCE, &op};
      for (const Variant& variant : reduce_variants()) {
        if (std::string_view(variant.name) != "exact_lines") continue;
        Plan plan;
        variant.plan({target, selection, call, nullptr}, plan);
        ASSERT_EQ(plan.launch_count, 1);
        const Launch& l = plan.launches[0];
        const int64_t lines = axis == TRINE_EACH_ROW ? rows : cols;
        const int width = l.arguments[13].i32, lanes = 1 << l.arguments[14].i32;
        EXPECT_EQ(unsigned(width * lanes), l.block[0]);
        EXPECT_GE(int64_t(l.grid[0]) * width, lines);
        EXPECT_LT((int64_t(l.grid[0]) - 1) * width, lines);
      }
    }
  }
}

TEST(TransposeRows, BatchWhatIsSmallAndShiftWhatStartsAnywhere) {
  constexpr uint64_t kNoWarps = ~uint64_t{TRINE_CAN_INLINE_PTX};
  const auto chosen = [](uint32_t bytes, int64_t batch, int64_t rows, int64_t cols, int64_t pad = 0,
                         Backends backend = kCuda, uint64_t capabilities = ~uint64_t{0}) {
    const Device device(TRINE_DEVICE_GPU, kNvidia, capabilities);
    trine_transpose op{};
    op.element_size = bytes;
    op.input = {nullptr, 0, rows, cols, batch, cols + pad, 1, rows * (cols + pad)};
    op.output = {nullptr, 0, cols, rows, batch, rows + pad, 1, cols * (rows + pad)};
    return std::string_view(prefer_transpose({backend, &device.facts}, op).all[0].variant->name);
  };
  EXPECT_EQ(chosen(4, 1, 4096, 4096), "vector");
  EXPECT_EQ(chosen(4, 1, 4095, 4097), "shifted");
  EXPECT_EQ(chosen(4, 1, 4095, 4097, 0, kOpencl), "shifted");
  EXPECT_EQ(chosen(4, 1, 4096, 4096, 4), "shifted");  // 16 bytes: vectors, but no sectors
  EXPECT_EQ(chosen(4, 1, 4096, 4096, 64), "vector");
  EXPECT_EQ(chosen(4, 1, 60, 200000), "vector");  // thin: 16 bytes are enough
  EXPECT_EQ(chosen(4, 1, 200000, 100), "vector");
  EXPECT_EQ(chosen(4, 1, 90, 100000), "shifted");  // 8 bytes
  EXPECT_EQ(chosen(8, 1, 50, 200000), "shifted");
  EXPECT_EQ(chosen(8, 1, 4095, 4097), "shifted");
  EXPECT_EQ(chosen(4, 65536, 16, 16), "batched_small");
  EXPECT_EQ(chosen(4, 65536, 16, 16, 0, kOpencl), "batched_small");
  EXPECT_EQ(chosen(1, 65536, 2, 2), "batched_small");
  EXPECT_EQ(chosen(4, 65536, 2, 40), "vector");
  EXPECT_EQ(chosen(8, 7281, 24, 24), "batched_small");
  EXPECT_EQ(chosen(4, 1, 8, 2000000), "batched_small");
  EXPECT_EQ(chosen(8, 1, 8, 2000000), "vector");
  EXPECT_EQ(chosen(4, 4096, 64, 64), "vector");
  EXPECT_EQ(chosen(4, 1, 5, 3000000), "batched_small");
  EXPECT_EQ(chosen(4, 1, 4, 3000000), "batched_small");
  EXPECT_EQ(chosen(16, 1, 2000000, 2), "batched_small");
  EXPECT_EQ(chosen(1, 1, 3, 3000001), "thin");
  EXPECT_EQ(chosen(2, 1, 3000001, 7, 0, kOpencl), "thin");
  EXPECT_EQ(chosen(2, 1, 3000001, 7, 0, kOpencl, kNoWarps), "batched_small")
      << "without neighbours such lines go by elements";
  EXPECT_EQ(chosen(2, 1, 3000000, 7, 0, kOpencl, kNoWarps), "thin");
  EXPECT_EQ(chosen(2, 1, 8, 3000000), "batched_small") << "pieces are as fast";
  EXPECT_EQ(chosen(1, 1, 3, 5000), "batched_small");
}

TEST(Rows, RefuseACompilerThatLeavesResultsOut) {
  const auto refused = [](std::span<const Variant> rows, std::string_view name, const char* driver,
                          uint32_t operation, const void* op) {
    Device device(TRINE_DEVICE_CPU, driver);
    device.facts.local_memory_bytes = 64 << 10;
    const Target target{kOpencl, &device.facts};
    const trine_selection selection{};
    const trine_call call{sizeof call, operation, op};
    for (const Variant& variant : rows)
      if (variant.name == name)
        return variant.refuses({target, selection, call, nullptr}) != nullptr;
    ADD_FAILURE() << "no such rung: " << name;
    return false;
  };
  const trine_view view{nullptr, 0, 64, 64, 1, 64, 1, 0};
  trine_gemm gemm{};
  gemm.dtype = TRINE_F32;
  gemm.a = gemm.b = gemm.c = view;
  trine_transpose transpose{};
  transpose.element_size = 4;
  transpose.input = transpose.output = view;
  EXPECT_TRUE(refused(gemm_variants(), "register_tile", kPocl5, TRINE_GEMM, &gemm));
  EXPECT_FALSE(refused(gemm_variants(), "register_tile", kPocl3, TRINE_GEMM, &gemm));
  EXPECT_TRUE(refused(transpose_variants(), "vector", kPocl5, TRINE_TRANSPOSE, &transpose));
  EXPECT_FALSE(refused(transpose_variants(), "vector", kPocl3, TRINE_TRANSPOSE, &transpose));
}

TEST(ReduceRows, RefuseACompilerThatAborts) {
  for (uint32_t function = TRINE_SUM; function <= TRINE_ARGMAX; ++function) {
    const auto op = reduce_of(function, TRINE_ALL, TRINE_F64, 1, 1000);
    EXPECT_NE(refusal("exact", kOpencl, Device(TRINE_DEVICE_CPU, kPocl5), op), "");
    EXPECT_EQ(refusal("exact", kOpencl, Device(TRINE_DEVICE_CPU, kPocl3), op), "");
    EXPECT_EQ(refusal("exact", kCuda, Device(TRINE_DEVICE_GPU, kNvidia), op), "");
    EXPECT_EQ(refusal("exact_vector", kOpencl, Device(TRINE_DEVICE_CPU, kPocl5), op), "");
  }
}

TEST(ReduceRows, RefuseFloatsWhereArithmeticFailedTheProbe) {
  const Device device(TRINE_DEVICE_GPU, "x", TRINE_CAN_F64);
  EXPECT_NE(refusal("exact", kOpencl, device, reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, 9)),
            "");
  EXPECT_EQ(refusal("exact", kOpencl, device, reduce_of(TRINE_SUM, TRINE_ALL, TRINE_I32, 1, 9)),
            "");
}

TEST(ReduceRows, FinishInOneLaunchWhereGroupsSeeEachOther) {
  const Device nvidia(TRINE_DEVICE_GPU, kNvidia),
      other(TRINE_DEVICE_GPU, "x", TRINE_CAN_F64 | TRINE_CAN_REPRODUCE);
  const auto op = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, 1 << 26);
  const trine_selection selection{};
  const trine_call call{sizeof call, TRINE_REDUCE, &op};
  for (const Variant& variant : reduce_variants()) {
    if (std::string_view(variant.name) != "exact") continue;
    for (const Device* device : {&nvidia, &other}) {
      const Target target{kOpencl, &device->facts};
      const uint64_t bytes = variant.workspace_bytes({target, selection, call, nullptr});
      EXPECT_GT(bytes, uint64_t{TRINE_CONTROL_BYTES});
      const trine_workspace workspace{sizeof workspace, nullptr, 0, bytes};
      Plan plan;
      variant.plan({target, selection, call, &workspace}, plan);
      EXPECT_EQ(plan.launch_count, device == &nvidia ? 1 : 2);
      EXPECT_EQ(plan.launches[0].grid[0], 132u * 3);
    }
  }
}

// --- The historic sums --------------------------------------------------------------------------

/// A launch of sum.h as its arguments say it.
struct Level {
  explicit Level(const Launch& l)
      : groups(l.grid[0]),
        threads(l.block[0]),
        count(l.arguments[3].i64),
        from(l.arguments[6].i64),
        to(l.arguments[7].i64),
        level(l.arguments[10].i32) {}
  int64_t groups, threads, count, from, to;
  int32_t level;
};

struct Sum {
  Sum(std::string_view name, int64_t n, int32_t threads, int32_t finish) {
    const Device device(TRINE_DEVICE_GPU, kNvidia);
    const Target target{kCuda, &device.facts};
    const auto op = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_I32, 1, n);
    const trine_selection selection{sizeof selection, 0, {threads, finish}, nullptr};
    const trine_call call{sizeof call, TRINE_REDUCE, &op};
    const Variant& variant = row_called(name);
    EXPECT_EQ(variant.refuses({target, selection, call, nullptr}), nullptr);
    sums = int64_t(variant.workspace_bytes({target, selection, call, nullptr}));
    if (sums > 0) sums = (sums - TRINE_CONTROL_BYTES) / 8;
    const trine_workspace workspace{sizeof workspace, nullptr, 0, uint64_t(sums)};
    variant.plan({target, selection, call, &workspace}, plan);
    for (int i = 0; i < plan.launch_count; ++i) levels.emplace_back(plan.launches[i]);
  }
  Plan plan;
  int64_t sums = 0;  // that the workspace holds
  std::vector<Level> levels;
};

constexpr const char* kOneEach[] = {"interleaved_divergent", "interleaved_strided", "sequential"};
constexpr const char* kTwoEach[] = {"first_add", "unroll_last_warp", "unroll_all"};
constexpr const char* kManyEach[] = {"cascade", "shuffle", "vector_loads"};

/// The values of `threads` that a rung is there for.
std::vector<int32_t> sizes_of(std::string_view rung) {
  if (rung == "unroll_all") return {1, 2};
  return {0, 1, 2, 3, 4};
}

TEST(HistoricSums, StandInTheOrderOfTheLadder) {
  std::vector<std::string_view> names;
  for (const Variant& variant : reduce_variants()) names.emplace_back(variant.name);
  std::vector<std::string_view> expected;
  for (const auto& three : {kOneEach, kTwoEach, kManyEach})
    expected.insert(expected.end(), three, three + 3);
  expected.insert(expected.end(), {"exact_columns", "exact_lines", "exact_short", "exact_stream",
                                   "fold_stream", "product_stream", "exact", "exact_vector"});
  EXPECT_EQ(names, expected);
}

TEST(HistoricSums, TakeOneElementTwoOrManyAWorkItem) {
  constexpr int64_t n = (1 << 22) + 1;  // at 256 threads
  for (const char* name : kOneEach) EXPECT_EQ(Sum(name, n, 2, 0).levels[0].groups, 16385) << name;
  for (const char* name : kTwoEach) EXPECT_EQ(Sum(name, n, 2, 0).levels[0].groups, 8193) << name;
  for (const char* name : kManyEach) {
    EXPECT_EQ(Sum(name, n, 2, 0).levels[0].groups, 132 * 8) << name << ": what the device holds";
    EXPECT_EQ(Sum(name, 2049, 2, 0).levels[0].groups, 2) << name << ": 8 elements a work-item";
  }
}

TEST(HistoricSums, LaunchLevelsUntilOneSumIsLeft) {
  for (const auto& three : {kOneEach, kTwoEach, kManyEach})
    for (int r = 0; r < 3; ++r)
      for (int32_t threads : sizes_of(three[r]))
        for (int64_t n : {int64_t{1}, int64_t{65}, int64_t{100003}, int64_t{1} << 33}) {
          const Sum sum(three[r], n, threads, 0);
          int64_t count = n, from = 0, to = 0;
          for (const Level& l : sum.levels) {
            EXPECT_EQ(l.threads, 64 << threads);
            EXPECT_EQ(l.level, &l - sum.levels.data());
            EXPECT_EQ(l.count, count) << three[r];
            EXPECT_EQ(l.from, from);
            EXPECT_EQ(l.to, to);
            from = to;
            to += count = l.groups;
          }
          EXPECT_EQ(count, 1) << three[r] << " leaves more than one sum";
          EXPECT_EQ(sum.sums, to - 1) << three[r] << ": room for all but the result";
          EXPECT_EQ(sum.plan.macro[1], threads) << "what unroll_all is compiled for";
        }
}

TEST(HistoricSums, FinishInOneLaunchAndClearWhatAtomicsAddTo) {
  for (const auto& three : {kOneEach, kTwoEach, kManyEach})
    for (int r = 0; r < 3; ++r) {
      const Sum atomic(three[r], 100003, 2, 1), alone(three[r], 64, 2, 1);
      ASSERT_EQ(atomic.plan.launch_count, 2);
      EXPECT_EQ(atomic.levels[0].groups, 1) << three[r];
      EXPECT_EQ(atomic.levels[0].count, 0) << three[r] << ": the sum of nothing clears the result";
      EXPECT_EQ(alone.plan.launch_count, 1) << three[r] << ": one group writes, it doesn't add";
      EXPECT_EQ(Sum(three[r], 100003, 2, 2).plan.launch_count, 1) << three[r];
    }
}

TEST(HistoricSums, RefuseWhatTheDeviceLacks) {
  const auto op = reduce_of(TRINE_SUM, TRINE_ALL, TRINE_F32, 1, 1000);
  const Device pocl(TRINE_DEVICE_CPU, kPocl3, TRINE_CAN_F64 | TRINE_CAN_REPRODUCE);
  for (const char* name : {"shuffle", "vector_loads"})
    EXPECT_NE(refusal(name, kOpencl, pocl, op).find("no sub-groups"), std::string_view::npos);
  EXPECT_EQ(refusal("cascade", kOpencl, pocl, op), "");
  Device small(TRINE_DEVICE_GPU, kNvidia);
  small.facts.max_group_threads = 32;
  for (const char* name : {"interleaved_strided", "first_add", "cascade", "vector_loads"})
    EXPECT_NE(refusal(name, kOpencl, small, op), "") << name;
}

TEST(HistoricSums, AreOfTheDocumentsDtypes) {
  const Device gpu(TRINE_DEVICE_GPU, kNvidia);
  for (const auto& three : {kOneEach, kTwoEach, kManyEach})
    for (int r = 0; r < 3; ++r)
      for (const uint32_t dtype : {TRINE_F32, TRINE_I32, TRINE_F64, TRINE_U32, TRINE_I64}) {
        const auto op = reduce_of(TRINE_SUM, TRINE_ALL, dtype, 1, 1000);
        const std::string_view why = refusal(three[r], kCuda, gpu, op);
        EXPECT_EQ(why == "historic sums are of f32 and i32",
                  dtype != TRINE_F32 && dtype != TRINE_I32)
            << three[r] << ": " << why;
      }
}

// Core answers for views without elements, but asks rows about them first.
TEST(ReduceRows, PlanForAnyShape) {
  const Device devices[] = {Device(TRINE_DEVICE_GPU, kNvidia), Device(TRINE_DEVICE_CPU, kPocl3)};
  const int64_t extents[] = {0, 1, 3, 64, 1000, int64_t{1} << 20, int64_t{1} << 33};
  const trine_selection selection{};
  for (const Device& device : devices)
    for (const Variant& variant : reduce_variants())
      for (int64_t rows : extents)
        for (int64_t cols : extents)
          for (uint32_t axis = TRINE_ALL; axis <= TRINE_EACH_COLUMN; ++axis)
            for (uint32_t function = TRINE_SUM; function <= TRINE_ARGMAX; ++function) {
              if (cols > 0 && rows > (int64_t{1} << 40) / cols) continue;
              const Target target{kOpencl, &device.facts};
              const auto op = reduce_of(function, axis, TRINE_F64, rows, cols);
              const trine_call call{sizeof call, TRINE_REDUCE, &op};
              if (variant.refuses({target, selection, call, nullptr})) continue;
              const uint64_t bytes = variant.workspace_bytes({target, selection, call, nullptr});
              if (rows == 0 || cols == 0) continue;
              const trine_workspace workspace{sizeof workspace, nullptr, 0, bytes};
              Plan plan;
              variant.plan({target, selection, call, &workspace}, plan);
              ASSERT_GE(plan.launch_count, 1);
              for (int i = 0; i < plan.launch_count; ++i) {
                EXPECT_GE(plan.launches[i].grid[0], 1u) << variant.name;
                EXPECT_LT(plan.launches[i].grid[0], 1u << 31) << variant.name;
              }
            }
}

TEST(Plans, AreRefusedBeyondTheirRoom) {
  Preferred wishes;
  for (size_t i = 0; i < wishes.all.size(); ++i) wishes.add(nullptr, 0, "");
  EXPECT_THROW(wishes.add(nullptr, 0, ""), std::out_of_range);
  EXPECT_EQ(wishes.count, wishes.all.size());
  Plan plan;
  for (int i = 0; i < kMaxLaunches; ++i) plan.add(i);
  EXPECT_THROW(plan.add(0), std::out_of_range);
  EXPECT_EQ(plan.launch_count, kMaxLaunches);
  Launch& launch = plan.launches[0];
  for (int i = 0; i < kMaxArguments; ++i) launch.i32(i);
  EXPECT_THROW(launch.i32(0), std::out_of_range);
  EXPECT_EQ(launch.argument_count, kMaxArguments);
  for (const uint32_t operation : {TRINE_REDUCE, TRINE_TRANSPOSE, TRINE_GEMM})
    for (const Variant& variant : variants_of(operation)) {
      EXPECT_LE(variant.macros.size(), size_t{kMaxMacros}) << variant.name;
      EXPECT_LE(variant.parameters.size(), size_t{TRINE_MAX_PARAMETERS}) << variant.name;
    }
}

}  // namespace
