// Where to run: predicted from measured roofs and transfer rates, right at the obvious ends.
#include <trine/place.hpp>

#include <algorithm>
#include <cstdio>

#include "check.hpp"
#include "placement.hpp"
#include "state.hpp"

namespace trine {
namespace detail {
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

bool same_hardware(const Facts& a, const Facts& b) {
  const bool has_uuid = a.uuid != decltype(a.uuid){};
  return (has_uuid && a.uuid == b.uuid) || (!a.pci.empty() && a.pci == b.pci);
}

/// Opens every device worth asking, once: the cpu first, then each GPU through the first backend that
/// shows it. A CPU seen through OpenCL is the cpu again.
std::vector<Device> find_candidates() {
  std::vector<std::string> ids;
  std::vector<Facts> taken;
  const std::vector<BackendInfo> all = backends();
  const auto consider = [&](auto&& wanted) {
    for (const BackendInfo& info : all) {
      if (!wanted(info.name)) continue;
      for (const Facts& facts : info.devices) {
        const bool again = std::any_of(taken.begin(), taken.end(), [&](const Facts& other) {
          return same_hardware(facts, other) ||
                 (facts.kind == DeviceKind::cpu && other.kind == DeviceKind::cpu);
        });
        if (again) continue;
        taken.push_back(facts);
        ids.push_back(facts.id);
      }
    }
  };
  consider([](const std::string& name) { return name == "cpu"; });
  consider([](const std::string& name) { return name == "cuda"; });
  consider([](const std::string& name) { return name != "cpu" && name != "cuda"; });
  std::vector<Device> devices;
  for (const std::string& id : ids) {
    try {
      devices.push_back(open(id));
    } catch (const Error&) {
      // It is there but can't be opened: no candidate.
    }
  }
  return devices;
}

/// Kept open for the process, as the figures measured on them are.
const std::vector<Device>& candidates() {
  static auto* const found = new std::vector<Device>(find_candidates());
  return *found;
}

bool shares_memory(const Device& device) {
  return (device.facts().capabilities & TRINE_CAN_SHARE_MEMORY) != 0;
}

struct Prediction {
  double compute = 0, transfer = 0;  ///< seconds of one run
  double total() const { return compute + transfer; }
};

Prediction predict(const Device& device, const Work& work, Where where, int repeats) {
  const Roofs& rates = roofs(device);
  Prediction time;
  const double streamed = work.operation == Operation::reduce
                              ? work.bytes_in / rates.read
                              : (work.bytes_in + work.bytes_out) / rates.copy;
  const double fma = work.dtype == Dtype::f64 ? rates.fma_f64 : rates.fma_f32;
  if (work.flops > 0 && fma == 0) return {1e30, 0};  // no such arithmetic here
  time.compute = rates.launch + std::max(streamed, work.flops > 0 ? work.flops / fma : 0.0);
  if (where == Where::device || shares_memory(device)) return time;
  const bool pinned = where == Where::host_pinned;
  time.transfer = (work.bytes_in / (pinned ? rates.to_device_pinned : rates.to_device) +
                   work.bytes_out / (pinned ? rates.to_host_pinned : rates.to_host)) /
                  std::max(1, repeats);
  return time;
}

std::string milliseconds(double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, seconds < 1e-3 ? "%.3g us" : "%.3g ms",
                seconds < 1e-3 ? seconds * 1e6 : seconds * 1e3);
  return text;
}

std::string in_words(const Device& device, const Prediction& time) {
  std::string text = cat(device.id(), " ", milliseconds(time.total()));
  if (time.transfer > 0) append(text, cat(" (", milliseconds(time.transfer), " of it copying)"));
  return text;
}

template <class Descriptor, class Struct>
Placement place_it(const Struct& operation, const View& first, Where where, int repeats) {
  Descriptor checked;
  check(operation, nullptr, Mode::plan, checked);
  if (repeats < 1) refuse("place(): repeats is ", repeats, "; it is at least 1.");
  Placement placement;
  if (where == Where::device) {
    const auto& buffer = Access::state(first.buffer);
    if (!buffer) refuse("place(): data on a device is data in a buffer; the first view has none.");
    placement.device = Access::device(buffer->device);
    placement.sentence = cat("The data lives on ", buffer->device->id, ", so it runs there.");
    placement.seconds = predict(placement.device, work_of(operation), where, repeats).total();
  } else {
    Verdict verdict = best_device(work_of(operation), where, repeats,
                                  [&](const Device& device) { choose(device, operation); });
    placement.device = std::move(verdict.device);
    placement.seconds = verdict.seconds;
    placement.sentence = std::move(verdict.sentence);
  }
  placement.choice = choose(placement.device, operation);
  return placement;
}

}  // namespace

Work work_of(const Reduce& op) {
  return {Operation::reduce,
          op.input.dtype,
          bytes(op.input),
          bytes(op.output),
          0,
          {memory_of(op.input, false), memory_of(op.output, true)}};
}
Work work_of(const Transpose& op) {
  return {Operation::transpose,
          op.input.dtype,
          bytes(op.input),
          bytes(op.output),
          0,
          {memory_of(op.input, false), memory_of(op.output, true)}};
}
Work work_of(const Gemm& op) {
  const double c = bytes(op.c);
  return {Operation::gemm,
          op.a.dtype,
          bytes(op.a) + bytes(op.b) + (op.beta != 0 ? c : 0),
          c,
          2.0 * double(op.a.cols) * elements(op.c),
          {memory_of(op.a, false), memory_of(op.b, false), memory_of(op.c, true)}};
}

namespace {

/// Why a device can't do the work; Status::ok where it can.
struct Refusal {
  Status status = Status::ok;
  std::string sentence;
};

Refusal memory_refusal(const Device& device, const Work& work) {
  const Facts& facts = device.facts();
  const bool in_place = shares_memory(device);
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
  // Where memory is shared, the operands are there already. Else some is left for workspaces.
  if (!in_place && facts.memory_bytes != 0 && all > 0.9 * double(facts.memory_bytes)) {
    return {Status::unsupported,
            cat(device.id(), ": operands of ", uint64_t(all),
                " bytes are too much for its memory, ", facts.memory_bytes, " bytes")};
  }
  return {};
}

Refusal refusal_of(const Device& device, const Work& work,
                   const std::function<void(const Device&)>& ask) {
  Refusal refusal = memory_refusal(device, work);
  if (refusal.status != Status::ok) return refusal;
  try {
    ask(device);
  } catch (const Error& error) {
    refusal = {error.status(), error.what()};
    if (refusal.sentence.ends_with('.')) refusal.sentence.pop_back();
  }
  return refusal;
}

/// The candidates that can do the work; `refused` says why the others can't.
std::vector<Device> able(const Work& work, const std::function<void(const Device&)>& ask,
                         std::string& refused) {
  std::vector<Device> found;
  Status status = Status::ok;
  for (const Device& device : candidates()) {
    const Refusal refusal = refusal_of(device, work, ask);
    if (refusal.status == Status::ok) {
      found.push_back(device);
      continue;
    }
    const bool first = refused.empty();
    status = first || status == refusal.status ? refusal.status : Status::unsupported;
    append(refused, cat(first ? "" : "; ", refusal.sentence));
  }
  if (!found.empty()) return found;
  if (refused.empty())
    fail(Status::not_found, "There is no device to run on; `trine info` says why.");
  fail(status, "No device can run this ", name(work.operation), ". ", refused, ".");
}

}  // namespace

Verdict best_device(const Work& work, Where where, int repeats,
                    const std::function<void(const Device&)>& ask) {
  if (work.is_tiny()) {
    try {
      Device cpu = open("cpu");
      if (refusal_of(cpu, work, ask).status == Status::ok) {
        return {std::move(cpu), 0,
                "Little data, already in the cpu's memory: any transfer would cost more."};
      }
    } catch (const Error& error) {
      if (error.status() != Status::not_found) throw;
    }
  }
  std::string refused;
  const std::vector<Device> all = able(work, ask, refused);
  if (all.size() == 1) {
    return {all[0], 0,
            refused.empty() ? cat(all[0].id(), " is the only device there is.")
                            : cat(all[0].id(), " is the only device that can: ", refused, ".")};
  }
  Verdict best;
  std::string others;
  std::vector<std::pair<Prediction, const Device*>> times;
  for (const Device& device : all)
    times.push_back({predict(device, work, where, repeats), &device});
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.first.total() < b.first.total(); });
  for (std::size_t i = 1; i < times.size(); ++i) {
    append(others, cat(i > 1 ? ", " : "", in_words(*times[i].second, times[i].first)));
  }
  best.device = *times[0].second;
  best.seconds = times[0].first.total();
  best.sentence =
      cat("Predicted per run: ", in_words(best.device, times[0].first), "; ", others, ".");
  if (!refused.empty()) append(best.sentence, cat(" Not able to: ", refused, "."));
  return best;
}

}  // namespace detail

Placement place(const Reduce& operation, Where where, int repeats) {
  return detail::entry(
      [&] { return detail::place_it<trine_reduce>(operation, operation.input, where, repeats); });
}
Placement place(const Transpose& operation, Where where, int repeats) {
  return detail::entry([&] {
    return detail::place_it<trine_transpose>(operation, operation.input, where, repeats);
  });
}
Placement place(const Gemm& operation, Where where, int repeats) {
  return detail::entry(
      [&] { return detail::place_it<trine_gemm>(operation, operation.a, where, repeats); });
}

}  // namespace trine
