// A device's roofs and transfer rates, measured on first use within about 50 ms and kept. First
// runs of kernels, which may have to be built, are neither counted nor timed.
#include <trine/place.hpp>

#include <chrono>
#include <map>

#include "state.hpp"

namespace trine {
namespace detail {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBudget = 0.045;  ///< seconds; what is left out is derived from what was measured

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Measures one device. Each figure is the best of a few back-to-back batches after a first run
/// that doesn't count.
class Meter {
 public:
  explicit Meter(const Device& device) : device_(device), queue_(device) {
    Access::state(queue_)->is_quiet = true;
  }

  Roofs measure() {
    if (!in_place_) measure_transfers();
    measure_memory();
    measure_gemm(Dtype::f32, roofs_.fma_f32);
    if (device_.facts().capabilities & TRINE_CAN_F64) measure_gemm(Dtype::f64, roofs_.fma_f64);
    queue_.wait();  // nothing of ours disturbs what comes next
    derive();
    return roofs_;
  }

 private:
  bool time_left() const { return spent_ < kBudget; }

  /// Seconds that `count` runs of `enqueue()` take.
  template <class Enqueue>
  double batch(int count, Enqueue& enqueue) {
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < count; ++i) enqueue();
    queue_.wait();
    const double seconds = since(start);
    spent_ += seconds;
    return seconds;
  }

  /// Seconds of one `enqueue()`, or 0 when there was no time left or it failed (no memory, say).
  template <class Enqueue>
  double seconds_of(Enqueue&& enqueue) {
    if (!time_left()) return 0;
    try {
      enqueue();
      queue_.wait();
      double best = batch(1, enqueue);
      for (int count = 2; count <= 64 && best * count < 2e-3 && time_left(); count *= 2) {
        best = std::min(best, batch(count, enqueue) / count);
      }
      return best;
    } catch (const Error&) { return 0; }
  }
  template <class Enqueue>
  double rate(double work, Enqueue&& enqueue) {
    const double seconds = seconds_of(enqueue);
    return seconds > 0 ? work / seconds : 0;
  }

  void measure_transfers() {
    const int64_t bytes = int64_t{4} << 20;
    std::vector<unsigned char> pageable(static_cast<std::size_t>(bytes), 1);
    try {
      const View view = vector(Buffer(device_, static_cast<uint64_t>(bytes)), Dtype::b8, bytes);
      const HostView host = host_vector(pageable.data(), Dtype::b8, bytes);
      roofs_.to_device = rate(double(bytes), [&] { copy(queue_, host, view); });
      roofs_.to_host = rate(double(bytes), [&] { copy(queue_, view, host); });
      const Buffer pinned(device_, static_cast<uint64_t>(bytes), Memory::pinned);
      const HostView fast = host_vector(pinned.host(), Dtype::b8, bytes);
      roofs_.to_device_pinned = rate(double(bytes), [&] { copy(queue_, fast, view); });
      roofs_.to_host_pinned = rate(double(bytes), [&] { copy(queue_, view, fast); });
    } catch (const Error&) {
      // No such memory on this device: derive() fills in.
    }
  }

  void measure_memory() {
    // A size beyond any cache would take a CPU long; a GPU needs it to reach its rate.
    const int64_t count = (device_.facts().kind == DeviceKind::gpu ? int64_t{64} : int64_t{16})
                          << 18;
    try {
      const uint64_t bytes = static_cast<uint64_t>(count) * 4;
      const View from = vector(Buffer(device_, bytes), Dtype::f32, count);
      const View to = vector(Buffer(device_, bytes), Dtype::f32, count);
      const View result = vector(Buffer(device_, 8), Dtype::f32, 1);
      fill(queue_, from, 1.0f);
      roofs_.copy = rate(2.0 * double(bytes), [&] { copy(queue_, from, to); });
      roofs_.read =
          rate(double(bytes), [&] { run(queue_, Reduce{.input = from, .output = result}); });
      View few = from;
      few.rows = 16;
      roofs_.launch = seconds_of([&] {
        run(queue_, Reduce{.input = few, .output = result});
        queue_.wait();
      });
    } catch (const Error&) {}
  }

  /// Grows the matrices until one product takes long enough to be seen.
  void measure_gemm(Dtype dtype, double& flops) {
    for (int64_t n = 256; n <= 2048 && time_left(); n *= 2) {
      try {
        const uint64_t bytes = static_cast<uint64_t>(n * n) * size_of(dtype);
        const View a = row_major(Buffer(device_, bytes), dtype, n, n);
        const View b = row_major(Buffer(device_, bytes), dtype, n, n);
        const View c = row_major(Buffer(device_, bytes), dtype, n, n);
        const uint64_t zero = 0;
        fill(queue_, a, &zero);
        fill(queue_, b, &zero);
        const double work = 2.0 * double(n) * double(n) * double(n);
        const double seconds = seconds_of([&] { run(queue_, Gemm{.a = a, .b = b, .c = c}); });
        if (seconds > 0) flops = std::max(flops, work / seconds);
        if (seconds == 0 || seconds > 5e-4) return;
      } catch (const Error&) { return; }
    }
  }

  /// Derives figures that couldn't be measured from their neighbours, so that no prediction divides
  /// by zero.
  void derive() {
    const auto either = [](double value, double otherwise) {
      return value > 0 ? value : otherwise;
    };
    const Facts& facts = device_.facts();
    roofs_.copy = either(roofs_.copy, either(facts.peak_bandwidth, 1e10));
    roofs_.read = either(roofs_.read, roofs_.copy);
    roofs_.to_device = either(roofs_.to_device, in_place_ ? roofs_.copy / 2 : 5e9);
    roofs_.to_host = either(roofs_.to_host, roofs_.to_device);
    roofs_.to_device_pinned = either(roofs_.to_device_pinned, roofs_.to_device);
    roofs_.to_host_pinned = either(roofs_.to_host_pinned, roofs_.to_host);
    roofs_.launch = either(roofs_.launch, 1e-5);
    roofs_.fma_f32 = either(roofs_.fma_f32, either(facts.peak_f32 / 2, 1e10));
    if (facts.capabilities & TRINE_CAN_F64) {
      roofs_.fma_f64 = either(roofs_.fma_f64, either(facts.peak_f64 / 2, roofs_.fma_f32 / 2));
    }
  }

  double spent_ = 0;  ///< seconds of the budget
  Device device_;
  Queue queue_;
  const bool in_place_ = Access::use(device_).in_place;  ///< nothing is transferred
  Roofs roofs_;
};

/// The roofs of each device id, kept for the process: a device opened again isn't measured again.
struct Known {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const Roofs>> by_id;
};

}  // namespace
}  // namespace detail

const Roofs& roofs(const Device& device) {
  return detail::entry([&]() -> const Roofs& {
    auto& known = detail::singleton<detail::Known>();
    const std::string& id = detail::Access::use(device).id;
    // Measuring one at a time: two devices would disturb each other.
    const std::lock_guard lock(known.mutex);
    std::unique_ptr<const Roofs>& entry = known.by_id[id];
    if (!entry) entry = std::make_unique<const Roofs>(detail::Meter(device).measure());
    return *entry;
  });
}

}  // namespace trine
