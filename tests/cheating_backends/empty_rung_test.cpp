// A rung that does nothing takes as long as a launch does, measured apart: the runner adds nothing
// to a figure and takes nothing off.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bench/timing/side_by_side.hpp"

namespace trine::bench {
namespace {

/// Event to event around one launch, nothing else: a plain loop.
Samples latency(const Device& device, const DeviceOperation& operation, const std::string& rung) {
  Queue queue(device);
  Samples samples;
  for (int i = 0; i < 2000; ++i) {
    const Event start = queue.record();
    launch(queue, operation, rung);
    const Event stop = queue.record();
    queue.wait();
    samples.seconds.push_back(elapsed(start, stop));
  }
  return samples;
}

double quantile(Samples samples, double q) {
  std::sort(samples.seconds.begin(), samples.seconds.end());
  return samples.seconds[size_t(q * double(samples.seconds.size() - 1))];
}

TEST(EmptyRung, TakesAsLongAsALaunchMeasuredApart) {
  const Device device = open("cpu");
  const Problem problem = problem_of(Operation::transpose, Dtype::f32, {8, 8, 0});
  Expectation expectation(problem, 1);
  Runner runner(device, 0.02);
  const Buffer input(device, 256), output(device, 256);
  const DeviceOperation operation = device_operation(problem, {{input}, {output}});
  // A busy machine may disturb one attempt, not all of them.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const Result result = runner.resident(problem, expectation, "null").front();
    ASSERT_FALSE(result.verified) << "it does nothing";
    const Samples apart = latency(device, operation, "null");
    if (*result.kernel >= quantile(apart, 0.1) && *result.kernel <= quantile(apart, 0.9)) return;
  }
  FAIL() << "an empty rung never took what a launch takes";
}

}  // namespace
}  // namespace trine::bench
