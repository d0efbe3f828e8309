// Chooses the backend at run time and says what was chosen and why.
//
//   select_backend [DEVICE]      "cpu", "cpu:threads=4", "opencl:0", "cuda:0"; without: auto
//
// The same sum on every device: the bits printed are equal. Exit code 2: no such device.
#include <trine/trine.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

void list_devices() {
  for (const trine::BackendInfo& backend : trine::backends()) {
    for (const trine::Facts& device : backend.devices)
      std::printf("%-10s %s\n", device.id.c_str(), device.name.c_str());
    if (backend.devices.empty())
      std::printf("%-10s absent: %s\n", backend.name.c_str(), backend.reason.c_str());
  }
}

// Data that lives in host memory: one call moves it, computes and brings the result back.
void sum_host_data(const std::vector<float>& values, const std::string& device) {
  trine::Choice choice;
  const float sum = trine::sum(values, {.device = device, .choice = &choice});
  std::printf("host data: sum %a, %s\n", static_cast<double>(sum), choice.sentence().c_str());
}

// Data that stays on a device: a queue, buffers, and as many operations as there are.
void sum_resident_data(const std::vector<float>& values, const std::string& name) {
  const auto size = static_cast<std::int64_t>(values.size());
  trine::Reduce total;  // a sum; where to run is a question of shapes, buffers come later
  total.input = trine::vector({}, trine::Dtype::f32, size);
  total.output = trine::vector({}, trine::Dtype::f32, 1);
  trine::Device device;
  if (name == "auto") {  // a hundred runs share one transfer of the data
    const trine::Placement placement = trine::place(total, trine::Where::host, 100);
    std::printf("placement: %s\n", placement.sentence.c_str());
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
  std::printf("resident:  sum %a, %s\n", static_cast<double>(sum), choice.sentence().c_str());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string device = count > 1 ? arguments[1] : "auto";
  try {
    list_devices();
    std::vector<float> values(1 << 22);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (i % 3 == 0 ? 1e10f : -1e-3f) * static_cast<float>(i % 7);
    sum_host_data(values, device);
    sum_resident_data(values, device);
  } catch (const trine::Error& error) {
    std::fprintf(stderr, "select_backend: %s\n", error.what());
    return error.status() == trine::Status::not_found ? 2 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "select_backend: %s\n", error.what());
    return 1;
  }
}
