// The parts that core's tests share: a fake device with its control panel, and how a refusal is
// expected.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>
#include <trine/trine.hpp>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fake/fake.h"

namespace trine::testing {

using ::testing::HasSubstr, ::testing::Not;

inline const fake_panel& panel_of(const Device& device) {
  return *static_cast<const fake_panel*>(device.native().device);
}

/// Whether TRINE_REQUIRE ("cpu,opencl") names the backend: then its absence is a failure, not a
/// skip.
inline bool is_required(std::string_view backend) {
  const char* required = std::getenv("TRINE_REQUIRE");
  std::istringstream names(required ? required : "");
  for (std::string name; std::getline(names, name, ',');)
    if (name == backend) return true;
  return false;
}

/// A folder of this process's own, where saved files go as long as it lives.
struct DataFolder {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / ("trine-data-" + std::to_string(getpid()));
  DataFolder() {
    std::filesystem::remove_all(folder);
    setenv("TRINE_DATA_DIR", folder.c_str(), 1);
  }
  ~DataFolder() {
    std::filesystem::remove_all(folder);
    setenv("TRINE_DATA_DIR", "", 1);  // as the test began
  }
};

/// Waits until `condition` holds, ten seconds or more: looks are counted, as a busy machine takes
/// time but no looks.
template <class Condition>
bool eventually(Condition&& condition) {
  for (int looks = 0; !condition(); ++looks) {
    if (looks == 10'000) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A line of text with a few bytes changed, gone or doubled.
inline std::string damaged(std::string line, std::mt19937& random) {
  const auto below = [&](std::size_t end) { return random() % end; };
  for (std::size_t times = 1 + below(3); times > 0 && !line.empty(); --times) {
    const std::size_t at = below(line.size());
    constexpr std::string_view kBytes = "0123456789-+.eExXrcsfi \"{}\xff";
    switch (below(4)) {
      case 0: line[at] = kBytes[below(kBytes.size())]; break;
      case 1: line.erase(at, 1 + below(6)); break;
      case 2: line.insert(at, line.substr(below(line.size()), below(20))); break;
      default: line.insert(at, 1 + below(30), kBytes[below(kBytes.size())]);
    }
  }
  return line;
}

/// Status and sentence of what body() throws; ok when it throws nothing.
struct Refusal {
  Status status = Status::ok;
  std::string sentence;
};
template <class Body>
Refusal refusal_of(Body&& body) {
  try {
    body();
  } catch (const Error& error) { return {error.status(), error.what()}; }
  return {};
}

#define EXPECT_REFUSED(wanted, piece, statement)                                                \
  do {                                                                                          \
    const ::trine::testing::Refusal refusal = ::trine::testing::refusal_of([&] { statement; }); \
    EXPECT_EQ(::trine::name(refusal.status), ::trine::name(wanted))                             \
        << #statement << ": " << refusal.sentence;                                              \
    EXPECT_THAT(refusal.sentence, ::testing::HasSubstr(piece))                                  \
        << #statement << ": " << refusal.sentence;                                              \
  } while (false)

/// One fake device, a queue, and the gate open again at the end.
struct FakeDevice : ::testing::Test {
  Device device = open("fake:0");
  const fake_panel& panel = panel_of(device);
  Queue queue{device};
  /// Begins with nothing in flight and nothing left to free, so that counters tell of this test.
  FakeDevice() {
    eventually([&] { return panel.count(FAKE_PENDING) == 0; });
    queue.wait();
  }
  ~FakeDevice() override {
    panel.hold(0);
    panel.leave(LONG_MAX / 2);
    for (int call = 0; call < FAKE_CALLS; ++call) panel.fail(call, TRINE_OK);
  }

  /// A device buffer with these elements.
  template <class T>
  Buffer upload(const std::vector<T>& values) {
    Buffer buffer(device, values.size() * sizeof(T));
    copy(queue, host_vector(values.data(), dtype_of<T>, int64_t(values.size())),
         vector(buffer, dtype_of<T>, int64_t(values.size())));
    queue.wait();
    return buffer;
  }
  template <class T>
  std::vector<T> download(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    copy(queue, vector(buffer, dtype_of<T>, int64_t(values.size())),
         host_vector(values.data(), dtype_of<T>, int64_t(values.size())));
    queue.wait();
    return values;
  }
};

/// A FakeDevice with a sum to run.
struct FakeSum : FakeDevice {
  Buffer data{device, 256}, result{device, 4};
  Reduce sum() const {
    return {.input = vector(data, Dtype::f32, 64), .output = vector(result, Dtype::f32, 1)};
  }
};

}  // namespace trine::testing
