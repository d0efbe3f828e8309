// Trine inside a Kokkos program: Kokkos fills its views, Trine works on their memory in place. The
// program's Kokkos and the one inside Trine's cpu backend never meet.
#include <trine/kokkos.hpp>
#include <trine/trine.hpp>

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdio>

namespace {

int run_example() {
  const int rows = 300, cols = 200;
  using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
  const Matrix matrix("matrix", rows, cols), turned("turned", cols, rows);
  const Kokkos::View<double*, Kokkos::HostSpace> sums("sums", rows);
  using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>;
  Kokkos::parallel_for(Policy(0, rows), [=](int i) {
    for (int j = 0; j < cols; ++j) matrix(i, j) = 0.1 * (i - j);
  });
  Kokkos::fence();  // Kokkos has written before Trine reads

  const trine::Device device = trine::open("cpu");
  trine::Queue queue(device);
  const trine::View input = trine::view_of(device, matrix);
  run(queue, trine::Reduce{.axis = trine::Axis::each_row, .input = input, .output = trine::view_of(device, sums)});
  run(queue, trine::Transpose{input, trine::view_of(device, turned)});
  queue.wait();  // Trine has written before Kokkos reads

  int wrong = 0;
  Kokkos::parallel_reduce(Policy(0, rows), [=](int i, int& bad) {
    double sum = 0;
    for (int j = 0; j < cols; ++j) {
      bad += turned(j, i) != matrix(i, j);
      sum += matrix(i, j);
    }
    bad += !(std::abs(sum - sums(i)) <= 1e-9);  // Trine's sum is exact, this one is not
  }, wrong);
  std::printf("sum of the last row: %.17g, %d wrong\n", sums(rows - 1), wrong);
  return wrong;
}

}  // namespace

int main(int count, char** arguments) {
  Kokkos::initialize(count, arguments);
  int status = 1;
  try {
    status = run_example() == 0 ? 0 : 1;
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  Kokkos::finalize();
  return status;
}
