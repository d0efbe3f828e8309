// The heat equation on the unit square, cold at its edge: Kokkos computes the steps, Trine
// transposes and sums Kokkos' Views where they lie.
//
// Peaceman and Rachford's half step is implicit along the rows: each row is a tridiagonal system
// that one thread solves while its elements pass by. The other half step is the same along the
// columns: so the program transposes and calls the same kernel. The energy is the exact sum of
// squares: it has the same bits however many threads there are.
#include <Kokkos_Core.hpp>
#include <trine/kokkos.hpp>
#include <trine/trine.hpp>

#include <cmath>
#include <cstdio>

namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

constexpr int kSize = 127, kSteps = 50;
constexpr double kPi = 3.14159265358979323846;
constexpr double kWidth = 1.0 / (kSize + 1), kTime = 0.1 / kSteps;  // of a cell, of a step
constexpr double kHalf = 0.5 * kTime / (kWidth * kWidth);

/// out = (1 - half * second difference along a row)^-1 (1 + half * that along a column) in.
void half_step(const Matrix& in, const Matrix& out, const Vector& factors) {
  Kokkos::parallel_for("half step", Kokkos::RangePolicy<Host>(0, kSize), [=](int i) {
    for (int j = 0; j < kSize; ++j) {  // Thomas' algorithm: eliminate …
      const double above = i > 0 ? in(i - 1, j) : 0, below = i + 1 < kSize ? in(i + 1, j) : 0;
      const double right_side = in(i, j) + kHalf * (above - 2 * in(i, j) + below);
      out(i, j) = (right_side + kHalf * (j > 0 ? out(i, j - 1) : 0)) * factors(j);
    }
    for (int j = kSize - 2; j >= 0; --j)
      out(i, j) += kHalf * factors(j) * out(i, j + 1);  // … and solve
  });
  Kokkos::fence();  // Kokkos is done before Trine reads
}

int run() {
  Matrix u("u", kSize, kSize), v("v", kSize, kSize);
  Vector factors("factors", kSize), energies("energies", kSteps + 1);
  for (int j = 0; j < kSize; ++j)
    factors(j) = 1 / (1 + 2 * kHalf - (j > 0 ? kHalf * kHalf * factors(j - 1) : 0));
  Kokkos::parallel_for("start", Kokkos::RangePolicy<Host>(0, kSize), [=](int i) {
    for (int j = 0; j < kSize; ++j)
      u(i, j) = std::sin(kPi * (i + 1) * kWidth) * std::sin(kPi * (j + 1) * kWidth);
  });
  Kokkos::fence();

  const trine::Device device = trine::open("cpu");
  trine::Queue queue(device);
  const trine::View field = trine::view_of(device, u), other = trine::view_of(device, v);
  const trine::View all_energies = trine::view_of(device, energies);
  for (int step = 0;; ++step) {
    trine::dot(queue, field, field, trine::rows(all_energies, step, 1));
    queue.wait();  // Trine is done before Kokkos writes
    if (step == kSteps) break;
    for (int half = 0; half < 2; ++half) {
      half_step(u, v, factors);
      trine::run(queue, trine::Transpose{.input = other, .output = field});
      queue.wait();
    }
  }
  // sin(pi x) sin(pi y) decays by exp(-2 pi^2 t), its square twice as fast.
  const double decay = std::sqrt(energies(kSteps) / energies(0));
  const double exact = std::exp(-2 * kPi * kPi * kTime * kSteps);
  std::printf("after %g s: %.6f of the start, exact %.6f\n", kTime * kSteps, decay, exact);
  return std::abs(decay / exact - 1) < 5e-4 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Kokkos::ScopeGuard guard(count, arguments);
  try {
    return run();
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "heat_equation: %s\n", error.what());
    return 2;
  }
}
