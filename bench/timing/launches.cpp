#include "launches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

constexpr uint64_t kRingBytes = uint64_t{128} << 20;
constexpr int kMostSlots = 32;
constexpr uint32_t kPoison = 0xa5a5a5a5;
constexpr int kPeeks = 4;
constexpr uint64_t kPeekBytes = 64;

/// Whether a host's and a device's time for the same work can both be right.
bool agree(double host, double device) {
  constexpr double kNear = 1.15;
  return host <= kNear * device && device <= kNear * host;
}

}  // namespace

Launches::Launches(Queue& queue, const Problem& problem, Expectation& expectation, std::string rung)
    : queue_(queue),
      expectation_(expectation),
      rung_(std::move(rung)),
      dtype_(problem.dtype),
      output_bytes_(expectation.output_bytes()),
      stride_((output_bytes_ + 255) / 256 * 256) {
  const Device device = queue.device();
  const uint64_t limit =
      std::min(kRingBytes, std::max<uint64_t>(device.facts().max_buffer_bytes, 1));
  const int slots =
      int(std::clamp<uint64_t>(limit / std::max<uint64_t>(stride_, 1), 1, kMostSlots));
  for (const std::span<const std::byte> data : expectation.inputs()) {
    inputs_.emplace_back(device, data.size());
    load(inputs_.size() - 1, data);
  }
  outputs_ = Buffer(device, stride_ * uint64_t(slots));
  for (int slot = 0; slot < slots; ++slot) {
    std::vector<Place> places;
    for (const Buffer& input : inputs_)
      places.push_back({input, uint64_t(slot % expectation.windows()) * Expectation::kShift});
    places.push_back({outputs_, uint64_t(slot) * stride_});
    operations_.push_back(device_operation(problem, places));
  }
  poison(0, slots);
  queue.wait();
  const auto begin = Clock::now();
  choice_ = launch_slot(0);
  queue.wait();
  first_seconds_ = seconds_since(begin);
}

// --- Memory ------------------------------------------------------------------------------------

void Launches::load(size_t input, std::span<const std::byte> data) {
  const auto bytes = int64_t(data.size());
  if (bytes != 0)
    copy(queue_, host_vector(data.data(), Dtype::b8, bytes),
         vector(inputs_[input], Dtype::b8, bytes));
}

std::vector<std::byte> Launches::fetch(uint64_t offset, uint64_t bytes) {
  std::vector<std::byte> host(bytes);
  View from = vector(outputs_, Dtype::b8, int64_t(bytes));
  from.offset = offset;
  if (bytes != 0) copy(queue_, from, host_vector(host.data(), Dtype::b8, int64_t(bytes)));
  return host;
}

void Launches::poison(int first, int count) {
  if (stride_ == 0) return;
  View slots = vector(outputs_, Dtype::b32, int64_t(stride_ * uint64_t(count) / 4));
  slots.offset = uint64_t(first) * stride_;
  fill(queue_, slots, &kPoison);
}

void Launches::peek(int slot) {
  peeked_.clear();
  peeked_slot_ = slot;
  if (output_bytes_ == 0) return;
  const uint64_t bytes = std::min(kPeekBytes, output_bytes_);
  for (int i = 0; i < kPeeks; ++i) {
    // The end first: it tends to be written last.
    const uint64_t at = i == 0 ? output_bytes_ - bytes : random_() % (output_bytes_ - bytes + 1);
    peeked_.push_back({at, fetch(uint64_t(slot) * stride_ + at, bytes)});
  }
  queue_.wait();
}

std::string Launches::compare_peeked(int slot, const std::byte* output) {
  if (slot != peeked_slot_) return {};
  for (const Peek& peek : peeked_)
    if (std::memcmp(peek.bytes.data(), output + peek.at, peek.bytes.size()) != 0)
      return "its output changed after wait() had returned: its work continues outside of the "
             "queue";
  return {};
}

// --- Launches ----------------------------------------------------------------------------------

int Launches::next_slot() {
  if (slot_ == 0 || slot_ == slots()) {
    check_by_chance();
    poison(0, slots());  // the answer to the first launch, too, must not serve for a timed one
    queue_.wait();
    slot_ = 0;
  }
  // Work done for a slot ahead of its time is lost then.
  if (random_() % 8 == 0) {
    poison(slot_, 1);
    queue_.wait();
  }
  return slot_++;
}

double Launches::once() {
  const int slot = next_slot();
  const auto begin = Clock::now();
  const Event start = queue_.record();
  launch_slot(slot);
  const Event stop = queue_.record();
  queue_.wait();
  host_.seconds.push_back(seconds_since(begin));
  device_.seconds.push_back(elapsed(start, stop));
  if (!(device_.seconds.back() > 0))
    throw ClockStandsStill("its clock stands still: it took no time at all");
  return device_.seconds.back();
}

double Launches::waited() {
  const int slot = next_slot();
  const auto begin = Clock::now();
  launch_slot(slot);
  queue_.wait();
  return seconds_since(begin);
}

double Launches::back_to_back() {
  check_by_chance();
  poison(0, slots());
  const Event start = queue_.record();
  for (slot_ = 0; slot_ < slots(); ++slot_) launch_slot(slot_);
  const Event stop = queue_.record();
  queue_.wait();
  return elapsed(start, stop) / slots();
}

void Launches::check_by_chance() {
  if (slot_ != 0 && random_() % ++rings_ == 0) check();
}

void Launches::check() {
  peek(slot_ - 1);
  const std::vector<std::byte> host = fetch(0, stride_ * uint64_t(slot_));
  queue_.wait();
  for (int slot = 0; slot < slot_; ++slot) {
    const std::byte* output = host.data() + uint64_t(slot) * stride_;
    if (slot == 0) digest_ = expectation_.digest(output);
    std::string wrong = compare_peeked(slot, output);
    if (wrong.empty())
      wrong = expectation_.check(slot % expectation_.windows(), output, choice_.numerics);
    if (wrong.empty()) continue;
    if (failure_.empty()) failure_ = fmt::format("slot {} of {}: {}", slot, slot_, wrong);
    return;
  }
}

std::string Launches::failure() {
  check();
  slot_ = 0;
  rings_ = 0;
  return std::exchange(failure_, {});
}

// --- Timing validation -------------------------------------------------------------------------

std::string Launches::validate_timing(double single, double shortest) {
  std::string wrong;
  // The medians suffice where what the host adds to a launch is little beside it.
  constexpr double kLong = 2e-3;
  if (single < kLong || !agree(host_.median(), single)) wrong = check_clocks(shortest);
  return wrong.empty() ? check_unseen_data(single) : wrong;
}

std::string Launches::check_clocks(double seconds) {
  // The host only adds (handing over, waking up, another program's slice of the core): a right
  // clock never takes longer than the host, and what the host adds drowns in ever longer batches.
  // They double by count, because launches back to back may take far less than the one that
  // `seconds` tells of.
  constexpr double kFirst = 4e-3, kLast = 0.5;
  constexpr int kTries = 16, kMostAtFirst = 1 << 10, kMostLaunches = 1 << 16;
  constexpr int kEnough = 3;  // in a row: by chance a clock too fast and a busy machine meet twice
  double device = 0, host = 0;
  int agreed = 0, misses = 0;  // in a row; of the longest
  int count = int(std::clamp(std::ceil(kFirst / seconds), 1.0, double(kMostAtFirst)));
  for (int i = 0; i < kTries; ++i) {
    const auto begin = Clock::now();
    const Event start = queue_.record();
    for (int n = 0; n < count; ++n) launch_slot(n % slots());
    const Event stop = queue_.record();
    queue_.wait();
    host = seconds_since(begin);
    device = elapsed(start, stop);
    const bool agrees = agree(host, device);
    if (host >= kFirst && device > host && !agrees) {
      agreed = 0;
      break;
    }
    agreed = agrees ? agreed + 1 : 0;
    if (agreed == kEnough) return {};
    if (host < kLast)
      count = std::min(2 * count, kMostLaunches);
    else if (agrees ? agreed > std::min(misses, 1) : ++misses == 3)
      break;  // one that disagrees is repeated, as the machine may have stood still; then two have
              // to agree
  }
  if (agreed > std::min(misses, 1)) return {};  // what takes long is launched but once
  return fmt::format(
      "its clock is wrong: launches took {} by the host's clock and {} by the device's",
      time_text(host), time_text(device));
}

void Launches::change(std::optional<uint64_t> element) {
  changed_ = element;
  for (size_t i = 0; i < inputs_.size(); ++i) load(i, expectation_.unseen(i));
  if (element) {
    const uint64_t size = size_of(dtype_);
    View changed = vector(inputs_[0], dtype_, 1);
    changed.offset = *element * size;
    fill(queue_, changed, expectation_.unseen(0).data() + (*element + 1) * size);
  }
  poison(0, 1);
  queue_.wait();
}

bool Launches::change_one() {
  const uint64_t elements = expectation_.unseen(0).size() / size_of(dtype_);
  if (elements < 2) return false;
  change(random_() % (elements - 1));
  return true;
}

std::string Launches::check_changed() {
  const std::vector<std::byte> host = fetch(0, stride_);
  queue_.wait();
  std::string wrong = compare_peeked(0, host.data());
  if (wrong.empty())
    wrong = changed_ ? expectation_.check_changed(*changed_, host.data(), choice_.numerics)
                     : expectation_.check_unseen(host.data(), choice_.numerics);
  return wrong.empty() ? wrong : "on data that was changed in place: " + wrong;
}

std::string Launches::check_unseen_data(double seconds) {
  // Launches after a pause take longer by themselves: threads asleep, caches cold, clocks low.
  constexpr double kFar = 8, kPause = 1e-3;
  constexpr int kTries = 20, kAlike = 5;
  const auto timed = [&] {
    const Event start = queue_.record();
    launch_slot(0);
    const Event stop = queue_.record();
    queue_.wait();
    peek(0);
    return elapsed(start, stop);
  };
  double least = 0;
  int alike = 0;
  for (int i = 0; i < kTries; ++i) {
    const auto pause = std::chrono::milliseconds(2 * i);
    std::this_thread::sleep_for(pause);
    if (i == 0)
      change();
    else if (!change_one())
      return {};
    const double taken = timed();
    least = i == 0 ? taken : std::min(least, taken);
    if (i < 2) {
      std::string wrong = check_changed();
      if (!wrong.empty()) return wrong;
    }
    if (i == 0) continue;  // it may look at few elements: one that it doesn't is changed next
    if (taken <= kFar * seconds + kPause) return {};
    // Others may have the cores for a while, or a library's threads fell asleep: then the same data
    // takes as long after the same pause and the same writes.
    std::this_thread::sleep_for(pause);
    change(changed_);  // the same element once more
    alike += taken <= kFar * timed() + kPause ? 1 : 0;
    if (alike == kAlike) return {};
  }
  return fmt::format("it takes {} for new data and {} for known data: it remembers answers",
                     time_text(least), time_text(seconds));
}

}  // namespace trine::bench
