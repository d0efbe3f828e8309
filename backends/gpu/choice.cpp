// The default rung of any operation on a GPU backend: the first preferred one that takes the call,
// else the best of the others that do.
#include <algorithm>

#include "backends/gpu/variant.hpp"

namespace trine::gpu {
namespace {

Preferred preferred(const Target& target, const trine_call& call) {
  const trine_selection none{};
  const Request request{target, none, call, nullptr};
  switch (call.operation) {
#define TRINE_PREFER(VALUE, word, ...) \
  case TRINE_##VALUE: return prefer_##word(target, request.as<trine_##word>());
    TRINE_OPERATIONS(TRINE_PREFER)
#undef TRINE_PREFER
    default: return {};
  }
}

bool computes_in(const trine_reduce& op, uint32_t dtype) {
  return op.dtype == dtype || op.result_dtype == dtype;
}
bool computes_in(const trine_transpose&, uint32_t) { return false; }  // it moves bits
bool computes_in(const trine_gemm& op, uint32_t dtype) {
  return op.dtype == dtype || (dtype == TRINE_F64 && trine_is_exact(&op));
}
bool computes_in(const Request& request, uint32_t dtype) {
  switch (request.call.operation) {
#define TRINE_COMPUTES(VALUE, word, ...) \
  case TRINE_##VALUE: return computes_in(request.as<trine_##word>(), dtype);
    TRINE_OPERATIONS(TRINE_COMPUTES)
#undef TRINE_COMPUTES
    default: return false;
  }
}

bool takes(const Variant& variant, const Request& request) {
  return (variant.backends & request.target.backend) != 0 && !reason_against(variant, request) &&
         request.target.runs(variant);
}

}  // namespace

const char* reason_against(const Variant& variant, const Request& request) {
  const bool f64 = computes_in(request, TRINE_F64);
  if (f64 && !request.target.has(TRINE_CAN_F64)) return "the device has no double precision";
  if (variant.numerics == TRINE_REPRODUCIBLE && (f64 || computes_in(request, TRINE_F32)) &&
      !request.target.has(TRINE_CAN_REPRODUCE))
    return "the device's arithmetic failed the probe, so its bits would differ";
  if (request.call.operation == TRINE_REDUCE && !variant.writes_states &&
      trine_writes_states(&request.as<trine_reduce>()))
    return "rounds its sums, so they have no states; the default rung writes them";
  if (request.call.operation == TRINE_GEMM)
    if (const char* why = trine_untaken(variant.takes, &request.as<trine_gemm>())) return why;
  return variant.refuses ? variant.refuses(request) : nullptr;
}

const Variant* choose_variant(const Target& target, const trine_call& call,
                              trine_selection& selection) {
  const Preferred wishes = preferred(target, call);
  for (size_t i = 0; i < wishes.count; ++i) {
    std::ranges::fill(selection.values, 0);
    selection.values[0] = wishes.all[i].value;
    selection.why = wishes.all[i].why;
    if (takes(*wishes.all[i].variant, {target, selection, call, nullptr}))
      return wishes.all[i].variant;
  }
  const std::span<const Variant> variants = variants_of(call.operation);
  for (size_t r = variants.size(); r-- > 0;) {
    const Variant& variant = variants[r];
    if (variant.numerics != TRINE_REPRODUCIBLE) continue;
    trine_selection other = selection;
    for (size_t p = 0; p < variant.parameters.size(); ++p)
      other.values[p] = variant.parameters[p].default_value;
    if (!takes(variant, {target, other, call, nullptr})) continue;
    selection = other;
    selection.why = "the last reproducible rung that takes the call: the default refuses it";
    return &variant;
  }
  return wishes.count > 0 ? wishes.all[wishes.count - 1].variant : nullptr;
}

}  // namespace trine::gpu
