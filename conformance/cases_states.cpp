// The cases of sums that write states instead of results.
#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Values;

trine_reduce states(uint32_t map, uint32_t axis, uint32_t dtype, int64_t rows, int64_t cols) {
  auto op = std::get<trine_reduce>(oracle::plan_reduce(TRINE_SUM, map, axis, dtype, rows, cols));
  oracle::write_states(op);
  return op;
}

constexpr uint32_t kDtypes[] = {TRINE_F32, TRINE_F64};
constexpr uint32_t kMaps[] = {TRINE_IDENTITY, TRINE_ABS, TRINE_SQUARE, TRINE_PRODUCT};
constexpr uint32_t kAxes[] = {TRINE_ALL, TRINE_EACH_ROW, TRINE_EACH_COLUMN};

}  // namespace

void add_state_cases(List& list) {
  constexpr int64_t kLong = (1 << 18) + 13;
  for (uint32_t dtype : kDtypes)
    for (uint32_t map : kMaps) {
      for (int64_t n : {0, 1, 2, 31, 33, 257, 4097})
        list.add(states(map, TRINE_ALL, dtype, 1, n), "dense", Values::kWide,
                 {.quick = n < 2 || n == 257});
      for (Values values : oracle::all_values()) {
        list.add(states(map, TRINE_ALL, dtype, 1, 3001), "dense", values,
                 {.rungs = Rungs::kLadder});
        list.add(states(map, TRINE_ALL, dtype, 1, kLong), "dense", values, {.quick = true});
        list.add(states(map, TRINE_EACH_ROW, dtype, 13, 300), "dense", values,
                 {.rungs = Rungs::kLadder});
        list.add(states(map, TRINE_EACH_COLUMN, dtype, 300, 13), "dense", values,
                 {.rungs = Rungs::kLadder});
      }
      for (uint32_t axis : kAxes) {
        trine_reduce padded = states(map, axis, dtype, 67, 131);
        padded.input.row_stride = 134;
        padded.input.offset = trine_dtype_size(dtype);
        padded.output.row_stride = TRINE_EXACT_WORDS + 3;
        padded.output.offset = 8;
        list.add(padded, "padded", Values::kMixed, {.rungs = Rungs::kLadder, .quick = true});
        list.add(states(map, axis, dtype, 67, 131), "dense", Values::kDenormal,
                 {.hostile_environment = true});
      }
      list.add(states(map, TRINE_EACH_ROW, dtype, 3000, 5), "dense", Values::kWide, {});
      list.add(states(map, TRINE_EACH_COLUMN, dtype, 5, 3000), "dense", Values::kWide, {});
    }
}

}  // namespace trine::conformance::detail
