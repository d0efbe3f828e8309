#include "ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trine::bench {
namespace {

constexpr uint64_t kRingBytes = uint64_t{128} << 20;
constexpr int kMostSlots = 32;
constexpr uint32_t kPoison = 0xa5a5a5a5;
constexpr int kPeeks = 4;
constexpr uint64_t kPeekBytes = 64;

}  // namespace

View bytes_view(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  View view = vector(buffer, Dtype::b8, int64_t(bytes));
  view.offset = offset;
  return view;
}

Ring::Ring(Queue& queue, const Problem& problem, const Expectation& expectation)
    : queue_(queue),
      stride_((expectation.output_bytes() + 255) / 256 * 256),
      output_bytes_(expectation.output_bytes()),
      dtype_(problem.dtype) {
  const Device device = queue.device();
  const uint64_t limit =
      std::min(kRingBytes, std::max<uint64_t>(device.facts().max_buffer_bytes, 1));
  const int slots =
      int(std::clamp<uint64_t>(limit / std::max<uint64_t>(stride_, 1), 1, kMostSlots));
  for (size_t i = 0; i < expectation.input_count(); ++i) {
    const auto data = expectation.input(i);
    inputs_.emplace_back(device, data.size());
    if (!data.empty())
      copy(queue, host_bytes(data.data(), data.size()), bytes_view(inputs_.back(), 0, data.size()));
  }
  outputs_ = Buffer(device, stride_ * uint64_t(slots));
  for (int slot = 0; slot < slots; ++slot) {
    std::vector<Place> places;
    for (const Buffer& input : inputs_)
      places.push_back({input, uint64_t(slot % expectation.windows()) * Expectation::kShift});
    places.push_back({outputs_, uint64_t(slot) * stride_});
    operations_.push_back(device_operation(problem, places));
  }
  poison();
  queue.wait();
}

void Ring::poison(int first, int count) {
  if (stride_ == 0) return;
  View slots = vector(outputs_, Dtype::b32, int64_t(stride_ * uint64_t(count) / 4));
  slots.offset = uint64_t(first) * stride_;
  fill(queue_, slots, &kPoison);
}

void Ring::peek(int slot) {
  peeked_.clear();
  peeked_slot_ = slot;
  if (output_bytes_ == 0) return;
  const uint64_t bytes = std::min(kPeekBytes, output_bytes_);
  for (int i = 0; i < kPeeks; ++i) {
    // The end first: it tends to be written last.
    const uint64_t at = i == 0 ? output_bytes_ - bytes : random_() % (output_bytes_ - bytes + 1);
    peeked_.push_back({at, std::vector<std::byte>(bytes)});
    copy(queue_, bytes_view(outputs_, uint64_t(slot) * stride_ + at, bytes),
         host_bytes(peeked_.back().bytes.data(), bytes));
  }
  queue_.wait();
}

std::string Ring::compare_peeked(int slot, const std::byte* output) {
  if (slot != peeked_slot_) return {};
  for (const Peek& peek : peeked_)
    if (std::memcmp(peek.bytes.data(), output + peek.at, peek.bytes.size()) != 0)
      return "its output changed after wait() had returned: its work continues outside of the "
             "queue";
  return {};
}

std::vector<std::byte> Ring::fetch(int count) {
  std::vector<std::byte> host(stride_ * uint64_t(count));
  if (!host.empty())
    copy(queue_, bytes_view(outputs_, 0, host.size()), host_bytes(host.data(), host.size()));
  queue_.wait();
  return host;
}

std::string Ring::check(Expectation& expectation, int used, Numerics numerics, uint64_t* digest) {
  const std::vector<std::byte> host = fetch(used);
  for (int slot = 0; slot < used; ++slot) {
    const std::byte* output = host.data() + uint64_t(slot) * stride_;
    if (slot == 0) *digest = expectation.digest(output);
    std::string wrong = compare_peeked(slot, output);
    if (wrong.empty()) wrong = expectation.check(slot % expectation.windows(), output, numerics);
    if (!wrong.empty()) return fmt::format("slot {} of {}: {}", slot, used, wrong);
  }
  peeked_slot_ = -1;
  return {};
}

void Ring::change(const Expectation& expectation) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const auto data = expectation.unseen(i);
    if (!data.empty())
      copy(queue_, host_bytes(data.data(), data.size()), bytes_view(inputs_[i], 0, data.size()));
  }
  poison(0);
  queue_.wait();
}

bool Ring::change_one(const Expectation& expectation) {
  const uint64_t size = size_of(dtype_), bytes = expectation.unseen(0).size();
  if (bytes < 2 * size) return false;
  changed_ = random_() % (bytes / size - 1);
  change_again(expectation);
  return true;
}

void Ring::change_again(const Expectation& expectation) {
  const auto data = expectation.unseen(0);
  const uint64_t size = size_of(dtype_);
  change(expectation);
  View element = vector(inputs_[0], dtype_, 1);
  element.offset = changed_ * size;
  fill(queue_, element, data.data() + (changed_ + 1) * size);
  queue_.wait();
}

std::string Ring::check_fetched(const std::function<std::string(const std::byte*)>& check) {
  const std::vector<std::byte> host = fetch(1);
  std::string wrong = compare_peeked(0, host.data());
  if (wrong.empty()) wrong = check(host.data());
  return wrong.empty() ? wrong : "on data that was changed in place: " + wrong;
}

std::string Ring::check_unseen(Expectation& expectation, Numerics numerics) {
  return check_fetched(
      [&](const std::byte* output) { return expectation.check_unseen(output, numerics); });
}

std::string Ring::check_changed(Expectation& expectation, Numerics numerics) {
  return check_fetched([&](const std::byte* output) {
    return expectation.check_changed(changed_, output, numerics);
  });
}

}  // namespace trine::bench
