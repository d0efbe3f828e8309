// A process that only looks at what there is, and forks: the child has the backends of this build to itself,
// but for drivers that were woken before.
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.hpp"

namespace trine::testing {
namespace {

/// The name of the first device on which a child finds something else than it should; "" where all is well.
template <class Body>
std::string in_child(Body&& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const std::string wrong = body();
    const ssize_t written = write(ends[1], wrong.data(), wrong.size());
    _exit(written < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string said;
  char piece[256];
  for (ssize_t got; (got = read(ends[0], piece, sizeof piece)) > 0;)
    said.append(piece, size_t(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? said : said + "; it died, status " + std::to_string(status);
}

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

TEST(Fork, AGrandchildOfAChildThatUsedTheCpuIsLost) {
  EXPECT_EQ(in_child([] {
              for (const BackendInfo& info : backends())
                if (info.name == "cpu" && info.devices.empty()) return std::string();
              return in_child([] {
                std::string wrong = use("cpu");
                return wrong + in_child([] {
                         const Refusal refusal = refusal_of([] { open("cpu"); });
                         return refusal.status == Status::device_lost ? "" : "not lost";
                       });
              });
            }),
            "");
}

}  // namespace
}  // namespace trine::testing
