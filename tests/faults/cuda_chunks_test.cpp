// Calls on host data in chunks: what the library's core has the fake driver do, in which order.
#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "fake_state.hpp"
#include "tests/unit/fixture.hpp"

namespace trine::testing {
namespace {

using cuda::Enqueued;

struct CudaChunks : ::testing::Test {
  static constexpr int kChunks = 8;
  static constexpr int64_t kSide = 256;
  Device device = open("cuda:0");
  cuda::CUctx_st& context = *static_cast<cuda::CUctx_st*>(device.native().context);
  std::vector<Enqueued>& enqueued = context.enqueued;
  Buffer input{device, kSide*kSide * 4, Memory::pinned},
      output{device, kSide*kSide * 4, Memory::pinned};
  HostOptions options{.device = "cuda:0", .pinned = true, .chunks = kChunks};
  CudaChunks() { release_idle(); }
  ~CudaChunks() override { release_idle(); }

  static void turn(const Buffer& from, const Buffer& to, const HostOptions& how) {
    transpose(kSide, kSide, static_cast<const float*>(from.host()), static_cast<float*>(to.host()),
              how);
  }
  std::set<cuda::Stream> streams_of(Enqueued::What what) const {
    std::set<cuda::Stream> found;
    for (const Enqueued& one : enqueued)
      if (one.what == what) found.insert(one.stream);
    return found;
  }
  /// For each copy out, how many copies in must have ended before it, by streams and events.
  std::vector<int> awaited() const {
    std::map<cuda::Stream, int> streams;
    std::map<cuda::NativeEvent, int> events;
    std::vector<int> found;
    int copies = 0;
    for (const auto& [what, stream, event] : enqueued) {
      int& here = streams[stream];
      switch (what) {
        case Enqueued::kCopyIn: here = ++copies; break;
        case Enqueued::kRecord: events[event] = here; break;
        case Enqueued::kWait: here = std::max(here, events[event]); break;
        case Enqueued::kCopyOut: found.push_back(here); break;
        case Enqueued::kHostWaits:
        case Enqueued::kLaunch: break;
      }
    }
    return found;
  }
};

TEST_F(CudaChunks, ACopyOutAwaitsTheCopiesInUpToItsOwn) {
  std::vector<int> own(kChunks);
  for (int i = 0; i < kChunks; ++i) own[size_t(i)] = i + 1;
  HostTrace trace;
  for (HostTrace* const traced : {&trace, static_cast<HostTrace*>(nullptr), &trace}) {
    options.trace = traced;
    enqueued.clear();
    turn(input, output, options);
    EXPECT_EQ(awaited(), own);
  }
}

/// So the next copy is there when one ends.
TEST_F(CudaChunks, TheHostWaitsWhenAllIsEnqueued) {
  enqueued.clear();
  turn(input, output, options);
  const auto waits = std::ranges::find(enqueued, Enqueued::kHostWaits, &Enqueued::what);
  EXPECT_EQ(std::count_if(enqueued.begin(), waits,
                          [](const Enqueued& one) { return one.what == Enqueued::kCopyOut; }),
            kChunks);
}

/// On a stream that had copies in, a driver may put what comes next behind the copies in of all
/// streams.
TEST_F(CudaChunks, StreamsKeepTheirDirectionFromCallToCall) {
  enqueued.clear();
  for (int call = 0; call < 3; ++call) turn(input, output, options);
  const std::set<cuda::Stream> fetching = streams_of(Enqueued::kCopyOut);
  EXPECT_EQ(fetching.size(), 1u);
  HostOptions whole = options;
  whole.overlap = false;
  turn(input, output, whole);
  {
    const Buffer more(device, output.bytes(), Memory::pinned);
    std::jthread other([&] {
      for (int call = 0; call < 8; ++call) turn(input, more, options);
    });
    for (int call = 0; call < 8; ++call) turn(input, output, options);
  }
  turn(input, output, options);
  const std::set<cuda::Stream> bringing = streams_of(Enqueued::kCopyIn);
  for (const cuda::Stream stream : fetching) EXPECT_FALSE(bringing.contains(stream));
  enqueued.clear();
  turn(input, output, whole);  // copies in and out, on a stream of its own
  const std::set<cuda::Stream> both = streams_of(Enqueued::kCopyOut);
  enqueued.clear();
  turn(input, output, options);
  for (const cuda::Stream stream : streams_of(Enqueued::kCopyIn))
    EXPECT_FALSE(both.contains(stream));
}

TEST_F(CudaChunks, TheNextCallHasTheLastOnesMemory) {
  turn(input, output, options);
  const int before = context.mapped;
  for (int call = 0; call < 3; ++call) {
    options.overlap = call != 1;
    turn(input, output, options);
  }
  EXPECT_EQ(context.mapped, before);
}

}  // namespace
}  // namespace trine::testing
