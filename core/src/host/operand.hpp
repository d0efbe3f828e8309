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

  /// The device's view for checks and placement. It has no memory until the operand is wrapped or
  /// placed.
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

  /// Chooses the layout on the device. An input whose gaps are small is copied as it is; else its
  /// rows are packed, narrowest dimension first. Returns the bytes that it takes there.
  uint64_t lay_out();
  /// The buffer may hold all parts of an operand.
  void place(const Buffer& buffer, uint64_t offset);
  void bring(CallQueue& stream, bool pinned);
  void fetch(CallQueue& stream, bool pinned);

  /// Packs it on the device, because other parts may lie between its rows.
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
