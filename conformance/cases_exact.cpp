// The cases of exact gemm, made by rules: every class of values meets every scalar, every layout,
// and sides and depths around the borders of tiles and blocks, in an order in which no two of them
// go together.
#include <cmath>
#include <vector>

#include "case.hpp"

namespace trine::conformance::detail {
namespace {

using oracle::Values;
using Options = List::Options;

struct Scalars {
  double alpha, beta;
};
/// Those that leave most results finite and not 0 come first.
constexpr int64_t kPlain = 11;
std::vector<Scalars> scalars_of(uint32_t dtype) {
  const bool f32 = dtype == TRINE_F32;
  const double least = f32 ? 0x1p-149 : 0x1p-1074;
  const double tiny = f32 ? 0x1.8p-140 : 0x1.8p-1060, huge = f32 ? 0x1.3p120 : 0x1.3p1000;
  const double brink = f32 ? 0x1p52 : 0x1p485;  // of Values::kBrink: beta * c decides
  return {{1, 0},    {1, 1},    {-1, 0},       {1.0 / 3, 0.1}, {-0.7, 1.3},      {tiny, 1},
          {1, tiny}, {3, -0.0}, {least, 0},    {1, brink},     {tiny, huge},     {0, 1},
          {0, 0},    {0, -0.1}, {huge, -huge}, {HUGE_VAL, 1},  {1, std::nan("")}};
}

std::vector<Values> values_of(uint32_t dtype) {
  std::vector<Values> values;
  for (const Values v : oracle::all_values())
    if (oracle::suits(v, dtype)) values.push_back(v);
  values.insert(values.end(), oracle::product_values().begin(), oracle::product_values().end());
  return values;
}

/// Adds cases of one dtype, with the next scalars and the next layout each time.
class Adder {
 public:
  Adder(List& list, uint32_t dtype) : list_(list), dtype_(dtype), scalars_(scalars_of(dtype)) {}

  trine_gemm plan(int64_t m, int64_t n, int64_t k, const Scalars& s, int64_t batch = 1) const {
    auto op = std::get<trine_gemm>(oracle::plan_gemm(dtype_, m, n, k, s.alpha, s.beta, batch));
    op.numerics = TRINE_EXACT;
    return op;
  }
  const Scalars& next_scalars() const { return scalars_[size_t(turn_ % kPlain)]; }

  void add(int64_t m, int64_t n, int64_t k, Values values, const Options& options,
           int64_t batch = 1) {
    add(plan(m, n, k, next_scalars(), batch), values, options);
  }
  /// `change` changes what is laid out.
  template <class Change = void (*)(trine_gemm&)>
  void add(
      trine_gemm op, Values values, Options options, Change change = [](trine_gemm&) {}) {
    const int64_t turn = turn_++, pad = turn % 3;
    const std::string layout = lay_out(op, int(turn % 8), pad);
    change(op);
    options.rungs = Rungs::kLadder;
    options.detail += (options.detail.empty() ? "pad=" : " pad=") + std::to_string(pad);
    if (turn % 5 == 1) {
      op.a.offset = op.b.offset = op.c.offset = trine_dtype_size(dtype_);
      options.detail += " moved";
    }
    list_.add(op, layout, values, options);
  }

 private:
  List& list_;
  const uint32_t dtype_;
  const std::vector<Scalars> scalars_;
  int64_t turn_ = 0;
};

/// Every class walks over sides and depths on both sides of the borders of tiles, vectors and
/// blocks. The numbers of both are prime, and so are the steps, so each side meets each depth.
void add_walk(Adder& to, Values values, int64_t first) {
  constexpr int64_t kSides[] = {1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65};
  constexpr int64_t kDepths[] = {1,  2,  3,  4,  5,  7,  8,  9,   15, 16,
                                 17, 31, 32, 33, 63, 64, 65, 128, 257};
  for (int64_t t = first; t < first + 24; ++t) {
    const int64_t m = kSides[t * 5 % 17], n = kSides[(t * 7 + t / 17) % 17];
    to.add(m, n, kDepths[t * 11 % 19], values, {.quick = t % 3 == 0}, t % 7 == 0 ? 3 : 1);
  }
}

void add_each_scalar(Adder& to, uint32_t dtype, Values values) {
  for (const Scalars& s : scalars_of(dtype))
    to.add(to.plan(5, 9, 40, s), values, {.quick = is_for_products(values)});
}

void add_each_layout(Adder& to, Values values) {
  for (int t = 0; t < 8; ++t) to.add(19, 21, 23, values, {}, 2);
}

/// Sums that are longer than what a block, a 16-bit counter or an int32 of byte products holds.
void add_deep(Adder& to, Values values) {
  for (const int64_t k : {(1 << 16) - 1, (1 << 16) + 1, (1 << 17) + 3})
    to.add(1 + k % 4 / 2, 2, k, values, {.quick = k < 1 << 16 && is_for_products(values)});
}

/// Inputs that repeat a matrix, a row, a column, or what stands at one k.
void add_repeated(Adder& to, Values values, int64_t first) {
  constexpr const char* kNames[] = {"repeated_a",      "repeated_b",      "repeated_row",
                                    "repeated_column", "repeated_k_of_a", "repeated_k_of_b"};
  for (int64_t t = first; t < first + 4; ++t) {
    const int64_t kind = t % 6;
    trine_gemm op = to.plan(18, 17, 26, to.next_scalars(), 3);
    to.add(op, values, {.detail = kNames[kind]}, [kind](trine_gemm& laid) {
      trine_view& input = kind % 2 == 0 ? laid.a : laid.b;
      if (kind < 2) input.batch_stride = 0;
      if (kind == 2 || kind == 5) input.row_stride = 0, input.col_stride = 1;
      if (kind == 3 || kind == 4) input.row_stride = 1, input.col_stride = 0;
    });
  }
}

void add_empty(Adder& to, uint32_t dtype) {
  constexpr int64_t kExtents[][4] = {{0, 3, 4, 1}, {3, 0, 4, 1}, {6, 5, 0, 2}, {3, 4, 5, 0}};
  for (const Scalars& s : scalars_of(dtype))
    for (const auto& [m, n, k, batch] : kExtents)
      to.add(to.plan(m, n, k, s, batch), Values::kUniform, {.quick = true});
}

/// Several of the largest tiles in each direction and several blocks of k, or one row more or less.
void add_large(Adder& to) {
  constexpr int64_t kExtents[][3] = {{255, 257, 129}, {257, 255, 127}, {256, 513, 128},
                                     {129, 511, 257}, {511, 130, 255}, {513, 127, 256}};
  constexpr Values kValues[] = {Values::kUniform, Values::kProductTies, Values::kMirrored,
                                Values::kGraded};
  constexpr Scalars kScalars[] = {{1, 0}, {-0.7, 1.3}, {1, 1}};
  for (int t = 0; t < 12; ++t) {
    const auto& [m, n, k] = kExtents[t % 6];
    to.add(to.plan(m, n, k, kScalars[t % 3]), kValues[(t + t / 6) % 4], {});
  }
  for (const Scalars& s : kScalars)
    to.add(to.plan(261, 517, 150, s), Values::kUniform, {.parameters = true});
  for (const int64_t side : {9, 32, 40}) to.add(side, side + 1, 23, Values::kMirrored, {}, 60);
}

}  // namespace

void add_exact_cases(List& list) {
  for (const uint32_t dtype : {TRINE_F32, TRINE_F64}) {
    Adder to(list, dtype);
    int64_t index = 0;
    for (const Values values : values_of(dtype)) {
      add_walk(to, values, ++index * 24);
      add_each_scalar(to, dtype, values);
      add_each_layout(to, values);
      add_deep(to, values);
      add_repeated(to, values, index * 4);
      to.add(130, 77, 45, values, {.parameters = true});
      to.add(21, 20, 41, values, {.quick = dtype == TRINE_F32, .hostile_environment = true});
    }
    add_empty(to, dtype);
    add_large(to);
  }
}

}  // namespace trine::conformance::detail
