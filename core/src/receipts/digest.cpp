#include "digest.hpp"

#include <trine/fitting.hpp>
#include <trine/receipt.hpp>

#include <algorithm>
#include <cstring>
#include <thread>

#include "core/src/runtime/on_threads.hpp"

namespace trine {
namespace detail {
namespace {

constexpr Role kView{"digest", "view", false};
constexpr uint64_t kBytesPerThread = uint64_t{4} << 20;  // fewer don't pay a thread's start
constexpr uint64_t kMostThreads = 16;                    // memory isn't faster for more
constexpr uint64_t kRun = 16;  // blocks: those of a strided view share lines with their neighbours

bool is_dense(const ConstHostView& v) {
  Fitting<int64_t> stride = 1;
  for (const auto& [extent, own] :
       {std::pair{v.cols, v.col_stride}, {v.rows, v.row_stride}, {v.batch, v.batch_stride}}) {
    if (extent > 1 && own != stride.value_or(-1)) return false;
    stride = stride * extent;
  }
  return true;
}

/// `bytes` of the elements in logical order, from byte `at` of them on, side by side.
template <std::size_t kSize>
void gather(const ConstHostView& v, uint64_t at, uint64_t bytes, char* to) {
  constexpr auto kBytes = static_cast<int64_t>(kSize);
  auto first = static_cast<int64_t>(at / kSize), count = static_cast<int64_t>(bytes / kSize);
  while (count > 0) {
    const int64_t j = first % v.cols, i = first / v.cols % v.rows, b = first / v.cols / v.rows;
    const char* const from = static_cast<const char*>(v.data) +
                             kBytes * (b * v.batch_stride + i * v.row_stride + j * v.col_stride);
    // Whole rows are read column by column, because neighbours in a column often share a line.
    const int64_t rows = j == 0 ? std::min(v.rows - i, count / v.cols) : 0;
    const int64_t cols = rows > 0 ? v.cols : std::min(v.cols - j, count);
    const int64_t height = std::max<int64_t>(1, rows);
    if (v.col_stride == 1) {
      for (int64_t r = 0; r < height; ++r)
        std::memcpy(to + r * cols * kBytes, from + r * v.row_stride * kBytes,
                    static_cast<std::size_t>(cols * kBytes));
    } else {
      for (int64_t c = 0; c < cols; ++c)
        for (int64_t r = 0; r < height; ++r)
          std::memcpy(to + (r * cols + c) * kBytes,
                      from + (r * v.row_stride + c * v.col_stride) * kBytes, kSize);
    }
    to += height * cols * kBytes;
    first += height * cols;
    count -= height * cols;
  }
}

void gather(const ConstHostView& view, uint64_t at, uint64_t bytes, char* to) {
  switch (size_of(view.dtype)) {
    case 1: return gather<1>(view, at, bytes, to);
    case 2: return gather<2>(view, at, bytes, to);
    case 4: return gather<4>(view, at, bytes, to);
    case 8: return gather<8>(view, at, bytes, to);
    default: return gather<16>(view, at, bytes, to);
  }
}

}  // namespace

Counted counted(Dtype dtype, bool moves_bits) {
  if (moves_bits) return Counted::bits;
  return dtype == Dtype::f32 ? Counted::f32 : dtype == Dtype::f64 ? Counted::f64 : Counted::bits;
}

Digest::Digest(const ConstHostView& view, Counted as)
    : view_(view),
      as_(as),
      dense_(detail::is_dense(view)),
      bytes_(static_cast<uint64_t>(view.rows) * static_cast<uint64_t>(view.cols) *
             static_cast<uint64_t>(view.batch) * size_of(view.dtype)),
      hashes_(blocks()),
      taken_(new std::atomic<bool>[blocks()] {}) {}

std::size_t Digest::size_of_block(uint64_t block) const {
  return static_cast<std::size_t>(std::min<uint64_t>(kBlock, bytes_ - block * kBlock));
}

void Digest::hash(uint64_t block, const void* data) noexcept {
  if (!taken_[block].exchange(true, std::memory_order_relaxed))
    hashes_[block] = hash_block(data, size_of_block(block), as_);
}

void Digest::see(const void* first, const void* last) noexcept {
  const auto begin = reinterpret_cast<uintptr_t>(view_.data);
  const auto from = reinterpret_cast<uintptr_t>(first), to = reinterpret_cast<uintptr_t>(last);
  if (!dense_ || to <= begin || from >= begin + bytes_) return;
  const uint64_t end = std::min<uint64_t>(to - begin, bytes_);
  uint64_t block = from > begin ? (from - begin + kBlock - 1) / kBlock : 0;
  for (; block * kBlock < end; ++block)
    hash(block, static_cast<const char*>(view_.data) + block * kBlock);
}

/// source(block, buffer) gives the block's bytes; `buffer` is its thread's.
template <class Source>
void Digest::hash_blocks(uint64_t first, uint64_t last, const Source& source) {
  const uint64_t cores = std::max(1u, std::thread::hardware_concurrency());
  uint64_t left = 0;
  for (uint64_t block = first; block < last; ++block) left += taken_[block] ? 0 : kBlock;
  if (left == 0) return;
  std::atomic<uint64_t> next{first};
  const auto threads =
      std::clamp<uint64_t>(left / kBytesPerThread, 1, std::min(cores, kMostThreads));
  on_threads(static_cast<int>(threads), [&](int) {
    std::string buffer;
    for (uint64_t run; (run = next.fetch_add(kRun)) < last;)
      for (uint64_t block = run; block < std::min(run + kRun, last); ++block)
        if (!taken_[block]) hash(block, source(block, buffer));
  });
}

void Digest::take(uint64_t position, const char* data, uint64_t bytes) {
  hash_blocks(position / kBlock, (position + bytes + kBlock - 1) / kBlock,
              [&](uint64_t block, std::string&) { return data + (block * kBlock - position); });
}

std::string Digest::text() {
  hash_blocks(0, blocks(), [&](uint64_t block, std::string& buffer) {
    if (dense_) return static_cast<const char*>(view_.data) + block * kBlock;
    buffer.resize(kBlock);
    gather(view_, block * kBlock, size_of_block(block), buffer.data());
    return static_cast<const char*>(buffer.data());
  });
  const Hash all = hash_bytes(hashes_.data(), hashes_.size() * sizeof(Hash), bytes_);
  std::string text;
  for (const unsigned char byte : all)
    for (const int digit : {byte >> 4, byte & 15}) text += "0123456789abcdef"[digit];
  return text;
}

std::string_view Digest::sequence(std::string& copy) const {
  if (dense_) return {static_cast<const char*>(view_.data), bytes_};
  copy.resize(bytes_);
  gather(view_, 0, bytes_, copy.data());
  return copy;
}

}  // namespace detail

std::string digest(const ConstHostView& view) {
  return detail::entry([&] {
    const uint32_t element = detail::element_of(view.dtype, detail::kView);
    const uint64_t bytes = detail::check_shape(detail::shape_of(view), element, detail::kView);
    using Count = detail::Fitting<int64_t>;
    if (!(Count(view.rows) * view.cols * view.batch * int64_t{element}).fits())
      detail::refuse(
          "digest: view: its elements, repeated ones too, are more than 2^63 - 1 bytes.");
    if (bytes != 0 && !view.data) detail::refuse("digest: view: its host memory is null.");
    return detail::Digest(view, detail::counted(view.dtype, false)).text();
  });
}

}  // namespace trine
