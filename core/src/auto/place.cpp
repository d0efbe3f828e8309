// Chooses the device for a call: the candidate that is predicted to take the least time.
#include <trine/place.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>

#include "backends/kit/mpi_job.hpp"
#include "calibration.hpp"
#include "core/src/call/run.hpp"
#include "core/src/runtime/state.hpp"
#include "placement.hpp"

namespace trine {
namespace detail {
namespace {

bool same_hardware(const Facts& a, const Facts& b) {
  const bool has_uuid = a.uuid != decltype(a.uuid){};
  return (has_uuid && a.uuid == b.uuid) || (!a.pci.empty() && a.pci == b.pci);
}

/// Opens every candidate once: the cpu first, then each GPU through the first backend that lists
/// it. A CPU that OpenCL lists is the cpu again. Ranks that share a node take one GPU of a backend
/// each. `is_whole`: no device is missing for a reason that may pass.
std::vector<Device> find_candidates(bool& is_whole) {
  std::vector<BackendInfo> all = backends_for_auto();
  is_whole = registry::Registry::get().is_complete() && !registry::is_short();
  std::ranges::stable_sort(all, {}, [](const BackendInfo& info) {
    return info.name == "cpu" ? 0 : info.name == "cuda" ? 1 : 2;
  });
  std::vector<Facts> taken, own;
  for (const BackendInfo& info : all) {
    if (!info.devices.empty()) own.push_back(of_this_rank(info.devices));
    for (const Facts& facts : info.devices) {
      const auto is_it = [&](const Facts& other) {
        return same_hardware(facts, other) ||
               (facts.kind == DeviceKind::cpu && other.kind == DeviceKind::cpu);
      };
      if (std::ranges::none_of(taken, is_it)) taken.push_back(facts);
    }
  }
  if (kit::place_on_node().ranks > 1)
    std::erase_if(taken, [&](const Facts& facts) {
      return facts.kind == DeviceKind::gpu && std::ranges::count(own, facts.id, &Facts::id) == 0;
    });
  std::vector<Device> devices;
  for (const Facts& facts : taken) {
    try {
      devices.push_back(open(facts.id));
    } catch (const Error& error) {  // it is there but can't be opened: no candidate
      if (error.status() == Status::out_of_memory || registry::is_short()) is_whole = false;
    }
  }
  return devices;
}

/// The candidates stay open for the life of the process, and so do their figures.
struct Candidates {
  std::mutex mutex;
  std::deque<std::vector<Device>> found;                  ///< earlier lists may be in use
  std::atomic<const std::vector<Device>*> open{nullptr};  ///< when no device is missing
  std::chrono::steady_clock::time_point next = {};        ///< when missing devices are tried again
};

const std::vector<Device>& candidates() {
  auto& known = singleton<Candidates>();
  if (const auto* all = known.open.load(std::memory_order_acquire)) return *all;
  const std::lock_guard lock(known.mutex);
  if (const auto* all = known.open.load(std::memory_order_acquire)) return *all;
  const auto now = std::chrono::steady_clock::now();
  if (!known.found.empty() && now < known.next) return known.found.back();
  bool is_whole = true;
  std::vector<Device> found = find_candidates(is_whole);
  // To try a device that lacks memory takes long, so it isn't tried in each call. Lacking
  // descriptors are tried at once.
  if (!is_whole && !registry::is_short()) known.next = now + std::chrono::seconds(10);
  if (known.found.empty() || known.found.back() != found) known.found.push_back(std::move(found));
  if (is_whole) known.open.store(&known.found.back(), std::memory_order_release);
  return known.found.back();
}

/// Whether a prediction only looks up tables: every driver is loaded, and every device is
/// calibrated.
bool predicts_at_once() {
  return singleton<Candidates>().open &&
         std::ranges::all_of(candidates(), [](const Device& device) {
           return known_of(device).calibration != nullptr;
         });
}

Refused refusal_of(const Device& device, const Work& work,
                   const std::function<void(const Device&)>& ask) {
  Refused refusal = memory_refusal(device, work);
  if (refusal.status != Status::ok) return refusal;
  try {
    ask(device);
  } catch (const Error& error) {
    refusal = {error.status(), error.what()};
    if (refusal.sentence.ends_with('.')) refusal.sentence.pop_back();
  }
  return refusal;
}

/// The candidates that can do the work; `refused` gets the reasons of the others.
std::vector<Device> able(std::span<const Device> among, const Work& work,
                         const std::function<void(const Device&)>& ask, std::string& refused) {
  std::vector<Device> found;
  Status status = Status::ok;
  for (const Device& device : among) {
    const Refused refusal = refusal_of(device, work, ask);
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

std::string in_words(const Candidate& candidate) {
  std::string text = cat(candidate.device.id(), " ", time_text(candidate.seconds));
  if (candidate.transfers > 0)
    append(text, cat(" (", time_text(candidate.transfers), " of it copying)"));
  return text;
}

/// "cpu and cuda:0 calibrated on …; opencl:0 roofs measured now, because of …"
std::string sources(const std::vector<Candidate>& candidates) {
  std::vector<std::string> told;
  std::string text;
  for (const Candidate& candidate : candidates) {
    if (std::ranges::find(told, candidate.source) != told.end()) continue;
    told.push_back(candidate.source);
    std::vector<std::string> ids;
    for (const Candidate& other : candidates)
      if (other.source == candidate.source) ids.push_back(other.device.id());
    append(text, cat(text.empty() ? "" : "; ", join(ids), " ", candidate.source));
  }
  return text;
}

std::vector<Candidate> weigh(const std::vector<Device>& devices, const Work& work, Where where,
                             int repeats) {
  std::vector<Candidate> all;
  for (const Device& device : devices) {
    const Prediction time = predict(device, work, where, repeats);
    all.push_back({device, time.seconds, time.transfers, time.low, time.high, time.calibrated,
                   source_of(device, work)});
  }
  std::ranges::stable_sort(all, {}, &Candidate::seconds);
  return all;
}

/// The cpu, if the choice is clear without predictions.
Device cpu_for_tiny(const Work& work, const std::function<void(const Device&)>& ask) {
  if (!work.is_tiny() || predicts_at_once()) return {};
  try {
    Device cpu = open("cpu");
    if (refusal_of(cpu, work, ask).status == Status::ok) return cpu;
  } catch (const Error& error) {
    if (error.status() != Status::not_found) throw;
  }
  return {};
}

}  // namespace

Placement best_device(const Work& work, Where where, int repeats,
                      const std::function<void(const Device&)>& ask,
                      std::span<const Device> among) {
  Placement best;
  const bool named = !among.empty();
  if (!named) {
    best.device = cpu_for_tiny(work, ask);
    if (best.device) {
      best.sentence = "Little data, already in the cpu's memory: any transfer would cost more.";
      return best;
    }
    among = candidates();
  }
  std::string refused;
  const std::vector<Device> all = able(among, work, ask, refused);
  best.device = all[0];
  if (all.size() == 1) {
    best.sentence =
        !refused.empty() ? cat(all[0].id(), " is the only device that can: ", refused, ".")
        : named          ? cat("Only ", all[0].id(), " was asked.")
        : kit::is_forked()
            ? cat(all[0].id(), " is the only device of a forked child.")
            : cat(all[0].id(),
                  " drives this machine's only processor; any other backend drives the same one.");
    if (named) best.candidates = weigh(all, work, where, repeats);
    return best;
  }
  best.candidates = weigh(all, work, where, repeats);
  best.device = best.candidates[0].device;
  best.sentence = cat("Predicted per run: ", in_words(best.candidates[0]), "; ");
  for (std::size_t i = 1; i < best.candidates.size(); ++i)
    append(best.sentence, cat(i > 1 ? ", " : "", in_words(best.candidates[i])));
  append(best.sentence, cat(" (", sources(best.candidates), ")."));
  if (!refused.empty()) append(best.sentence, cat(" Left out: ", refused, "."));
  return best;
}

Placement place(const AnyOperation& operation, Where where, int repeats,
                std::span<const Device> among) {
  return entry([&] {
    const kit::InUse in_use;  // a forked child doesn't wait for this thread, but makes its own
    plan_of(operation);
    check_where(where, "place()");
    if (repeats < 1) refuse("place(): repeats is ", repeats, "; it is at least 1.");
    const Work work = work_of(operation);
    Placement placement;
    if (where == Where::device) {
      const auto& buffer = Access::state(operation.views()[0].buffer);
      if (!buffer)
        refuse("place(): data on a device needs views with buffers; the first view has none.");
      placement.device = Access::device(buffer->device);
      placement.sentence = cat("The data lives on ", buffer->device->id, ", so it runs there.");
      placement.candidates = weigh({placement.device}, work, where, repeats);
    } else {
      const auto ask = [&](const Device& device) { choose(device, operation); };
      placement = best_device(work, where, repeats, ask, among);
    }
    if (!placement.candidates.empty()) placement.seconds = placement.candidates[0].seconds;
    placement.choice = choose(placement.device, operation);
    return placement;
  });
}

}  // namespace detail
}  // namespace trine
