// docs/tutorial.md, step by step: the same computation by loops, by calls on host data, and on data
// that stays on a device, with the time of each.
//
//   tutorial [DEVICE]…     "cpu", "opencl:0", "cuda:0"; by default all devices
//
// Where does a walker end who goes from place to place at random? p(i, j) is the probability of a
// step from i to j; that of two steps is p p, and so ten squarings give 1024 steps. Then it doesn't
// matter any more where the walk began: all rows are equal.
#include <trine/trine.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int64_t n = 600;
constexpr int kSquarings = 10;
using Matrix = std::vector<double>;

/// From i the walker goes to any place, the likelier the closer.
Matrix first_step() {
  Matrix p(n * n);
  for (int64_t i = 0; i < n; ++i) {
    double all = 0;
    for (int64_t j = 0; j < n; ++j) all += p[i * n + j] = 1.0 / double(1 + (i - j) * (i - j));
    for (int64_t j = 0; j < n; ++j) p[i * n + j] /= all;
  }
  return p;
}

Matrix by_loops(Matrix p) {
  Matrix square(n * n);
  for (int squaring = 0; squaring < kSquarings; ++squaring) {
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += p[i * n + k] * p[k * n + j];
        square[i * n + j] = sum;
      }
    std::swap(p, square);
  }
  return p;
}

Matrix by_calls(Matrix p, const std::string& device) {
  Matrix square(n * n);
  for (int squaring = 0; squaring < kSquarings; ++squaring) {
    trine::gemm(n, n, n, p.data(), p.data(), square.data(), {.device = device});
    std::swap(p, square);
  }
  return p;
}

Matrix by_events(Matrix p, const std::string& device) {
  Matrix square(n * n);
  for (int squaring = 0; squaring < kSquarings; ++squaring) {
    trine::Event product;
    trine::gemm(n, n, n, p.data(), p.data(), square.data(), {.device = device, .event = &product});
    // … other work, which leaves p and square alone …
    product.wait();
    std::swap(p, square);
  }
  return p;
}

Matrix resident(const Matrix& start, const std::string& device) {
  trine::Queue queue(trine::open(device));
  const auto make = [&] {
    return trine::row_major(trine::Buffer::of<double>(queue.device(), n * n), trine::Dtype::f64, n,
                            n);
  };
  trine::View p = make(), square = make();
  trine::copy(queue, trine::host_row_major(start.data(), trine::Dtype::f64, n, n), p);
  for (int squaring = 0; squaring < kSquarings; ++squaring) {
    trine::run(queue, trine::Gemm{.a = p, .b = p, .c = square});  // returns at once
    std::swap(p, square);
  }
  Matrix result(n * n);
  trine::copy(queue, p, trine::host_row_major(result.data(), trine::Dtype::f64, n, n));
  queue.wait();  // now it is there
  return result;
}

/// The best time of those within two seconds: the first call on a device also wakes it and builds
/// its kernels.
template <class Compute>
Matrix timed(const std::string& what, Compute&& compute) {
  Matrix result;
  double best = 1e9;
  for (double spent = 0; spent < 2;) {
    const auto start = std::chrono::steady_clock::now();
    result = compute();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    spent += seconds.count();
    best = std::min(best, seconds.count());
  }
  std::printf("%-24s %8.1f ms\n", what.c_str(), 1e3 * best);
  return result;
}

double furthest(const Matrix& a, const Matrix& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]) / b[i]);
  return most;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> devices(arguments + 1, arguments + count);
  if (devices.empty())
    for (const trine::Facts& facts : trine::devices()) devices.push_back(facts.id);

  const Matrix p = first_step();
  const Matrix by_hand = timed("loops", [&] { return by_loops(p); });
  Matrix first;
  for (const std::string& device : devices) {
    const Matrix called = timed("calls, " + device, [&] { return by_calls(p, device); });
    const Matrix stayed = timed("resident, " + device, [&] { return resident(p, device); });
    if (first.empty()) first = called;
    if (by_events(p, device) != first) return 1;
    if (called != first || stayed != first) return 1;  // a single other bit is enough
  }
  const double off = furthest(by_hand, first);
  std::printf("all devices: the same bits; the loops differ by %.1g\n", off);
  return off < 1e-12 ? 0 : 1;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "tutorial: %s\n", error.what());
  return 2;
}
