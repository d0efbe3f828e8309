// The rows of gemm and transpose on made-up devices: what is on the ladders, refused and launched,
// without a driver.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/gpu/gemm_launch.hpp"
#include "backends/gpu/gemm_tiles.hpp"
#include "backends/gpu/specialization.hpp"
#include "tests/faults/abi_objects.hpp"

namespace {

using faults::gpu;
using ::testing::HasSubstr;
using namespace trine::gpu;

trine_gemm gemm_of(uint32_t dtype, int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  trine_gemm op{};
  op.size = sizeof op;
  op.dtype = dtype;
  dtype == TRINE_F32 ? void(op.alpha.f32 = 1) : void(op.alpha.f64 = 1);
  op.a = {nullptr, 0, m, k, batch, k, 1, m * k};
  op.b = {nullptr, 0, k, n, batch, n, 1, k * n};
  op.c = {nullptr, 0, m, n, batch, n, 1, m * n};
  return op;
}

trine_transpose transpose_of(int64_t rows, int64_t cols, int64_t batch = 1, uint32_t bytes = 4) {
  trine_transpose op{};
  op.size = sizeof op;
  op.element_size = bytes;
  op.input = {nullptr, 0, rows, cols, batch, cols, 1, rows * cols};
  op.output = {nullptr, 0, cols, rows, batch, rows, 1, rows * cols};
  return op;
}

std::vector<std::string> ladder(uint32_t operation, Backends backend) {
  std::vector<std::string> names;
  for (int r = 0; const Variant* variant = variant_at(r); ++r)
    if (variant->operation == operation && (variant->backends & backend) != 0)
      names.emplace_back(variant->name);
  return names;
}

const Variant& row_of(uint32_t operation, std::string_view name) {
  for (int r = 0; const Variant* variant = variant_at(r); ++r)
    if (variant->operation == operation && variant->name == name) return *variant;
  throw std::runtime_error("no rung " + std::string(name));
}

/// The index of a value of a rung's first parameter, like a tile's name.
int32_t value_of(uint32_t operation, std::string_view rung, std::string_view name) {
  const trine_parameter& parameter = row_of(operation, rung).parameters[0];
  for (int32_t value = 0; value < parameter.value_count; ++value)
    if (parameter.values[value] == name) return value;
  throw std::runtime_error("no value " + std::string(name));
}

template <class Op>
bool is_exact(const Op& op) {
  if constexpr (std::is_same_v<Op, trine_gemm>) return trine_is_exact(&op);
  return false;
}

/// One call of one rung on one device.
struct Asked {
  const Variant& variant;
  trine_device_facts facts = gpu();
  trine_selection selection{};

  Asked(uint32_t operation, std::string_view name, std::vector<int32_t> values = {})
      : variant(row_of(operation, name)) {
    for (size_t p = 0; p < variant.parameters.size(); ++p)
      selection.values[p] = p < values.size() ? values[p] : variant.parameters[p].default_value;
  }
  /// With a tile of warps with roles.
  Asked(std::string_view rung, std::string_view tile)
      : Asked(TRINE_GEMM, rung, {value_of(TRINE_GEMM, rung, tile)}) {}
  template <class Op>
  std::string refusal(const Op& op) const {
    const Target target{kOpencl, &facts};
    const trine_call call{sizeof call, variant.operation, &op};
    const char* reason = reason_against(variant, {target, selection, call, nullptr});
    return reason ? reason : "";
  }
  template <class Op>
  Plan plan(const Op& op) const {
    const Target target{kOpencl, &facts};
    const trine_call call{sizeof call, variant.operation, &op};
    const trine_workspace workspace{sizeof workspace, nullptr, 256, 1 << 30};
    Plan plan;
    variant.plan({target, selection, call, &workspace}, plan);
    EXPECT_TRUE(plan.launch_count == 1 || (is_exact(op) && plan.launch_count == 3));
    bool exists = !variant.exists || variant.exists(plan.macro);
    EXPECT_TRUE(exists) << variant.name
                        << ": the plan asks for a specialization that isn't compiled";
    return plan;
  }
  template <class Op>
  Launch launch(const Op& op) const {
    const Plan all = plan(op);
    return *std::ranges::find(all.launches, nullptr, &Launch::other);  // of its own kernel
  }
};

TEST(Ladders, HaveTheDocumentsRungsInOrder) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(ladder(TRINE_TRANSPOSE, kCuda), (Names{"naive", "shared", "shared_padded", "multi_row",
                                                   "shifted", "batched_small", "thin", "vector"}));
  EXPECT_EQ(ladder(TRINE_TRANSPOSE, kOpencl),
            (Names{"naive", "shared", "shared_padded", "multi_row", "shifted", "batched_small",
                   "thin", "vector", "work_item_tile"}));
  EXPECT_EQ(ladder(TRINE_GEMM, kCuda),
            (Names{"naive", "shared", "read_only", "ilp4", "ilp16", "volkov2008", "register_tile",
                   "bounded", "few_columns", "batched_small", "small", "warp_specialized", "deep",
                   "tensor_specialized", "tensor_small", "three_tf32", "residues"}));
  EXPECT_EQ(ladder(TRINE_GEMM, kOpencl),
            (Names{"naive", "shared", "read_only", "ilp4", "ilp16", "volkov2008", "register_tile",
                   "bounded", "few_columns", "batched_small", "small", "warp_specialized", "deep",
                   "tensor_specialized", "tensor_small", "private_exact", "private_tile"}));
}

int64_t tiles(int64_t n, int64_t side) { return (n + side - 1) / side; }

TEST(GemmRows, CoverEveryElementOnce) {
  struct Geometry {
    const char* rung;
    std::vector<int32_t> values;
    int64_t tile_m, tile_n;
    uint32_t x, y;
  };
  const Geometry all[] = {
      {"naive", {}, 16, 16, 16, 16},
      {"shared", {0}, 16, 16, 16, 16},
      {"shared", {1}, 32, 32, 32, 32},
      {"read_only", {0}, 16, 16, 16, 16},
      {"read_only", {1}, 32, 32, 32, 32},
      {"ilp4", {}, 32, 32, 32, 8},
      {"ilp16", {1, 0, 0}, 64, 64, 16, 16},
      {"ilp16", {2, 1, 0}, 64, 64, 16, 8},
      {"ilp16", {1, 2, 0}, 64, 64, 8, 4},
      {"ilp16", {1, 3, 0}, 64, 64, 4, 4},
      {"volkov2008", {}, 16, 64, 64, 1},  // of the transposed problem: 64 of n, 16 of m
      {"register_tile", {0}, 64, 64, 64, 1},
      {"warp_specialized", {0}, 16, 32, 256, 1},
      {"warp_specialized", {11}, 128, 256, 384, 1},
      {"warp_specialized", {6}, 128, 32, 256, 1},
      {"deep", {0}, 8, 8, 192, 1},
      {"deep", {3}, 32, 32, 256, 1},
      {"tensor_specialized", {0}, 8, 8, 160, 1},
      {"tensor_specialized", {tensor_tile("16x32")}, 16, 32, 256, 1},
      {"tensor_specialized", {tensor_tile("96x112")}, 96, 112, 512, 1},
      {"tensor_specialized", {tensor_tile("128x128")}, 128, 128, 384, 1},
  };
  for (const Geometry& one : all) {
    const bool f64 = one.rung[0] == 't' || one.rung[0] == 'i';
    const uint32_t dtype = f64 ? TRINE_F64 : TRINE_F32;
    for (const auto& [m, n, batch] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                      {101, 67, 3},
                                      {64, 256, 1},
                                      {1021, 17, 2}}) {
      const Launch launch =
          Asked(TRINE_GEMM, one.rung, one.values).launch(gemm_of(dtype, m, n, 5, batch));
      EXPECT_EQ(launch.grid[0], tiles(m, one.tile_m) * tiles(n, one.tile_n) * batch) << one.rung;
      EXPECT_EQ(launch.grid[1] * launch.grid[2], 1u);
      EXPECT_EQ(launch.block[0], one.x) << one.rung;
      EXPECT_EQ(launch.block[1], one.y) << one.rung;
    }
  }
}

/// A tile's name says its size; what is launched, and what the choice weighs, has it.
// Not as if it were an integer.
TEST(GemmRows, HaveNoKernelForOtherDtypes) {
  Launch launch;
  EXPECT_THROW(type_index(TRINE_F16), trine::kit::Failure);
  EXPECT_THROW(push_scalar(launch, TRINE_F16, {}), trine::kit::Failure);
}

TEST(GemmRows, TilesAreWhatTheirNamesSay) {
  const trine_device_facts facts = gpu();
  for (const std::string_view rung : {"warp_specialized", "tensor_specialized"}) {
    const uint32_t dtype = rung[0] == 't' ? TRINE_F64 : TRINE_F32;
    const trine_parameter& tile = row_of(TRINE_GEMM, rung).parameters[0];
    for (int32_t value = 0; value < tile.value_count; ++value) {
      const std::string name = tile.values[value];
      const size_t x = name.find('x');
      const int64_t m = std::stoi(name), n = std::stoi(name.substr(x + 1));
      const bool exact = rung[0] == 't' && (kTensorTiles[size_t(value)].forms & kNoOthers) != 0;
      trine_gemm op = gemm_of(exact ? uint32_t{TRINE_F32} : dtype, 20011, 30011, 5, 3);
      if (exact) op.numerics = TRINE_EXACT;
      const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
      EXPECT_EQ(Asked(TRINE_GEMM, rung, {value}).launch(op).grid[0],
                tiles(20011, m) * tiles(30011, n) * 3)
          << rung << " " << name;
      const auto* const end = wishes.all.begin() + wishes.count;
      const auto* const wish = std::find_if(wishes.all.begin(), end, [&](const auto& one) {
        return one.variant->name == rung && one.value == value;
      });
      ASSERT_NE(wish, end) << rung << " " << name;
      const std::string why = "its " + std::to_string(m) + "×" + std::to_string(n) + " tiles fill";
      EXPECT_TRUE(std::string_view(wish->why).starts_with(why)) << wish->why;
    }
  }
}

/// Rows of the longer side of C, whichever that is; of columns as many as the shorter has, up to 8,
/// in f64 up to 4.
TEST(GemmRows, FewColumnsTakesTheShorterSideForColumns) {
  for (int32_t rows = 0; rows < 3; ++rows) {
    const Asked asked(TRINE_GEMM, "few_columns", {rows});
    for (const auto& [n, columns] :
         {std::pair<int64_t, int64_t>{1, 1}, {2, 4}, {4, 4}, {5, 8}, {8, 8}, {17, 8}}) {
      const int64_t down = tiles(1021, 8 << rows) * 2, few = std::min<int64_t>(columns, 4);
      EXPECT_EQ(asked.launch(gemm_of(TRINE_F32, 1021, n, 5, 2)).grid[0], down * tiles(n, columns));
      EXPECT_EQ(asked.launch(gemm_of(TRINE_F64, n, 1021, 5, 2)).grid[0], down * tiles(n, few));
      EXPECT_EQ(asked.launch(gemm_of(TRINE_F32, 1021, n, 5)).block[0], 32u);
    }
  }
}

TEST(GemmRows, BatchedSmallTakesAsManyAsThereIsRoomFor) {
  const Asked asked(TRINE_GEMM, "batched_small", {});
  // A work-item has a product of 4 x 4, and sixteen share one of 16 x 16; then local memory
  // decides.
  for (const auto& [n, count] :
       {std::pair<int64_t, int64_t>{4, 256}, {8, 51}, {16, 15}, {32, 4}, {64, 1}}) {
    const trine_gemm op = gemm_of(TRINE_F32, n, n, n, 1000000);
    EXPECT_EQ(asked.refusal(op), "");
    EXPECT_EQ(asked.launch(op).grid[0], tiles(1000000, count)) << n;
  }
  EXPECT_EQ(asked.launch(gemm_of(TRINE_F32, 4, 4, 4, 100)).grid[0], 100u) << "spread out";
  EXPECT_NE(asked.refusal(gemm_of(TRINE_F64, 64, 64, 64)), "") << "65 KB";
  EXPECT_NE(asked.refusal(gemm_of(TRINE_F32, 65, 64, 2)), "") << "more than 4096 elements of C";
}

TEST(GemmRows, AlignedRefusesWhatIsNot) {
  const Asked aligned(TRINE_GEMM, "ilp16", {2, 1, 1}), guarded(TRINE_GEMM, "ilp16", {2, 1, 0});
  EXPECT_EQ(aligned.refusal(gemm_of(TRINE_F64, 128, 64, 96)), "");
  for (const auto& [m, n, k] :
       {std::tuple<int64_t, int64_t, int64_t>{127, 64, 96}, {128, 65, 96}, {128, 32, 96}}) {
    EXPECT_THAT(aligned.refusal(gemm_of(TRINE_F64, m, n, k)), HasSubstr("multiples of 64"));
    EXPECT_EQ(guarded.refusal(gemm_of(TRINE_F64, m, n, k)), "");
  }
  EXPECT_THAT(aligned.refusal(gemm_of(TRINE_F64, 128, 64, 80)), HasSubstr("multiple of tw"));
  trine_gemm scaled = gemm_of(TRINE_F64, 128, 64, 80);
  scaled.alpha.f64 = 0;  // A and B are not read, whatever k is
  EXPECT_EQ(aligned.refusal(scaled), "");
}

/// A form of a tile that the table doesn't have is refused; of those that it has, the plan's kernel
/// is compiled.
TEST(GemmRows, TilesHaveTheFormsThatTheirTableSays) {
  trine_gemm exact = gemm_of(TRINE_F32, 64, 64, 64);
  exact.numerics = TRINE_EXACT;
  trine_gemm continued = gemm_of(TRINE_F32, 64, 64, 64);
  continued.flags = TRINE_CONTINUES;
  struct Form {
    const RoleTiles& rung;
    unsigned form;
    trine_gemm op;
  };
  for (const auto& [rung, form, op] : {Form{kWarpRung, 0, gemm_of(TRINE_F32, 64, 64, 64)},
                                       {kWarpRung, kIntegers, gemm_of(TRINE_I32, 64, 64, 64)},
                                       {kWarpRung, kContinues, continued},
                                       {kTensorRung, 0, gemm_of(TRINE_F64, 64, 64, 64)},
                                       {kTensorRung, kWidens, exact}})
    for (const RoleTile& tile : rung.tiles) {
      const Asked asked(rung.rung, tile.name);
      EXPECT_EQ(asked.refusal(op) == "",
                form == 0 ? (tile.forms & kNoOthers) == 0 : (tile.forms & form) == form)
          << rung.rung << tile.name;
      if (asked.refusal(op) == "") asked.launch(op);
    }
}

TEST(GemmRows, SayWhichSpecializationsThereAre) {
  for (const char* rung : {"shared", "read_only", "ilp4", "ilp16", "volkov2008"})
    EXPECT_THAT(Asked(TRINE_GEMM, rung).refusal(gemm_of(TRINE_I32, 64, 64, 64)),
                HasSubstr("is for f32 and f64"));
  for (int32_t tw = 0; tw < 3; ++tw)
    for (int32_t threads = 0; threads < 4; ++threads) {
      const Asked asked(TRINE_GEMM, "ilp16", {tw, threads, 0});
      const trine_gemm f32 = gemm_of(TRINE_F32, 64, 64, 64), f64 = gemm_of(TRINE_F64, 64, 64, 64);
      EXPECT_EQ(asked.refusal(f32) == "", threads == 0 && tw == 1);
      EXPECT_EQ(asked.refusal(f64) == "", threads == 1 || tw == 1);
      for (const trine_gemm& op : {f32, f64})
        if (asked.refusal(op) == "") asked.launch(op);
    }
}

TEST(Instances, TellWordsFromNumbers) {
  for (const char* word : {"float", "nn", "f32", "16x32"}) EXPECT_TRUE(is_word(word)) << word;
  for (const char* other : {"256", "1u", "-1", "2 * 8", ""}) EXPECT_FALSE(is_word(other)) << other;
}

TEST(Rows, RefuseDevicesThatAreTooSmall) {
  for (const char* rung : {"naive", "shared", "read_only", "ilp4", "ilp16", "register_tile"}) {
    Asked asked(TRINE_GEMM, rung);
    asked.facts.max_group_threads = 32;
    EXPECT_EQ(asked.refusal(gemm_of(TRINE_F32, 64, 64, 64)), "the device's groups are too small");
  }
  for (const char* rung : {"shared", "read_only", "ilp4", "ilp16", "volkov2008", "register_tile"}) {
    Asked asked(TRINE_GEMM, rung);
    asked.facts.local_memory_bytes = 1024;
    EXPECT_EQ(asked.refusal(gemm_of(TRINE_F32, 64, 64, 64)),
              "the device has too little local memory");
  }
  for (const char* rung : {"naive", "shared", "shared_padded", "multi_row"}) {
    Asked asked(TRINE_TRANSPOSE, rung);
    asked.facts.max_group_threads = 32;
    EXPECT_EQ(asked.refusal(transpose_of(64, 64)), "the device's groups are too small");
  }
  for (const char* rung : {"shared_padded", "multi_row"}) {
    Asked asked(TRINE_TRANSPOSE, rung);
    asked.facts.local_memory_bytes = 16 << 10;
    EXPECT_EQ(asked.refusal(transpose_of(64, 64, 1, 8)), "");
    EXPECT_NE(asked.refusal(transpose_of(64, 64, 1, 16)), "") << "32 x 33 x 16 bytes";
  }
}

TEST(TransposeRows, SmallGroupsGetNaiveWhateverAnElementsSize) {
  trine_device_facts facts = gpu();
  facts.max_group_threads = 64;
  for (const uint32_t bytes : {1, 2, 4, 8, 16}) {
    const trine_transpose op = transpose_of(64, 64, 1, bytes);
    const Target target{kOpencl, &facts};
    const trine_call call{sizeof call, TRINE_TRANSPOSE, &op};
    trine_selection selection{};
    const Variant& variant = *choose_variant(target, call, selection);
    EXPECT_STREQ(variant.name, "naive") << bytes;
    EXPECT_EQ(reason_against(variant, {target, selection, call, nullptr}), nullptr) << bytes;
  }
}

/// A grid has 2^31 - 1 groups at most; a batch of that many matrices is launched, one more isn't.
TEST(Rows, RefuseGridsBeyondThirtyOneBits) {
  constexpr int64_t kMost = 0x7fffffff;
  for (const std::string& rung : ladder(TRINE_GEMM, kBoth)) {
    if (rung == "residues") continue;  // gemm_residues_test.cpp
    Asked asked(TRINE_GEMM, rung);
    const uint32_t dtype = rung.starts_with("tensor") ? TRINE_F64 : TRINE_F32;
    if (rung.starts_with("private")) asked.facts.kind = TRINE_DEVICE_CPU;
    const bool exact = rung == "bounded" || rung == "private_exact";
    const auto batches = [&](int64_t batch) {
      trine_gemm op = gemm_of(dtype, 1, 1, 1, batch);
      op.a.batch_stride = op.b.batch_stride = 0;
      if (exact) op.numerics = TRINE_EXACT;
      return op;
    };
    EXPECT_EQ(asked.refusal(batches(kMost)), "") << rung;
    // Many products a group; groups that stay.
    if (rung != "batched_small" && rung != "three_tf32") {
      EXPECT_EQ(asked.launch(batches(kMost)).grid[0], kMost) << rung;
    }
    trine_gemm wide = gemm_of(dtype, int64_t{1} << 25, int64_t{1} << 25, 1);
    if (exact) wide.numerics = TRINE_EXACT;
    for (const trine_gemm& op : {batches(kMost + 1), batches(int64_t{1} << 40), wide})
      EXPECT_THAT(asked.refusal(op),
                  HasSubstr(rung == "batched_small" && op.c.rows > 1 ? "small matrices"
                                                                     : "2^31 - 1 work-groups"))
          << rung;
  }
  for (const std::string& rung : ladder(TRINE_TRANSPOSE, kBoth)) {
    if (rung == "thin") continue;  // takes one matrix, of few groups
    Asked asked(TRINE_TRANSPOSE, rung);
    if (rung == "work_item_tile") asked.facts.kind = TRINE_DEVICE_CPU;
    const trine_transpose fits = transpose_of(64, 64, 1 << 22);
    EXPECT_EQ(asked.refusal(fits), "") << rung;
    asked.launch(fits);
    for (const trine_transpose& op :
         {transpose_of(64, 64, kMost + 1), transpose_of(64, 64, int64_t{1} << 40),
          transpose_of(int64_t{1} << 25, int64_t{1} << 25)})
      if (rung != "batched_small" || op.input.rows == 64) {  // which refuses large matrices first
        EXPECT_THAT(asked.refusal(op), HasSubstr("2^31 - 1 work-groups")) << rung;
      }
  }
}

TEST(TransposeRows, ReadLongPartsOfFewRows) {
  Asked asked(TRINE_TRANSPOSE, "work_item_tile");
  asked.facts.kind = TRINE_DEVICE_CPU;
  trine_transpose op = transpose_of(4096, 4096);
  EXPECT_EQ(asked.launch(op).grid[0], 128u * 2);  // tiles of 32 x 2048
  op.output.offset = 4;
  EXPECT_EQ(asked.launch(op).grid[0], 16u * 4) << "lines that are split: of 256, half as long";
  EXPECT_EQ(asked.launch(transpose_of(4095, 4097)).grid[0], 15u * 4);
  EXPECT_EQ(asked.launch(transpose_of(32, 4096)).grid[0], 8u) << "small: shorter parts";
}

TEST(TransposeRows, BatchedSmallTakesMatricesWithoutGapsByTheirElements) {
  const Asked asked(TRINE_TRANSPOSE, "batched_small");
  EXPECT_EQ(asked.launch(transpose_of(15, 17, 50)).entry, 1);
  EXPECT_EQ(asked.launch(transpose_of(16, 17, 50)).entry, 1) << "whole vectors on one side";
  EXPECT_EQ(asked.launch(transpose_of(16, 20, 50)).entry, 0) << "whole vectors on both";
  EXPECT_EQ(asked.launch(transpose_of(15, 17)).entry, 0) << "one matrix";
  EXPECT_EQ(asked.launch(transpose_of(4099, 3)).entry, 0) << "pieces of one";
  trine_transpose gaps = transpose_of(15, 17, 50);
  gaps.output.batch_stride += 1;
  EXPECT_EQ(asked.launch(gaps).entry, 0);
}

TEST(TransposeRows, ThinCoversLinesByStripsOfBlocks) {
  const Asked asked(TRINE_TRANSPOSE, "thin");
  // Blocks of 16 bytes of a line but the first and the last whole one, 32 a strip, 8 strips a
  // group.
  EXPECT_EQ(asked.launch(transpose_of(8, 16 * (256 + 2), 1, 1)).grid[0], 1u);
  EXPECT_EQ(asked.launch(transpose_of(8, 16 * (256 + 3), 1, 1)).grid[0], 2u);
  EXPECT_EQ(asked.launch(transpose_of(16 * (256 + 3), 8, 1, 1)).grid[0], 2u);
  EXPECT_EQ(asked.launch(transpose_of(8, 8 * (256 + 3), 1, 2)).grid[0], 2u);
  EXPECT_EQ(asked.launch(transpose_of(2, 16 * (1024 + 2), 1, 1)).grid[0], 1u) << "four rounds";
  EXPECT_EQ(asked.launch(transpose_of(8, 16 * (248 + 3) + 1, 1, 1)).grid[0], 2u)
      << "lines that begin between vectors share a block a strip";
  EXPECT_EQ(asked.launch(transpose_of(16, 16 * (128 + 3), 1, 1)).grid[0], 2u);
  EXPECT_EQ(asked.launch(transpose_of(16, 16 * 130, 1, 1)).block[0], 128u);
  EXPECT_EQ(asked.launch(transpose_of(3, 20, 1, 1)).grid[0], 1u) << "no blocks: both ends alone";
  EXPECT_NE(asked.refusal(transpose_of(17, 13000, 1, 1)), "");
  EXPECT_NE(asked.refusal(transpose_of(9, 13000, 1, 2)), "");
  EXPECT_NE(asked.refusal(transpose_of(3, 13000, 2, 1)), "");
  EXPECT_NE(asked.refusal(transpose_of(3, 13000, 1, 4)), "");
  trine_transpose gaps = transpose_of(3, 13000, 1, 1);
  gaps.output.row_stride += 1;
  EXPECT_NE(asked.refusal(gaps), "");
}

/// Parts of whole tiles and whole blocks of k, of each operand once; room for sums where tiles are
/// shared.
TEST(GemmRows, ThreeTf32SplitsFirst) {
  Asked asked(TRINE_GEMM, "three_tf32");
  const Target target{kCuda, &asked.facts};
  const auto planned = [&](const trine_gemm& op) {
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const trine_workspace workspace{sizeof workspace, nullptr, 256, 1 << 30};
    Plan plan;
    asked.variant.plan({target, asked.selection, call, &workspace}, plan);
    return plan;
  };
  const auto elements = [&](const trine_gemm& op) {
    const trine_call call{sizeof call, TRINE_GEMM, &op};
    const uint64_t bytes = asked.variant.workspace_bytes({target, asked.selection, call, nullptr});
    return (static_cast<int64_t>(bytes) - TRINE_CONTROL_BYTES) / 4;
  };
  trine_gemm op = gemm_of(TRINE_F32, 130, 300, 100, 3);  // 1 x 2 tiles, 7 blocks
  EXPECT_EQ(elements(op), 3 * (256 + 384) * 7 * 16 * 2);
  const Plan both = planned(op);
  ASSERT_EQ(both.launch_count, 2);
  EXPECT_EQ(both.launches[0].entry, 0);
  EXPECT_EQ(both.launches[0].grid[0], 2 * 3 * (4 + 6));
  EXPECT_EQ(both.launches[1].entry, 1);
  EXPECT_EQ(both.launches[1].grid[0], 2 * 6);
  EXPECT_EQ(both.launches[1].block[0], 384u);
  op.b.batch_stride = 0;
  EXPECT_EQ(elements(op), (3 * 256 + 384) * 7 * 16 * 2);
  EXPECT_EQ(planned(op).launches[0].grid[0], 2 * (3 * 4 + 6));

  // Two tiles for each pair: none is shared. Else all pairs share what is left, with a tile for
  // each.
  const auto shared = [&](const trine_gemm& gemm) {
    const Launch launch = planned(gemm).launches[1];
    return launch.arguments[launch.argument_count - 1].i32;
  };
  const trine_gemm even = gemm_of(TRINE_F32, 11 * 256, 12 * 192, 1600);
  const trine_gemm uneven = gemm_of(TRINE_F32, 15 * 256, 10 * 192, 1600);
  const trine_gemm few = gemm_of(TRINE_F32, 256, 5 * 192, 1600);
  EXPECT_EQ(shared(even), 0);
  EXPECT_EQ(shared(uneven), 18 + 66);
  EXPECT_EQ(shared(few), 5);
  for (const trine_gemm& gemm : {even, uneven, few}) {
    const bool is_even = gemm.c.cols == 12 * 192;
    const int64_t groups = gemm.c.cols == 5 * 192 ? 2 * 62 : 132;
    EXPECT_EQ(planned(gemm).launches[1].grid[0], groups);
    EXPECT_EQ(elements(gemm),
              (gemm.c.rows + gemm.c.cols) * 1600 * 2 + (is_even ? 0 : groups * (128 * 192 + 8)));
  }

  // Nothing to multiply: C alone.
  trine_gemm scaled = gemm_of(TRINE_F32, 130, 300, 100);
  scaled.alpha.f32 = 0;
  for (const trine_gemm& none : {scaled, gemm_of(TRINE_F32, 130, 300, 0)}) {
    EXPECT_EQ(elements(none), 0);
    ASSERT_EQ(planned(none).launch_count, 1);
    EXPECT_EQ(planned(none).launches[0].entry, 1);
  }
  EXPECT_EQ(planned(gemm_of(TRINE_F32, 0, 300, 100)).launch_count, 0);
}

namespace chunks {
int groups;
int groups_x() { return groups; }
#define DEVICE inline
#include "backends/gpu/kernels/gemm/chunks.h"
#undef DEVICE
}  // namespace chunks

/// Each block of each tile once; sums are awaited only of what earlier pairs do first, each once.
TEST(GemmRows, ThreeTf32ChunksAreAllAndWaitForNoLaterOnes) {
  using namespace chunks;
  for (const int all : {1, 2, 7, 66})
    for (const auto& [tiles, shared] : {std::pair{1, 1},
                                        {1, 0},
                                        {5, 5},
                                        {66, 0},
                                        {67, 67},
                                        {70, 70},
                                        {100, 100},
                                        {200, 68},
                                        {131, 131},
                                        {132, 0}})
      for (const int blocks : {1, 7, 24, 33, 257}) {
        if (shared * blocks < 2 * all && shared > 0) continue;
        groups = 2 * all;
        std::vector<std::vector<Chunk>> of(static_cast<size_t>(all));
        std::vector<int> seen(static_cast<size_t>(tiles * blocks)), given(of.size());
        std::vector<Chunk> gives(of.size());
        for (int pair = 0; pair < all; ++pair) {
          Part part = part_of(pair, shared, blocks);
          auto& mine = of[static_cast<size_t>(pair)];
          for (Chunk chunk; next_chunk(&part, blocks, tiles, &chunk);) {
            mine.push_back(chunk);
            ASSERT_LT(chunk.first, chunk.end);
            for (int b = chunk.first; b < chunk.end; ++b) ++seen.begin()[chunk.tile * blocks + b];
            if (chunk.end == blocks) continue;
            for (size_t i = 0; i + 1 < mine.size(); ++i) EXPECT_EQ(mine[i].first, 0) << "waits";
            EXPECT_EQ(gives[static_cast<size_t>(pair)].end, 0) << "twice";
            gives[static_cast<size_t>(pair)] = chunk;
          }
        }
        EXPECT_TRUE(std::ranges::all_of(seen, [](int times) { return times == 1; }));
        for (int pair = 0; pair < all; ++pair)
          for (Chunk chunk : of[static_cast<size_t>(pair)]) {
            if (chunk.end < blocks) continue;
            for (int other = pair - 1; chunk.first > 0; --other) {
              ASSERT_GE(other, 0);
              const Chunk& before = gives[static_cast<size_t>(other)];
              EXPECT_EQ(before.tile, chunk.tile);
              EXPECT_EQ(before.end, chunk.first);
              chunk.first = before.first;
              ++given[static_cast<size_t>(other)];
            }
          }
        for (size_t pair = 0; pair < of.size(); ++pair)
          EXPECT_EQ(given[pair], gives[pair].end > 0) << pair;
      }
}

TEST(GemmRows, ThreeTf32RefusesWhatItCannot) {
  const Asked asked(TRINE_GEMM, "three_tf32");
  EXPECT_EQ(asked.refusal(gemm_of(TRINE_F32, 300, 300, 300)), "");
  EXPECT_EQ(asked.refusal(gemm_of(TRINE_F64, 300, 300, 300)), "three_tf32 is for f32");
  EXPECT_EQ(asked.refusal(gemm_of(TRINE_I32, 300, 300, 300)), "three_tf32 is for f32");
  const char* const large = "the parts of the operands exceed the device's largest buffer";
  for (const auto& [m, n, k, batch] :
       {std::tuple<int64_t, int64_t, int64_t, int64_t>{400000, 10, 400000, 1},
        {10, 400000, 400000, 1},
        {1, 1, INT64_C(1) << 40, 1},
        {4096, 4096, 4096, 50000}})
    EXPECT_EQ(asked.refusal(gemm_of(TRINE_F32, m, n, k, batch)), large) << m;
  trine_gemm shared = gemm_of(TRINE_F32, 4096, 8, 4096, 50000);
  EXPECT_EQ(asked.refusal(shared), large);
  shared.a.batch_stride = 0;
  EXPECT_EQ(asked.refusal(shared), "") << "A's parts are there once";
  trine_gemm continued = gemm_of(TRINE_F32, 300, 300, 300);
  continued.flags = TRINE_CONTINUES;
  EXPECT_NE(asked.refusal(continued), "");
}

std::string chosen(const trine_device_facts& facts, const trine_gemm& op);

/// Only calls that ask for it get it, where it is faster.
TEST(GemmRows, ThreeTf32IsForFastAlone) {
  const trine_device_facts facts = gpu();
  for (const int64_t n : {64, 256, 512, 1024, 2048, 4095, 8192})
    for (const uint32_t numerics : {TRINE_REPRODUCIBLE, TRINE_FAST}) {
      trine_gemm op = gemm_of(TRINE_F32, n, n, n);
      op.numerics = numerics;
      const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
      const std::string_view first = wishes.all[0].variant->name;
      EXPECT_EQ(first == "three_tf32", numerics == TRINE_FAST && n >= 1024) << n;
      for (size_t i = 1; i < wishes.count; ++i)
        EXPECT_STRNE(wishes.all[i].variant->name, "three_tf32");
      op = gemm_of(TRINE_F64, n, n, n);
      op.numerics = numerics;
      EXPECT_STRNE(prefer_gemm({kCuda, &facts}, op).all[0].variant->name, "three_tf32");
    }
  // OpenCL has none, and no continued chain is its.
  trine_gemm op = gemm_of(TRINE_F32, 4096, 4096, 4096);
  op.numerics = TRINE_FAST;
  EXPECT_EQ(chosen(facts, op), "warp_specialized");
  op.flags = TRINE_CONTINUES;
  const Target target{kCuda, &facts};
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  trine_selection selection{};
  EXPECT_STREQ(choose_variant(target, call, selection)->name, "warp_specialized");
}

std::string chosen(const trine_device_facts& facts, uint32_t operation, const void* op) {
  const Target target{kOpencl, &facts};
  const trine_call call{sizeof call, operation, op};
  trine_selection selection{};
  const Variant* variant = choose_variant(target, call, selection);
  EXPECT_NE(selection.why, nullptr);
  EXPECT_EQ(variant->numerics, uint32_t{TRINE_REPRODUCIBLE});
  return variant->name;
}
std::string chosen(const trine_device_facts& facts, const trine_gemm& op) {
  return chosen(facts, TRINE_GEMM, &op);
}

TEST(GemmRows, PreferTheFastestFirstAndNaiveLast) {
  const trine_device_facts facts = gpu();
  const trine_gemm op = gemm_of(TRINE_F32, 4096, 4096, 4096);
  const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
  std::vector<std::string> names;
  for (size_t i = 0; i < wishes.count; ++i)
    names.push_back(wishes.all[i].variant->name + std::to_string(wishes.all[i].value));
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "warp_specialized11", "warp_specialized7", "warp_specialized9", "warp_specialized5",
                "warp_specialized10", "warp_specialized3", "warp_specialized8", "warp_specialized6",
                "warp_specialized4", "register_tile1", "warp_specialized2", "register_tile0",
                "warp_specialized1", "warp_specialized0", "naive0"}));
}

/// The tile that was fastest on an H200 of those that are left at each of these sizes, or within 2
/// % of it.
TEST(GemmRows, PreferTheTileThatWasFastest) {
  const trine_device_facts facts = gpu();
  const auto prefers = [&](uint32_t dtype, int64_t n, const RoleTiles& rung, const char* tile) {
    const Preferred wishes = prefer_gemm({kCuda, &facts}, gemm_of(dtype, n, n, n));
    EXPECT_STREQ(wishes.all[0].variant->name, rung.rung) << n;
    EXPECT_STREQ(rung.tiles[size_t(wishes.all[0].value)].name, tile) << n;
  };
  const std::pair<int64_t, const char*> singles[] = {
      {256, "16x32"},    {512, "32x64"},    {600, "48x64"},    {768, "48x96"},  {800, "96x64"},
      {844, "48x64"},    {1024, "64x128"},  {1200, "96x64"},   {1536, "96x96"}, {1600, "64x64"},
      {2047, "128x256"}, {2048, "128x256"}, {2200, "64x128"},  {3000, "64x64"}, {4095, "128x256"},
      {4096, "128x256"}, {8192, "128x256"}, {16384, "128x256"}};
  for (const auto& [n, tile] : singles) prefers(TRINE_F32, n, kWarpRung, tile);
  const std::pair<int64_t, const char*> doubles[] = {
      {64, "8x8"},        {256, "16x32"},    {319, "32x32"},    {320, "32x32"},
      {352, "32x32"},     {383, "32x64"},    {384, "32x64"},    {432, "32x64"},
      {448, "32x64"},     {512, "32x64"},    {576, "48x64"},    {639, "64x64"},
      {640, "64x64"},     {704, "64x64"},    {768, "48x96"},    {831, "96x64pair"},
      {832, "96x64pair"}, {895, "128x64"},   {896, "128x56"},   {960, "128x64"},
      {1023, "128x64"},   {1024, "128x64"},  {1025, "96x96"},   {1088, "96x112"},
      {1151, "96x112"},   {1152, "96x112"},  {1280, "128x56"},  {1344, "128x56"},
      {1408, "128x128"},  {1472, "96x96"},   {1536, "96x96"},   {1600, "96x112"},
      {1792, "128x64"},   {1856, "128x56"},  {2047, "128x128"}, {2048, "128x128"},
      {2049, "96x96"},    {3001, "64x64"},   {3328, "96x112"},  {3392, "128x64"},
      {3584, "128x128"},  {3840, "128x128"}, {4095, "128x128"}, {4096, "128x128"},
      {8192, "128x128"}};
  for (const auto& [n, tile] : doubles) prefers(TRINE_F64, n, kTensorRung, tile);
  for (const int64_t n : {256, 512, 1024, 1536, 3000}) prefers(TRINE_I32, n, kWarpRung, "64x128");
  for (const int64_t n : {2048, 4096, 8192}) prefers(TRINE_I32, n, kWarpRung, "128x256");
}

/// A batch of products whose sides are close to 64 goes by tensor_small once two groups find work;
/// odd ones sooner.
TEST(GemmRows, ProductsOfSixtyGoByTheSmallRungWhereThereAreMany) {
  const trine_device_facts facts = gpu();
  const auto first = [&](int64_t n, int64_t batch) {
    return std::string_view(
        prefer_gemm({kCuda, &facts}, gemm_of(TRINE_F64, n, n, n, batch)).all[0].variant->name);
  };
  for (const int64_t n : {60, 62, 64}) {
    EXPECT_EQ(first(n, 132), "tensor_specialized");
    EXPECT_EQ(first(n, 200), "tensor_small");
  }
  for (const int64_t n : {57, 63}) {
    EXPECT_EQ(first(n, 66), "tensor_specialized");
    EXPECT_EQ(first(n, 132), "tensor_small");
  }
}

/// Short chains of a large C go by rungs that hold all of k, long ones of a small C by deep.
TEST(GemmRows, PreferWhatSuitsTheLengthOfTheChains) {
  const trine_device_facts facts = gpu();
  const auto first = [&](uint32_t dtype, int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
    return std::string_view(
        prefer_gemm({kCuda, &facts}, gemm_of(dtype, m, n, k, batch)).all[0].variant->name);
  };
  for (const uint32_t dtype : {TRINE_F32, TRINE_F64}) {  // an empty part of a matrix is chosen for
    trine_gemm op = gemm_of(dtype, 1000, 0, 16);
    op.c.row_stride = 8;
    EXPECT_GT(prefer_gemm({kCuda, &facts}, op).count, 0u);
  }
  EXPECT_EQ(first(TRINE_F32, 10183, 6675, 31), "small");
  EXPECT_EQ(first(TRINE_F32, 11830, 6799, 52), "small");
  EXPECT_EQ(first(TRINE_F32, 11830, 6800, 52), "warp_specialized") << "rows are vectors";
  EXPECT_EQ(first(TRINE_F32, 50000, 32, 32), "warp_specialized") << "a narrow C";
  EXPECT_EQ(first(TRINE_F32, 400, 400, 16), "warp_specialized") << "a small C";
  for (const auto& [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{50000, 32, 32},
                                {3000, 3000, 16},
                                {4096, 4096, 64},
                                {8456, 223, 24}})
    EXPECT_EQ(first(TRINE_F64, m, n, k), "tensor_specialized") << m;
  EXPECT_NE(first(TRINE_I32, 10183, 6675, 31), "small");
  const auto tile = [&](int64_t m, int64_t n, int64_t k) {
    return std::string_view(kTensorTileNames[size_t(
        prefer_gemm({kCuda, &facts}, gemm_of(TRINE_F64, m, n, k)).all[0].value)]);
  };
  EXPECT_EQ(tile(18, 33, 19685), "8x8");
  EXPECT_EQ(tile(64, 64, 20000), "8x8");
  EXPECT_EQ(tile(128, 128, 8192), "16x16");
  EXPECT_EQ(tile(20000, 128, 128), "96x64pair");
  for (const int64_t k : {1000, 8192}) EXPECT_EQ(first(TRINE_F32, 128, 128, k), "deep") << k;
  EXPECT_EQ(first(TRINE_F32, 128, 128, 8192, 2), "warp_specialized") << "a batch wasn't measured";
  EXPECT_NE(first(TRINE_F32, 700, 700, 8192), "deep");
}

/// The rows a group are those that were fastest for so few columns.
TEST(GemmRows, PreferFewColumnsWhereTilesAreTooWide) {
  const trine_device_facts facts = gpu();
  const std::tuple<int64_t, int64_t, int> all[] = {{8192, 8192, 2}, {65536, 1024, 2},
                                                   {4096, 4096, 1}, {8191, 8191, 1},
                                                   {1024, 1024, 0}, {16, 65536, 0}};
  for (const uint32_t dtype : {TRINE_F32, TRINE_F64, TRINE_I32})
    for (const auto& [rows, k, value] : all)
      for (const int64_t columns : {1, 4, 16}) {
        if (dtype == TRINE_F64 && columns > 4) continue;  // which go to the tensor cores
        for (const trine_gemm& op :
             {gemm_of(dtype, rows, columns, k), gemm_of(dtype, columns, rows, k)}) {
          const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
          EXPECT_STREQ(wishes.all[0].variant->name, "few_columns") << rows << "x" << columns;
          EXPECT_EQ(wishes.all[0].value, value) << rows << "x" << columns << "x" << k;
          EXPECT_LE(wishes.count, wishes.all.size());
        }
      }
  for (const trine_gemm& wider :
       {gemm_of(TRINE_F32, 8192, 17, 8192), gemm_of(TRINE_F64, 8192, 5, 8192)})
    EXPECT_STRNE(prefer_gemm({kCuda, &facts}, wider).all[0].variant->name, "few_columns");
}

TEST(GemmRows, SmallTakesTheSideThatHoldsAllThree) {
  for (const auto& [rung, dtype] : {std::pair{"small", TRINE_F32}, {"tensor_small", TRINE_F64}}) {
    const Asked asked(TRINE_GEMM, rung, {});
    for (const auto& [n, side] :
         {std::pair<int64_t, int>{1, 0}, {24, 0}, {25, 1}, {40, 2}, {48, 3}, {56, 4}, {57, 5}})
      for (const auto& op : {gemm_of(dtype, n, 1, 1, 70), gemm_of(dtype, 1, n, 1, 70),
                             gemm_of(dtype, 1, 1, n, 70)}) {
        EXPECT_EQ(asked.refusal(op), "");
        EXPECT_EQ(asked.plan(op).macro[1], side) << n;
        EXPECT_EQ(asked.launch(op).grid[0], 70u);
      }
    // A larger C has the tiles that cover it with the fewest elements.
    for (const auto& [m, n, k, side, tiles] :
         {std::tuple<int64_t, int64_t, int64_t, int, uint32_t>{50000, 32, 32, 1, 1563},
          {32, 50000, 31, 1, 1563},
          {4096, 4096, 64, 5, 4096},
          {100, 200, 41, 4, 8}}) {
      EXPECT_EQ(asked.plan(gemm_of(dtype, m, n, k, 3)).macro[1], side) << m;
      EXPECT_EQ(asked.launch(gemm_of(dtype, m, n, k, 3)).grid[0], 3 * tiles) << m;
    }
    EXPECT_NE(asked.refusal(gemm_of(dtype, 8, 8, 65)), "");
    EXPECT_NE(asked.refusal(gemm_of(TRINE_I32, 8, 8, 8)), "");
  }
}

/// Where all three have an odd number of elements a line and no gaps, in either order.
TEST(GemmRows, TensorSmallTakesRunsWhole) {
  const Asked asked(TRINE_GEMM, "tensor_small", {});
  const auto takes_runs = [&](const trine_gemm& op) { return asked.launch(op).entry == 1; };
  trine_gemm op = gemm_of(TRINE_F64, 31, 33, 35, 70);
  EXPECT_TRUE(takes_runs(op));
  for (trine_view* view : {&op.a, &op.b, &op.c}) {
    const int64_t row = view->row_stride;
    view->row_stride = row + 2;
    EXPECT_FALSE(takes_runs(op)) << "gaps";
    view->row_stride = row;
  }
  for (trine_view* view : {&op.a, &op.b}) {
    view->row_stride = 1;
    view->col_stride = view->rows;
    EXPECT_TRUE(takes_runs(op)) << "column-major";
  }
  EXPECT_FALSE(takes_runs(gemm_of(TRINE_F64, 31, 33, 34, 70)));
  EXPECT_FALSE(takes_runs(gemm_of(TRINE_F64, 31, 34, 33, 70)));
  EXPECT_TRUE(takes_runs(gemm_of(TRINE_F64, 30, 33, 35, 70))) << "rows are whole lines";
  EXPECT_FALSE(takes_runs(gemm_of(TRINE_F64, 65, 33, 35))) << "several tiles";
  EXPECT_FALSE(takes_runs(gemm_of(TRINE_F64, 1, 33, 1, 70)));
}

/// So that what runs has been proven: every kernel, each of its instructions, and what asks most
/// local memory.
TEST(GemmRows, SelfChecksRunEveryKernel) {
  trine_device_facts facts = gpu();
  int checked = 0;
  for (int r = 0; const Variant* variant = variant_at(r); ++r) {
    if (variant->operation != TRINE_GEMM || variant->self_checks.empty()) continue;
    ++checked;
    std::vector<bool> runs(variant->kernels().size());
    std::set<int> steps;  // which decide the instruction
    uint32_t most = 0;
    for (const SelfCheck& check : variant->self_checks) {
      Plan plan;
      check.plan({kCuda, &facts}, nullptr, nullptr, plan);
      for (int l = 0; l < plan.launch_count; ++l) {
        runs.at(static_cast<size_t>(plan.launches[l].entry)) = true;
        most = std::max(most, plan.launches[l].dynamic_local_bytes);
      }
      if (std::string_view(variant->name) == kTensorRung.rung)
        steps.insert(kTensorRung.tiles[size_t(plan.macro[1])].depth);
    }
    EXPECT_EQ(std::ranges::count(runs, true), std::ssize(runs)) << variant->name;
    if (variant->name != std::string_view("tensor_specialized")) continue;
    EXPECT_EQ(steps.size(), 2u);
    for (const uint32_t dtype : {TRINE_F64, TRINE_F32})
      for (int tile = 0; tile < static_cast<int>(variant->macros[1].values.size()); ++tile) {
        trine_gemm op = gemm_of(dtype, 300, 300, 300);
        op.numerics = TRINE_EXACT;
        const Asked asked(TRINE_GEMM, variant->name, {tile});
        if (!asked.refusal(op).empty()) continue;
        EXPECT_LE(asked.launch(op).dynamic_local_bytes, most);
      }
  }
  EXPECT_EQ(checked, 3);
}

/// As measured; the comments at the rules have the figures.
TEST(GemmRows, ManySmallProductsGoByWhatWasFastest) {
  trine_device_facts facts = gpu();
  const auto first = [&](const trine_gemm& op) {
    const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
    EXPECT_LE(wishes.count, wishes.all.size());
    return std::string_view(wishes.all[0].variant->name);
  };
  for (const int64_t n : {1, 4, 8}) {
    EXPECT_EQ(first(gemm_of(TRINE_F32, n, n, n, 50000)), "batched_small");
    EXPECT_EQ(first(gemm_of(TRINE_F64, n, n, n, 50000)), "batched_small");
    EXPECT_EQ(first(gemm_of(TRINE_F32, n, n, n, 5000)), "small");
    EXPECT_EQ(first(gemm_of(TRINE_I32, n, n, n, 5000)), "batched_small");
  }
  for (const int64_t n : {13, 17, 32, 40, 48, 56})
    for (const int64_t batch : {300, 5000}) {
      EXPECT_EQ(first(gemm_of(TRINE_F32, n, n, n, batch)), "small") << n;
      EXPECT_EQ(first(gemm_of(TRINE_F64, n, n, n, batch)), "tensor_small") << n;
    }
  EXPECT_EQ(first(gemm_of(TRINE_F32, 11, 11, 11, 50000)), "small");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 12, 12, 12, 50000)), "batched_small");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 63, 63, 63, 5000)), "small");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 64, 64, 64, 300)), "register_tile");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 64, 64, 64, 5000)), "register_tile");
  EXPECT_EQ(first(gemm_of(TRINE_F64, 64, 64, 64, 5000)), "tensor_small");
  EXPECT_EQ(first(gemm_of(TRINE_F64, 64, 64, 64, 500)), "tensor_small");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 32, 32, 32, 100)), "warp_specialized");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 16, 16, 16, 32)), "small");
  EXPECT_EQ(first(gemm_of(TRINE_F32, 16, 32, 64, 5000)), "batched_small") << "a quarter of a side";
  EXPECT_EQ(first(gemm_of(TRINE_F64, 16, 32, 64, 5000)), "tensor_small");
  EXPECT_NE(first(gemm_of(TRINE_F32, 20, 64, 64, 5000)), "register_tile") << "not measured";
  facts.capabilities &= ~uint64_t{TRINE_CAN_INLINE_PTX};
  EXPECT_EQ(first(gemm_of(TRINE_F32, 32, 32, 32, 5000)), "batched_small");
}

TEST(GemmRows, ChooseWhatTheDeviceTakes) {
  trine_device_facts facts = gpu();
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F32, 512, 512, 512)), "warp_specialized");
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F64, 512, 512, 512)), "tensor_specialized");
  facts.capabilities &= ~uint64_t{TRINE_CAN_INLINE_PTX};
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F64, 512, 512, 512)), "register_tile");
  facts.local_memory_bytes = 8 << 10;
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F64, 512, 512, 512)), "naive");
  facts.kind = TRINE_DEVICE_CPU;
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F64, 512, 512, 512)), "private_tile");
}

/// One launch without a workspace, so that no size of a buffer keeps a product from it.
TEST(GemmRows, PrivateTileTakesAnyProductOnACpu) {
  Asked asked(TRINE_GEMM, "private_tile");
  EXPECT_NE(asked.refusal(gemm_of(TRINE_F32, 512, 512, 512)), "");
  asked.facts.kind = TRINE_DEVICE_CPU;
  asked.facts.max_buffer_bytes = 0;
  EXPECT_EQ(asked.refusal(gemm_of(TRINE_F32, 1, 1, 20000000)), "");
  EXPECT_EQ(asked.launch(gemm_of(TRINE_F32, 97, 65, 3000)).grid[0], 4u);
  EXPECT_EQ(asked.launch(gemm_of(TRINE_F64, 97, 65, 3000)).grid[0], 6u);
}

/// Every rung is asked, whatever its shares of an empty C would be.
TEST(GemmRows, TakeProductsOfNothing) {
  for (const uint32_t kind : {TRINE_DEVICE_GPU, TRINE_DEVICE_CPU})
    for (const std::string& rung : ladder(TRINE_GEMM, kOpencl))
      for (const trine_gemm& op : {gemm_of(TRINE_F32, 0, 3, 3), gemm_of(TRINE_F32, 3, 0, 3)}) {
        Asked asked(TRINE_GEMM, rung);
        asked.facts.kind = kind;
        EXPECT_NE(asked.refusal(op), kTooMany) << rung;
        if (rung == "private_tile" && kind == TRINE_DEVICE_CPU) {
          EXPECT_EQ(asked.refusal(op), "");
        }
      }
}

/// A rung whose macro says so gets the kernel that begins at C, whatever else it is asked.
TEST(GemmRows, ContinueChainsByTheirLastMacro) {
  for (const char* rung : {"register_tile", "warp_specialized", "tensor_specialized"}) {
    const uint32_t dtype = rung[0] == 't' ? TRINE_F64 : TRINE_F32;
    trine_gemm op = gemm_of(dtype, 130, 77, 45);
    const Asked asked(TRINE_GEMM, rung);
    EXPECT_EQ(asked.plan(op).macro[asked.variant.macros.size() - 1], 0) << rung;
    op.flags = TRINE_CONTINUES;
    EXPECT_EQ(asked.refusal(op), "") << rung;
    EXPECT_EQ(asked.plan(op).macro[asked.variant.macros.size() - 1], 1) << rung;
    op.alpha = {};  // C is not read
    EXPECT_EQ(asked.plan(op).macro[asked.variant.macros.size() - 1], 0) << rung;
  }
}

/// Even sizes keep a kernel without what odd rows cost.
TEST(GemmRows, OddRowsHaveAFormOfTheirOwn) {
  const auto planned = [](const char* tile, const trine_gemm& op) {
    return Asked("tensor_specialized", tile).plan(op);
  };
  const trine_gemm even = gemm_of(TRINE_F64, 64, 64, 64), odd = gemm_of(TRINE_F64, 63, 63, 63);
  EXPECT_EQ(planned("128x128", even).macro[3], 0);
  EXPECT_EQ(planned("128x128", gemm_of(TRINE_F64, 63, 64, 64)).macro[3], 0);
  for (trine_view trine_gemm::*operand : {&trine_gemm::a, &trine_gemm::b, &trine_gemm::c}) {
    trine_gemm op = even;
    (op.*operand).row_stride = 65;
    EXPECT_EQ(planned("128x128", op).macro[3], 1);
    if (operand == &trine_gemm::c) continue;
    std::swap((op.*operand).row_stride, (op.*operand).col_stride);
    EXPECT_EQ(planned("128x128", op).macro[3], 1);
  }
  EXPECT_EQ(planned("32x64", odd).macro[3], 0);
  trine_gemm continued = odd;
  continued.flags = TRINE_CONTINUES;
  EXPECT_EQ(planned("128x128", continued).macro[3], 0);
  // 5 stages of two panels of 128 rows: 16 elements and 4 more, or 5 where they are odd.
  EXPECT_EQ(planned("128x128", even).launches[0].dynamic_local_bytes, 5 * 2 * 128 * 20 * 8);
  EXPECT_EQ(planned("128x128", odd).launches[0].dynamic_local_bytes, 5 * 2 * 128 * 21 * 8);
}

/// 252 groups on 132 multiprocessors that hold three: no multiprocessor may take a third.
TEST(GemmRows, GroupsAreSpreadEvenlyWhereTwoAreNeeded) {
  const auto bytes = [](const char* tile, int64_t n) {
    return Asked("warp_specialized", tile).launch(gemm_of(TRINE_F32, n, n, n)).dynamic_local_bytes;
  };
  const uint32_t own = 4 * 32 * (48 + 64 + 8) * 4, two = 233472 / 3 - 1024;
  EXPECT_EQ(bytes("48x64", 600), own) << "one is needed";
  EXPECT_EQ(bytes("48x64", 690), own) << "1.25 are: what the launch before leaves is enough";
  EXPECT_EQ(bytes("48x64", 844), two);
  EXPECT_EQ(bytes("48x64", 900), own) << "three are";
  EXPECT_EQ(bytes("96x64", 1100), 4 * 32 * (96 + 64 + 8) * 4) << "no more than two fit";
}

/// Chains that begin at C don't have that form, so odd rows cost the tiles other shares of their
/// speed.
TEST(GemmRows, OddRowsAreWeighedByTheFormThatTakesThem) {
  const trine_device_facts facts = gpu();
  trine_gemm op = gemm_of(TRINE_F64, 1087, 1471, 511);
  const auto first = [&] {
    const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
    return std::string_view(kTensorRung.tiles[size_t(wishes.all[0].value)].name);
  };
  EXPECT_EQ(first(), "64x64");
  op.flags = TRINE_CONTINUES;
  EXPECT_EQ(first(), "128x128");
}

TEST(GemmRows, ExactProductsAreForRungsThatBoundTheirErrors) {
  trine_gemm op = gemm_of(TRINE_F32, 64, 64, 64);
  for (const std::string& rung : ladder(TRINE_GEMM, kBoth)) {
    if (rung.starts_with("private")) continue;
    op.numerics = TRINE_EXACT;
    const std::string exact = Asked(TRINE_GEMM, rung).refusal(op);
    EXPECT_EQ(exact.empty(),
              rung == "bounded" || rung == "tensor_specialized" || rung == "residues")
        << rung << " " << exact;
    trine_gemm doubles = gemm_of(TRINE_F64, 64, 64, 64);
    doubles.numerics = TRINE_EXACT;
    EXPECT_EQ(Asked(TRINE_GEMM, rung).refusal(doubles).empty(), rung == "bounded") << rung;
  }
  op.numerics = TRINE_REPRODUCIBLE;
  EXPECT_THAT(Asked(TRINE_GEMM, "bounded").refusal(op), HasSubstr("exact alone"));
  op.numerics = TRINE_EXACT;
  Asked single(TRINE_GEMM, "bounded");
  single.facts.capabilities &= ~uint64_t{TRINE_CAN_F64};
  EXPECT_THAT(single.refusal(op), HasSubstr("no double precision"));
  trine_device_facts facts = gpu();
  EXPECT_EQ(chosen(facts, op), "tensor_specialized");
  facts.capabilities &= ~uint64_t{TRINE_CAN_INLINE_PTX};
  EXPECT_EQ(chosen(facts, op), "bounded");
}

TEST(GemmRows, BoundedNeedsNoRoomForChains) {
  const Asked asked(TRINE_GEMM, "bounded");
  trine_gemm op = gemm_of(TRINE_F64, 1024, 1024, 1024);
  op.numerics = TRINE_EXACT;
  EXPECT_LT(
      asked.variant.workspace_bytes(
          {{kCuda, &asked.facts}, asked.selection, {sizeof(trine_call), TRINE_GEMM, &op}, nullptr}),
      uint64_t{1} << 20);
}

/// More terms than a word of a superaccumulator takes: steps that repeat need no memory.
TEST(GemmRows, ExactSumsHaveUpTo2To31Terms) {
  for (const char* rung : {"bounded", "tensor_specialized", "private_exact"}) {
    Asked asked(TRINE_GEMM, rung);
    if (rung[0] == 'p') asked.facts.kind = TRINE_DEVICE_CPU;
    asked.facts.max_buffer_bytes = uint64_t{1} << 50;
    const auto refusal = [&](int64_t k) {
      trine_gemm op = gemm_of(TRINE_F32, 3, 3, k);
      op.numerics = TRINE_EXACT;
      return asked.refusal(op);
    };
    EXPECT_EQ(refusal(int64_t{1} << 31), "") << rung;
    EXPECT_THAT(refusal((int64_t{1} << 31) + 1), HasSubstr("2^31 terms")) << rung;
  }
}

/// One launch without a workspace, under each PoCL.
TEST(GemmRows, ExactProductsOnACpuAreForPrivateExact) {
  Asked asked(TRINE_GEMM, "private_exact");
  asked.facts.max_buffer_bytes = 0;
  for (const uint32_t dtype : {TRINE_F32, TRINE_F64}) {
    trine_gemm op = gemm_of(dtype, 97, 65, 3000);
    op.numerics = TRINE_EXACT;
    for (const char* driver : {"3.1+debian", "4.0", "5.0-2build3"}) {
      asked.facts.kind = TRINE_DEVICE_GPU;
      EXPECT_THAT(asked.refusal(op), HasSubstr("for CPUs"));
      asked.facts.kind = TRINE_DEVICE_CPU;
      std::snprintf(asked.facts.driver, sizeof asked.facts.driver,
                    "Portable Computing Language, driver %s", driver);
      EXPECT_EQ(chosen(asked.facts, op), "private_exact") << driver;
      EXPECT_EQ(asked.launch(op).grid[0], dtype == TRINE_F32 ? 4u : 6u);
      Asked bounded(TRINE_GEMM, "bounded");
      bounded.facts = asked.facts;
      bounded.facts.max_buffer_bytes = uint64_t{1} << 40;
      EXPECT_EQ(bounded.refusal(op) == "", driver[0] == '3') << driver;
    }
    EXPECT_EQ(asked.variant.workspace_bytes, nullptr);
    op.numerics = TRINE_REPRODUCIBLE;
    EXPECT_THAT(asked.refusal(op), HasSubstr("exact alone"));
  }
}

/// The choice is among the tiles that exact f32 has. A stage has 32 steps of k or more, 4 or 8
/// elements more a row of a panel; chains end with a warp's steps of one.
TEST(GemmRows, ExactProductsOfF32GoByTilesOfTheirOwn) {
  const trine_device_facts facts = gpu();
  for (const int64_t n : {64, 512, 1000, 1024, 2048, 2049, 4096, 8192}) {
    trine_gemm op = gemm_of(TRINE_F32, n, n, n);
    op.numerics = TRINE_EXACT;
    const Preferred wishes = prefer_gemm({kOpencl, &facts}, op);
    EXPECT_STREQ(wishes.all[0].variant->name, "tensor_specialized");
    for (size_t i = 0; i + 1 < wishes.count; ++i)
      if (wishes.all[i].variant == wishes.all[0].variant) {
        EXPECT_NE(kTensorTiles[wishes.all[i].value].forms & kWidens, 0u) << n;
      }
    EXPECT_STREQ(wishes.all[wishes.count - 1].variant->name, "bounded");
  }
  // The fastest on an H200.
  for (const auto& [n, fastest] : {std::pair<int64_t, std::string_view>{64, "16x32by2"},
                                   {128, "16x32by2"},
                                   {256, "16x32by2"},
                                   {320, "32x32by2"},
                                   {384, "32x64by2"},
                                   {512, "32x64by2"},
                                   {640, "96x48"},
                                   {768, "96x48"},
                                   {1024, "128x64"},
                                   {1280, "auto"}}) {
    trine_gemm op = gemm_of(TRINE_F32, n, n, n);
    op.numerics = TRINE_EXACT;
    const Preferred wishes = prefer_gemm({kCuda, &facts}, op);
    const auto& first = wishes.all[0];
    EXPECT_EQ(std::string_view(first.variant->parameters[0].values[first.value]), fastest) << n;
  }
  trine_gemm op = gemm_of(TRINE_F32, 301, 301, 301);
  op.numerics = TRINE_EXACT;
  const Asked large("tensor_specialized", "128x64"), small("tensor_specialized", "32x64by2");
  EXPECT_STREQ(large.variant.macros[0].values[size_t(large.plan(op).macro[0])], "float");
  EXPECT_EQ(large.launch(op).grid[0], large.launch(gemm_of(TRINE_F64, 301, 301, 301)).grid[0]);
  EXPECT_EQ(large.launch(op).dynamic_local_bytes, 4 * (128 + 64) * 36 * 4);
  EXPECT_EQ(small.launch(op).dynamic_local_bytes, 8 * 32 * (40 + 72) * 4);
  EXPECT_EQ(small.launch(op).block[0], 2 * 128 + 128);
  EXPECT_EQ(small.plan(op).launch_count, 1) << "small tiles are whole in one launch";
  EXPECT_EQ(large.plan(op).launch_count, 3);
  const auto slack = [&](const Asked& asked, int launch) {
    const Launch product = asked.plan(op).launches[size_t(launch)];
    return product.arguments[product.argument_count - 2].f64 * 0x1p53;
  };
  EXPECT_NEAR(slack(large, 0), 128 + 3 + 1, 0.01);
  EXPECT_NEAR(slack(small, 0), 32 + 5 + 2, 0.01);
  EXPECT_STREQ(large.plan(op).launches[2].other->name, "add_chains");
  op.a.batch = op.c.batch = 2;
  EXPECT_STREQ(large.plan(op).launches[2].other->name, "one_by_one") << "of a batch";
  op.numerics = TRINE_REPRODUCIBLE;
  EXPECT_THAT(large.refusal(op), HasSubstr("is for f64"));
}

/// Few tiles of many steps: groups share the steps, and a launch adds their chains.
TEST(GemmRows, GroupsShareTheStepsOfExactProductsWithFewTiles) {
  const trine_device_facts facts = gpu();
  const Target target{kCuda, &facts};
  const trine_workspace workspace{sizeof workspace, nullptr, 256, 1 << 30};
  trine_gemm op = gemm_of(TRINE_F32, 500, 512, 8188);
  op.numerics = TRINE_EXACT;
  const trine_call call{sizeof call, TRINE_GEMM, &op};
  Asked asked("tensor_specialized", "128x64");
  Plan plan;
  asked.variant.plan({target, asked.selection, call, &workspace}, plan);
  ASSERT_EQ(plan.launch_count, 3) << "no marks: what adds the chains computes what is left open";
  EXPECT_STREQ(plan.launches[1].other->name, "norms");
  EXPECT_STREQ(plan.launches[2].other->name, "add_chains");
  // 4 x 8 tiles leave 132 multiprocessors room for four groups each, of 2048 steps.
  EXPECT_EQ(plan.launches[0].grid[0], 4 * 8 * 4);
  EXPECT_EQ(plan.launches[0].arguments[17].i64, 2048);
  EXPECT_EQ(plan.launches[0].arguments[plan.launches[0].argument_count - 1].i64, 8188);
  EXPECT_EQ(plan.launches[0].arguments[2].i64, 2048) << "A's next steps are its next matrix";
  const auto bytes = [&] {
    return asked.variant.workspace_bytes({target, asked.selection, call, nullptr});
  };
  const uint64_t shared = bytes();
  EXPECT_EQ(prefer_gemm(target, op).all[0].value, asked.selection.values[0]);
  op.a.batch = op.b.batch = op.c.batch = 2;
  asked.variant.plan({target, asked.selection, call, &workspace}, plan = Plan{});
  EXPECT_EQ(plan.launch_count, 3) << "a batch fills the device";
  EXPECT_GT(shared, bytes() + 500 * 512 * 8 * 3);
  op = gemm_of(TRINE_F32, 500, 512, 1000);
  op.numerics = TRINE_EXACT;
  asked.variant.plan({target, asked.selection, call, &workspace}, plan = Plan{});
  EXPECT_EQ(plan.launch_count, 3) << "too few steps";
}

TEST(GemmRows, ChooseOneThatContinuesChains) {
  trine_device_facts facts = gpu();
  trine_gemm op = gemm_of(TRINE_F32, 512, 1024, 512), doubles = gemm_of(TRINE_F64, 8, 4, 512);
  op.flags = doubles.flags = TRINE_CONTINUES;
  EXPECT_EQ(chosen(facts, op), "warp_specialized");
  EXPECT_EQ(chosen(facts, doubles), "tensor_specialized");
  EXPECT_EQ(Asked(TRINE_GEMM, "tensor_small").refusal(doubles), "begins its chains at 0, not at c");
  facts.capabilities &= ~uint64_t{TRINE_CAN_INLINE_PTX};
  EXPECT_EQ(chosen(facts, op), "register_tile");
  EXPECT_EQ(chosen(facts, doubles), "register_tile");
  facts.kind = TRINE_DEVICE_CPU;
  EXPECT_EQ(chosen(facts, op), "private_tile");
}

TEST(GemmRows, GoDownTheLadderWhereTheDefaultRefuses) {
  trine_device_facts facts = gpu();
  facts.capabilities &= ~uint64_t{TRINE_CAN_INLINE_PTX};
  facts.local_memory_bytes = 8 << 10;  // register_tile needs more
  EXPECT_EQ(chosen(facts, gemm_of(TRINE_F32, 512, 512, 512)), "naive");
  const trine_gemm wide = gemm_of(TRINE_F32, 1 << 20, 1 << 20, 1);
  EXPECT_NE(Asked(TRINE_GEMM, "naive").refusal(wide), "") << "2^32 tiles of 16 x 16";
  EXPECT_EQ(chosen(facts, wide), "volkov2008");
  facts.local_memory_bytes = 1024;
  EXPECT_EQ(chosen(facts, wide), "naive") << "all refuse: the preferred rung's reason is told";
}

}  // namespace
