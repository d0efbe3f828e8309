// Host images of a case's memory: the places of its operands among guard zones, and every byte of
// the memory before and after the operation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "case.hpp"

namespace trine::conformance {

/// One operand's place: arena and byte offset of its view's origin.
struct Place {
  size_t arena;
  uint64_t offset;
};

class Arenas {
 public:
  /// Lays the case out, fills its inputs, computes the reference.
  explicit Arenas(const Case& c);

  size_t count() const { return before_.size(); }
  const std::vector<char>& before(size_t arena) const { return before_[arena]; }
  Place place(size_t operand) const { return places_[operand]; }

  /// Digest of the expected output.
  uint64_t digest() const;
  /// The inputs and expected output as the oracle's operation.
  const oracle::Operation& expected() const { return expected_; }

  /// The fault in memory as it was found after the operation; "" if there is none. Elements are
  /// judged by `numerics`; everything else must be as it was.
  std::string judge(std::vector<std::vector<char>>& found, uint32_t numerics) const;

 private:
  void lay_out(const Case& c);
  void lay_out_tight();
  void poison(const Case& c);
  oracle::Operation pointing_into(std::vector<std::vector<char>>& images) const;

  oracle::Operation plan_;
  std::vector<std::vector<char>> before_, after_;
  std::vector<Place> places_;
  oracle::Operation initial_, expected_;
};

}  // namespace trine::conformance
