// Conjugate gradients on a device, without a wait for a sum in the loop: each dot product and quotient
// stays there and scales the next step. The residuals have the same bits on every device.
//
//   conjugate_gradients [DEVICE]…     "cpu", "opencl:0", "cuda:0"; by default all devices
//
// Solves A x = b for a symmetric matrix with a heavy diagonal. Exit code 1: the residuals differ between
// devices or don't shrink.
#include <trine/trine.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int64_t kSize = 500, kSteps = 12;

/// A: 1 / (1 + |i - j|) beside a diagonal of n.
std::vector<double> matrix() {
  std::vector<double> a(kSize * kSize);
  for (int64_t i = 0; i < kSize; ++i)
    for (int64_t j = 0; j < kSize; ++j)
      a[i * kSize + j] = i == j ? double(kSize) : 1.0 / double(1 + std::abs(i - j));
  return a;
}

/// The square of the residual's norm before each step.
std::vector<double> solve(const std::string& name) {
  using namespace trine;
  const Device device = open(name);
  Queue queue(device);
  const auto matrix_of = [&](int64_t rows, int64_t cols) {
    return row_major({device, uint64_t(rows * cols) * sizeof(double)}, Dtype::f64, rows, cols);
  };
  const View a = matrix_of(kSize, kSize), x = matrix_of(kSize, 1), r = matrix_of(kSize, 1);
  const View p = matrix_of(kSize, 1), q = matrix_of(kSize, 1), history = matrix_of(kSteps + 1, 1);
  const View step = matrix_of(1, 1), minus_step = matrix_of(1, 1), curvature = matrix_of(1, 1);
  const View ratio = matrix_of(1, 1);
  const auto residual = [&](int64_t i) {
    return vector(history.buffer, Dtype::f64, 1, uint64_t(i) * sizeof(double));
  };
  const std::vector<double> values = matrix();
  const double zero = 0, one = 1;
  copy(queue, host_row_major(values.data(), Dtype::f64, kSize, kSize), a);
  fill(queue, x, &zero);
  fill(queue, r, &one);  // b - A x, for b of ones
  fill(queue, p, &one);
  dot(queue, r, r, residual(0));
  for (int64_t i = 0; i < kSteps; ++i) {
    run(queue, Gemm{.a = a, .b = p, .c = q});
    dot(queue, p, q, curvature);
    scalar(queue, Arithmetic::divide, residual(i), curvature, step);
    scalar(queue, Arithmetic::subtract, 0, step, minus_step);
    axpby(queue, step, p, 1, x);
    axpby(queue, minus_step, q, 1, r);
    dot(queue, r, r, residual(i + 1));
    scalar(queue, Arithmetic::divide, residual(i + 1), residual(i), ratio);
    axpby(queue, 1, r, ratio, p);
  }
  std::vector<double> residuals(kSteps + 1);
  copy(queue, history, host_vector(residuals.data(), Dtype::f64, kSteps + 1));
  queue.wait();  // the only one
  return residuals;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> names(arguments + 1, arguments + count);
  if (names.empty())
    for (const trine::Facts& facts : trine::devices()) names.push_back(facts.id);
  std::vector<double> first;
  for (const std::string& name : names) {
    const std::vector<double> residuals = solve(name);
    if (first.empty()) first = residuals;
    std::printf("%s:", name.c_str());
    for (const double r : residuals) std::printf(" %.3g", std::sqrt(r));
    std::printf(residuals == first ? "\n" : ", other bits than on %s\n", names[0].c_str());
    if (residuals != first || !(residuals.back() < 1e-20 * residuals.front())) return 1;
  }
  return 0;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "conjugate_gradients: %s\n", error.what());
  return 2;
}
