// Makes the receipts of calls on host data and of calls on queues.
#pragma once

#include <deque>
#include <future>

#include "core/src/operations/operations.hpp"
#include "digest.hpp"
#include "file.hpp"

namespace trine::detail {

/// Fills in all but digests, device and rung, and counts the call.
Receipt begin_receipt(const AnyOperation& operation);
/// Fills in what has run and leaves the receipt in the process's file.
void end_receipt(Receipt& receipt, const Choice& choice);
template <class View>
ReceiptOperand receipt_operand(std::string_view name, const View& view, bool is_output) {
  return {name,       is_output,       view.dtype,      view.rows,         view.cols,
          view.batch, view.row_stride, view.col_stride, view.batch_stride, {},
          {}};
}

/// A call on host data. It is made before the call writes. Code that reads the inputs shows them to
/// it.
class HostReceipt {
 public:
  /// `is_in_place`: the output's memory is the input's.
  HostReceipt(const AnyOperation& operation, const std::vector<ConstHostView>& data,
              bool is_in_place);
  HostReceipt(const HostReceipt&) = delete;
  /// The witness of a call that reads the inputs where they are.
  const trine_witness* witness() const { return &witness_; }
  /// Reads the inputs in threads of its own, until finish().
  void read_inputs_meanwhile();
  Receipt& finish(const Choice& choice);

 private:
  Receipt receipt_;
  std::deque<Digest> digests_;  ///< of the operands that are read, then of the output
  trine_witness witness_;
  std::future<void> reading_;  ///< ends before the digests do
};

/// run() of any operation, with a receipt where the process leaves them.
Choice run_with_receipt(Queue& queue, const AnyOperation& operation, std::string_view rung);

/// Whether calls on the queue leave receipts.
bool leaves_receipt(Queue& queue);

/// A call on a queue that leaves a receipt. Inputs are digested before the call, after the queue's
/// earlier work; the output when the call has ended. If that is impossible, the receipt has the
/// reason.
class QueueReceipt {
 public:
  QueueReceipt(Queue& queue, Receipt begun);
  void operand(std::string_view name, const View& view, bool is_output, bool is_read,
               bool moves_bits = false);
  /// The value of a scalar, wherever it is.
  double number(const Scalar& scalar, Dtype dtype);
  /// When the call has been enqueued.
  void finish(const Choice& choice);
  Receipt receipt;

 private:
  std::string digest(const View& view, bool moves_bits, bool keeps);
  template <class Body>
  void attempt(Body&& body);

  Queue& queue_;
  const View* output_ = nullptr;
  bool moves_bits_ = false;
};

}  // namespace trine::detail
