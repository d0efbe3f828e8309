// Every device runs its list on a thread of its own, so that one may compile while another
// computes.
#include "verify.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

#include "runner.hpp"

#include <trine/abi.h>

namespace trine::conformance {
namespace {

/// Every device, and the cpu with one thread alone.
std::vector<std::string> devices_there_are() {
  std::vector<std::string> ids;
  for (const Facts& facts : devices()) ids.push_back(facts.id);
  // The same bits for another number of threads; GPUs have no such option.
  if (std::find(ids.begin(), ids.end(), "cpu") != ids.end()) ids.push_back("cpu:threads=1");
  return ids;
}

/// Why a required backend can't serve: absent, or its devices fail the arithmetic probe. Else "".
std::string shortcoming(const std::string& wanted) {
  std::string reason = "absent: no such backend is known";
  for (const BackendInfo& backend : backends()) {
    if (backend.name != wanted || !backend.extends.empty()) continue;
    reason = "absent: " + backend.reason;
    for (const Facts& described : backend.devices) {
      const Facts& facts = open(described.id).facts();
      if ((facts.capabilities & TRINE_CAN_REPRODUCE) != 0) return "";
      reason = facts.id + " can't reproduce the arithmetic: " + facts.probe;
    }
  }
  return reason;
}

/// If a required backend is missing, skipping everything must not look like success.
void require(const std::vector<std::string>& required, Report& report) {
  for (const std::string& wanted : required) {
    const std::string reason = shortcoming(wanted);
    if (reason.empty()) continue;
    ++report.failed;
    report.failures.push_back({wanted, "", "required by TRINE_REQUIRE", reason});
  }
}

/// A rung that no device has is a mistake of the caller, not an empty success.
void require_rung(const std::string& rung, const std::vector<std::string>& devices) {
  if (rung.empty()) return;
  const std::string wanted = rung.substr(0, rung.find(':'));
  std::set<std::string> names;
  for (const std::string& device : devices)
    for (uint32_t operation : {TRINE_OPERATIONS(TRINE_VALUE)})
      for (const RungInfo& info : open(device).rungs(Operation(operation))) names.insert(info.name);
  if (names.contains(wanted)) return;
  std::string list;
  for (const std::string& name : names) list += " " + name;
  throw Error(Status::not_found, "no device has a rung named '" + rung + "'; there are:" + list);
}

void merge(const std::map<std::string, int64_t>& from, std::map<std::string, int64_t>& into) {
  for (const auto& [key, count] : from) into[key] += count;
}

void merge(const Report& from, Report& into) {
  into.cases += from.cases;
  into.failed += from.failed;
  into.skipped += from.skipped;
  into.failures.insert(into.failures.end(), from.failures.begin(), from.failures.end());
  merge(from.skip_reasons, into.skip_reasons);
  merge(from.skip_details, into.skip_details);
  for (const auto& [kind, counts] : from.classes) merge(counts, into.classes[kind]);
}

std::vector<const Case*> cases_for(const Options& options) {
  std::vector<const Case*> cases;
  for (const Case& c : all_cases()) {
    if (options.quick && !c.quick) continue;
    if (options.operation != 0 && options.operation != oracle::kind_of(c.plan)) continue;
    if (c.name.find(options.filter) != std::string::npos) cases.push_back(&c);
  }
  std::stable_partition(cases.begin(), cases.end(), [](const Case* c) { return c->quick; });
  return cases;
}

class Race {
 public:
  explicit Race(const Options& options) : options_(options) {
    if (options.random_seconds < 0) cases_ = cases_for(options);
    options_.stop = [this, asked = options.stop] {
      const std::lock_guard lock(mutex_);
      return stopped_ = stopped_ || (asked && asked());
    };
  }
  const Options& options() const { return options_; }

  void add(std::unique_ptr<Runner> runner) {
    for (const Case* c : cases_) total_ += runner->runs_of(*c);
    if (options_.random_seconds < 0) total_ += runner->moves();
    runners_.push_back(std::move(runner));
  }

  /// False where it ended without some devices, whose threads share `race` then.
  static bool run(const std::shared_ptr<Race>& race) {
    std::vector<std::thread> threads;
    race->at_work_ = race->runners_.size();
    for (const auto& runner : race->runners_)
      threads.emplace_back([race, own = runner.get()] { race->run_one(*own); });
    const auto is_done = [race](std::chrono::milliseconds time) {
      std::unique_lock lock(race->mutex_);
      return race->ended_.wait_for(lock, time, [&] { return race->at_work_ == 0; });
    };
    const bool done = !race->options_.await || race->options_.await(is_done);
    for (std::thread& thread : threads) done ? thread.join() : thread.detach();
    const std::lock_guard lock(race->mutex_);
    if (race->error_) std::rethrow_exception(race->error_);
    return done;
  }

  Report collect() const {
    Report report;
    for (const auto& runner : runners_) merge(runner->report(), report);
    return report;
  }
  bool was_stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

 private:
  void run_one(Runner& runner) {
    std::exception_ptr error;
    try {
      if (options_.random_seconds < 0) {
        run_list(runner);
      } else {
        run_random(runner);
      }
    } catch (...) { error = std::current_exception(); }
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
    --at_work_;
    ended_.notify_all();
  }

  void run_list(Runner& runner) {
    // The quick cases run first: they were chosen to find most defects in the least time.
    for (const Case* c : cases_) {
      const bool goes_on = step(runner, c->name, runner.runs_of(*c), [&] { runner.run(*c); });
      if (!goes_on) return;
    }
    for (int64_t m = 0; m < runner.moves(); ++m)
      if (!step(runner, Moves::name(Moves::kind_of(m)), 1, [&] { runner.move(m); })) return;
  }

  void run_random(Runner& runner) {
    const auto end = Clock::now() + std::chrono::duration<double>(options_.random_seconds);
    uint64_t seed = options_.seed;
    do {
      const std::string name = "--seed " + std::to_string(seed);
      if (!step(runner, name, 1, [&] { runner.run_random(seed); })) return;
      ++seed;
    } while (Clock::now() < end);
  }

  /// Returns whether to go on.
  template <class Body>
  bool step(Runner& runner, const std::string& name, int64_t runs, Body&& body) {
    if (options_.stop()) return false;
    const int64_t failed = runner.failed();
    body();
    const std::lock_guard lock(mutex_);
    done_ += runs;
    failed_ += runner.failed() - failed;
    if (options_.progress)
      options_.progress(
          {done_, std::max(done_, total_), failed_, runner.device_id().c_str(), name.c_str()});
    return failed_ == 0 || !options_.stop_at_failure;
  }

  using Clock = std::chrono::steady_clock;
  Options options_;
  std::vector<const Case*> cases_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t at_work_ = 0;  ///< runners
  std::exception_ptr error_;
  int64_t done_ = 0, total_ = 0, failed_ = 0;
  bool stopped_ = false;
};

}  // namespace

Report verify(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  Report report;
  require(options.require, report);
  const std::vector<std::string> devices =
      options.devices.empty() ? devices_there_are() : options.devices;
  require_rung(options.rung, devices);
  const auto race = std::make_shared<Race>(options);
  for (const std::string& device : devices)
    race->add(std::make_unique<Runner>(device, devices_there_are(), race->options()));
  const bool done = Race::run(race);
  merge(race->collect(), report);
  report.partial = !done || race->was_stopped();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

std::vector<std::string> required_by_environment() {
  std::vector<std::string> names;
  const char* list = std::getenv("TRINE_REQUIRE");
  std::istringstream words(list != nullptr ? list : "");
  for (std::string word; std::getline(words, word, ',');)
    if (!word.empty() && word != "browser" && word != "compare.py")  // those are other tests'
      names.push_back(word);
  return names;
}

}  // namespace trine::conformance
