// Conjugate gradients on a device, without a wait for a sum in the loop: each dot product and
// quotient stays there and scales the next step. The residuals have the same bits on every device,
// and in C, Fortran and Python (conjugate_gradients.c, .f90, .py).
//
//   conjugate_gradients [DEVICE]…     "cpu", "opencl:0", "cuda:0"; by default all devices
//
// Solves A x = b for a symmetric matrix with a heavy diagonal, and prints the square of the
// residual's norm before each step. Exit code 1: it differs between devices or doesn't shrink.
#include <trine/trine.hpp>

#include <cstdio>
#include <cstdlib>
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

std::vector<double> solve(const std::string& name) {
  using namespace trine;
  Queue queue(open(name));
  const auto make = [&](int64_t rows, int64_t cols) {
    return row_major(Buffer::of<double>(queue.device(), rows * cols), Dtype::f64, rows, cols);
  };
  const View a = make(kSize, kSize), x = make(kSize, 1), r = make(kSize, 1), p = make(kSize, 1);
  const View q = make(kSize, 1), scaled = make(kSize, 1), history = make(kSteps + 1, 1);
  const View step = make(1, 1), curvature = make(1, 1), ratio = make(1, 1);
  const auto residual = [&](int64_t i) { return rows(history, i, 1); };
  const std::vector<double> values = matrix();
  copy(queue, host_row_major(values.data(), Dtype::f64, kSize, kSize), a);
  fill(queue, x, 0.0);
  fill(queue, r, 1.0);  // b - A x, for b of ones
  fill(queue, p, 1.0);
  dot(queue, r, r, residual(0));
  for (int64_t i = 0; i < kSteps; ++i) {
    run(queue, Gemm{.a = a, .b = p, .c = q});
    dot(queue, p, q, curvature);
    scalar(queue, Arithmetic::divide, residual(i), curvature, step);
    // Each product is rounded before it is added, as in other languages. A program that needn't
    // equal theirs writes axpby(queue, step, p, 1, x): one pass, one rounding.
    axpby(queue, step, p, 0, scaled);
    axpby(queue, 1, scaled, 1, x);
    axpby(queue, step, q, 0, scaled);
    axpby(queue, -1, scaled, 1, r);
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
    std::printf("%s\n", name.c_str());
    for (const double r : residuals) std::printf("  %.16e\n", r);
    if (first.empty()) first = residuals;
    if (residuals != first || !(residuals.back() < 1e-20 * residuals.front())) return 1;
  }
  return 0;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "conjugate_gradients: %s\n", error.what());
  return 2;
}
