// Fills, elementwise commands, products in parts, and copies between a device and all others:
// random views of all three dimensions, after late work of the other side. Every byte outside is
// checked.
#pragma once

#include <trine/trine.hpp>

#include <memory>
#include <string>
#include <vector>

#include "dice.hpp"
#include "guarded.hpp"

namespace trine::conformance {

/// A buffer of a random kind; `pages` holds a wrapped one's memory.
struct RandomBuffer {
  std::unique_ptr<Guarded> pages;
  Buffer buffer;

  RandomBuffer(const Device& device, uint64_t bytes, Dice& dice);
  /// Wrapped memory that begins a byte before where it should.
  RandomBuffer(const Device& device, uint64_t bytes);
  /// OpenCL's GPUs keep what is pinned mapped for the host, and may keep a copy of what is wrapped.
  static bool any_kind(const Device& device) {
    return device.backend() != "opencl" || device.facts().kind == DeviceKind::cpu;
  }
};

class Moves {
 public:
  /// Moves on `device`, and between it and the `others`.
  Moves(Device device, std::vector<Device> others);

  struct Outcome {
    std::string name;   ///< "copy b64 3x5 batch 2 cpu -> cuda:0 --seed 17"
    std::string wrong;  ///< "" when all is well
  };
  enum Kind { kFill, kCopy, kElementwise, kChain, kKinds };
  static const char* name(Kind kind);
  /// They take turns.
  static Kind kind_of(int64_t number) { return Kind(number % kKinds); }
  Outcome make(Kind kind, uint64_t seed);

 private:
  Outcome fill(uint64_t seed);
  Outcome copy(uint64_t seed);
  Outcome elementwise(uint64_t seed);
  Outcome chain(uint64_t seed);
  template <class T>
  Outcome axpby(uint64_t seed, Dice& dice);
  template <class T>
  Outcome scalar(uint64_t seed, Dice& dice);
  template <class T>
  Outcome scaled_product(uint64_t seed, Dice& dice);
  Queue& queue_of(const Device& device);
  Device cpu() const;  ///< for the host's memory; none where it is missing

  Device device_;
  std::vector<Device> others_;
  std::vector<Queue> queues_;
};

}  // namespace trine::conformance
