// A program that ends with everything open and work in flight, or (argument "absent") one that
// expects no device and a reason. Its exit code is the test.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "abi_objects.hpp"
#include "module.hpp"

int main(int count, char** words) {
  static faults::Host host;
  const trine_backend* backend =
      faults::load_backend(std::getenv("TRINE_TEST_MODULE"), host.services);
  int devices = -1;
  if (backend->device_count(&devices) != TRINE_OK) return std::puts(backend->last_error()), 1;
  std::printf("%d devices: %s\n", devices, backend->last_error());
  if (count > 1 && std::strcmp(words[1], "absent") == 0) return devices == 0 ? 0 : 1;
  if (devices == 0) return 0;
  auto& device = *new faults::Device(*backend);
  auto& queue = *new auto(device.queue());
  auto& buffer = *new auto(device.buffer(64 << 20));
  for (int i = 0; i < 50; ++i) {
    device.check(backend->fill(queue.get(), device.native(buffer), 0, 64 << 20, &i, 4));
  }
  device.check(backend->queue_flush(queue.get()));
}
