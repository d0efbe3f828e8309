// One view's checks: extents, strides, buffer, alignment, an output's elements apart from each
// other; and two views' elements apart.
#include <trine/fitting.hpp>

#include <algorithm>
#include <numeric>

#include "check.hpp"

namespace trine::detail {
namespace {

/// One dimension of a view, in bytes.
struct Dimension {
  int64_t extent;
  uint64_t stride;
};

struct Dimensions {
  Dimension all[3];
  int count = 0;
  const Dimension* begin() const { return all; }
  const Dimension* end() const { return all + count; }
};

/// Those along which a view moves, the narrowest first.
Dimensions dimensions(const trine_view& view, uint32_t element) {
  Dimensions found{{{view.cols, static_cast<uint64_t>(view.col_stride) * element},
                    {view.rows, static_cast<uint64_t>(view.row_stride) * element},
                    {view.batch, static_cast<uint64_t>(view.batch_stride) * element}}};
  std::sort(found.all, found.all + 3, [](const Dimension& a, const Dimension& b) {
    return a.extent > 1 && (b.extent <= 1 || a.stride < b.stride);
  });
  for (const Dimension& d : found.all) found.count += d.extent > 1 ? 1 : 0;
  return found;
}

using Count = Fitting<int64_t>;

/// From the first to the last of `extent` elements.
Count reach(int64_t extent, int64_t stride) {
  return extent <= 1 ? Count(0) : Count(extent - 1) * stride;
}

std::string who(const Role& role) { return cat(role.operation, ": ", role.name, ": "); }

/// A driver's own object that the host has mapped, which the device may not touch meanwhile:
/// OpenCL's pinned memory, but where the device computes in the host's.
bool is_mapped(const BufferState& buffer) {
  return buffer.facts.kind == TRINE_MEMORY_PINNED && buffer.facts.address == 0 &&
         !buffer.device->in_place;
}

/// Whether two views share no element although their byte ranges overlap, like two sub-matrices
/// side by side. In each view the narrow dimensions form an interval, which the wide dimensions
/// repeat. Take both intervals modulo a distance that divides all wide strides: if they are apart
/// there, they are apart everywhere. Any stride may be the border between narrow and wide.
bool interleaved(const Placed& a, const Placed& b) {
  const Dimensions steps[] = {dimensions(*a.view, a.element), dimensions(*b.view, b.element)};
  const auto apart_from = [&](uint64_t wide) {
    uint64_t modulus = 0, width[2] = {a.element, b.element};
    for (int side = 0; side < 2; ++side) {
      for (const Dimension& d : steps[side]) {
        if (d.stride < wide) {
          width[side] += static_cast<uint64_t>(d.extent - 1) * d.stride;
        } else {
          modulus = std::gcd(modulus, d.stride);
        }
      }
    }
    if (width[0] + width[1] > modulus) return false;
    const uint64_t distance = (b.first % modulus + modulus - a.first % modulus) % modulus;
    return distance >= width[0] && distance + width[1] <= modulus;
  };
  for (const Dimensions& side : steps)
    for (const Dimension& d : side)
      if (d.stride != 0 && apart_from(d.stride)) return true;
  return false;
}

}  // namespace

bool elements_apart(const trine_view& view, uint32_t element) {
  uint64_t span = element;
  for (const Dimension& d : dimensions(view, element)) {
    if (d.stride < span) return false;
    span += static_cast<uint64_t>(d.extent - 1) * d.stride;
  }
  return true;
}

void make_canonical(trine_view& view) {
  if (view.batch <= 1) view.batch_stride = 0;
  if (view.rows <= 1 && view.cols <= 1) {
    view.row_stride = view.col_stride = 1;
  } else if (view.rows <= 1) {
    view.row_stride = view.col_stride == 1 ? view.cols : 1;
  } else if (view.cols <= 1) {
    view.col_stride = view.row_stride == 1 ? view.rows : 1;
  }
}

uint32_t element_of(Dtype dtype, const Role& role) {
  const uint32_t bytes = size_of(dtype);
  if (bytes == 0)
    refuse(role.operation, ": ", role.name, ": there is no dtype ", static_cast<uint32_t>(dtype),
           ".");
  return bytes;
}

uint64_t check_shape(const trine_view& view, uint32_t element, const Role& role) {
  const auto& [memory, offset, rows, cols, batch, row_stride, col_stride, batch_stride] = view;
  if (rows < 0 || cols < 0 || batch < 0) {
    refuse(who(role), "extents are never negative: ", rows, " x ", cols, ", batch ", batch, ".");
  }
  if (row_stride < 0 || col_stride < 0 || batch_stride < 0) {
    refuse(who(role), "strides are never negative: ", row_stride, ", ", col_stride, ", batch ",
           batch_stride, ".");
  }
  const Count matrix = Count(rows) * cols, elements = matrix * batch;
  if (!matrix.fits() || !elements.fits()) {
    refuse(who(role), rows, " x ", cols, " x ", batch, " elements are more than 2^63 - 1.");
  }
  if (rows == 0 || cols == 0 || batch == 0) return 0;
  const Count last = reach(rows, row_stride) + reach(cols, col_stride) + reach(batch, batch_stride);
  const Count bytes = (last + 1) * static_cast<int64_t>(element);
  if (!bytes.fits()) refuse(who(role), "extents and strides reach beyond 2^63 bytes.");
  return static_cast<uint64_t>(bytes.value_or(0));
}

Placed check_view(const View& view, uint32_t element, uint32_t alignment, const Role& role,
                  const DeviceState* device, Mode mode, trine_view& out) {
  out = shape_of(view);
  out.offset = view.offset;
  const uint64_t bytes = check_shape(out, element, role);
  make_canonical(out);
  const BufferState* buffer = Access::state(view.buffer).get();
  if (role.is_output && bytes != 0 && !elements_apart(out, element)) {
    refuse(who(role), "an output's elements may not overlap or repeat: strides ", view.row_stride,
           ", ", view.col_stride, ", batch ", view.batch_stride, " of ", view.rows, " x ",
           view.cols, ", batch ", view.batch, ".");
  }
  if (!buffer) {
    if (bytes != 0 && mode == Mode::run) refuse(who(role), "its buffer is empty (null).");
    return {&out, 0, 0, element};
  }
  if (device && buffer->device.get() != device) {
    refuse(who(role), "its buffer belongs to ", buffer->device->id, ", the operation runs on ",
           device->id, "; copy() moves data between devices.");
  }
  if (bytes != 0 && is_mapped(*buffer)) {
    fail(Status::unsupported, who(role), "pinned memory of ", buffer->device->id,
         " can't be an operand: its driver keeps it mapped for the host; copy from or to its "
         "host().");
  }
  const Fitting<uint64_t> last = Fitting(view.offset) + bytes;
  if (!last.fits() || last.value_or(0) > buffer->facts.bytes) {
    refuse(who(role), "needs ", bytes, " bytes from byte ", view.offset, " on, but its buffer has ",
           buffer->facts.bytes, ".");
  }
  // Address and offset are checked each by itself, because a kernel counts the offset in elements
  // if a handle is no address.
  if (bytes != 0 && view.offset % alignment != 0) {
    refuse(who(role), "starts at byte ", view.offset, ", which is not a multiple of ", alignment,
           " bytes.");
  }
  if (bytes != 0 && buffer->facts.address % alignment != 0) {
    refuse(who(role),
           "its buffer is misaligned: it begins at an address that is not a multiple of ",
           alignment, " bytes, whatever the offset.");
  }
  out.memory = buffer->facts.native;
  return {&out, view.offset, last.value_or(0), element};
}

bool is_same(const View& a, const View& b) {
  return a.buffer && Access::state(a.buffer) == Access::state(b.buffer) && a.offset == b.offset &&
         a.row_stride == b.row_stride && a.col_stride == b.col_stride &&
         a.batch_stride == b.batch_stride;
}

bool overlap(const Placed& a, const Placed& b) {
  if (a.first == a.last || b.first == b.last) return false;
  if (a.first >= b.last || b.first >= a.last) return false;
  return !interleaved(a, b);
}

void check_apart(const View& output, const Placed& out, const Role& out_role, const View& other,
                 const Placed& in, const Role& in_role) {
  const BufferState *a = Access::state(output.buffer).get(), *b = Access::state(other.buffer).get();
  uint64_t a_base = 0, b_base = 0;
  if (a && b && a != b) {
    // Two buffers may be views of the same memory (adopted, wrapped), if addresses are known.
    a_base = a->facts.address;
    b_base = b->facts.address;
    if (a_base == 0 || b_base == 0) {
      if (a->facts.native != b->facts.native) return;
      a_base = b_base = 0;
    }
  }
  const Placed moved_out{out.view, a_base + out.first, a_base + out.last, out.element};
  const Placed moved_in{in.view, b_base + in.first, b_base + in.last, in.element};
  if (!overlap(moved_out, moved_in)) return;
  refuse(out_role.operation, ": ", out_role.name, " overlaps ", in_role.name,
         "; an output may share no memory with an input.");
}

void check_numerics(Numerics numerics, const Role& role) {
  if (numerics == Numerics::reproducible || numerics == Numerics::fast ||
      numerics == Numerics::exact)
    return;
  refuse(role.operation,
         ": numerics can be asked for as 'reproducible', 'fast' or 'exact'; study and vendor "
         "rungs are run by naming them.");
}

void check_unit_stride(const trine_view& view, const Role& role, bool may_repeat) {
  if (is_empty(view) || view.row_stride == 1 || view.col_stride == 1) return;
  if (may_repeat && (view.row_stride == 0 || view.col_stride == 0)) return;
  refuse(role.operation, ": ", role.name, " has strides ", view.row_stride, " and ",
         view.col_stride, "; one of them must be 1.");
}

bool one_of(Dtype dtype, std::initializer_list<Dtype> legal) {
  return std::ranges::find(legal, dtype) != legal.end();
}

}  // namespace trine::detail
