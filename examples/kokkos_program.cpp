// Trine inside a Kokkos program: Kokkos fills a matrix, Trine transposes, multiplies and sums it
// where it lies, Kokkos reads the result. Only pointer, extents and strides pass between the two,
// so the program's Kokkos (any version, static or shared) and the one hidden in Trine's cpu backend
// don't meet. With a CUDA build of Kokkos, Views in CudaSpace go to trine::open("cuda:0") the same
// way.
#include <Kokkos_Core.hpp>
#include <trine/kokkos.hpp>
#include <trine/trine.hpp>

#include <cstdio>

namespace {

// A^T A of a matrix, and the sum of all its elements: 0 when Trine's agrees with Kokkos'.
int run() {
  constexpr int rows = 300, cols = 200;
  using Matrix = Kokkos::View<double**, Kokkos::HostSpace>;
  Matrix a("a", rows, cols), at("at", cols, rows), product("product", cols, cols);
  Kokkos::View<double*, Kokkos::HostSpace> total("total", 1);
  using Host = Kokkos::DefaultHostExecutionSpace;
  Kokkos::parallel_for("fill", Kokkos::RangePolicy<Host>(0, rows), [=](int i) {
    for (int j = 0; j < cols; ++j) a(i, j) = (i * 7 + j * 3) % 11 - 5;
  });
  Kokkos::fence();  // Kokkos is done before Trine reads

  const trine::Device device = trine::open("cpu");
  trine::Queue queue(device);
  const auto view = [&](const auto& kokkos) { return trine::view_of(device, kokkos); };
  trine::run(queue, trine::Transpose{.input = view(a), .output = view(at)});
  const trine::Choice choice =
      trine::run(queue, trine::Gemm{.a = view(at), .b = view(a), .c = view(product)});
  trine::run(queue, trine::Reduce{.input = view(product), .output = view(total)});
  queue.wait();  // Trine is done before Kokkos reads

  double expected = 0;
  Kokkos::parallel_reduce(
      "check", Kokkos::RangePolicy<Host>(0, rows),
      [=](int i, double& sum) {
        double row = 0;
        for (int j = 0; j < cols; ++j) row += a(i, j);
        sum += row * row;  // the sum of A^T A's elements is that of the squared row sums
      },
      expected);
  std::printf("%s\nsum of A^T A: Trine %g, Kokkos %g\n", choice.sentence().c_str(), total(0),
              expected);
  return total(0) == expected ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Kokkos::ScopeGuard guard(count, arguments);
  try {
    return run();
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "kokkos_program: %s\n", error.what());
    return 1;
  }
}
