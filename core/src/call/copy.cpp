// Copies and fills of views are checked, divided into rectangles, and enqueued. Copies between
// devices continue in staging.cpp.
#include "commands.hpp"

#include <trine/buffer.hpp>

#include "core/src/operations/check.hpp"
#include "core/src/runtime/rectangles.hpp"

namespace trine {
namespace detail {
namespace {

constexpr Role kSource{"copy", "source", false}, kTarget{"copy", "target", true};

template <class From, class To>
uint32_t check_shapes(const From& source, const To& target) {
  const uint32_t element = element_of(source.dtype, kSource);
  if (element_of(target.dtype, kTarget) != element) {
    refuse("copy: elements of ", name(source.dtype), " and ", name(target.dtype),
           " differ in size.");
  }
  if (source.rows != target.rows || source.cols != target.cols || source.batch != target.batch) {
    refuse("copy: the source is ", source.rows, " x ", source.cols, ", batch ", source.batch,
           ", the target ", target.rows, " x ", target.cols, ", batch ", target.batch, ".");
  }
  return element;
}

/// Checks a host view and converts it: memory is the host pointer.
trine_view check_host(const ConstHostView& view, uint32_t element, const Role& role) {
  trine_view out = shape_of(view);
  out.memory = const_cast<void*>(view.data);
  const uint64_t bytes = check_shape(out, element, role);
  make_canonical(out);
  if (bytes != 0 && !view.data) refuse("copy: ", role.name, ": its host memory is null.");
  if (role.is_output && bytes != 0 && !elements_apart(out, element)) {
    refuse("copy: ", role.name, ": its elements may not overlap or repeat.");
  }
  return out;
}

Rectangles rectangles_of(const trine_view& source, const trine_view& target, uint32_t element) {
  if (is_empty(target)) return {};
  const Rectangles rectangles = take_apart(source, target, element);
  if (!rectangles.whole) {
    refuse(
        "copy: source and target need a unit stride in the same direction; a copy that turns rows "
        "into columns is a Transpose.");
  }
  return rectangles;
}

/// Enqueues all rectangles of a copy within one device or between it and the host. The queue is
/// locked.
void enqueue_rectangles(QueueState& queue, trine_direction direction, const trine_view& source,
                        const trine_view& target, const Rectangles& rectangles) {
  for_each_copy(rectangles, direction, source, target, [&](const trine_copy& copy) {
    queue.expect(queue.device().api.copy(queue.timeline->queue, &copy), "copying");
  });
}

void enqueue(QueueState& queue, trine_direction direction, const trine_view& source,
             const trine_view& target, const Rectangles& rectangles) {
  const std::lock_guard lock(queue.timeline->mutex);
  queue.log({.what = "copy"});
  enqueue_rectangles(queue, direction, source, target, rectangles);
}

/// Between the host and the queue's device; `direction` says which of the two is the source.
void copy_host(const Queue& handle, trine_direction direction, const ConstHostView& host,
               const View& view) {
  entry([&] {
    QueueState& queue = Access::use(handle);
    const bool in = direction == TRINE_HOST_TO_DEVICE;
    const uint32_t element = in ? check_shapes(host, view) : check_shapes(view, host);
    trine_view there;
    check_view(view, element, 1, in ? kTarget : kSource, &queue.device(), Mode::run, there);
    const trine_view here = check_host(host, element, in ? kSource : kTarget);
    const trine_view &from = in ? here : there, &to = in ? there : here;
    const Rectangles rectangles = rectangles_of(from, to, element);
    if (rectangles.empty()) return;
    Access::use(view.buffer).used_on(queue.timeline);
    enqueue(queue, direction, from, to, rectangles);
  });
}

/// The device of a view's buffer, or the queue's if an empty view has no buffer.
DeviceState& device_of(const View& view, QueueState& queue) {
  const BufferState* buffer = Access::state(view.buffer).get();
  return buffer ? *buffer->device : queue.device();
}

}  // namespace

void enqueue_copy(QueueState& queue, const trine_view& source, const trine_view& target,
                  uint32_t element) {
  enqueue_rectangles(queue, TRINE_DEVICE_TO_DEVICE, source, target,
                     take_apart(source, target, element));
}

}  // namespace detail

using namespace detail;

void copy(Queue& queue, const ConstHostView& source, const View& target) {
  copy_host(queue, TRINE_HOST_TO_DEVICE, source, target);
}

void copy(Queue& queue, const View& source, const HostView& target) {
  copy_host(queue, TRINE_DEVICE_TO_HOST, target, source);
}

void copy(Queue& handle, const View& source, const View& target) {
  entry([&] {
    QueueState& queue = Access::use(handle);
    const uint32_t element = check_shapes(source, target);
    const DeviceState &near = device_of(source, queue), &far = device_of(target, queue);
    if (&near != &queue.device() && &far != &queue.device()) {
      refuse("copy: from ", near.id, " to ", far.id, " on a queue of ", queue.device().id,
             "; the queue must belong to either end.");
    }
    trine_view from, to;
    const Placed read = check_view(source, element, 1, kSource, &near, Mode::run, from);
    const Placed written = check_view(target, element, 1, kTarget, &far, Mode::run, to);
    check_apart(target, written, kTarget, source, read, kSource);
    const Rectangles rectangles = rectangles_of(from, to, element);
    if (rectangles.empty()) return;
    if (&near == &far) {
      Access::use(source.buffer).used_on(queue.timeline);
      Access::use(target.buffer).used_on(queue.timeline);
      return enqueue(queue, TRINE_DEVICE_TO_DEVICE, from, to, rectangles);
    }
    near.check();
    far.check();
    copy_between(queue, Access::use(source.buffer), from, Access::use(target.buffer), to,
                 rectangles);
  });
}

void fill(Queue& handle, const View& target, const void* element) {
  static constexpr Role role{"fill", "target", true};
  entry([&] {
    QueueState& queue = Access::use(handle);
    const uint32_t bytes = element_of(target.dtype, role);
    if (!element) refuse("fill: there is no element to write: null.");
    trine_view to;
    check_view(target, bytes, bytes, role, &queue.device(), Mode::run, to);
    if (is_empty(to)) return;
    Access::use(target.buffer).used_on(queue.timeline);
    const std::lock_guard lock(queue.timeline->mutex);
    queue.log({.what = "fill"});
    queue.fill(to, element, bytes, "filling");
  });
}

}  // namespace trine
