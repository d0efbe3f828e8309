// A process that forks. If it has only listed devices, the child has the backends of this build to
// itself, but for drivers that were woken before; if it has computed, or was about to, the child
// computes on the threads that call.
#include <filesystem>
#include <random>

#include "child.hpp"
#include "entries.hpp"
#include "fixture.hpp"

namespace trine::testing {
namespace {

std::string id_of(const std::string& backend) {
  return backend == "cpu" ? backend : backend + ":0";
}

/// Whether a sum on that backend's first device is right.
std::string use(const std::string& backend) {
  float result = 0;
  const Refusal refusal = refusal_of(
      [&] { result = sum(std::vector<float>(1 << 20, 1.0f), {.device = id_of(backend)}); });
  return result == 1 << 20 ? "" : backend + ": " + refusal.sentence;
}

/// Computes in this process, then returns what body() says in a child of it. (The two calls of a
/// sum may run in any order.)
template <class Body>
std::string child_of_user(Body&& body) {
  const std::string wrong = use("cpu");
  return wrong + in_child(body);
}

TEST(Fork, AChildOfAProcessThatListedDevicesUsesTheCpuAndIsToldOfDrivers) {
  EXPECT_EQ(in_child([] {
              const std::vector<BackendInfo> before = backends();
              return in_child([&] {
                std::string wrong;
                const std::vector<BackendInfo> after = backends();
                for (size_t i = 0; i < before.size(); ++i) {
                  const std::string& name = before[i].name;
                  if (before[i].devices.empty()) continue;
                  if (name == "cpu") {
                    wrong += use(name);
                    continue;
                  }
                  const Refusal refusal = refusal_of([&] { open(id_of(name)); });
                  if (refusal.status != Status::device_lost ||
                      refusal.sentence.find("woken the driver") == std::string::npos ||
                      after[i].reason.find("woken the driver") == std::string::npos)
                    wrong += name + ": " + refusal.sentence + after[i].reason;
                }
                return wrong;
              });
            }),
            "");
}

TEST(Fork, AChildOfAProcessThatListedNoDevicesUsesThemAll) {
  EXPECT_EQ(in_child([] {
              search_path();
              return in_child([] {
                std::string wrong;
                for (const BackendInfo& info : backends())
                  if (!info.devices.empty()) wrong += use(info.name);
                return wrong;
              });
            }),
            "");
}

size_t count_threads() {
  return size_t(std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}));
}

// None hangs, and none starts a thread; the alarm of in_child() ends one that does.
TEST(Fork, EveryFunctionWorksInAChildOnTheThreadThatCalls) {
  EXPECT_EQ(in_child([] {
              devices();  // a driver that the parent hadn't woken would start threads of its own
              std::string wrong =
                  use("cpu") + wrong_in_every_entry("cpu", [] { return std::string(); });
              for (const Entry& entry : every_entry())
                wrong += in_child([&] {
                  Operands operands("cpu");
                  return wrong_in(entry, operands) +
                         (count_threads() == 1 ? "" : std::string(entry.name) + " has threads; ");
                });
              return wrong;
            }),
            "");
}

TEST(Fork, AChildHasTheCpuAloneAndNothingOfItsParents) {
  EXPECT_EQ(in_child([] {
              const Device cpu = open("cpu");
              if (sum(small_numbers(300)) != 300) return std::string("the parent's auto is wrong");
              return in_child([&] {
                std::string wrong, why;
                if (!multiplies({.device = "auto", .placement = &why}) ||
                    why.find("forked child") == std::string::npos)
                  wrong += "auto: " + why;
                for (const auto& [what, refusal] :
                     {std::pair{"opencl", refusal_of([] { open("opencl:0"); })},
                      {"the parent's", refusal_of([&] { Queue{cpu}; })}})
                  if (refusal.status != Status::device_lost ||
                      refusal.sentence.find("forked") == std::string::npos)
                    wrong += std::string(what) + ": " + refusal.sentence;
                return wrong;
              });
            }),
            "");
}

/// A sum of ones by a rung that is written in Kokkos.
float sum_by_kokkos() {
  return sum(std::vector<float>(1000, 1.0f), {.device = "cpu", .rung = "kokkos_range"});
}

// OpenMP's threads can't start in a child, so a rung that needs Kokkos says so, and the others
// compute.
TEST(Fork, AChildIsToldThatKokkosDoesNotStart) {
  for (const bool has_started : {false, true})
    EXPECT_EQ(in_child([=] {
                const bool is_right = has_started ? sum_by_kokkos() == 1000 : use("cpu").empty();
                if (!is_right) return std::string("the parent's sum is wrong");
                return in_child([] {
                  const Refusal refusal = refusal_of([] { sum_by_kokkos(); });
                  const bool is_told = refusal.status == Status::unsupported &&
                                       refusal.sentence.find("forked child") != std::string::npos;
                  return (is_told ? "" : "told: " + refusal.sentence) + use("cpu") +
                         (count_threads() == 1 ? "" : "has threads");
                });
              }),
              "")
        << has_started;
}

// Work that waits for what its own thread does later runs when that is done.
TEST(Fork, AChildsQueuesKeepTheirOrder) {
  EXPECT_EQ(in_child([] {
              return child_of_user([] {
                Operands a("cpu"), b("cpu");
                const float three = 3, four = 4;
                fill(a.queue, a.one, &three);
                b.queue.wait(a.queue.record());
                copy(b.queue, a.one, b.one);
                a.queue.wait(b.queue.record());
                fill(a.queue, a.one, &four);
                b.queue.wait();
                const bool is_right = b.first_of(b.one) == 3 && a.first_of(a.one) == 4;
                return std::string(is_right && a.queue.done() ? "" : "out of order");
              });
            }),
            "");
}

TEST(Fork, AChildComputesWhateverTheMomentOfAnotherThreadsFirstCall) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    const auto delay = std::chrono::microseconds(
        int(std::exp(std::uniform_real_distribution<>(2.5, 11.5)(random))));
    EXPECT_EQ(
        in_child([&] {
          std::thread([i] { multiplies({.device = i % 2 ? "cpu" : "auto"}); }).detach();
          std::this_thread::sleep_for(delay);
          return in_child([] {
            return std::string(multiplies({.device = "cpu"}) && multiplies({}) ? "" : "wrong");
          });
        }),
        "")
        << delay.count() << " us";
  }
}

TEST(Fork, EachGenerationUsesTheCpu) {
  EXPECT_EQ(
      in_child([] {
        return child_of_user([] { return child_of_user([] { return use("cpu") + use("cpu"); }); });
      }),
      "");
}

}  // namespace
}  // namespace trine::testing
