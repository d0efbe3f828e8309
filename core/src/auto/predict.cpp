// What an operation takes on a device: from the device's calibration where there is one for such
// calls, else from its roofs.
#include <algorithm>
#include <cstdio>

#include "calibration.hpp"
#include "core/src/call/check.hpp"
#include "core/src/runtime/state.hpp"
#include "placement.hpp"
#include "strips.hpp"

namespace trine::detail {
namespace {

double elements(const View& view) {
  // A dimension with stride 0 repeats the same elements.
  const auto extent = [](int64_t n, int64_t stride) {
    return n > 1 && stride == 0 ? 1.0 : double(n);
  };
  return extent(view.rows, view.row_stride) * extent(view.cols, view.col_stride) *
         extent(view.batch, view.batch_stride);
}
double bytes(const View& view) { return elements(view) * size_of(view.dtype); }

Work::Memory memory_of(const View& view, bool is_output) {
  static constexpr Role role{"place", "operand", false};
  const uint64_t span = check_shape(view.rows, view.cols, view.batch, view.row_stride,
                                    view.col_stride, view.batch_stride, size_of(view.dtype), role);
  const auto payload = static_cast<uint64_t>(std::min(bytes(view), 0x1p63));  // views may overlap
  return {span, goes_whole(span, payload, is_output) ? span : payload};
}

/// Launch, the larger of memory and arithmetic, transfers: right at the obvious ends.
Prediction from_roofs(const Device& device, const Work& work, Where where, int repeats) {
  const Roofs& rates = roofs(device);
  const double streamed = work.operation == Operation::reduce
                              ? work.bytes_in / rates.read
                              : (work.bytes_in + work.bytes_out) / rates.copy;
  const double fma = work.dtype == Dtype::f64 ? rates.fma_f64 : rates.fma_f32;
  if (work.flops > 0 && fma == 0) return {{1e30, 1e30, 1e30}, 0, false};  // no such arithmetic here
  const double compute = rates.launch + std::max(streamed, work.flops > 0 ? work.flops / fma : 0.0);
  double transfers = 0;
  if (where != Where::device && !Access::some(device).in_place) {
    const bool pinned = where != Where::host;
    const double in = work.bytes_in / (pinned ? rates.to_device_pinned : rates.to_device),
                 out = work.bytes_out / (pinned ? rates.to_host_pinned : rates.to_host);
    double whole = in + compute + out;
    if (where == Where::host_pipelined && work.operation != Operation::reduce) {
      // The slowest lane, and what the others have to do before and after it.
      const double slowest = std::max({in, compute, out});
      whole = slowest + (whole - slowest) / double(strips_of(work.bytes_in + work.bytes_out));
    }
    transfers = (whole - compute) / repeats;
  }
  const double total = compute + transfers;
  return {{total, total, total}, transfers, false};
}

Prediction from_tables(const Grid& resident, const Grid& whole, const Work& work, int repeats) {
  const Estimate once = whole.at(work.extents);
  if (&resident == &whole) return {once, 0, true};
  const double kernel = std::min(resident.at(work.extents).seconds, once.seconds);
  const double transfers = (once.seconds - kernel) / repeats;
  const double share = (kernel + transfers) / once.seconds;
  return {{kernel + transfers, once.low * share, once.high * share}, transfers, true};
}

}  // namespace

Work work_of(const Reduce& op) {
  const double rows = double(op.input.rows), cols = double(op.input.cols);
  double counts[2] = {rows * cols, 1};
  if (op.axis == Axis::each_row) counts[0] = rows, counts[1] = cols;
  if (op.axis == Axis::each_column) counts[0] = cols, counts[1] = rows;
  return {Operation::reduce,
          op.input.dtype,
          bytes(op.input),
          bytes(op.output),
          0,
          {memory_of(op.input, false), memory_of(op.output, true)},
          class_of(op),
          {counts[0], counts[1]}};
}
Work work_of(const Transpose& op) {
  return {Operation::transpose,
          op.input.dtype,
          bytes(op.input),
          bytes(op.output),
          0,
          {memory_of(op.input, false), memory_of(op.output, true)},
          class_of(op),
          {double(op.input.rows) * double(op.input.batch), double(op.input.cols)}};
}
Work work_of(const Gemm& op) {
  const double c = bytes(op.c);
  return {Operation::gemm,
          op.a.dtype,
          bytes(op.a) + bytes(op.b) + (op.beta != 0 ? c : 0),
          c,
          2.0 * double(op.a.cols) * elements(op.c),
          {memory_of(op.a, false), memory_of(op.b, false), memory_of(op.c, true)},
          class_of(op),
          {double(op.c.rows) * double(op.c.batch), double(op.c.cols), double(op.a.cols)}};
}

Refused memory_refusal(const Device& device, const Work& work) {
  const Facts& facts = device.facts();
  const bool in_place = Access::some(device).in_place;
  double all = 0;
  for (const Work::Memory& operand : work.operands) {
    const uint64_t bytes = in_place ? operand.span : operand.packed;
    all += double(bytes);
    if (facts.max_buffer_bytes != 0 && bytes > facts.max_buffer_bytes) {
      return {Status::unsupported,
              cat(device.id(), ": an operand of ", bytes,
                  " bytes is larger than its largest buffer, ", facts.max_buffer_bytes, " bytes")};
    }
  }
  // In place, the operands are there already. Else some is left for workspaces.
  if (!in_place && facts.memory_bytes != 0 && all > 0.9 * double(facts.memory_bytes)) {
    return {Status::unsupported,
            cat(device.id(), ": operands of ", uint64_t(all),
                " bytes are too much for its memory, ", facts.memory_bytes, " bytes")};
  }
  return {};
}

Prediction predict(const Device& device, const Work& work, Where where, int repeats) {
  if (const auto calibration = known_of(device).calibration) {
    const Grid* const resident = calibration->table(work.call_class, Where::device);
    const Grid* const whole = calibration->table(work.call_class, where);
    if (resident && whole) return from_tables(*resident, *whole, work, repeats);
  }
  return from_roofs(device, work, where, repeats);
}

std::string source_of(const Device& device, const Work& work) {
  const Known known = known_of(device);
  if (!known.calibration)
    return cat("roofs measured now",
               known.refusal.empty() ? "" : cat(", because of ", known.refusal));
  if (!known.calibration->table(work.call_class, Where::host))
    return "roofs measured now, because its calibration hasn't such calls";
  return words_of(known);
}

}  // namespace trine::detail
