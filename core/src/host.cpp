// One-line calls on host data: pick a device, bring the operands there (or use them in place where
// the device shares the host's memory), run, bring the results back.
#include <trine/host.hpp>

#include <algorithm>
#include <map>

#include "check.hpp"
#include "placement.hpp"
#include "transfer.hpp"

namespace trine {
namespace detail {
namespace {

/// Idle lanes by device, kept with their queues and pinned memory for the next call.
struct Lanes {
  std::mutex mutex;
  std::map<const DeviceState*, std::vector<std::unique_ptr<Lane>>> idle;
  static Lanes& get() {
    static auto* const lanes = new Lanes;  // outlives every thread that may still be calling
    return *lanes;
  }
};

/// A lane for the length of a call. One that failed is dropped, not handed on.
class Lease {
 public:
  explicit Lease(const Device& device) : key_(&Access::use(device)) {
    Lanes& lanes = Lanes::get();
    {
      const std::lock_guard lock(lanes.mutex);
      auto& idle = lanes.idle[key_];
      if (!idle.empty()) {
        lane_ = std::move(idle.back());
        idle.pop_back();
      }
    }
    if (!lane_) lane_ = std::make_unique<Lane>(device);
  }
  ~Lease() {
    if (!lane_) return;
    try {
      lane_->queue.wait();  // a call that failed leaves nothing in flight on the caller's memory
    } catch (...) {}
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  void give_back() {
    Lanes& lanes = Lanes::get();
    const std::lock_guard lock(lanes.mutex);
    lanes.idle[key_].push_back(std::move(lane_));
  }
  Lane& operator*() { return *lane_; }
  Lane* operator->() { return lane_.get(); }

 private:
  const DeviceState* key_;
  std::unique_ptr<Lane> lane_;
};

/// A host view with no memory behind it yet: what checks and placement look at.
View shape_of(const HostView& host) {
  View view;
  view.dtype = host.dtype;
  view.rows = host.rows;
  view.cols = host.cols;
  view.batch = host.batch;
  view.row_stride = host.row_stride;
  view.col_stride = host.col_stride;
  view.batch_stride = host.batch_stride;
  return view;
}

/// One operand on its way: the host's view, and the device's view of it.
class Operand {
 public:
  Operand(const HostView& host, const Role& role)
      : host_(host), role_(role), view_(shape_of(host)) {}

  const View& view() const { return view_; }

  /// Refuses null memory, and memory shared with `output`, before anything moves.
  void check(const Operand* output) const {
    const uint64_t bytes = span();
    if (bytes != 0 && !host_.data)
      refuse(role_.operation, ": ", role_.name, ": its host memory is null.");
    if (!output) return;
    const auto placed = [](const Operand& operand, trine_view& view) {
      const auto first = reinterpret_cast<uint64_t>(operand.host_.data);
      view = {nullptr,
              0,
              operand.host_.rows,
              operand.host_.cols,
              operand.host_.batch,
              operand.host_.row_stride,
              operand.host_.col_stride,
              operand.host_.batch_stride};
      return Placed{view, first, first + operand.span(), size_of(operand.host_.dtype)};
    };
    trine_view mine, other;
    if (overlap(placed(*output, other), placed(*this, mine))) {
      refuse(role_.operation, ": ", output->role_.name, " overlaps ", role_.name,
             "; an output may share no memory with an input.");
    }
  }

  /// Gives the view memory on the device and, where `read`, its contents.
  void bring(Lane& lane, bool in_place, bool read, bool pinned) {
    const uint64_t bytes = span();
    if (bytes == 0) return;
    if (in_place) {
      view_.buffer = Buffer::wrap(lane.queue.device(), host_.data, bytes);
      return;
    }
    lay_out(size_of(host_.dtype), bytes);
    view_.buffer = Buffer(lane.queue.device(), rows_.bytes());
    if (read) upload(lane, rows_, view_.buffer, pinned);
  }

  void fetch(Lane& lane, bool pinned) const {
    if (view_.buffer && rows_.base) download(lane, view_.buffer, rows_, pinned);
  }

 private:
  /// Bytes from the first element to the end of the last.
  uint64_t span() const {
    return check_shape(host_.rows, host_.cols, host_.batch, host_.row_stride, host_.col_stride,
                       host_.batch_stride, size_of(host_.dtype), role_);
  }

  /// Chooses how the operand lies on the device: an input that fills its span well goes as it is, in
  /// one piece; else its rows are packed, narrowest dimension first.
  void lay_out(uint32_t element, uint64_t span) {
    struct Dimension {
      int64_t extent;
      int64_t* stride;  ///< of the device's view; holds the host's until it is packed
    } all[3] = {{view_.cols, &view_.col_stride},
                {view_.rows, &view_.row_stride},
                {view_.batch, &view_.batch_stride}};
    std::sort(std::begin(all), std::end(all),
              [](const Dimension& a, const Dimension& b) { return *a.stride < *b.stride; });
    uint64_t payload = element;
    for (const Dimension& dimension : all) {
      if (dimension.extent > 1 && *dimension.stride > 0)
        payload *= static_cast<uint64_t>(dimension.extent);
    }
    rows_.base = static_cast<char*>(host_.data);
    if (goes_whole(span, payload, role_.is_output)) {
      rows_.pieces = {};
      rows_.pieces.width = span;
      return;
    }
    trine_view source{nullptr, 0, 1, 1, 1, 0, 0, 0};
    int64_t* const extents[] = {&source.cols, &source.rows, &source.batch};
    int64_t* const strides[] = {&source.col_stride, &source.row_stride, &source.batch_stride};
    int count = 0;
    int64_t packed = 1;
    for (const Dimension& dimension : all) {
      if (dimension.extent <= 1 || *dimension.stride == 0) continue;  // repeats on the device, too
      *extents[count] = dimension.extent;
      *strides[count++] = *dimension.stride;
      *dimension.stride = packed;
      packed *= dimension.extent;
    }
    pack(source, element);
  }

  /// Rows in the order of the packed dimensions, the narrowest innermost.
  void pack(const trine_view& source, uint32_t element) {
    const uint64_t size = element;
    Pieces& pieces = rows_.pieces;
    pieces = {};
    if (source.cols == 1 || source.col_stride == 1) {
      pieces.width = size * static_cast<uint64_t>(source.cols);
      pieces.height = static_cast<uint64_t>(source.rows);
      pieces.pitch.source = size * static_cast<uint64_t>(source.row_stride);
      pieces.outer = static_cast<uint64_t>(source.batch);
      pieces.step.source = size * static_cast<uint64_t>(source.batch_stride);
    } else {
      pieces.width = size;
      pieces.height = static_cast<uint64_t>(source.cols);
      pieces.pitch.source = size * static_cast<uint64_t>(source.col_stride);
      pieces.outer = static_cast<uint64_t>(source.rows);
      pieces.step.source = size * static_cast<uint64_t>(source.row_stride);
    }
    pieces.pitch.target = pieces.width;
  }

  HostView host_;
  Role role_;
  View view_;
  HostRows rows_;
};

template <class Struct>
Device device_for(const Struct& planned, const HostOptions& options) {
  if (options.device != "auto") return open(options.device);
  const auto ask = [&](const Device& device) { choose(device, planned, options.rung); };
  Verdict verdict =
      best_device(work_of(planned), options.pinned ? Where::host_pinned : Where::host, 1, ask);
  if (options.placement) *options.placement = std::move(verdict.sentence);
  return std::move(verdict.device);
}

/// Brings the operands, runs `operation()` on their views, fetches the output.
template <class Descriptor, class Make, class... Inputs>
void run_on_host(const HostOptions& options, Make&& operation, Operand& output, bool read_output,
                 Inputs&... inputs) {
  const auto planned = operation();
  Descriptor checked;
  check(planned, nullptr, Mode::plan, checked);
  (inputs.check(&output), ...);
  output.check(nullptr);
  const Device device = device_for(planned, options);
  Lease lane(device);
  const bool in_place = Access::use(device).shares_memory;
  (inputs.bring(*lane, in_place, true, options.pinned), ...);
  output.bring(*lane, in_place, read_output, options.pinned);
  const Choice choice = run(lane->queue, operation(), options.rung);
  if (!in_place) output.fetch(*lane, options.pinned);
  lane->queue.wait();  // an empty output fetches nothing, but inputs may still be on their way
  if (options.choice) *options.choice = choice;
  lane.give_back();
}

}  // namespace
}  // namespace detail

using detail::Operand;

void reduce(Function function, Map map, Axis axis, const HostView& input, const HostView& output,
            const HostOptions& options) {
  detail::entry([&] {
    Operand from(input, {"reduce", "input", false}), to(output, {"reduce", "output", true});
    const auto operation = [&] {
      return Reduce{function, map, axis, from.view(), to.view(), options.numerics};
    };
    detail::run_on_host<trine_reduce>(options, operation, to, false, from);
  });
}

void transpose(const HostView& input, const HostView& output, const HostOptions& options) {
  detail::entry([&] {
    Operand from(input, {"transpose", "input", false}), to(output, {"transpose", "output", true});
    const auto operation = [&] { return Transpose{from.view(), to.view()}; };
    detail::run_on_host<trine_transpose>(options, operation, to, false, from);
  });
}

void gemm(double alpha, const HostView& a, const HostView& b, double beta, const HostView& c,
          const HostOptions& options) {
  detail::entry([&] {
    Operand left(a, {"gemm", "a", false}), right(b, {"gemm", "b", false}),
        result(c, {"gemm", "c", true});
    const auto operation = [&] {
      return Gemm{alpha, beta, left.view(), right.view(), result.view(), options.numerics};
    };
    detail::run_on_host<trine_gemm>(options, operation, result, beta != 0, left, right);
  });
}

}  // namespace trine
