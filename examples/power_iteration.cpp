// Power iteration: the largest eigenvalue of a symmetric matrix, found on a device. Products, norms
// and quotients stay there, and the program waits once, at the end.
//
//   power_iteration [DEVICE]…     "cpu", "opencl:0", "cuda:0"; by default all devices
//
// a_ij = min(i, j) has the largest eigenvalue 1 / (4 sin^2(pi / (4 n + 2))), nine times the next
// one. Exit code 1: the estimates differ between devices by a bit, or aren't right.
#include <trine/trine.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSize = 400, kSteps = 20;

/// For each step the estimate of the eigenvalue, and the residual |A x - estimate x|.
struct History {
  std::vector<double> estimates, residuals;
  bool operator==(const History&) const = default;
};

History iterate(const std::string& name) {
  using namespace trine;
  Queue queue(open(name));
  const auto make = [&](int64_t rows, int64_t cols) {
    return row_major(Buffer::of<double>(queue.device(), rows * cols), Dtype::f64, rows, cols);
  };
  const View a = make(kSize, kSize), x = make(kSize, 1), y = make(kSize, 1), rest = make(kSize, 1);
  const View estimates = make(kSteps, 1), residuals = make(kSteps, 1), norm = make(1, 1);
  const View scale = make(1, 1), minus_estimate = make(1, 1);
  std::vector<double> values(kSize * kSize);
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j) values[i * kSize + j] = double(std::min(i, j) + 1);
  copy(queue, host_row_major(values.data(), Dtype::f64, kSize, kSize), a);
  fill(queue, x, 1 / std::sqrt(double(kSize)));
  for (int64_t i = 0; i < kSteps; ++i) {
    const View estimate = rows(estimates, i, 1), residual = rows(residuals, i, 1);
    run(queue, Gemm{.a = a, .b = x, .c = y});
    dot(queue, x, y, estimate);
    scalar(queue, Arithmetic::subtract, 0, estimate, minus_estimate);
    copy(queue, y, rest);
    axpby(queue, minus_estimate, x, 1, rest);
    dot(queue, rest, rest, residual);
    scalar(queue, Arithmetic::sqrt, residual, 0, residual);
    dot(queue, y, y, norm);
    scalar(queue, Arithmetic::sqrt, norm, 0, norm);
    scalar(queue, Arithmetic::divide, 1, norm, scale);
    axpby(queue, scale, y, 0, x);
  }
  History history{std::vector<double>(kSteps), std::vector<double>(kSteps)};
  copy(queue, estimates, host_vector(history.estimates.data(), Dtype::f64, kSteps));
  copy(queue, residuals, host_vector(history.residuals.data(), Dtype::f64, kSteps));
  queue.wait();  // the only one
  return history;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> names(arguments + 1, arguments + count);
  if (names.empty())
    for (const trine::Facts& facts : trine::devices()) names.push_back(facts.id);
  const double sine = std::sin(std::numbers::pi / double(4 * kSize + 2));
  const double exact = 1 / (4 * sine * sine);
  History first;
  for (const std::string& name : names) {
    const History history = iterate(name);
    std::printf("%s: %.15g after %d steps, residual %.2g; exact: %.15g\n", name.c_str(),
                history.estimates.back(), int(kSteps), history.residuals.back(), exact);
    if (first.estimates.empty()) first = history;
    if (history != first || !(std::abs(history.estimates.back() / exact - 1) < 1e-12)) return 1;
  }
  return 0;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "power_iteration: %s\n", error.what());
  return 2;
}
