// A library with a static Kokkos inside, as Trine's cpu backend is one: initializes it and sums.
// Built with and without hiding, to show what the hiding is for.
#include <Kokkos_Core.hpp>

extern "C" __attribute__((visibility("default"))) double run_module() {
  Kokkos::initialize();
  double sum = 0;
  {
    Kokkos::View<double*, Kokkos::HostSpace> values("module", 1000);
    Kokkos::deep_copy(values, 2.0);
    Kokkos::parallel_reduce(
        "module", Kokkos::RangePolicy<Kokkos::OpenMP>(0, 1000),
        KOKKOS_LAMBDA(int i, double& part) { part += values(i); }, sum);
  }
  return sum;
}
