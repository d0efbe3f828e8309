// The public functions that reach a device, by list: what has to hold of each is tested of each.
#pragma once

#include <trine/trine.h>
#include <trine/trine.hpp>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

namespace trine::testing {

struct EntryPoint {
  const char* name;
  /// Calls it on that device, with enough work for threads; whether what comes back is right.
  std::function<bool(const std::string& device)> is_right;
};

/// 0, 1, 2, 0, 1, 2 … of that many: sums, products of matrices and the like are exact.
inline std::vector<double> small_numbers(size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = double(i % 3);
  return values;
}

/// c = 2 a b + 3 c for n x n matrices of ones is 2 n + 3.
inline bool multiplies(const HostOptions& on, int64_t n = 200) {
  const std::vector<double> a(size_t(n * n), 1.0);
  std::vector<double> c(size_t(n * n), 1.0);
  gemm<double>(n, n, n, 2, a.data(), a.data(), 3, c.data(), on);
  return c == std::vector<double>(size_t(n * n), double(2 * n + 3));
}

/// A queue with 3 * 2^16 small numbers, and what a test does with it.
struct OnQueue {
  static constexpr int64_t kCount = 3 << 16;
  explicit OnQueue(const std::string& device)
      : queue(open(device)),
        x(vector(Buffer(queue.device(), 8 * kCount), Dtype::f64, kCount)),
        y(vector(Buffer(queue.device(), 8 * kCount), Dtype::f64, kCount)),
        one(vector(Buffer(queue.device(), 8), Dtype::f64, 1)) {
    const std::vector<double> values = small_numbers(size_t(kCount));
    copy(queue, host_vector(values.data(), Dtype::f64, kCount), x);
    copy(queue, x, y);
    queue.wait();  // the values go
  }
  double first_of(const View& view) {
    std::vector<double> values(size_t(view.rows));
    copy(queue, view, host_vector(values.data(), Dtype::f64, view.rows));
    queue.record().wait();
    queue.wait();
    return values[view.rows > 1 ? 1 : 0];
  }
  Queue queue;
  View x, y, one;
};

inline const std::vector<EntryPoint>& entry_points() {
  static const auto numbers = small_numbers(3 << 18);
  static constexpr double kSum = 3 << 18, kSquares = 5 << 18;
  using On = const std::string&;
  static const std::vector<EntryPoint> all = {
      {"backends", [](On) { return !backends().empty(); }},
      {"devices", [](On) { return !devices().empty(); }},
      {"search_path", [](On) { return !search_path().empty(); }},
      {"open", [](On d) { return open(d).facts().compute_units > 0; }},
      {"Device::rungs", [](On d) { return !open(d).rungs(Operation::gemm).empty(); }},
      {"calibration", [](On d) { return !calibration(open(d)).empty(); }},
      {"roofs", [](On d) { return roofs(open(d)).copy > 0; }},
      {"tuning", [](On d) { return tuning(open(d)).rows.empty(); }},
      {"place",
       [](On) {
         const View x = row_major({}, Dtype::f64, 1000, 1000);
         return bool(place(Gemm{.a = x, .b = x, .c = x}, Where::host).device);
       }},
      {"choose",
       [](On d) {
         const OnQueue on(d);
         return !choose(on.queue.device(), Reduce{.input = on.x, .output = on.one}).rung().empty();
       }},
      {"sum", [](On d) { return sum(numbers, {.device = d}) == kSum; }},
      {"sum of squares", [](On d) { return sum(numbers, Map::square, {.device = d}) == kSquares; }},
      {"dot", [](On d) { return dot(numbers, numbers, {.device = d}) == kSquares; }},
      {"norm", [](On d) { return norm(std::vector<double>(1 << 18, 1.0), {.device = d}) == 512; }},
      {"prod", [](On d) { return prod(numbers, {.device = d}) == 0; }},
      {"min", [](On d) { return min(numbers, {.device = d}) == 0; }},
      {"max", [](On d) { return max(numbers, {.device = d}) == 2; }},
      {"argmin", [](On d) { return argmin(numbers, {.device = d}) == 0; }},
      {"argmax", [](On d) { return argmax(numbers, {.device = d}) == 2; }},
      {"reduce, each row",
       [](On d) {
         std::vector<double> rows(1 << 9);
         reduce(Function::sum, Map::identity, Axis::each_row,
                host_row_major(numbers.data(), Dtype::f64, 1 << 9, 3 << 9),
                host_vector(rows.data(), Dtype::f64, 1 << 9), {.device = d});
         return rows == std::vector<double>(1 << 9, 3 << 9);
       }},
      {"transpose",
       [](On d) {
         std::vector<double> turned(numbers.size());
         transpose(1 << 18, 3, numbers.data(), turned.data(), {.device = d});
         return turned[0] == 0 && turned[1 << 18] == 1 && turned.back() == 2;
       }},
      {"gemm", [](On d) { return multiplies({.device = d}); }},
      {"gemm in chunks", [](On d) { return multiplies({.device = d, .chunks = 4}, 512); }},
      {"gemm of copies", [](On d) { return multiplies({.device = d, .in_place = false}); }},
      {"a call with an event",
       [](On d) {
         double total = 0;
         Event event;
         reduce(Function::sum, Map::identity, Axis::all,
                host_vector(numbers.data(), Dtype::f64, int64_t(numbers.size())),
                host_vector(&total, Dtype::f64, 1), {.device = d, .event = &event});
         event.wait();
         return total == kSum;
       }},
      {"a call with a receipt",
       [](On d) {
         Receipt receipt;
         return multiplies({.device = d, .receipt = &receipt}) && !receipt.json().empty();
       }},
      {"digest",
       [](On) {
         return !digest(host_vector(numbers.data(), Dtype::f64, int64_t(numbers.size()))).empty();
       }},
      {"ExactSum",
       [](On d) {
         ExactSum total, dots;
         total.add(numbers, Map::identity, {.device = d});
         dots.add_dot(numbers, numbers, {.device = d});
         total.merge(dots);
         return total.round<double>() == kSum + kSquares;
       }},
      {"ExactSum on a queue",
       [](On d) {
         OnQueue on(d);
         ExactSum total;
         total.add(on.queue, on.x);
         total.add_dot(on.queue, on.x, on.y);
         return total.round<double>() == double(OnQueue::kCount) * 8 / 3;
       }},
      {"Partial",
       [](On d) {
         Partial largest(Function::argmax, Dtype::f64);
         largest.add(numbers, 0, {.device = d});
         return largest.result<int64_t>() == 2;
       }},
      {"Partial on a queue",
       [](On d) {
         OnQueue on(d);
         Partial product(Function::prod, Dtype::f64);
         product.add(on.queue, on.x, 0);
         return product.result<double>() == 0;
       }},
      {"run",
       [](On d) {
         OnQueue on(d);
         run(on.queue, Reduce{.input = on.x, .output = on.one});
         return on.first_of(on.one) == double(OnQueue::kCount);
       }},
      {"fill, axpby and scalar",
       [](On d) {
         OnQueue on(d);
         const double three = 3;
         fill(on.queue, on.y, &three);
         axpby(on.queue, 2, on.x, 1, on.y);
         scalar(on.queue, Arithmetic::add, 2.0, 3.0, on.one);
         return on.first_of(on.y) == 5 && on.first_of(on.one) == 5;
       }},
      {"release_idle",
       [](On d) {
         release_idle();
         return sum(numbers, {.device = d}) == kSum;
       }},
      {"trine_list_devices",
       [](On) {
         const trine_facts_t* const* list = nullptr;
         size_t count = 0;
         const bool is_right = trine_list_devices(&list, &count) == TRINE_OK && count > 0;
         trine_free(list);
         return is_right;
       }},
      {"trine_device_open",
       [](On d) {
         trine_device_t* device = nullptr;
         trine_queue_t* queue = nullptr;
         const bool is_right = trine_device_open(d.c_str(), &device) == TRINE_OK &&
                               trine_queue_create(device, &queue) == TRINE_OK &&
                               trine_queue_wait(queue) == TRINE_OK;
         trine_queue_release(queue);
         trine_device_close(device);
         return is_right;
       }},
      {"trine_host_sum",
       [](On d) {
         double total = 0;
         trine_options_t options{};
         options.device = d.c_str();
         return trine_host_sum(
                    trine_host_vector(numbers.data(), TRINE_F64, int64_t(numbers.size())), &total,
                    &options) == TRINE_OK &&
                total == kSum;
       }},
      {"trine_host_gemm",
       [](On d) {
         const std::vector<float> a(200 * 200, 1.0f);
         std::vector<float> c(200 * 200, 1.0f);
         trine_options_t options{};
         options.device = d.c_str();
         const trine_host_view_t ab = trine_host_row_major(a.data(), TRINE_F32, 200, 200);
         return trine_host_gemm(2, ab, ab, 3, trine_host_row_major(c.data(), TRINE_F32, 200, 200),
                                &options) == TRINE_OK &&
                c == std::vector<float>(200 * 200, 403.0f);
       }},
      {"trine_exact_sum_add",
       [](On d) {
         trine_exact_sum_t total{};
         trine_options_t options{};
         options.device = d.c_str();
         double value = 0;
         return trine_exact_sum_add(
                    &total, TRINE_IDENTITY,
                    trine_host_vector(numbers.data(), TRINE_F64, int64_t(numbers.size())),
                    &options) == TRINE_OK &&
                trine_exact_sum_to_f64(&total, &value) == TRINE_OK && value == kSum;
       }},
      {"trine_release_idle", [](On) { return trine_release_idle() == TRINE_OK; }},
  };
  return all;
}

/// The names of the entry points that threw or gave something wrong, with why.
inline std::string wrong_entry_points(const std::string& device) {
  std::string wrong;
  for (const EntryPoint& entry : entry_points()) {
    try {
      if (!entry.is_right(device)) wrong += std::string(entry.name) + " is wrong; ";
    } catch (const std::exception& error) {
      wrong += std::string(entry.name) + ": " + error.what() + "; ";
    }
  }
  return wrong;
}

}  // namespace trine::testing
