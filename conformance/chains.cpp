// Products in parts: k is cut at random places, and each call continues the chains of the one
// before.
#include <trine/abi.h>

#include <cstring>

#include "case.hpp"
#include "dice.hpp"
#include "layout.hpp"
#include "moves.hpp"

namespace trine::conformance {
namespace {

/// Some columns of a, or rows of b.
View part_of(View view, int64_t View::*extent, int64_t stride, int64_t begin, int64_t end) {
  view.*extent = end - begin;
  if (view.rows * view.cols * view.batch != 0)
    view.offset += uint64_t(begin * stride) * size_of(view.dtype);
  return view;
}

/// The rung, or Trine's choice where it begins its chains at 0.
void run_by(Queue& queue, const Gemm& op, const std::string& rung) {
  try {
    run(queue, op, rung);
  } catch (const Error& error) {
    if (error.status() != Status::unsupported || rung.empty()) throw;
    run(queue, op);
  }
}

}  // namespace

Moves::Outcome Moves::chain(uint64_t seed) {
  Dice dice(seed);
  oracle::Operation plan = detail::random_gemm(dice);
  auto& g = std::get<trine_gemm>(plan);
  g.beta = {};
  g.numerics = TRINE_REPRODUCIBLE;  // an exact product has no parts
  const uint64_t capabilities = device_.facts().capabilities;
  const bool can = (capabilities & TRINE_CAN_REPRODUCE) != 0 &&
                   (g.dtype != TRINE_F64 || (capabilities & TRINE_CAN_F64) != 0);
  if (g.dtype != TRINE_I32 && !can) return {oracle::title(plan), ""};
  oracle::HostOperation host(plan);
  std::vector<oracle::Values> values;
  for (const oracle::Values v : oracle::all_values())
    if (oracle::suits(v, g.dtype)) values.push_back(v);
  oracle::fill(host.op, dice.pick(values), seed);

  Queue& queue = queue_of(device_);
  std::vector<View> views;
  std::vector<RandomBuffer> memory;  // each ends, or begins, with an operand
  const bool is_cpu = device_.facts().kind == DeviceKind::cpu;
  Dice places(~seed);  // of its own: what a seed computes doesn't depend on where it lies
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(host.op)) {
    const trine_view& v = *o.view;
    const auto bytes = int64_t(host.bytes(index++));
    const uint64_t offset =
        places.once_in(2) ? 0 : uint64_t(places.below(20)) * trine_dtype_size(o.dtype);
    const uint64_t end = offset + uint64_t(bytes);
    // On a GPU it is the device's memory, whose end memory checkers know to the byte.
    const Buffer buffer = is_cpu ? memory.emplace_back(device_, end, places).buffer
                                 : Buffer(device_, std::max<uint64_t>(end, 1));
    views.push_back(view_in(buffer, offset, v, o.dtype));
    trine::copy(queue, host_vector(static_cast<const char*>(v.memory), Dtype::b8, bytes),
                vector(buffer, Dtype::b8, bytes, offset));
  }
  const std::vector<RungInfo> ladder = device_.rungs(trine::Operation::gemm);
  const View element{{device_, 8}, Dtype(g.dtype), 0, 1, 1};
  trine::fill(queue, element, &g.alpha);
  const double last_alpha = oracle::scalar_value(g.dtype, g.alpha);
  std::string text;
  bool is_last = false;
  const bool ends_empty = seed % 4 == 3;  // with a part that has no terms
  for (int64_t k0 = 0, k1 = 0; !is_last; k0 = k1) {
    k1 = dice.once_in(3) ? g.a.cols : k0 + dice.below(g.a.cols - k0 + 1);
    is_last = k1 == g.a.cols && (!ends_empty || (k0 == k1 && !text.empty()));
    Gemm op{.a = part_of(views[0], &View::cols, g.a.col_stride, k0, k1),
            .b = part_of(views[1], &View::rows, g.b.row_stride, k0, k1),
            .c = views[2],
            .continues = !text.empty() || trine_continues(&g)};
    if (is_last) op.alpha = dice.once_in(4) ? Scalar(element) : Scalar(last_alpha);
    const RungInfo& rung = ladder[size_t(dice.below(int64_t(ladder.size())))];
    const bool named = rung.numerics == Numerics::reproducible && dice.once_in(2);
    run_by(queue, op, named ? rung.name : "");
    text += ' ';
    text += std::to_string(k1);
  }
  Outcome outcome{oracle::title(plan) + " in parts to" + text + " --seed " + std::to_string(seed),
                  ""};

  const oracle::Operand output = oracle::output_of(host.op);
  std::vector<char> found(host.bytes(2));
  trine::copy(queue, vector(views[2].buffer, Dtype::b8, int64_t(found.size()), views[2].offset),
              host_vector(found.data(), Dtype::b8, int64_t(found.size())));
  queue.wait();
  auto& whole = std::get<trine_gemm>(host.op);
  if (g.a.cols == 0 && ends_empty && !trine_continues(&g)) {
    // Without any term the last of several calls continues a chain that is +0.
    whole.flags |= TRINE_CONTINUES;
    std::memset(whole.c.memory, 0, host.bytes(2));
  }
  oracle::reference(host.op);
  trine_view got = *output.view;
  got.memory = found.data();
  const oracle::Difference d = oracle::check(host.op, got, uint32_t(TRINE_REPRODUCIBLE));
  if (!d.none()) outcome.wrong = d.sentence();
  return outcome;
}

}  // namespace trine::conformance
