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

View bytes_view(const Buffer& buffer, uint64_t offset, uint64_t bytes) {
  View view = vector(buffer, Dtype::b8, int64_t(bytes));
  view.offset = offset;
  return view;
}
template <class Pointer>
HostViewOf<Pointer> host_bytes(Pointer data, uint64_t bytes) {
  return host_vector(data, Dtype::b8, int64_t(bytes));
}

}  // namespace

Ring::Ring(Queue& queue, const Problem& problem, Expectation& expectation)
    : queue_(queue),
      expectation_(expectation),
      stride_((expectation.output_bytes() + 255) / 256 * 256),
      output_bytes_(expectation.output_bytes()),
      dtype_(problem.dtype) {
  const Device device = queue.device();
  const uint64_t limit =
      std::min(kRingBytes, std::max<uint64_t>(device.facts().max_buffer_bytes, 1));
  const int slots =
      int(std::clamp<uint64_t>(limit / std::max<uint64_t>(stride_, 1), 1, kMostSlots));
  for (size_t i = 0; i < expectation.input_count(); ++i) {
    inputs_.emplace_back(device, expectation.input(i).size());
    load(i, expectation.input(i));
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

void Ring::load(size_t input, std::span<const std::byte> data) {
  if (!data.empty())
    copy(queue_, host_bytes(data.data(), data.size()), bytes_view(inputs_[input], 0, data.size()));
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

std::string Ring::check(int used, Numerics numerics, uint64_t* digest) {
  const std::vector<std::byte> host = fetch(used);
  for (int slot = 0; slot < used; ++slot) {
    const std::byte* output = host.data() + uint64_t(slot) * stride_;
    if (slot == 0) *digest = expectation_.digest(output);
    std::string wrong = compare_peeked(slot, output);
    if (wrong.empty()) wrong = expectation_.check(slot % expectation_.windows(), output, numerics);
    if (!wrong.empty()) return fmt::format("slot {} of {}: {}", slot, used, wrong);
  }
  peeked_slot_ = -1;
  return {};
}

void Ring::change(std::optional<uint64_t> element) {
  changed_ = element;
  for (size_t i = 0; i < inputs_.size(); ++i) load(i, expectation_.unseen(i));
  if (element) {
    const uint64_t size = size_of(dtype_);
    View changed = vector(inputs_[0], dtype_, 1);
    changed.offset = *element * size;
    fill(queue_, changed, expectation_.unseen(0).data() + (*element + 1) * size);
  }
  poison(0);
  queue_.wait();
}

bool Ring::change_one() {
  const uint64_t elements = expectation_.unseen(0).size() / size_of(dtype_);
  if (elements < 2) return false;
  change(random_() % (elements - 1));
  return true;
}

std::string Ring::check_changed(Numerics numerics) {
  const std::vector<std::byte> host = fetch(1);
  std::string wrong = compare_peeked(0, host.data());
  if (wrong.empty())
    wrong = changed_ ? expectation_.check_changed(*changed_, host.data(), numerics)
                     : expectation_.check_unseen(host.data(), numerics);
  return wrong.empty() ? wrong : "on data that was changed in place: " + wrong;
}

}  // namespace trine::bench
