// Chooses the backend at run time, says what was chosen and why, and compares the bits.
//
//   select_backend               auto, then every device there is
//   select_backend [DEVICE]…     "cpu", "cpu:threads=4", "opencl:0", "cuda:0", "auto"
//
// Exit code 1: the bits differ. 2: no such device, and no other in its place.
#include <trine/trine.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

std::vector<std::string> list_devices() {
  std::vector<std::string> names = {"auto"};
  for (const trine::BackendInfo& backend : trine::backends()) {
    for (const trine::Facts& device : backend.devices) {
      std::printf("%s: %s\n", device.id.c_str(), device.name.c_str());
      names.push_back(device.id);
    }
    if (backend.devices.empty())
      std::printf("%s: absent, %s\n", backend.name.c_str(), backend.reason.c_str());
  }
  return names;
}

// Data that lives in host memory: one call moves it, computes and brings the result back.
float sum_host_data(const std::vector<float>& values, const std::string& device) {
  trine::Choice choice;
  const float sum = trine::sum(values, {.device = device, .choice = &choice});
  std::printf("  host data  %a, %s\n", static_cast<double>(sum), choice.sentence().c_str());
  return sum;
}

// Data that stays on a device: a queue, buffers, and as many operations as there are.
float sum_resident_data(const std::vector<float>& values, const std::string& name) {
  const auto size = static_cast<std::int64_t>(values.size());
  trine::Reduce total;  // a sum; where to run is a question of shapes, buffers come later
  total.input = trine::vector({}, trine::Dtype::f32, size);
  total.output = trine::vector({}, trine::Dtype::f32, 1);
  trine::Device device;
  if (name == "auto") {  // a hundred runs share one transfer of the data
    const trine::Placement placement = trine::place(total, trine::Where::host, 100);
    std::printf("  placement  %s\n", placement.sentence.c_str());
    device = placement.device;
  } else {
    device = trine::open(name);
  }
  trine::Queue queue(device);
  total.input.buffer = {device, values.size() * sizeof(float)};
  total.output.buffer = {device, sizeof(float)};
  trine::copy(queue, trine::host_vector(values.data(), trine::Dtype::f32, size), total.input);
  const trine::Choice choice = trine::run(queue, total);
  float sum = 0;
  trine::copy(queue, total.output, trine::host_vector(&sum, trine::Dtype::f32, 1));
  queue.wait();
  std::printf("  resident   %a, %s\n", static_cast<double>(sum), choice.sentence().c_str());
  return sum;
}

}  // namespace

int main(int count, char** arguments) try {
  std::vector<std::string> names = list_devices();
  if (count > 1) names.assign(arguments + 1, arguments + count);
  std::vector<float> values(1 << 22);  // large ones cancel; the small ones must not be lost
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 4 == 0 ? 1e10f : i % 4 == 1 ? -1e10f : 1e-3f * static_cast<float>(i % 7);

  std::vector<float> sums;
  for (const std::string& name : names) {
    std::printf("%s\n", name.c_str());
    sums.push_back(sum_host_data(values, name));
    sums.push_back(sum_resident_data(values, name));
  }
  for (const float sum : sums) {
    if (sum == sums[0]) continue;
    std::fprintf(stderr, "select_backend: the bits differ\n");
    return 1;
  }
  return 0;
} catch (const trine::Error& error) {
  std::fprintf(stderr, "select_backend: %s\n", error.what());
  return error.status() == trine::Status::not_found ? 2 : 1;
}
