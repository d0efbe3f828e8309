// axpby and scalar: one elementwise command of the contract each.
#include "commands.hpp"

#include <algorithm>

#include "core/src/operations/check.hpp"

namespace trine {
namespace detail {
namespace {

/// A dimension of the three views.
struct Dimension {
  int64_t extent, u, v, out;
};

/// Sorts the dimensions by the output's strides, the narrowest as columns, and joins neighbours
/// that lie without gaps in all three views.
void fold(trine_elementwise& call) {
  trine_view &u = call.u, &v = call.v, &out = call.out;
  Dimension all[] = {{out.cols, u.col_stride, v.col_stride, out.col_stride},
                     {out.rows, u.row_stride, v.row_stride, out.row_stride},
                     {out.batch, u.batch_stride, v.batch_stride, out.batch_stride}};
  std::sort(all, all + 3, [](const Dimension& a, const Dimension& b) {
    return a.extent > 1 && (b.extent <= 1 || a.out < b.out);
  });
  const auto continues = [](const Dimension& inner, const Dimension& outer) {
    return outer.u == inner.extent * inner.u && outer.v == inner.extent * inner.v &&
           outer.out == inner.extent * inner.out;
  };
  for (int outer = 1, inner = 0; outer < 3; ++outer) {
    if (all[outer].extent > 1 && !continues(all[inner], all[outer])) {
      inner = outer;
      continue;
    }
    all[inner].extent *= all[outer].extent;
    all[outer].extent = 1;
  }
  const auto set = [&](trine_view& view, int64_t Dimension::*stride) {
    view.cols = all[0].extent, view.rows = all[1].extent, view.batch = all[2].extent;
    view.col_stride = all[0].*stride, view.row_stride = all[1].*stride;
    view.batch_stride = all[2].*stride;
  };
  set(u, &Dimension::u), set(v, &Dimension::v), set(out, &Dimension::out);
}

}  // namespace

void use(QueueState& queue, const View& view) {
  if (BufferState* buffer = Access::state(view.buffer).get()) buffer->used_on(queue.timeline);
}

void enqueue(QueueState& queue, trine_elementwise& command, const char* what) {
  const DeviceState& device = queue.device();
  if (!device.api.elementwise)
    fail(Status::unsupported, device.id, ": ", what, ": this backend has no elementwise commands.");
  fold(command);
  queue.expect(device.api.elementwise(queue.timeline->queue, &command), what);
}

void enqueue_axpby(Queue& handle, const Scalar& alpha, const View& x, const Scalar& beta,
                   const View& y) {
  static constexpr Role kAlpha{"axpby", "alpha", false}, kBeta{"axpby", "beta", false},
      kX{"axpby", "x", false}, kY{"axpby", "y", true};
  entry([&] {
    QueueState& queue = Access::use(handle);
    const DeviceState* device = &queue.device();
    if (!one_of(x.dtype, {Dtype::f32, Dtype::f64, Dtype::i32}) || x.dtype != y.dtype) {
      refuse("axpby: x and y have one dtype: f32, f64 or i32; here they are ", name(x.dtype),
             " and ", name(y.dtype), ".");
    }
    if (x.rows != y.rows || x.cols != y.cols || x.batch != y.batch) {
      refuse("axpby: x and y have one shape; here they are ", x.rows, " x ", x.cols, ", batch ",
             x.batch, " and ", y.rows, " x ", y.cols, ", batch ", y.batch, ".");
    }
    const Number p(alpha, x.dtype, kAlpha, device, Mode::run);
    const Number q(beta, x.dtype, kBeta, device, Mode::run);
    const uint32_t element = size_of(x.dtype);
    trine_elementwise call{sizeof call, TRINE_AXPBY, static_cast<uint32_t>(x.dtype),
                           0,           p.number,    q.number,
                           {},          {},          {}};
    const Placed in = check_view(x, element, element, kX, device, Mode::run, call.u);
    const Placed out = check_view(y, element, element, kY, device, Mode::run, call.out);
    if (!is_same(x, y)) check_apart(y, out, kY, x, in, kX);
    check_apart(y, out, kY, alpha.element(), p.placed, kAlpha);
    check_apart(y, out, kY, beta.element(), q.placed, kBeta);
    if (is_empty(call.out)) return;
    call.v = call.out;
    use(queue, alpha.element()), use(queue, beta.element());
    use(queue, x), use(queue, y);
    const std::lock_guard lock(queue.timeline->mutex);
    queue.log({.what = "axpby", .dtype = name(x.dtype).data()});
    enqueue(queue, call, "axpby");
  });
}

void enqueue_scalar(Queue& handle, Arithmetic function, const Scalar& x, const Scalar& y,
                    const View& result) {
  static constexpr Role kX{"scalar", "x", false}, kY{"scalar", "y", false},
      kResult{"scalar", "result", true};
  entry([&] {
    QueueState& queue = Access::use(handle);
    const DeviceState* device = &queue.device();
    const auto which = static_cast<uint32_t>(function);
    if (which < TRINE_ADD || which > TRINE_SQRT)
      refuse("scalar: there is no function ", which, ".");
    if (!one_of(result.dtype, {Dtype::f32, Dtype::f64}))
      refuse("scalar: result: ", name(result.dtype), "; f32 and f64 can be computed.");
    const Number p(x, result.dtype, kX, device, Mode::run);
    const Number q(y, result.dtype, kY, device, Mode::run);
    const Number out(result, result.dtype, kResult, device, Mode::run);
    trine_elementwise call{sizeof call, which,    static_cast<uint32_t>(result.dtype),
                           0,           p.number, q.number,
                           out.view,    out.view, out.view};
    use(queue, x.element()), use(queue, y.element()), use(queue, result);
    const std::lock_guard lock(queue.timeline->mutex);
    queue.log({.what = "scalar", .dtype = name(result.dtype).data()});
    enqueue(queue, call, "scalar");
  });
}

}  // namespace detail
}  // namespace trine
