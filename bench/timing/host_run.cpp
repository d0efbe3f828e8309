#include "host_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <future>

#include "bench/cases/operations.hpp"
#include "bench/stats/measure.hpp"

namespace trine::bench {
namespace {

/// The operation on some of its rows: those of the first operand.
std::vector<HostView> rows_of(std::vector<HostView> views, Operation operation, int64_t begin,
                              int64_t count) {
  const auto take = [&](HostView& view, int64_t& extent, int64_t stride) {
    view.data = static_cast<char*>(view.data) + begin * stride * int64_t{size_of(view.dtype)};
    extent = count;
  };
  HostView& output = views.back();
  take(views[0], views[0].rows, views[0].row_stride);
  if (describe(operation).turns)
    take(output, output.cols, output.col_stride);
  else
    take(output, output.rows, output.row_stride);
  return views;
}

}  // namespace

double busy(const std::vector<Span>& spans, Lane lane) {
  double seconds = 0;
  for (const Span& span : spans)
    if (span.lane == lane) seconds += span.end - span.begin;
  return seconds;
}

bool uses(const std::vector<Span>& spans, Lane lane) {
  return std::ranges::any_of(spans, [lane](const Span& span) { return span.lane == lane; });
}

HostRun::HostRun(const Device& device, Problem problem, const Inputs& inputs, bool pinned)
    : id_(device.id()), problem_(std::move(problem)), bytes_(operand_bytes(problem_)) {
  options.device = id_;
  options.numerics = problem_.numerics;
  options.pinned = pinned;
  for (size_t i = 0; i < bytes_.size(); ++i) {
    const bool is_input = i < inputs.size();
    const uint64_t bytes = std::max<uint64_t>(is_input ? inputs[i].size() : bytes_[i], 1);
    data_.push_back(pinned ? pinned_.emplace_back(device, bytes, Memory::pinned).host()
                           : pageable_.emplace_back(bytes).data());
    if (is_input && !inputs[i].empty()) std::memcpy(data_[i], inputs[i].data(), inputs[i].size());
  }
  views_ = host_views(problem_, data_);
  poison();
}

void HostRun::poison() { std::memset(data_.back(), 0xa5, bytes_.back()); }

Pass HostRun::once(uint64_t shift) const {
  std::vector<HostView> views = views_;
  for (size_t i = 0; i + 1 < views.size(); ++i)
    views[i].data = static_cast<char*>(views[i].data) + shift;
  const int64_t rows = problem_.size.rows - cpu_rows;
  const auto part = [&](int64_t begin, int64_t count) {
    return cpu_rows == 0 ? views : rows_of(views, problem_.operation, begin, count);
  };
  HostTrace trace;
  HostOptions traced = options;
  traced.trace = &trace;
  std::future<double> cpu;
  const auto start = Clock::now();
  if (cpu_rows != 0)
    cpu = std::async(std::launch::async, [&] {
      call_on_host(problem_, part(rows, cpu_rows), {.device = "cpu", .numerics = options.numerics});
      return seconds_since(start);
    });
  call_on_host(problem_, part(0, rows), traced);
  const double device_end = seconds_since(start) - trace.reading;
  const double cpu_end = cpu_rows != 0 ? cpu.get() : 0;  // also after the trace was read
  Pass pass{trace.allocation, std::max(device_end, cpu_end) - trace.allocation, {}};
  for (const HostStep& step : trace.steps)
    pass.spans.push_back({Lane(step.kind), step.chunk, step.begin, step.end});
  if (cpu_rows != 0)
    pass.spans.push_back({Lane::cpu, 0, 0, std::max(0.0, cpu_end - trace.allocation)});
  return pass;
}

Pass measure_passes(HostRun& run, Expectation& expectation, double budget, Result& result) {
  int turn = 0;
  std::vector<Pass> passes;
  result.failure.clear();
  const auto once = [&] {
    const int w = turn++ % expectation.windows();
    run.poison();
    passes.push_back(run.once(uint64_t(w) * Expectation::kShift));
    const std::string wrong = expectation.check(w, run.output(), result.numerics);
    if (w == 0) result.digest = expectation.digest(run.output());
    if (result.failure.empty()) result.failure = wrong;
    return passes.back().total();
  };
  const double first = once();
  passes.clear();  // it may have built kernels and made queues
  const Samples samples = measure(budget, kLeastSamples, once);
  // The calls before the samples found their number.
  passes.erase(passes.begin(),
               passes.end() - std::ptrdiff_t(std::min(passes.size(), samples.seconds.size())));
  const auto middle = passes.begin() + std::ptrdiff_t(passes.size() / 2);
  std::ranges::nth_element(passes, middle, {}, &Pass::total);
  const auto phase = [&](Lane lane) {
    return uses(middle->spans, lane) ? std::optional(busy(middle->spans, lane)) : std::nullopt;
  };
  set_figure(result, samples, busy(middle->spans, Lane::kernel));
  result.method = "single";
  result.h2d = phase(Lane::copy_in);
  result.d2h = phase(Lane::copy_out);
  result.alloc = middle->alloc;
  result.total = middle->total();
  if (!result.first) result.first = first;
  result.verified = result.failure.empty();
  return *middle;
}

}  // namespace trine::bench
