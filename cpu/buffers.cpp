// Buffers, copies and fills of the contract: device memory of a CPU is host memory.
#include <algorithm>
#include <cstring>

#include "backends/kit/abi_struct.hpp"
#include "backends/kit/huge_pages.hpp"
#include "handles.hpp"
#include "transpose/problem.hpp"

namespace trine::cpu {
namespace {

constexpr std::size_t kLine = 64;

trine_status make_buffer(trine_device* device, trine_memory_kind kind, void* memory,
                         std::uint64_t bytes, bool owned, trine_buffer** buffer) {
  return kit::guard(
      [&] { *buffer = new trine_buffer{{}, retain(device), kind, memory, bytes, owned}; });
}

trine_status buffer_allocate(trine_device* device, std::uint64_t bytes, std::uint32_t kind,
                             trine_buffer** buffer) {
  return checked([&]() -> trine_status {
    if (kind != TRINE_MEMORY_DEVICE && kind != TRINE_MEMORY_PINNED)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: %u is no kind of memory to allocate", kind);
    // The last huge page is a whole one, too: with pages of 4 KiB at its end, products of 1023 were
    // slower than those of 1024.
    const bool large = bytes >= kit::kHugePage;
    const std::uint64_t whole = std::max<std::uint64_t>(  // the sum may wrap
        {bytes, kLine, large ? (bytes + kit::kHugePage - 1) / kit::kHugePage * kit::kHugePage : 0});
    void* memory = kit::allocate(whole, large ? kit::kHugePage : kLine);
    if (!memory)
      kit::fail(TRINE_OUT_OF_MEMORY, "cpu: no host memory for a buffer of %llu bytes",
                static_cast<unsigned long long>(bytes));
    kit::ask_for_huge_pages(memory, whole);
    const trine_status status =
        make_buffer(device, static_cast<trine_memory_kind>(kind), memory, bytes, true, buffer);
    if (status != TRINE_OK) kit::release(memory);
    return status;
  });
}

trine_status buffer_adopt(trine_device* device, void* native, std::uint64_t bytes,
                          trine_buffer** buffer) {
  return make_buffer(device, TRINE_MEMORY_ADOPTED, native, bytes, false, buffer);
}

trine_status buffer_wrap(trine_device* device, void* host, std::uint64_t bytes,
                         trine_buffer** buffer) {
  return make_buffer(device, TRINE_MEMORY_WRAPPED, host, bytes, false, buffer);
}

void buffer_free(trine_buffer* buffer) {
  if (!buffer) return;
  if (buffer->owned) kit::release(buffer->memory);
  release(buffer->device);
  delete buffer;
}

trine_status buffer_facts(trine_buffer* buffer, trine_buffer_facts* facts) {
  return kit::guard([&] {
    void* const memory = buffer->memory;
    const trine_buffer_facts known{sizeof known,  buffer->kind,
                                   memory,        memory,
                                   buffer->bytes, reinterpret_cast<std::uintptr_t>(memory)};
    kit::give(known, facts);
  });
}

// --- Copies and fills ------------------------------------------------------------------------

struct Fill {
  trine_view view;
  std::uint32_t bytes;  // of an element
  std::byte element[16];
};

// Memory is cut into chunks of about a megabyte, so that the pool's threads touch pages first on a
// machine with several memory nodes, and one core's bandwidth doesn't limit the rate.
constexpr std::uint64_t kPiece = 1 << 20;

std::int64_t pieces_of(std::uint64_t total, std::uint64_t piece) {
  return static_cast<std::int64_t>((total + piece - 1) / piece);
}

// Elements without gaps: each step copies all that is written already.
void fill_run(std::byte* target, std::uint64_t bytes, const Fill& fill, bool one_byte) {
  if (one_byte) {
    std::memset(target, static_cast<int>(fill.element[0]), bytes);
    return;
  }
  std::uint64_t written = std::min<std::uint64_t>(fill.bytes, bytes);
  std::memcpy(target, fill.element, written);
  for (; written < bytes; written += std::min(written, bytes - written))
    std::memcpy(target + written, target, std::min(written, bytes - written));
}

void fill_apart(std::byte* target, std::uint64_t step, std::uint64_t count, const Fill& fill) {
  transpose::visit_size(fill.bytes, [&]<int kBytes>() {
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(target + i * step, fill.element, kBytes);
  });
}

void run_copy(void* payload, Parallel& parallel) {
  const auto& copy = *static_cast<const trine_copy*>(payload);
  const auto* source = static_cast<const std::byte*>(copy.source) + copy.source_offset;
  auto* target = static_cast<std::byte*>(copy.target) + copy.target_offset;
  std::uint64_t width = copy.width;
  std::uint64_t height = copy.height;
  if (width == 0 || height == 0) return;
  if (height > 1 && copy.source_pitch == width && copy.target_pitch == width) {
    width *= height;
    height = 1;
  }
  if (height == 1) {
    parallel.parallel_for(pieces_of(width, kPiece), [&](std::int64_t piece, int) {
      const std::uint64_t begin = static_cast<std::uint64_t>(piece) * kPiece;
      std::memmove(target + begin, source + begin, std::min(kPiece, width - begin));
    });
    return;
  }
  const std::uint64_t rows = std::max<std::uint64_t>(1, kPiece / width);
  parallel.parallel_for(pieces_of(height, rows), [&](std::int64_t piece, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * rows;
    const std::uint64_t end = std::min(height, begin + rows);
    for (std::uint64_t row = begin; row < end; ++row)
      std::memmove(target + row * copy.target_pitch, source + row * copy.source_pitch, width);
  });
}

// The elements in the order of their strides, the narrowest innermost, in chunks with the same
// number of elements.
void run_fill(void* payload, Parallel& parallel) {
  const auto& fill = *static_cast<const Fill*>(payload);
  const trine_view& view = fill.view;
  struct Dimension {
    std::uint64_t extent, step;
  } d[] = {{std::uint64_t(view.cols), fill.bytes * std::uint64_t(view.col_stride)},
           {std::uint64_t(view.rows), fill.bytes * std::uint64_t(view.row_stride)},
           {std::uint64_t(view.batch), fill.bytes * std::uint64_t(view.batch_stride)}};
  std::sort(d, d + 3, [](const Dimension& a, const Dimension& b) {
    return a.extent > 1 && (b.extent <= 1 || a.step < b.step);
  });
  auto* const origin = static_cast<std::byte*>(view.memory) + view.offset;
  const std::uint64_t total = d[0].extent * d[1].extent * d[2].extent;
  const std::uint64_t piece_elements = kPiece / fill.bytes;
  const bool one_byte = std::all_of(fill.element, fill.element + fill.bytes,
                                    [&](std::byte b) { return b == fill.element[0]; });
  parallel.parallel_for(pieces_of(total, piece_elements), [&](std::int64_t piece, int) {
    const std::uint64_t begin = static_cast<std::uint64_t>(piece) * piece_elements;
    const std::uint64_t end = std::min(total, begin + piece_elements);
    for (std::uint64_t e = begin, run = 0; e < end; e += run) {
      const std::uint64_t line = e / d[0].extent, at = e % d[0].extent;
      run = std::min(d[0].extent - at, end - e);
      std::byte* const target =
          origin + at * d[0].step + line % d[1].extent * d[1].step + line / d[1].extent * d[2].step;
      if (d[0].step == fill.bytes) {
        fill_run(target, run * fill.bytes, fill, one_byte);
      } else {
        fill_apart(target, d[0].step, run, fill);
      }
    }
  });
}

constexpr double kNanosecondsPerByte = 0.3;  // of one thread, at most

trine_status copy(trine_queue* queue, const trine_copy* request) {
  return checked([&] {
    trine_copy ours;
    if (!kit::take(request, ours)) kit::fail(TRINE_UNSUPPORTED, "cpu: a copy of an unknown form");
    const double nanoseconds = kNanosecondsPerByte * double(ours.width) * double(ours.height);
    queue->device->executor->submit(queue->queue, nanoseconds, run_copy, ours);
  });
}

trine_status fill_view(trine_queue* queue, const trine_view* view, const void* pattern,
                       std::uint32_t pattern_bytes) {
  return checked([&] {
    Fill request{};
    if (pattern_bytes == 0 || pattern_bytes > sizeof request.element ||
        (pattern_bytes & (pattern_bytes - 1)) != 0)
      kit::fail(TRINE_INVALID_ARGUMENT, "cpu: a fill's pattern has 1, 2, 4, 8 or 16 bytes, not %u",
                pattern_bytes);
    request.view = *view;
    request.bytes = pattern_bytes;
    std::memcpy(request.element, pattern, pattern_bytes);
    const double bytes =
        double(view->rows) * double(view->cols) * double(view->batch) * pattern_bytes;
    queue->device->executor->submit(queue->queue, kNanosecondsPerByte * bytes, run_fill, request);
  });
}

trine_status fill(trine_queue* queue, void* memory, std::uint64_t offset, std::uint64_t bytes,
                  const void* pattern, std::uint32_t pattern_bytes) {
  const auto count = static_cast<std::int64_t>(pattern_bytes ? bytes / pattern_bytes : 0);
  const trine_view view{memory, offset, 1, count, 1, count, 1, 0};
  return fill_view(queue, &view, pattern, pattern_bytes);
}

trine_status elementwise(trine_queue* queue, const trine_elementwise* command) {
  return checked([&] {
    trine_elementwise ours;
    if (!kit::take(command, ours))
      kit::fail(TRINE_UNSUPPORTED, "cpu: an elementwise command of an unknown form");
    const trine_view& out = ours.out;
    const double bytes = 3.0 * double(out.rows) * double(out.cols) * double(out.batch) *
                         trine_dtype_size(ours.dtype);
    queue->device->executor->submit(queue->queue, kNanosecondsPerByte * bytes, run_elementwise,
                                    ours);
  });
}

}  // namespace

void fill_buffer_table(trine_backend& table) {
  TRINE_BUFFER_FUNCTIONS(TRINE_SET)
  table.fill_view = fill_view;
  table.elementwise = elementwise;
}

}  // namespace trine::cpu
