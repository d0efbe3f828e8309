#include "fill.hpp"

#include <trine/buffer.hpp>

#include "core/src/operations/check.hpp"
#include "core/src/runtime/pieces.hpp"

namespace trine {
namespace detail {

void fill_elements(QueueState& queue, const trine_view& view, const void* element, uint32_t bytes,
                   const char* what) {
  const trine_backend& api = queue.device().api;
  const Pieces pieces = take_apart(view, view, bytes);
  const bool dense = pieces.whole && pieces.height * pieces.outer == 1;
  if (!dense && api.fill_view)
    return queue.expect(api.fill_view(queue.line->queue, &view, element, bytes), what);
  // An old backend: a run of elements at a time.
  const auto run = [&](uint64_t offset, uint64_t width) {
    queue.expect(
        api.fill(queue.line->queue, view.memory, view.offset + offset, width, element, bytes),
        what);
  };
  if (!pieces.whole) {
    for (int64_t b = 0; b < view.batch; ++b)
      for (int64_t i = 0; i < view.rows; ++i)
        for (int64_t j = 0; j < view.cols; ++j)
          run(bytes * static_cast<uint64_t>(b * view.batch_stride + i * view.row_stride +
                                            j * view.col_stride),
              bytes);
    return;
  }
  for (uint64_t i = 0; i < pieces.outer; ++i)
    for (uint64_t row = 0; row < pieces.height; ++row)
      run(i * pieces.step.target + row * pieces.pitch.target, pieces.width);
}

}  // namespace detail

using namespace detail;

void fill(Queue& handle, const View& target, const void* element) {
  static constexpr Role role{"fill", "target", true};
  entry([&] {
    QueueState& queue = Access::use(handle);
    const uint32_t bytes = element_of(target.dtype, role);
    if (!element) refuse("fill: there is no element to write: null.");
    trine_view to;
    check_view(target, bytes, bytes, role, &queue.device(), Mode::run, to);
    if (is_empty(to)) return;
    Access::use(target.buffer).used_on(queue.line);
    const std::lock_guard lock(queue.line->mutex);
    queue.log({.what = "fill"});
    fill_elements(queue, to, element, bytes, "filling");
  });
}

}  // namespace trine
