// What a report opens with: where to run an operation, from which size on, and how near that comes to what
// is possible.
#include <fmt/format.h>

#include "bench/timing/observation.hpp"
#include "bench/ui/table.hpp"
#include "report.hpp"

namespace trine::bench::report {
namespace {

/// The fastest such rung of a host's devices at the largest size that `wanted` has.
const Entry* fastest(const Group& group, const Filter& wanted) {
  const std::vector<double> all = sizes(group, wanted);
  if (all.empty()) return nullptr;
  const auto here = [&](const Row& r) { return wanted(r) && r.x == all.back(); };
  return best(group, common_method(group.rows, here), here);
}

/// "cuda:0 from 7350 elements, cpu from 2.4 million elements"; empty where nothing was calibrated for the pair.
std::string calibrated(const Runs& runs, const Group& group, size_t host, const std::string& device,
                       const char* memory) {
  std::string text;
  for (const Extra* extra : break_evens(runs, group, memory)) {
    const ordered_json& c = extra->value;
    const std::string from = text_of(c, "from"), to = text_of(c, "to");
    if (extra->host != host || (from != device && to != device) ||
        !(from == device ? to : from).starts_with("cpu"))
      continue;
    const std::optional<double> size = number_of(c, "size");
    if (text_of(c, "sure") == "false")
      text = fmt::format("{} and {} alike", from, to);
    else if (!size)
      text = fmt::format("{} at every size", from);
    else
      text += fmt::format("{}{} from {}{}", text.empty() ? "" : ", ", to,
                          group.operation == Operation::reduce ? "" : "N = ", count_text(*size)) +
              (group.operation == Operation::reduce ? " elements" : "");
  }
  return text;
}

/// For `trine compare`'s words: at each size of the device and of the cpu the rung that was measured end to end
/// too, the fastest of them.
std::vector<Result> end_to_end(const Group& group, const Filter& wanted) {
  std::vector<Result> found;
  for (double size : sizes(group, wanted))
    for (const bool on_cpu : {true, false}) {
      const Entry* kernel = best(group, &Row::single, [&](const Row& r) {
        return wanted(r) && r.any().on_cpu() == on_cpu && r.x == size && !r.end_to_end.empty();
      });
      for (const Row& row : group.rows)
        if (kernel != nullptr && row.single == kernel) {
          found.push_back(static_cast<const Result&>(*kernel));
          for (const Entry* e : row.end_to_end)
            if (e->verified) found.push_back(static_cast<const Result&>(*e));
        }
    }
  for (Result& result : found) result.requested.clear();  // whichever file's it is
  return found;
}

/// Which device to take, from the caller's side.
std::string where(const Runs& runs, const Group& group, size_t host, const std::string& device) {
  const std::string resident = calibrated(runs, group, host, device, "resident");
  const std::string from_host = calibrated(runs, group, host, device, "pageable");
  if (!resident.empty() && !from_host.empty())
    return fmt::format("Data on the device: {}. Data in host memory, copies included: {}.",
                       resident, from_host);
  const std::string pays =
      bench::pays(end_to_end(group,
                             [&](const Row& r) {
                               return r.is_default() && r.any().host == host &&
                                      (r.any().device == device || r.any().device == "cpu");
                             }),
                  device);
  return pays.empty() ? "" : fmt::format("On {}, {}.", device, typeset(pays));
}

/// How near the fastest rung comes to what is possible.
std::string how_fast(const Group& group, const Entry& e) {
  std::string text = fmt::format("At {}{} the fastest is {} on {}: {}",
                                 e.problem.operation == Operation::gemm ? "N = " : "", e.size(),
                                 e.rung_name, e.device, rate_text(e));
  if (e.roof.value > 0)
    text += fmt::format(", {:.0f} % of the roof{}", 100 * e.rate / e.roof.value,
                        e.rate > e.roof.value ? ", a short probe" : "");
  const Entry* peer =
      best(group, e.method == "single" ? &Row::single : &Row::sustained, [&](const Row& r) {
        return r.any().vendor() && r.any().host == e.host && r.any().on_cpu() == e.on_cpu() &&
               r.any().size() == e.size();
      });
  if (e.peer_ratio)
    text += fmt::format(", {} as fast as {}", ratio_text(e.peer_ratio),
                        peer ? peer->rung_name : "the fastest peer");
  return text + ".";
}

}  // namespace

std::string answer(const Runs& runs, const Group& group) {
  std::string text;
  for (size_t host = 0; host < runs.hosts.size(); ++host) {
    const auto here = [&](const Row& r) { return r.is_default() && r.any().host == host; };
    const Entry* first = fastest(group, here);
    if (first == nullptr) continue;
    // The device to weigh against the cpu: where the cpu is the fastest, the best of the others.
    const Entry* other = fastest(group, [&](const Row& r) { return here(r) && !r.any().on_cpu(); });
    const std::string words = other == nullptr ? "" : where(runs, group, host, other->device);
    if (!runs.hosts[host].label.empty())
      text += fmt::format("{}{}: ", text.empty() ? "" : " ", runs.hosts[host].label);
    text += words + (words.empty() ? "" : " ") + how_fast(group, *first);
  }
  return text;
}

}  // namespace trine::bench::report
