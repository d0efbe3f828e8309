// Cases made of random numbers: shapes, strides, offsets, scalars and values that nobody thought
// of.
#include "dice.hpp"

#include "case.hpp"

namespace trine::conformance {
namespace {

constexpr int64_t kElements = int64_t{1} << 16;  // of an operand, but once in 32 cases
constexpr int64_t kMany = int64_t{1} << 19;      // enough for work to be split among threads

int64_t limit(Dice& dice) { return dice.once_in(32) ? kMany : kElements; }

}  // namespace

namespace detail {

oracle::Operation random_reduce(Dice& dice) {
  const auto function = dice.pick<uint32_t>(
      {TRINE_SUM, TRINE_SUM, TRINE_PROD, TRINE_MIN, TRINE_MAX, TRINE_ARGMIN, TRINE_ARGMAX});
  auto map = function == TRINE_SUM
                 ? dice.pick<uint32_t>({TRINE_IDENTITY, TRINE_ABS, TRINE_SQUARE, TRINE_PRODUCT})
                 : dice.pick<uint32_t>({TRINE_IDENTITY, TRINE_ABS});
  const auto axis = dice.pick<uint32_t>({TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN});
  const auto dtype =
      dice.pick<uint32_t>({TRINE_F32, TRINE_F64, TRINE_I32, TRINE_I64, TRINE_U32, TRINE_U64});
  if (map == TRINE_PRODUCT && dtype != TRINE_F32 && dtype != TRINE_F64) map = TRINE_SQUARE;
  const int64_t most = limit(dice), rows = dice.extent(most);
  const int64_t cols = dice.extent(most / std::max<int64_t>(rows, 1));
  auto op = std::get<trine_reduce>(oracle::plan_reduce(function, map, axis, dtype, rows, cols));
  if (function == TRINE_SUM && dtype == TRINE_F32 && dice.once_in(3)) op.result_dtype = TRINE_F64;
  dice.lay_input(op.input, int(dice.below(2)), dice.once_in(4) ? dice.below(4) : 1);
  if (map == TRINE_PRODUCT)
    dice.lay_input(op.second, int(dice.below(2)), dice.once_in(4) ? dice.below(4) : 1);
  if (function == TRINE_SUM && (dtype == TRINE_F32 || dtype == TRINE_F64) && dice.once_in(4))
    oracle::write_states(op);
  op.output.row_stride = op.output.cols + (dice.once_in(3) ? dice.below(4) : 0);
  return op;
}

oracle::Operation random_transpose(Dice& dice) {
  const auto size = dice.pick<uint32_t>({1, 2, 4, 8, 16});
  const int64_t batch = dice.once_in(2) ? 1 : dice.below(6), most = limit(dice);
  const int64_t rows = dice.extent(most / std::max<int64_t>(batch, 1));
  const int64_t cols = dice.extent(most / std::max<int64_t>(batch * rows, 1));
  auto op = std::get<trine_transpose>(oracle::plan_transpose(size, rows, cols, batch));
  dice.lay_input(op.input, int(dice.below(2)), 1);
  dice.lay_apart(op.output, int(dice.below(2)), 1);
  return op;
}

oracle::Operation random_gemm(Dice& dice) {
  const auto dtype = dice.pick<uint32_t>({TRINE_F32, TRINE_F64, TRINE_I32});
  const int64_t batch = dice.once_in(2) ? 1 : dice.below(5);
  const int64_t side = dice.once_in(16) ? 400 : 100, deep = dice.once_in(8) ? 1500 : side;
  const int64_t m = dice.extent(side), n = dice.extent(side);
  const int64_t k = dice.extent(m * n * batch > 40000 ? 100 : deep);
  const double alpha = dice.pick({1.0, 1.0, 0.0, -1.0, 2.0, dtype == TRINE_I32 ? 3.0 : 0.375});
  const double beta = dice.pick({0.0, 0.0, 1.0, -1.0, dtype == TRINE_I32 ? 5.0 : -0.625});
  auto op = std::get<trine_gemm>(oracle::plan_gemm(dtype, m, n, k, alpha, beta, batch));
  for (trine_view* input : {&op.a, &op.b}) {
    dice.lay_apart(*input, int(dice.below(2)), 1);
    if (dice.once_in(4)) input->batch_stride = 0;
  }
  dice.lay_apart(op.c, int(dice.below(2)), 1);
  if (dice.once_in(6)) op.flags = TRINE_CONTINUES, op.beta = {};
  if (!trine_continues(&op) && dice.once_in(3)) {
    op.numerics = TRINE_EXACT;
    if (dtype != TRINE_I32 && dice.once_in(2)) {
      const double tiny = dtype == TRINE_F32 ? 0x1p-140 : 0x1p-1060;
      op.alpha = oracle::scalar_of(dtype, dice.pick({0.1, -0.7, 1e30, tiny}));
      op.beta = oracle::scalar_of(dtype, dice.pick({0.0, 1.0 / 3, -1e30, tiny}));
    }
  }
  return op;
}

}  // namespace detail

namespace {

/// Offsets are whole elements, for transposes whole words of 4 bytes.
void move_origins(oracle::Operation& plan, Dice& dice) {
  const bool bits = std::holds_alternative<trine_transpose>(plan);
  for (const oracle::Operand& o : oracle::operands(plan)) {
    const uint64_t size = trine_dtype_size(o.dtype), step = bits && size > 4 ? 4 : size;
    o.view->offset = dice.once_in(2) ? 0 : step * uint64_t(dice.below(20));
  }
}

}  // namespace

Case random_case(uint64_t seed) {
  Dice dice(seed);
#define TRINE_RANDOM(VALUE, word, ...) &detail::random_##word,
  using Make = oracle::Operation(Dice&);
  oracle::Operation plan = dice.pick<Make*>({TRINE_OPERATIONS(TRINE_RANDOM)})(dice);
#undef TRINE_RANDOM
  move_origins(plan, dice);
  std::vector<oracle::Values> values;
  const uint32_t dtype = oracle::operands(plan).front().dtype;
  for (const oracle::Values v : oracle::all_values())
    if (oracle::suits(v, dtype)) values.push_back(v);
  const auto* const g = std::get_if<trine_gemm>(&plan);
  const bool gemm = g != nullptr;
  if (gemm && trine_is_exact(g))
    for (const oracle::Values v : oracle::product_values()) values.push_back(v);
  detail::List list;
  Case c = list.add(plan, "random", dice.pick(values),
                    {.rungs = dice.once_in(24) ? Rungs::kLadder : Rungs::kDefault,
                     .hostile_environment = dice.once_in(8),
                     .fast = gemm && dtype == TRINE_F32 && dice.once_in(8)});
  c.seed = seed;
  c.tight = true;
  const oracle::Operand first = oracle::operands(c.plan).front();
  c.beside = trine_dtype_size(first.dtype) > 1 &&
             oracle::extent_bytes(*first.view, first.dtype) > 0 && dice.once_in(16);
  c.name += " --seed " + std::to_string(seed);
  return c;
}

}  // namespace trine::conformance
