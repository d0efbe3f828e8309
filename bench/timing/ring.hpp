// The memory that timed launches work on: the inputs on the device and a ring of outputs, poisoned
// before it is used, with one operation a slot.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "expectation.hpp"

namespace trine::bench {

View bytes_view(const Buffer& buffer, uint64_t offset, uint64_t bytes);
template <class Pointer>
HostViewOf<Pointer> host_bytes(Pointer data, uint64_t bytes) {
  return host_vector(data, Dtype::b8, int64_t(bytes));
}

class Ring {
 public:
  Ring(Queue& queue, const Problem& problem, const Expectation& expectation);

  int slots() const { return int(operations_.size()); }
  uint64_t bytes() const { return stride_ * uint64_t(slots()); }
  const DeviceOperation& operation(int slot) const { return operations_[size_t(slot)]; }
  void poison() { poison(0, slots()); }
  void poison(int slot) { poison(slot, 1); }

  /// Notes a few places of the slot that was launched last. To be called as soon as wait() returns:
  /// what another thread still has to write isn't there yet.
  void peek(int slot);
  /// Empty, or what is wrong in one of the first `used` slots, or in what peek() saw of them.
  std::string check(Expectation& expectation, int used, Numerics numerics, uint64_t* digest);
  /// Puts data that no launch has seen where the first slot reads. From then on only check_unseen()
  /// and check_changed() tell what the slots must hold.
  void change(const Expectation& expectation);
  std::string check_unseen(Expectation& expectation, Numerics numerics);
  /// The same data but for one element of the first input, drawn anew each time: it becomes the one behind
  /// it. False where there are no two.
  bool change_one(const Expectation& expectation);
  /// The work of change_one() once more, to the same data.
  void change_again(const Expectation& expectation);
  std::string check_changed(Expectation& expectation, Numerics numerics);

 private:
  void poison(int first, int count);
  std::vector<std::byte> fetch(int count);
  std::string check_fetched(const std::function<std::string(const std::byte*)>& check);
  std::string compare_peeked(int slot, const std::byte* output);

  Queue& queue_;
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
  uint64_t changed_ = 0;  ///< the element
};

/// Which rings of launches are looked at: the first, then ever fewer by chance, and the last. Fetching
/// and comparing each of thousands would take minutes; and a rung can't know when it is looked at.
class Checks {
 public:
  bool due() { return random_() % ++rings_ == 0; }
  /// Whether to poison the next slot once more just before its launch: work done for it ahead of its time
  /// is lost then.
  bool surprise() { return random_() % 8 == 0; }
  void add(const std::string& wrong) {
    if (failure_.empty()) failure_ = wrong;
  }
  const std::string& failure() const { return failure_; }

 private:
  uint64_t rings_ = 0;
  std::mt19937_64 random_{std::random_device{}()};
  std::string failure_;
};

}  // namespace trine::bench
