// Uses Trine as a stranger would: sums, names the device that did it, meets an error. Prints the
// files that are mapped from Trine, so that the test can see where they came from.
#include <trine/trine.hpp>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

int fail(const char* what) {
  std::cerr << "consumer: " << what << '\n';
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string device = count > 1 ? arguments[1] : "cpu";
  if (std::strcmp(trine::version(), TRINE_VERSION_STRING) != 0) return fail("versions differ");
  try {
    const std::vector<float> values = {1e30f, 1.0f, -1e30f, 2.0f};
    trine::Choice choice;
    const float sum = trine::sum(values, {.device = device, .choice = &choice});
    if (!(sum == 3.0f)) return fail("the sum is wrong");
    if (choice.device.backend() != device) return fail("another backend ran");
    std::cout << "ran on " << choice.device.id() << ", rung " << choice.rung() << '\n';
  } catch (const trine::Error& error) {
    std::cerr << "consumer: " << error.what() << '\n';
    return 1;
  }
  bool refused = false;
  try {
    trine::open("no-such-device");
  } catch (const trine::Error& error) { refused = error.status() == trine::Status::not_found; }
  if (!refused) return fail("a bogus name was accepted");

  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos && line.find("trine", path) != std::string::npos) {
      std::cout << "mapped " << line.substr(path) << '\n';
    }
  }
  return 0;
}
