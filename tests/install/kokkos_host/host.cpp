// A Kokkos program that uses its Kokkos before, between and after work of Trine (no argument) or of
// a module that it opens as Trine opens backends (the module's path).
#include <dlfcn.h>
#include <Kokkos_Core.hpp>

#include <iostream>
#include <trine/kokkos.hpp>
#include <trine/trine.hpp>

namespace {

double own_sum(const Kokkos::View<double*, Kokkos::HostSpace>& values) {
  double sum = 0;
  Kokkos::parallel_reduce(
      "host", Kokkos::RangePolicy<Kokkos::OpenMP>(0, int(values.extent(0))),
      KOKKOS_LAMBDA(int i, double& part) { part += values(i); }, sum);
  return sum;
}

double trine_sum(const Kokkos::View<double*, Kokkos::HostSpace>& values) {
  const trine::Device device = trine::open("cpu");
  trine::Queue queue(device);
  double result = 0;
  const trine::Buffer output = trine::Buffer::adopt(device, &result, sizeof result);
  trine::run(queue, trine::Reduce{.input = trine::view_of(device, values),
                                  .output = trine::vector(output, trine::Dtype::f64, 1)});
  queue.wait();
  return result;
}

/// Views of rank 3 are batches, in either layout.
bool turns_batches() {
  Kokkos::View<int***, Kokkos::LayoutRight, Kokkos::HostSpace> in("in", 2, 3, 4),
      out("out", 2, 4, 3);
  Kokkos::View<int***, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 2, 3, 4);
  for (int i = 0; i < 24; ++i) in.data()[i] = i;
  Kokkos::deep_copy(left, in);
  trine::transpose(trine::host_view_of(in), trine::host_view_of(out));
  const trine::HostView strided = trine::host_view_of(left);
  bool right = strided.batch == 2 && strided.batch_stride == 1 && strided.row_stride == 2 &&
               strided.col_stride == 6;
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) right = right && out(b, j, i) == 12 * b + 4 * i + j;
  return right;
}

double module_sum(const char* path) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<double (*)()>(dlsym(module, "run_module"))();
}

}  // namespace

int main(int count, char** arguments) {
  Kokkos::initialize();
  bool right = true;
  {
    Kokkos::View<double*, Kokkos::HostSpace> values("host", 1000);
    Kokkos::deep_copy(values, 2.0);
    right = right && own_sum(values) == 2000 && (count > 1 || turns_batches());
    for (int i = 0; i < (count > 1 ? 1 : 3); ++i) {
      right = right && (count > 1 ? module_sum(arguments[1]) : trine_sum(values)) == 2000;
      right = right && own_sum(values) == 2000;
    }
  }
  Kokkos::finalize();
  std::cout << (right ? "right\n" : "wrong\n");
  return right ? 0 : 1;
}
