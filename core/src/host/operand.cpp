#include "operand.hpp"

#include <algorithm>

namespace trine::detail {

Operand::Operand(const ConstHostView& host, const Role& role) : host_(host), role_(role) {
  const auto& [data, dtype, rows, cols, batch, row_stride, col_stride, batch_stride] = host;
  view_ = {{}, dtype, 0, rows, cols, batch, row_stride, col_stride, batch_stride};
}

void Operand::check(uint32_t alignment) const {
  if (span() == 0) return;
  if (!host_.data) refuse(role_.operation, ": ", role_.name, ": its host memory is null.");
  if (reinterpret_cast<uintptr_t>(host_.data) % alignment != 0)
    refuse(role_.operation, ": ", role_.name,
           ": its host memory starts at an address that is not a multiple of ", alignment,
           " bytes.");
}

bool Operand::is_same(const Operand& other) const {
  const ConstHostView &a = host_, &b = other.host_;
  return a.data == b.data && a.row_stride == b.row_stride && a.col_stride == b.col_stride &&
         a.batch_stride == b.batch_stride;
}

void Operand::check_apart(const Operand& output) const {
  const auto placed = [](const Operand& operand, trine_view& view) {
    const auto first = reinterpret_cast<uint64_t>(operand.host_.data);
    view = shape_of(operand.host_);
    return Placed{&view, first, first + operand.span(), size_of(operand.host_.dtype)};
  };
  trine_view mine, other;
  if (overlap(placed(output, other), placed(*this, mine))) {
    refuse(role_.operation, ": ", output.role_.name, " overlaps ", role_.name,
           "; an output may share no memory with an input.");
  }
}

void Operand::wrap(const Device& device) {
  const uint64_t bytes = span();
  if (bytes != 0) view_.buffer = Buffer::wrap(device, memory(), bytes);
}

uint64_t Operand::span() const { return check_shape(shape_of(host_), size_of(host_.dtype), role_); }

uint64_t Operand::lay_out() {
  const uint64_t bytes = span();
  if (bytes == 0) return 0;
  const uint32_t element = size_of(host_.dtype);
  struct Dimension {
    int64_t extent;
    int64_t* stride;  ///< of the device's view; holds the host's until it is packed
  } all[3] = {{view_.cols, &view_.col_stride},
              {view_.rows, &view_.row_stride},
              {view_.batch, &view_.batch_stride}};
  std::ranges::sort(all,
                    [](const Dimension& a, const Dimension& b) { return *a.stride < *b.stride; });
  uint64_t payload = element;
  for (const Dimension& dimension : all) {
    if (dimension.extent > 1 && *dimension.stride > 0)
      payload *= static_cast<uint64_t>(dimension.extent);
  }
  rows_.base = static_cast<char*>(memory());
  if (is_part_ ? bytes == payload : goes_whole(bytes, payload, role_.is_output)) {
    rows_.rectangles = {};
    rows_.rectangles.width = bytes;
    return bytes;
  }
  trine_view source{nullptr, 0, 1, 1, 1, 0, 0, 0}, target = source;
  int64_t* const extents[] = {&source.cols, &source.rows, &source.batch};
  int64_t* const strides[] = {&source.col_stride, &source.row_stride, &source.batch_stride};
  int64_t* const to[] = {&target.col_stride, &target.row_stride, &target.batch_stride};
  int count = 0;
  int64_t packed = 1;
  for (const Dimension& dimension : all) {
    if (dimension.extent <= 1 || *dimension.stride == 0) continue;  // repeats on the device, too
    *extents[count] = dimension.extent;
    *strides[count] = *dimension.stride;
    *to[count++] = *dimension.stride = packed;
    packed *= dimension.extent;
  }
  target.cols = source.cols, target.rows = source.rows, target.batch = source.batch;
  // Rows in the order of the packed dimensions, the narrowest innermost.
  rows_.rectangles = take_apart(source, target, element, true);
  return rows_.bytes();
}

void Operand::place(const Buffer& buffer, uint64_t offset) {
  view_.buffer = buffer;
  view_.offset = offset;
}

void Operand::bring(CallQueue& stream, bool pinned) {
  if (rows_.base) upload(stream, rows(pinned), view_.buffer, view_.offset);
}

void Operand::fetch(CallQueue& stream, bool pinned) {
  if (rows_.base) download(stream, view_.buffer, view_.offset, rows(pinned));
}

const HostRows& Operand::rows(bool pinned) {
  rows_.pinned = pinned;
  rows_.all = view_.buffer.bytes();
  return rows_;
}

Operand Operand::part(const Part& part) const {
  Operand some(part_of(host_, part), role_);
  some.is_part_ = part != whole(host_);
  return some;
}

}  // namespace trine::detail
