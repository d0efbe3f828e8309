// An operand of a call on host data on its way to a device and back: the host's view, how its bytes
// lie on the device, and the device's view of them.
#pragma once

#include "core/src/operations/operations.hpp"
#include "core/src/runtime/transfer.hpp"

namespace trine::detail {

class Operand {
 public:
  /// `host` is written where the role is an output's, whose view is a HostView.
  Operand(const ConstHostView& host, const Role& role);

  /// Has no memory behind it yet, until it is wrapped or placed: what checks and placement look at.
  const View& view() const { return view_; }
  const ConstHostView& host() const { return host_; }

  /// Refuses memory that is null or no multiple of `alignment`, before anything moves.
  void check(uint32_t alignment) const;
  /// Whether it is `other`, element for element.
  bool is_same(const Operand& other) const;
  /// Refuses memory shared with `output`.
  void check_apart(const Operand& output) const;

  /// In place, where the device is a CPU.
  void wrap(const Device& device);

  /// Chooses how it lies on the device: an input that fills its span well goes as it is, in one
  /// piece; else its rows are packed, narrowest dimension first. Returns how many bytes it takes
  /// there.
  uint64_t lay_out();
  /// The buffer may hold all parts of an operand.
  void place(const Buffer& buffer, uint64_t offset);
  void bring(StreamSlot& stream, bool pinned);
  void fetch(StreamSlot& stream, bool pinned);

  /// Lies packed on the device: what is between its rows may be the other parts.
  Operand part(const Part& part) const;

 private:
  /// Bytes from the first element to the end of the last.
  uint64_t span() const;
  void* memory() const { return const_cast<void*>(host_.data); }  ///< written if it is an output's
  const HostRows& rows(bool pinned);

  ConstHostView host_;
  Role role_;
  View view_;
  HostRows rows_;
  bool is_part_ = false;
};

}  // namespace trine::detail
