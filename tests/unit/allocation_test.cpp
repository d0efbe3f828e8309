// The Nth host allocation fails, once and from then on: no crash, no leak, nothing written, and the
// next call is right. The seam is trine_test_host, through which core and backends take all memory.
#include "backends/services.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <new>

#include "core/src/runtime/persistent_file.hpp"
#include "entries.hpp"
#include "fixture.hpp"

namespace {
/// C++ allocations of this thread that still succeed; negative: all do.
thread_local long news = -1;
/// Whether all fail from the first failure on.
thread_local bool all_fail = false;
thread_local bool has_failed = false;
}  // namespace

// Not inlined: g++ 12 would take std::free for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (news >= 0 && news-- == 0) {
    has_failed = true;
    if (all_fail) news = 0;
    throw std::bad_alloc();
  }
  if (void* pointer = std::malloc(bytes ? bytes : 1)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept try {
  return operator new(bytes);
} catch (const std::bad_alloc&) { return nullptr; }
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }

namespace trine::testing {
namespace {

struct Failing {
  std::atomic<long> until{-1};  ///< allocations that still succeed; negative: all do
  bool once = true;
  std::atomic<long> fired{0}, alive{0};
};
Failing failing;

void* allocate(void*, size_t bytes, size_t alignment) {
  if (failing.until.load() >= 0) {
    const long left = failing.until.fetch_sub(1);
    if (left == 0) {
      ++failing.fired;
      if (!failing.once) failing.until = 0;
      return nullptr;
    }
  }
  void* pointer = nullptr;
  if (posix_memalign(&pointer, alignment < sizeof(void*) ? sizeof(void*) : alignment,
                     bytes ? bytes : 1))
    return nullptr;
  ++failing.alive;
  return pointer;
}
void release(void*, void* pointer) {
  if (pointer) --failing.alive;
  std::free(pointer);
}

constexpr trine_host kHost{sizeof(trine_host), nullptr, &allocate, &release};

/// The program whose allocations fail: its whole run, from opening the device to the result.
float whole_road(std::vector<float>& output) {
  // Outlives what an exception leaves in flight, at the program's end, too: host memory is the
  // caller's until the queue passed.
  static const auto& values = *new std::vector<float>(64, 1.0f);
  const Device device = open("fake:0:as=program");
  Queue queue(device), second(device);
  const Buffer input(device, 256), result(device, 4);
  copy(queue, host_vector(values.data(), Dtype::f32, 64), vector(input, Dtype::f32, 64));
  second.wait(queue.record());
  run(second,
      Reduce{.input = vector(input, Dtype::f32, 64), .output = vector(result, Dtype::f32, 1)});
  copy(second, vector(result, Dtype::f32, 1), host_vector(output.data(), Dtype::f32, 1));
  second.wait();
  queue.wait();
  return output[0];
}

class NthAllocation : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    trine_test_host(&kHost);
    failing.once = GetParam();
  }
  void TearDown() override {
    failing.until = -1;
    // Everything of this test goes back through the seam before the seam does.
    EXPECT_TRUE(eventually([] {
      Queue another(open("fake:0"));
      return true;
    }));
  }
};

TEST_P(NthAllocation, IsSurvivedAnywhereOnTheRoad) {
  const Device keeper = open("fake:0");  // the backend's first device
  std::vector<float> output(1);
  EXPECT_EQ(whole_road(output), 64);
  int failures = 0;
  for (long n = 0; n < 200; ++n) {
    failing.fired = 0;
    failing.until = n;
    output[0] = -1;
    const Refusal refusal = refusal_of([&] { whole_road(output); });
    failing.until = -1;
    if (failing.fired == 0) {
      EXPECT_EQ(refusal.status, Status::ok) << refusal.sentence;
      EXPECT_GT(failures, 10);
      return;
    }
    ++failures;
    // A failure in a destructor is put off, not thrown: then the program came to its end.
    EXPECT_TRUE(refusal.status == Status::out_of_memory || output[0] == 64)
        << n << ": " << refusal.sentence;
    EXPECT_EQ(whole_road(output), 64) << "after the failure of allocation " << n;
  }
  FAIL() << "the program has more than 200 allocations";
}

TEST_P(NthAllocation, OfACallWithAnEventIsToldByTheCallOrByTheEvent) {
  const Device keeper = open("fake:0");
  static const std::vector<float> values(64, 1.0f);
  static float result;
  const auto call = [] {
    Event event;
    reduce(Function::sum, Map::identity, Axis::all, host_vector(values.data(), Dtype::f32, 64),
           host_vector(&result, Dtype::f32, 1), {.device = "fake:0", .event = &event});
    event.wait();
    return result;
  };
  for (const bool by_new : {true, false}) {
    bool failed = true;
    for (long n = 0; failed; ++n) {
      ASSERT_LT(n, 200);
      failing.fired = 0;
      result = -1;
      by_new ? news = n : failing.until = n;
      const Refusal refusal = refusal_of(call);
      failed = by_new ? news < 0 : failing.fired > 0;
      news = failing.until = -1;
      EXPECT_TRUE(refusal.status == Status::out_of_memory || result == 64) << refusal.sentence;
      EXPECT_EQ(call(), 64) << "after the failure of allocation " << n;
      EXPECT_TRUE(failed || n > 2);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, NthAllocation, ::testing::Values(true, false),
                         [](const auto& test) { return test.param ? "Once" : "FromThenOn"; });

/// Fails each C++ allocation of body() in turn, alone or with all that come after it, until there
/// is none left to fail: nothing but Error leaves it. Returns how many there are. `unnoticed`
/// counts failures of which no out_of_memory told.
template <class Body>
int fail_every_new(const char* what, bool forever, int& unnoticed, Body&& body) {
  for (int failures = 0; failures < 3000; ++failures) {
    Status status = Status::ok;
    news = failures;
    all_fail = forever;
    has_failed = false;
    try {
      body();
    } catch (const Error& error) { status = error.status(); } catch (const std::exception& error) {
      news = -1;
      ADD_FAILURE() << what << ": allocation " << failures << (forever ? " and all later ones" : "")
                    << ": an exception that is no Error: " << error.what();
    }
    news = -1;
    if (!has_failed) return failures;
    if (status != Status::out_of_memory) ++unnoticed;
  }
  ADD_FAILURE() << what << ": no end of allocations";
  return 0;
}

template <class Body>
void survives_every_new(const char* what, Body&& body) {
  for (const bool forever :
       {true, false}) {  // what stays made in between stays: fewer the second time
    int unnoticed = 0;
    const int count = fail_every_new(what, forever, unnoticed, body);
    EXPECT_EQ(unnoticed, 0) << what;
    EXPECT_GT(count, forever ? 1 : 0) << what;
  }
}

TEST(EveryEntry, LetsNothingButErrorOutWhereverMemoryEnds) {
  Operands operands("fake:0", 64, 8);
  operands.another = "fake:1:as=another";
  const std::vector<float> before = operands.values;
  for (const Entry& entry : every_entry())
    for (const bool forever : {true, false}) {
      int unnoticed = 0;
      const auto fail = [&](auto&& call) {
        if (call) fail_every_new(entry.name, forever, unnoticed, [&] { call(operands); });
      };
      fail(entry.is_right);
      fail(entry.is_refused);
      // A call does without what it can do without; and then it works.
      EXPECT_EQ(operands.values, before) << entry.name;
    }
  EXPECT_EQ(sum(operands.values, operands.on), operands.total());
}

TEST(EveryEntry, LetsNothingButErrorOutWhereNothingCanBeAllocated) {
  const Device keeper = open("fake:0");
  const std::string absent = "a device whose name is longer than a short string";
  news = 0;
  all_fail = true;
  Status status = Status::ok;
  bool is_sentence = false;
  try {
    open(absent);
  } catch (const Error& error) {
    status = error.status();
    is_sentence = std::string_view(error.what()) == "Host memory is exhausted.";
  }
  news = -1;
  EXPECT_EQ(status, Status::out_of_memory);
  EXPECT_TRUE(is_sentence);
}

TEST(Devices, SurviveEveryFailedAllocation) {
  survives_every_new("the first backends", [] { backends(); });
  const Device keeper = open("fake:0");
  survives_every_new("backends", [] { backends(); });
  survives_every_new("search_path", [] { search_path(); });
  survives_every_new("rungs", [&] { static_cast<void>(keeper.rungs(Operation::reduce)); });
  survives_every_new("open", [] { open("fake:1:as=another"); });
  survives_every_new("open, wrongly", [] { open("nothing like it"); });
  const Choice choice = choose(
      keeper, Reduce{.input = vector({}, Dtype::f32, 9), .output = vector({}, Dtype::f32, 1)});
  survives_every_new("Choice::rung", [&] { choice.rung(); });
  survives_every_new("Choice::sentence", [&] { choice.sentence(); });
}

TEST(Packs, AreAppendedWholeAndOnceWhereverMemoryEnds) {
  const Device device = open("other:0");
  const size_t before = device.rungs(Operation::reduce).size();
  const std::string folder = TRINE_TEST_LATER;
  std::vector<BackendInfo> found;
  survives_every_new("load_packs", [&] { found = load_packs(folder); });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].reason, "");
  std::vector<std::string> names;
  for (const RungInfo& rung : device.rungs(Operation::reduce)) {
    EXPECT_EQ(std::find(names.begin(), names.end(), rung.name), names.end()) << rung.name;
    names.push_back(rung.name);
  }
  EXPECT_GT(names.size(), before);
}

// Files of measurements are core's own, made of strings: their allocations are C++'s.
TEST(PersistentFile, SurvivesEveryFailedAllocation) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(::testing::TempDir()) / ("trine-news-" + std::to_string(getpid()));
  setenv("TRINE_DATA_DIR", folder.c_str(), 1);
  detail::PersistentKey key;
  key.label = "fake";
  key.add("host", "A CPU whose name is longer than a short string", true);
  const std::vector<std::string> old(3, std::string(40, 'o')), next(3, std::string(40, 'n'));
  const std::string path = detail::write_persistent("table", 1, key, old);
  int failures = 0;
  for (bool failed = true; failed; ++failures) {
    ASSERT_LT(failures, 500);
    failed = false;
    news = failures;
    try {
      detail::write_persistent("table", 1, key, next);
    } catch (const std::bad_alloc&) { failed = true; }
    news = failures;
    try {
      detail::read_persistent("table", 1, key);
    } catch (const std::bad_alloc&) {}
    news = -1;
    EXPECT_EQ(detail::read_persistent("table", 1, key).rows, failed ? old : next) << failures;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << failures;
  }
  EXPECT_GT(failures, 10);
  fs::remove_all(folder);
  setenv("TRINE_DATA_DIR", "", 1);
}

}  // namespace
}  // namespace trine::testing
