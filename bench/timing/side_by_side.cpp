#include "side_by_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>

#include "bench/cases/operations.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "host_run.hpp"
#include "launches.hpp"
#include "roofline.hpp"

namespace trine::bench {
namespace {

constexpr double kShort = 100e-6;  ///< below it, launch cost matters and two figures are printed

/// A rung without a figure: refused where `skipped`, else failed.
Result without_figure(const Problem& problem, const Device& device, const std::string& rung,
                      const char* reason, bool skipped) {
  Result result;
  result.problem = problem;
  result.device = device.id();
  result.requested = result.rung = rung;
  result.skipped = skipped;
  result.failure = reason;
  return result;
}

bool is_vendor(const Device& device, Operation operation, const std::string& rung) {
  const auto rungs = device.rungs(operation);
  const auto found = std::ranges::find(rungs, bare(rung), &RungInfo::name);
  return found != rungs.end() && found->numerics == Numerics::vendor;
}

/// Empty where the backend refuses the call: then every rung that a ladder names says why.
std::string built_in_choice(const Device& device, const Problem& problem) {
  try {
    return choice_of(device, problem).rung();
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) throw;
    return {};
  }
}

/// Whether a tuning table decides the default rungs; nothing where there is none.
std::string tuned_words(const Device& device) {
  if (!uses_tuning()) return {};
  const Tuning table = tuning(device);
  if (!table.refusal.empty())
    return fmt::format("; its tuning table was refused: {}", table.refusal);
  return table.rows.empty() ? "" : fmt::format("; tuned: {}", table.path);
}

/// Compares with each vendor's rung that was measured on the same kind of device by the same
/// method.
void set_peer_ratios(std::vector<Result>& results) {
  std::map<std::string, DeviceKind> kinds;
  for (const Result& result : results)
    if (!kinds.contains(result.device)) kinds[result.device] = open(result.device).facts().kind;
  for (Result& result : results) {
    if (result.vendor() || !result.verified || result.memory != "resident") continue;
    for (const Result& peer : results)
      if (peer.vendor() && peer.verified && peer.method == result.method &&
          peer.problem.size == result.problem.size &&
          kinds.at(peer.device) == kinds.at(result.device)) {
        const double ratio = *peer.kernel / *result.kernel;
        result.peer_ratio = std::min(result.peer_ratio.value_or(ratio), ratio);
      }
  }
}

}  // namespace

void choose_openblas_core() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    setenv("OPENBLAS_CORETYPE", "SkylakeX", 0);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    setenv("OPENBLAS_CORETYPE", "Haswell", 0);
#endif
}

std::string load_peers() {
  choose_openblas_core();
  std::string text;
  for (const std::string& folder : search_path()) {
    const std::string packs = (std::filesystem::path(folder) / "packs").string();
    std::error_code unreadable;
    if (!std::filesystem::is_directory(packs, unreadable)) continue;
    for (const BackendInfo& pack : load_packs(packs))
      text += fmt::format("peer {}: {}\n", pack.name,
                          pack.reason.empty() ? pack.build : "absent: " + pack.reason);
  }
  return text.empty() ? "no peers: no rung packs were found\n" : text;
}

const char* peer_refuses(const Device& device, const Problem& problem, const std::string& rung) {
  if (!describe(problem.operation).moves_bits || problem.dtype == Dtype::f32 ||
      problem.dtype == Dtype::f64 || !is_vendor(device, problem.operation, rung))
    return nullptr;
  return "vendors transpose by multiplying with one, which changes bits that spell a signalling "
         "NaN; peers take f32 and f64";
}

std::vector<Device> chosen_devices(const std::vector<std::string>& names) {
  std::vector<Device> devices;
  devices.reserve(names.size());
  for (const std::string& device : names) devices.push_back(open(device));
  if (!names.empty()) return devices;
  for (const Facts& facts : trine::devices()) {
    try {
      devices.push_back(open(facts.id));
    } catch (const Error& error) { say("{} is left out: {}", facts.id, error.what()); }
  }
  if (devices.empty()) throw Refusal("there is no device; `trine info` says why");
  // The cpu first: it is what the others are compared with.
  std::stable_partition(devices.begin(), devices.end(),
                        [](const Device& d) { return d.backend() == "cpu"; });
  return devices;
}

void check_rungs(const std::vector<std::string>& rungs, const std::vector<Device>& devices,
                 const std::vector<Operation>& operations) {
  for (const std::string& rung : rungs) {
    const std::string name_only = bare(rung);
    std::set<std::string> known;
    for (const Device& device : devices)
      for (Operation operation : operations)
        for (const RungInfo& info : device.rungs(operation)) known.insert(info.name);
    if (!known.contains(name_only))
      throw Refusal(fmt::format("no rung '{}' on these devices; there are: {}.{}", name_only,
                                nearest(name_only, known), did_you_mean(name_only, known)));
  }
}

std::vector<std::string> ladder_of(const Device& device, const Problem& problem, bool peers) {
  const std::string chosen = built_in_choice(device, problem);
  std::vector<std::string> rungs, vendors;
  for (const RungInfo& rung : device.rungs(problem.operation))
    if (rung.numerics == Numerics::vendor)
      vendors.push_back(rung.name);
    else if (rung.name != bare(chosen))
      rungs.push_back(rung.name);
  if (!chosen.empty()) rungs.push_back(chosen);
  if (peers) rungs.insert(rungs.end(), vendors.begin(), vendors.end());
  return rungs;
}

void mark_built_in(std::vector<Result>& results, const Device& device) {
  for (Result& result : results)
    result.built_in =
        !result.rung.empty() && result.rung == built_in_choice(device, result.problem);
}

void print_heading(const std::vector<Device>& devices) {
  say("trine {}, {}", version(), host_sentence());
  for (const Device& device : devices)
    say("{}: {}, {}{}", device.id(), device.facts().name, device.facts().driver,
        tuned_words(device));
}

std::vector<Device> start(const std::vector<std::string>& names,
                          const std::vector<std::string>& rungs,
                          const std::vector<Operation>& operations, bool peers) {
  const std::string peer_text = peers ? load_peers() : std::string();
  std::vector<Device> devices = chosen_devices(names);
  check_rungs(rungs, devices, operations);
  print_heading(devices);
  if (peers) print_lines(peer_text);
  return devices;
}

std::vector<Result> Runner::resident(const Problem& problem, Expectation& expectation,
                                     const std::string& rung, bool waited) {
  Launches launches(queue_, problem, expectation, rung);
  const uint64_t ring_bytes = launches.output_bytes();
  const auto samples_of = [&](double (Launches::*launch)()) {
    return measure(budget_, kLeastSamples, [&] { return (launches.*launch)(); });
  };
  const auto settle = [&](Result& result, const Samples& samples, double (Launches::*launch)()) {
    set_figure(result, samples, samples.median());
    settle_roof(
        device_, ring_bytes, [&] { return (launches.*launch)(); }, result);
    result.failure = launches.failure();
    result.verified = result.failure.empty();
    result.digest = launches.digest();
  };
  Result single;
  single.problem = problem;
  single.device = device_.id();
  single.requested = rung;
  single.first = launches.first_seconds();
  single.take(launches.choice());
  single.roof = roof_of(device_, problem, ring_bytes);
  try {
    const Samples samples = samples_of(&Launches::once);
    if (waited) single.waited = Timed(samples_of(&Launches::waited));
    settle(single, samples, &Launches::once);
    std::vector<Result> results{single};
    if (*single.kernel < kShort && single.verified) {
      Result& sustained = results.emplace_back(single);
      sustained.method = "sustained";
      sustained.waited = {};
      settle(sustained, samples_of(&Launches::back_to_back), &Launches::back_to_back);
    }
    // An error here is one of every figure of this rung.
    const std::string wrong =
        launches.validate_timing(*results.front().kernel, *results.back().kernel);
    for (Result& result : results) {
      if (!result.verified) continue;
      result.failure = wrong.empty() ? above_roof(device_, result) : wrong;
      result.verified = result.failure.empty();
    }
    return results;
  } catch (const ClockStandsStill& error) {
    single.verified = false;
    single.failure = error.what();
    return {single};
  }
}

std::vector<Result> Runner::whole(const Problem& problem, Expectation& expectation,
                                  const Result& kernel) {
  std::vector<Result> results;
  for (const bool pinned : {false, true}) {
    Result result = kernel;
    result.memory = pinned ? "pinned" : "pageable";
    result.waited = {};
    HostRun call(device_, problem, expectation.inputs(), pinned);
    call.options.rung = result.rung;
    measure_passes(call, expectation, budget_, result);
    results.push_back(result);
  }
  return results;
}

namespace {

/// One rung ("": the device's own choice) on one problem: the kernel on resident data and, where
/// `whole` is set and it is right, the whole program. A refusal is one result that says why.
std::vector<Result> results_of(Runner& runner, const Problem& problem, Expectation& expectation,
                               const std::string& rung, bool whole) {
  if (const char* reason = peer_refuses(runner.device(), problem, rung))
    return {without_figure(problem, runner.device(), rung, reason, true)};
  std::vector<Result> results;
  try {
    results = runner.resident(problem, expectation, rung, whole);
    // Peers are there for their kernel; the transfers are the same.
    if (whole && results.back().verified && !results.back().vendor())
      for (Result& result : runner.whole(problem, expectation, results.front()))
        results.push_back(std::move(result));
  } catch (const Error& error) {
    const bool refused = error.status() == Status::unsupported ||
                         error.status() == Status::out_of_memory ||
                         (error.status() == Status::not_found && !rung.empty());
    // A rung that can't be launched, one that doesn't compile say, fails alone; a lost device ends
    // the work.
    if (!refused && error.status() != Status::backend_error) throw;
    const bool is_resident =
        results.empty();  // else the whole program was refused, and the kernel stands
    results.push_back(without_figure(problem, runner.device(), rung, error.what(), refused));
    if (!is_resident) results.back().memory = "pageable";
  }
  return results;
}

}  // namespace

Expected expected(const Problem& problem, uint64_t seed,
                  const std::vector<std::vector<std::byte>>& given) {
  return Control::step([problem, seed, given]() mutable {
           return std::make_shared<Expectation>(problem, seed, std::move(given));
         })
      .value_or(nullptr);
}

std::vector<Result> measure_rung(const Runner& runner, const Problem& problem,
                                 const Expected& expectation, const std::string& rung, bool whole) {
  if (!expectation) return {};
  return Control::step([own = runner, problem, expectation, rung, whole]() mutable {
           return results_of(own, problem, *expectation, rung, whole);
         })
      .value_or(std::vector<Result>());
}

std::string failure_of(const std::vector<Result>& results) {
  const auto wrong = std::ranges::find_if(results, &Result::wrong);
  return wrong == results.end() ? std::string() : wrong->failure;
}

void Digests::compare(std::vector<Result>& results) {
  for (Result& result : results) {
    if (!result.verified || result.numerics != Numerics::reproducible) continue;
    const std::string problem =
        fmt::format("{} {}", to_string(result.problem), name(result.problem.result));
    const First& first =
        first_.try_emplace(problem, First{result.device, result.digest}).first->second;
    if (result.digest == first.digest) continue;
    result.verified = false;
    result.failure = fmt::format("other bits than {} ({:016x}, {:016x})", first.device,
                                 result.digest, first.digest);
  }
}

std::vector<Result> LadderRun::measure(const Runner& runner, const Problem& problem,
                                       const std::string& rung, bool whole) {
  control.show(fmt::format("{} on {} {}", to_string(problem), runner.device().id(), rung));
  const Expected expectation = expect(problem);
  std::vector<Result> results = measure_rung(runner, problem, expectation, rung, whole);
  sampled |= expectation && expectation->sampled();
  control.show("");
  mark_built_in(results, runner.device());
  return keep(std::move(results));
}

std::vector<Result> LadderRun::keep(std::vector<Result> results) {
  digests_.compare(results);
  document.results.insert(document.results.end(), results.begin(), results.end());
  return results;
}

Expected LadderRun::expect(const Problem& problem) {
  const std::string name = to_string(problem) + std::string(trine::name(problem.result));
  if (!expectation_ || name != expected_) {
    expectation_ = nullptr;
    expectation_ = expected(problem, seed_);
  }
  expected_ = name;
  return expectation_;
}

bool judge(std::vector<Result>& results) {
  set_peer_ratios(results);
  compare_digests(results);
  return std::ranges::any_of(results, &Result::verified);
}

Outcome outcome_of(const std::vector<Result>& results, bool roofs) {
  if (std::ranges::any_of(results, &Result::wrong)) return Outcome::failed;
  const bool right = std::ranges::any_of(results, &Result::verified);
  return right || (results.empty() && roofs) ? Outcome::good : Outcome::nothing;
}

int finish(Document& document, const Control& control, const std::string& path, Outcome outcome) {
  if (!path.empty()) {
    nlohmann::ordered_json& roofs = document.arrays["roofs"];
    if (roofs.is_null()) roofs = nlohmann::ordered_json::array();
    add_arithmetic(document.results, roofs);
    document.partial = control.partial();
    write_json(path, to_json(document));
  }
  return ended(control, outcome);
}

int ended(const Control& control, Outcome outcome, std::FILE* out) {
  if (control.partial())
    std::fprintf(
        out, "Ended early, %s: %s.\n", control.why().c_str(),
        outcome == Outcome::nothing ? "there is no result" : "what stands above is all there is");
  if (outcome != Outcome::failed && control.interrupted()) return kExitInterrupted;
  return outcome == Outcome::good ? kExitGood : kExitFailed;
}

}  // namespace trine::bench
