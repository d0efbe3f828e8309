// <trine/c/host.h>
#include "layer.hpp"

using namespace trine;
using namespace trine::detail;

namespace trine::detail {

const trine_step_t* form(Result& result, const HostStep& from) {
  auto* const to = result.structure<trine_step_t>();
  to->kind = uint32_t(from.kind);
  to->chunk = from.chunk;
  to->begin = from.begin;
  to->end = from.end;
  return to;
}

const trine_trace_t* form(Result& result, const HostTrace& from) {
  auto* const to = result.structure<trine_trace_t>();
  to->step_count = uint32_t(from.steps.size());
  to->steps = form(result, from.steps);
  to->allocation = from.allocation;
  return to;
}

KeptOptions::KeptOptions(const trine_options_t* options) {
  if (options) given = read(options, "options");
  const trine_options_t& o = given;
  if (o.event) event = std::make_unique<trine_event_t>();
  host = {.device = o.device ? o.device : "auto",
          .rung = text_of(o.rung),
          .numerics = value_or(o.numerics, Numerics::reproducible),
          .continues = o.continues != 0,
          .pinned = o.pinned != 0,
          .overlap = o.no_overlap == 0,
          .chunks = o.chunks,
          .in_place = o.not_in_place == 0,
          .choice = o.choice ? &choice : nullptr,
          .placement = o.placement ? &placement : nullptr,
          .trace = o.trace ? &trace : nullptr,
          .event = event ? &event->value : nullptr,
          .receipt = o.receipt ? &receipt : nullptr};
}

/// Waits, and ignores a failure.
static void finish(const Event& event) {
  try {
    event.wait();
  } catch (const Error&) {}
}

void KeptOptions::deliver() {
  try {
    if (given.choice) *given.choice = nullptr;  // where nothing had to be computed
    if (choice.device) offer(given.choice, choice);
    offer(given.placement, placement);
    offer(given.trace, trace);
    if (given.receipt) give(given.receipt, receipt.json());
  } catch (...) {  // a call that fails leaves nothing in flight
    if (event) finish(event->value);
    throw;
  }
  if (event) *given.event = event.release();
}

}  // namespace trine::detail

namespace trine::c_api {

Options::Options(const trine_options_t* given)
    : kept_(std::make_unique<detail::KeptOptions>(given)) {}
Options::~Options() = default;
const HostOptions& Options::host() const noexcept { return kept_->host; }
void Options::deliver() { kept_->deliver(); }

}  // namespace trine::c_api

namespace {

trine_status call(const trine_options_t* given, auto&& body) {
  return guard([&] { with_options(given, body); });
}

/// One result of all elements.
trine_status reduce_all(Function function, const trine_host_view_t& values, void* to,
                        const trine_options_t* given) {
  return call(given, [&](const HostOptions& options) {
    const Dtype dtype = result_dtype(function, Map::identity, Dtype(values.dtype));
    reduce(function, Map::identity, Axis::all, view_of(values), host_vector(to, dtype, 1), options);
  });
}

}  // namespace

trine_status trine_host_sum(trine_host_view_t values, void* result, const trine_options_t* given) {
  return reduce_all(Function::sum, values, result, given);
}
trine_status trine_host_prod(trine_host_view_t values, void* result, const trine_options_t* given) {
  return reduce_all(Function::prod, values, result, given);
}
trine_status trine_host_min(trine_host_view_t values, void* result, const trine_options_t* given) {
  return reduce_all(Function::min, values, result, given);
}
trine_status trine_host_max(trine_host_view_t values, void* result, const trine_options_t* given) {
  return reduce_all(Function::max, values, result, given);
}
trine_status trine_host_argmin(trine_host_view_t values, int64_t* result,
                               const trine_options_t* given) {
  return reduce_all(Function::argmin, values, result, given);
}
trine_status trine_host_argmax(trine_host_view_t values, int64_t* result,
                               const trine_options_t* given) {
  return reduce_all(Function::argmax, values, result, given);
}

trine_status trine_host_reduce(uint32_t function, uint32_t map, uint32_t axis,
                               trine_host_view_t input, trine_host_view_t output,
                               const trine_options_t* given) {
  return call(given, [&](const HostOptions& options) {
    reduce(value_or(function, Function::sum), value_or(map, Map::identity),
           value_or(axis, Axis::all), view_of(input), view_of(output), options);
  });
}
trine_status trine_host_dot(trine_host_view_t x, trine_host_view_t y, trine_host_view_t output,
                            uint32_t axis, const trine_options_t* given) {
  return call(given, [&](const HostOptions& options) {
    dot(view_of(x), view_of(y), view_of(output), value_or(axis, Axis::all), options);
  });
}
trine_status trine_host_transpose(trine_host_view_t input, trine_host_view_t output,
                                  const trine_options_t* given) {
  return call(given, [&](const HostOptions& options) {
    transpose(view_of(input), view_of(output), options);
  });
}
trine_status trine_host_gemm(double alpha, trine_host_view_t a, trine_host_view_t b, double beta,
                             trine_host_view_t c, const trine_options_t* given) {
  return call(given, [&](const HostOptions& options) {
    gemm(alpha, view_of(a), view_of(b), beta, view_of(c), options);
  });
}
trine_status trine_host_digest(trine_host_view_t view, const char** digest) {
  return guard([&] { give(digest, trine::digest(view_of(view))); }, digest);
}
trine_status trine_release_idle(void) { return guard(release_idle); }
