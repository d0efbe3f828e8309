// The memory that timed launches work on: the inputs on the device and a ring of outputs, poisoned
// before it is used, with one operation a slot.
#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "expectation.hpp"

namespace trine::bench {

class Ring {
 public:
  /// `expectation` outlives it.
  Ring(Queue& queue, const Problem& problem, Expectation& expectation);

  int slots() const { return int(operations_.size()); }
  uint64_t bytes() const { return stride_ * uint64_t(slots()); }
  const DeviceOperation& operation(int slot) const { return operations_[size_t(slot)]; }
  void poison() { poison(0, slots()); }
  void poison(int slot) { poison(slot, 1); }

  /// Notes a few places of the slot that was launched last. To be called as soon as wait() returns:
  /// what another thread still has to write isn't there yet.
  void peek(int slot);
  /// Empty, or what is wrong in one of the first `used` slots, or in what peek() saw of them.
  std::string check(int used, Numerics numerics, uint64_t* digest);
  /// Puts data that no launch has seen where the first slot reads, but for `element` of the first input, which
  /// becomes the one behind it. From then on only check_changed() tells what the slot must hold.
  void change(std::optional<uint64_t> element = {});
  /// The same with an element drawn anew each time. False where there are no two.
  bool change_one();
  /// The work of change_one() once more, to the same data.
  void change_again() { change(changed_); }
  std::string check_changed(Numerics numerics);

 private:
  void poison(int first, int count);
  void load(size_t input, std::span<const std::byte> data);
  std::vector<std::byte> fetch(int count);
  std::string compare_peeked(int slot, const std::byte* output);

  Queue& queue_;
  Expectation& expectation_;
  uint64_t stride_, output_bytes_;
  Dtype dtype_;
  std::vector<Buffer> inputs_;
  Buffer outputs_;
  std::vector<DeviceOperation> operations_;
  std::mt19937_64 random_{std::random_device{}()};
  struct Peek {
    uint64_t at;
    std::vector<std::byte> bytes;
  };
  std::vector<Peek> peeked_;
  int peeked_slot_ = -1;
  std::optional<uint64_t> changed_;  ///< the element
};

}  // namespace trine::bench
