// Launches of one rung on one problem, one after the other, each timed by the device's clock and
// the host's and checked by what it writes: the inputs are on the device, and the outputs are a
// ring, poisoned before it is used, with one operation a slot. Whoever calls decides how often, and
// what becomes of it. Beside right outputs a figure needs two clocks that agree, and data that
// nobody has seen: docs/measuring.md lists the lies that these catch.
#pragma once

#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "bench/stats/measure.hpp"
#include "expectation.hpp"

namespace trine::bench {

class Launches {
 public:
  /// Takes memory, fills it and launches once, which doesn't count. The arguments taken by
  /// reference must outlive this.
  Launches(Queue& queue, const Problem& problem, Expectation& expectation, std::string rung);

  const Choice& choice() const { return choice_; }
  double first_seconds() const { return first_seconds_; }  ///< with what it compiled
  /// The bytes of all slots' outputs.
  uint64_t output_bytes() const { return stride_ * uint64_t(slots()); }

  /// Seconds of the next launch, by the device's clock. Throws ClockStandsStill.
  double once();
  /// The same as a caller sees it: by the host's clock, from submitting it to the end of its wait.
  double waited();
  /// Seconds of each of as many launches back to back as the ring has slots, by the device's clock.
  double back_to_back();
  /// All that once() has returned.
  const Samples& samples() const { return device_; }

  /// Checks what was launched last too: empty, or what is wrong with any output since this was
  /// asked before.
  std::string failure();
  /// The digest of the first slot in the last check.
  uint64_t digest() const { return digest_; }
  /// Both clocks and unseen data, once all outputs are checked: nothing can be launched afterwards.
  /// `single` and `shortest` are the figures of a single launch and of the shortest way there was.
  std::string validate_timing(double single, double shortest);
  /// Changes the data in place and launches once more: an answer that was kept is wrong now. Right
  /// answers that take far longer than `seconds`, on each of several such data, were kept as well.
  std::string check_unseen_data(double seconds);

 private:
  int slots() const { return int(operations_.size()); }
  Choice launch_slot(int slot) { return launch(queue_, operations_[size_t(slot)], rung_); }
  /// The slot of the next launch; it is poisoned.
  int next_slot();

  void load(size_t input, std::span<const std::byte> data);
  /// Fetches bytes of the outputs; they are there once the queue has been waited for.
  std::vector<std::byte> fetch(uint64_t offset, uint64_t bytes);
  void poison(int first, int count);

  /// Notes a few places of the slot that was launched last. To be called as soon as wait() returns:
  /// what another thread still has to write isn't there yet.
  void peek(int slot);
  std::string compare_peeked(int slot, const std::byte* output);
  /// The ring that is full: the first, then ever fewer, and failure() the last. Fetching and
  /// comparing each of thousands would take minutes; and a ring can't know when it is looked at.
  void check_by_chance();
  void check();

  /// Times batches of launches, of about `seconds` each by the device's own account, by the
  /// device's clock and by the host's. The host's begins before and ends after: neither may run
  /// ahead of the other.
  std::string check_clocks(double seconds);
  /// Puts data that no launch has seen where the first slot reads, but for `element` of the first
  /// input, which becomes the one behind it. From then on only check_changed() tells what the slot
  /// must hold.
  void change(std::optional<uint64_t> element = {});
  /// The same with a new random element each time. False where there are no two.
  bool change_one();
  std::string check_changed();

  Queue& queue_;
  Expectation& expectation_;
  std::string rung_;
  Dtype dtype_;
  uint64_t output_bytes_, stride_;  ///< of a slot; from one to the next
  std::vector<Buffer> inputs_;
  Buffer outputs_;
  std::vector<DeviceOperation> operations_;
  Choice choice_;
  double first_seconds_ = 0;
  int slot_ = 0;  ///< behind the last one that was launched
  uint64_t digest_ = 0, rings_ = 0;
  std::string failure_;
  std::mt19937_64 random_{std::random_device{}()};
  struct Peek {
    uint64_t at;
    std::vector<std::byte> bytes;
  };
  std::vector<Peek> peeked_;
  int peeked_slot_ = -1;
  std::optional<uint64_t> changed_;  ///< the element
  Samples device_, host_;            ///< each launch by either clock
};

}  // namespace trine::bench
