// gemm: c = alpha a b + beta c, batched.
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/kit/bits.hpp"
#include "operations.hpp"

namespace trine::detail {
namespace {

constexpr Role kOperands[] = {{"gemm", "a", false, offsetof(trine_gemm, a)},
                              {"gemm", "b", false, offsetof(trine_gemm, b)},
                              {"gemm", "c", true, offsetof(trine_gemm, c)}};
constexpr Role kAlpha{"gemm", "alpha", false}, kBeta{"gemm", "beta", false};
constexpr Field kKey[] = {kDtype, kLayout, kNumerics};
constexpr Dtype kMultiplied[] = {Dtype::f32, Dtype::f64, Dtype::i32};
const std::vector<double> kSides{1,   3,   9,   33,
                                 129, 513, 2049};  ///< of a calibration; see reduce.cpp

/// Scalars of device memory: the chains alone go to a temporary, those that continue stay in c, and
/// c = fma(beta, c, alpha * chain) follows, the very steps that a gemm ends with.
void scale_afterwards(const trine_number& alpha, const trine_number& beta, Dtype dtype,
                      Descriptor& all) {
  trine_gemm& gemm = all.gemm;
  const trine_view c = gemm.c;
  const bool continues = trine_continues(&gemm);
  if (!continues) set_temporary(all, gemm.c, size_of(dtype), false);
  all.is_followed = true;
  all.then = {};
  all.then.size = sizeof all.then;
  all.then.function = TRINE_AXPBY;
  all.then.dtype = static_cast<uint32_t>(dtype);
  all.then.p = beta;
  all.then.u = all.then.v = all.then.out = c;
  if (gemm.a.cols != 0 || continues)
    all.then.q = alpha;  // alpha * the empty chain is +0, whatever alpha is
  gemm.alpha = exact_scalar(1, dtype, kAlpha);
  gemm.beta = {};
}

/// Is each element rounded once? Products of i32 are exact modulo 2^32 in any case.
bool is_exact(const Gemm& op) { return op.numerics == Numerics::exact && op.a.dtype != Dtype::i32; }

/// Is c to be added to the product?
bool reads_addend(const Gemm& op) { return op.beta.on_device() || !kit::is_zero(op.beta.number()); }

/// How chains are divided: the parts before the last one, whose results are copied out in at most
/// `chunks`.
struct Chains {
  std::span<const int> divisors = {};  ///< first_parts()
  int64_t chunks = kMostChunks;
};

/// For products whose inputs are much of the data that moves. While a part is computed, the next is
/// copied, which is as long or twice as long: a large GPU does a thousand multiply-adds while a
/// byte is copied.
Chains chains_of(const Gemm& op, const Work& all, const CutWish& wish) {
  static constexpr int kDoubling[] = {32, 16, 8, 4}, kEven[] = {4, 4};
  const std::span doubling(kDoubling);
  // Pageable memory is copied more slowly, by the host: parts of k would lose there
  // (docs/decisions/calls-in-chunks.md).
  if (!wish.pinned) return {};
  if (wish.chunks > 0)
    return {doubling.last(std::min<std::size_t>(wish.chunks / 2, doubling.size()))};
  if (4 * std::min(bytes(op.a), bytes(op.b)) < all.bytes_in + all.bytes_out) return {};
  const double computes = all.flops / all.bytes_in;
  if (computes >= 1800) return {doubling, kMostChunks / 2};
  return computes >= 900 ? Chains{kEven} : Chains{};
}

class GemmDescription final : public Description {
 public:
  constexpr GemmDescription()
      : Description({.operation = Operation::gemm,
                     .descriptor_bytes = sizeof(trine_gemm),
                     .key_fields = kKey,
                     .key_extents = 4,
                     .most_alignment = 8,
                     .is_cut = true,
                     .reads_only = false,
                     .moves_bits = false,
                     .has_scalars = true,
                     .largest_side = 0x1p20,
                     .size_words = " of n x n x n"}) {}

  Views views(void* any) const override {
    auto& op = *static_cast<Gemm*>(any);
    return {{&op.a, &op.b, &op.c}, kOperands};
  }

  void check(const void* any, const DeviceState* device, Mode mode,
             Descriptor& all) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    trine_gemm& out = all.gemm;
    check_numerics(op.numerics, kOperands[0]);
    const Dtype dtype = op.a.dtype;
    if (std::ranges::find(kMultiplied, dtype) == std::end(kMultiplied)) {
      refuse("gemm: a: ", name(dtype), " can't be multiplied; f32, f64 and i32 can.");
    }
    if (op.b.dtype != dtype || op.c.dtype != dtype) {
      refuse("gemm: a, b and c have one dtype; here they are ", name(dtype), ", ", name(op.b.dtype),
             " and ", name(op.c.dtype), ".");
    }
    if (op.a.rows != op.c.rows || op.b.cols != op.c.cols || op.a.cols != op.b.rows) {
      refuse("gemm: a ", op.a.rows, " x ", op.a.cols, " times b ", op.b.rows, " x ", op.b.cols,
             " doesn't give c ", op.c.rows, " x ", op.c.cols, ".");
    }
    if (op.a.batch != op.c.batch || op.b.batch != op.c.batch) {
      refuse("gemm: batches of a, b and c differ: ", op.a.batch, ", ", op.b.batch, ", ", op.c.batch,
             "; repeat an input with a batch stride of 0.");
    }
    if (is_exact(op) && op.continues)
      refuse(
          "gemm: an exact product is rounded once, to c: it can't continue there. Compute all of k "
          "in one call.");
    if (is_exact(op) && (op.alpha.on_device() || op.beta.on_device()))
      fail(Status::unsupported,
           "gemm: an exact product is rounded once: scalars of device memory, which would come "
           "afterwards, can't scale it. Give them as host values.");
    const Number alpha(op.alpha, dtype, kAlpha, device, mode);
    const Number beta(op.beta, dtype, kBeta, device, mode);
    if (op.continues && reads_addend(op))
      refuse("gemm: beta: a product that continues its chains begins them at c, so beta is 0.");
    out.alpha = alpha.number.value;
    out.beta = beta.number.value;
    out.flags = op.continues ? TRINE_CONTINUES : 0;
    const Placed c = check_views(any, device, mode, all);
    for (const Role& role : kOperands) check_unit_stride(view(all, role), role);
    if (op.alpha.on_device() || op.beta.on_device()) {
      if (device && !device->api.elementwise)
        fail(Status::unsupported, device->id,
             ": gemm: scalars of device memory need elementwise commands; this backend has none.");
      check_apart(op.c, c, kOperands[2], op.alpha.element(), alpha.placed, kAlpha);
      check_apart(op.c, c, kOperands[2], op.beta.element(), beta.placed, kBeta);
      scale_afterwards(alpha.number, beta.number, dtype, all);
    }
    out.size = sizeof out;
    out.numerics = static_cast<uint32_t>(
        op.numerics == Numerics::exact && !is_exact(op) ? Numerics::reproducible : op.numerics);
    out.dtype = static_cast<uint32_t>(dtype);
    out.reserved = 0;
  }

  bool reads_output(const void* any) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    return reads_addend(op) || (op.continues && reads_inputs(any));
  }

  bool reads_inputs(const void* any) const override {
    const Scalar& alpha = static_cast<const Gemm*>(any)->alpha;
    return alpha.on_device() || !kit::is_zero(alpha.number());
  }
  void tell(const void* any, Receipt& receipt) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    receipt.numerics = name(op.numerics);
    receipt.alpha = op.alpha.number();
    receipt.beta = op.beta.number();
    receipt.continues = op.continues;
  }

  std::array<const Scalar*, 2> scalars(const void* any) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    return {&op.alpha, &op.beta};
  }

  void size(const void* any, Work& work) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    work.flops = 2.0 * double(op.a.cols) * elements(op.c);
    if (is_exact(op)) work.dtype = Dtype::f64;  // whose arithmetic it is, also of f32
    work.call_class = class_of(operation, {}, {}, work.dtype);
    work.extents[0] = double(op.c.rows) * double(op.c.batch);
    work.extents[1] = double(op.c.cols);
    work.extents[2] = double(op.a.cols);
  }

  /// Cuts a batch between its matrices. Cuts a product that computes longer than its inputs are
  /// copied by parts of the chains, else by rows of a or columns of b, after the other input.
  Cutting cutting(const void* any, const CutWish& wish) const override {
    const auto& op = *static_cast<const Gemm*>(any);
    if (op.numerics == Numerics::fast) return {};
    const Work all = work_of(op);
    const double moved = all.bytes_in + all.bytes_out;
    Cutting chunks;
    if (op.c.batch != 1) {
      for (const Range& some : cut(op.c.batch, moved, 1, wish))
        chunks.push_back({{of_batch(op.a, some), of_batch(op.b, some), of_batch(op.c, some)}});
      return chunks;
    }
    const int64_t m = op.c.rows, n = op.c.cols, k = op.a.cols;
    const auto add = [&](const Range& rows, const Range& cols, const Range& terms) {
      chunks.push_back({{Part{rows, terms, {0, 1}}, {terms, cols, {0, 1}}, {rows, cols, {0, 1}}},
                        terms.begin == 0,
                        terms.begin + terms.count == k});
    };
    const Range all_rows{0, m}, all_cols{0, n};
    Range terms{0, k};
    CutWish rest = wish;
    const bool row_major = op.c.row_stride >= op.c.col_stride;
    // The larger of two inputs is cut, because nothing starts before the other one is there. If
    // they are about equal, the one with c's layout is cut.
    bool by_rows = row_major ? m >= n / 2 : m / 2 > n;
    if (reads_inputs(any) && !reads_output(any) && !is_exact(op)) {
      const Chains chains = chains_of(op, all, wish);
      const std::vector<Range> parts = first_parts(k, chains.divisors, wish);
      if (!parts.empty()) by_rows = row_major, rest.most = chains.chunks;
      for (const Range& some : parts) {
        add(all_rows, all_cols, some);
        terms = {some.begin + some.count, k - some.begin - some.count};
      }
    }
    if (wish.chunks > 0) rest.chunks -= static_cast<int>(chunks.size());
    const int64_t results = by_rows ? m : n;
    std::vector<Range> ranges = cut(results, moved, kGranule, rest);
    if (!chunks.empty() && ranges.empty()) ranges = {{0, results}};
    if (!chunks.empty() && wish.chunks == 0) ranges = taper(std::move(ranges));
    for (const Range& some : ranges)
      by_rows ? add(some, all_cols, terms) : add(all_rows, some, terms);
    return chunks;
  }

  void take(void* any, const Chunk& chunk) const override {
    auto& op = *static_cast<Gemm*>(any);
    op.continues |= !chunk.begins;
    if (!chunk.ends) op.alpha = 1;
  }

  void log(const Descriptor& call, Logged& entry) const override {
    const trine_gemm& op = call.gemm;
    entry.dtype = name(static_cast<Dtype>(op.dtype)).data();
    entry.extents[0] = op.c.rows;
    entry.extents[1] = op.c.cols;
    entry.extents[2] = op.a.cols;
  }

  TuningKey key(const Descriptor& call) const override {
    const trine_gemm& op = call.gemm;
    TuningKey key{.extents = {op.c.rows, op.c.cols, op.a.cols, op.c.batch}};
    return key.set(kDtype, op.dtype).set_layout({&op.a, &op.b, &op.c});
  }

  Empty empty(const Descriptor& call) const override { return {is_empty(call.gemm.c)}; }
  const char* untaken(const Descriptor& call, uint64_t takes) const override {
    return trine_untaken(takes, &call.gemm);
  }

  std::vector<CallClass> classes() const override {
    std::vector<CallClass> all;
    for (const Dtype dtype : kMultiplied)
      all.push_back(
          {operation, {}, {}, dtype, cat("gemm ", name(dtype)), {kSides, kSides, kSides}});
    return all;
  }

  AnyValue sample(const CallClass& kind, const std::vector<double>& extents) const override {
    const auto view = [&](std::size_t rows, std::size_t cols) {
      return row_major({}, kind.dtype, static_cast<int64_t>(extents[rows]),
                       static_cast<int64_t>(extents[cols]));
    };
    return Gemm{.a = view(0, 2), .b = view(2, 1), .c = view(0, 1)};
  }
};

constexpr GemmDescription kGemm;

}  // namespace

const Description& describe(const Gemm&) { return kGemm; }

}  // namespace trine::detail
