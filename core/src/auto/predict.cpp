// The time that an operation takes on a device: from the device's calibration where there is one
// for such calls, else from its roofs.
#include <algorithm>
#include <cstdio>

#include "calibration.hpp"
#include "core/src/runtime/state.hpp"
#include "placement.hpp"

namespace trine::detail {
namespace {

/// The sum of the launch, the larger of memory and arithmetic, and the transfers.
Prediction from_roofs(const Device& device, const Work& work, Where where, int repeats) {
  const Roofs& rates = roofs(device);
  const Description& is = description_of(work.operation);
  const double streamed =
      is.reads_only ? work.bytes_in / rates.read : (work.bytes_in + work.bytes_out) / rates.copy;
  const double fma = work.dtype == Dtype::f64 ? rates.fma_f64 : rates.fma_f32;
  if (work.flops > 0 && fma == 0) return {{1e30, 1e30, 1e30}, 0, false};  // no such arithmetic here
  const double compute = rates.launch + std::max(streamed, work.flops > 0 ? work.flops / fma : 0.0);
  double transfers = 0;
  if (where != Where::device && !Access::some(device).in_place) {
    const bool pinned = where != Where::host;
    const double in = work.bytes_in / (pinned ? rates.to_device_pinned : rates.to_device),
                 out = work.bytes_out / (pinned ? rates.to_host_pinned : rates.to_host);
    double whole = in + compute + out;
    if (where == Where::host_pipelined && is.is_cut) {
      // The time of the slowest step, and of the other steps before and after it.
      const double slowest = std::max({in, compute, out});
      whole = slowest + (whole - slowest) / double(chunks_of(work.bytes_in + work.bytes_out));
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

void check_where(Where where, const char* function) {
  if (where < Where::host || where > Where::host_pipelined)
    refuse(function, ": there is no place ", static_cast<uint32_t>(where), " (a Where).");
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
  // In place, the operands are in memory already. Else some memory is left for workspaces.
  if (!in_place && facts.memory_bytes != 0 && all > 0.9 * double(facts.memory_bytes)) {
    return {Status::unsupported,
            cat(device.id(), ": operands of ", uint64_t(all), " bytes don't fit its memory, ",
                facts.memory_bytes, " bytes")};
  }
  return {};
}

std::optional<Prediction> predict(const Calibration& measured, const Work& work, Where where,
                                  int repeats) {
  const Grid* const resident = measured.table(work.call_class, Where::device);
  const Grid* const whole = measured.table(work.call_class, where);
  if (!resident || !whole) return {};
  return from_tables(*resident, *whole, work, repeats);
}

Prediction predict(const Device& device, const Work& work, Where where, int repeats) {
  if (const auto calibration = known_of(device).calibration)
    if (const auto prediction = predict(*calibration, work, where, repeats)) return *prediction;
  return from_roofs(device, work, where, repeats);
}

std::string source_of(const Device& device, const Work& work) {
  const Known known = known_of(device);
  if (!known.calibration)
    return cat("roofs measured now",
               known.refusal.empty() ? "" : cat(", because of ", known.refusal));
  if (!known.calibration->table(work.call_class, Where::host))
    return "roofs measured now, because its calibration has no such calls";
  return words_of(known);
}

}  // namespace trine::detail
