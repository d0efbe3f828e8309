// The calls on queues that leave receipts.
#include <trine/elementwise.hpp>

#include "core/src/call/commands.hpp"
#include "core/src/call/run.hpp"
#include "receipt.hpp"

namespace trine::detail {

Choice run_with_receipt(Queue& queue, const AnyOperation& operation, std::string_view rung) {
  if (!leaves_receipt(queue)) [[likely]]
    return run(queue, operation, rung);
  return entry([&] {
    QueueReceipt call(queue, begin_receipt(operation));
    const Views views = operation.views();
    const auto [alpha, beta] = operation.scalars();
    if (alpha) call.receipt.alpha = call.number(*alpha, views[0].dtype);
    if (beta) call.receipt.beta = call.number(*beta, views[0].dtype);
    for (std::size_t i = 0; i < views.count(); ++i) {
      const bool is_output = views.roles[i].is_output;
      call.operand(views.roles[i].name, views[i], is_output,
                   is_output ? operation.is.reads_output(operation.get())
                             : operation.is.reads_inputs(operation.get()),
                   operation.is.moves_bits);
    }
    Choice choice = run(queue, operation, rung);
    call.finish(choice);
    return choice;
  });
}

namespace {

/// An elementwise call has no rung.
Choice elementwise(const Queue& queue) {
  Choice choice;
  choice.device = queue.device();
  return choice;
}

Receipt begin_elementwise(std::string_view name, std::string_view function) {
  Receipt receipt = begin_receipt(Transpose{});  // counted as any other
  receipt.operation = name;
  receipt.function = function;
  receipt.rung = "elementwise";
  receipt.promise = "reproducible";
  return receipt;
}

}  // namespace

}  // namespace trine::detail

namespace trine {

using namespace detail;

void axpby(Queue& queue, const Scalar& alpha, const View& x, const Scalar& beta, const View& y) {
  if (!leaves_receipt(queue)) [[likely]]
    return enqueue_axpby(queue, alpha, x, beta, y);
  entry([&] {
    QueueReceipt call(queue, begin_elementwise("axpby", {}));
    call.receipt.alpha = call.number(alpha, x.dtype);
    call.receipt.beta = call.number(beta, x.dtype);
    call.operand("x", x, false, call.receipt.alpha != 0);
    call.operand("y", y, true, call.receipt.beta != 0);
    enqueue_axpby(queue, alpha, x, beta, y);
    call.finish(elementwise(queue));
  });
}

void scalar(Queue& queue, Arithmetic function, const Scalar& x, const Scalar& y,
            const View& result) {
  if (!leaves_receipt(queue)) [[likely]]
    return enqueue_scalar(queue, function, x, y, result);
  static constexpr std::string_view kNames[] = {"add", "subtract", "multiply", "divide", "sqrt"};
  entry([&] {
    const auto which = static_cast<uint32_t>(function) - TRINE_ADD;
    QueueReceipt call(queue, begin_elementwise("scalar", which < 5 ? kNames[which] : "unknown"));
    call.receipt.alpha = call.number(x, result.dtype);
    call.receipt.beta = call.number(y, result.dtype);
    call.operand("result", result, true, false);
    enqueue_scalar(queue, function, x, y, result);
    call.finish(elementwise(queue));
  });
}

}  // namespace trine
