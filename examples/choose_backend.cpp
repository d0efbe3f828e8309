// Choosing a backend at run time: the device is a word on the command line, the code is the same.
//
//   choose_backend            what there is, then each device in turn
//   choose_backend cuda:0     that device, or an error that says what there is instead
#include <trine/trine.hpp>

#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

namespace {

/// A product and the sum of its elements on one device, all of it resident there.
double sum_of_product(const trine::Device& device, int64_t n, const std::vector<double>& a) {
  using namespace trine;
  const uint64_t bytes = a.size() * sizeof(double);
  Queue queue(device);
  const View left = row_major(Buffer(device, bytes), Dtype::f64, n, n);
  const View product = row_major(Buffer(device, bytes), Dtype::f64, n, n);
  const View total = vector(Buffer(device, sizeof(double)), Dtype::f64, 1);

  View right = left;  // the transpose of `left`: no copy, only other strides
  std::swap(right.row_stride, right.col_stride);

  copy(queue, host_row_major(a.data(), Dtype::f64, n, n), left);
  const Choice gemm = run(queue, Gemm{.a = left, .b = right, .c = product});
  const Choice sum = run(queue, Reduce{.input = product, .output = total});
  double result = 0;
  copy(queue, total, host_vector(&result, Dtype::f64, 1));
  queue.wait();
  std::printf("  %s\n  %s\n", gemm.sentence().c_str(), sum.sentence().c_str());
  return result;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> names(arguments + 1, arguments + count);
  for (const trine::BackendInfo& backend : trine::backends()) {
    if (!backend.reason.empty()) std::printf("%s: %s\n", backend.name.c_str(), backend.reason.c_str());
    for (const trine::Facts& facts : backend.devices) {
      std::printf("%s: %s\n", facts.id.c_str(), facts.name.c_str());
      if (count < 2) names.push_back(facts.id);
    }
  }

  const int64_t n = 200;
  std::vector<double> a(static_cast<std::size_t>(n * n));
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 1.0 / static_cast<double>(1 + i % 1013);

  double first = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::printf("%s\n", names[i].c_str());
    const double result = sum_of_product(trine::open(names[i]), n, a);
    std::printf("  = %.17g\n", result);
    if (i == 0) first = result;
    if (result != first) {
      std::fprintf(stderr, "the bits differ from those of %s\n", names[0].c_str());
      return 1;
    }
  }
  return names.empty() ? 1 : 0;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
