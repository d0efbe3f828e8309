// CUDA's host code over the fake driver: what reaches the driver, in which order, and what is given
// back at the end.
#include <gmock/gmock.h>

#include <cstring>
#include <thread>
#include <vector>

#include "abi_objects.hpp"
#include "fake_cuda.hpp"
#include "injector.hpp"
#include "late.hpp"

namespace {

struct Cuda : testing::Test {
  void SetUp() override {
    fake_cuda::reset();
    faults::plan.reset();
    trine::cuda::replace_driver(&fake_cuda::table());
    ASSERT_EQ(trine_backend_v1(&host.services, &backend), TRINE_OK);
  }
  void TearDown() override {
    EXPECT_EQ(fake_cuda::leftovers(), "");
    EXPECT_EQ(host.alive, 0);
  }
  inline static faults::Host host;  // a backend keeps its first host for good
  const trine_backend* backend = nullptr;
};

TEST_F(Cuda, tells_what_the_driver_says) {
  const faults::Device gpu(*backend);
  trine_device_facts facts{};
  facts.size = sizeof facts;
  gpu.check(backend->device_facts(gpu.device, &facts));
  EXPECT_STREQ(facts.name, "Fake GPU");
  EXPECT_STREQ(facts.pci, "0000:3b:00.0");
  EXPECT_EQ(facts.uuid[15], 7);
  EXPECT_EQ(facts.compute_units, 132u);
  EXPECT_EQ(facts.version_major, 9u);
  EXPECT_TRUE(facts.capabilities & TRINE_CAN_REPRODUCE) << facts.probe;
  EXPECT_NEAR(facts.peak_f32, 2.0 * 128 * 132 * 1.98e9, 1e9);
  EXPECT_NEAR(facts.peak_bandwidth, 4.917e12, 1e9);
}

TEST_F(Cuda, opening_twice_shares_one_context) {
  const faults::Device first(*backend), second(*backend);
  EXPECT_EQ(first.device, second.device);
}

TEST_F(Cuda, an_unknown_device_or_option_is_refused) {
  trine_device* device = nullptr;
  EXPECT_EQ(backend->device_open(1, "", &device), TRINE_NOT_FOUND);
  EXPECT_STREQ(backend->last_error(), "no device cuda:1; there is 1");
  EXPECT_EQ(backend->device_open(0, "threads=8", &device), TRINE_NOT_FOUND);
}

TEST_F(Cuda, restores_the_callers_context) {
  trine::cuda::Context const theirs = reinterpret_cast<trine::cuda::Context>(0x1234);
  fake_cuda::plain().cuCtxPushCurrent(theirs);
  {
    const faults::Device gpu(*backend);
    const auto queue = gpu.queue();
    const auto buffer = gpu.buffer(64);
    const uint32_t value = 3;
    gpu.check(backend->fill(queue.get(), gpu.native(buffer), 0, 64, &value, 4));
    gpu.wait(queue);
    trine::cuda::Context now = nullptr;
    fake_cuda::plain().cuCtxGetCurrent(&now);
    EXPECT_EQ(now, theirs);
  }
  trine::cuda::Context popped = nullptr;
  fake_cuda::plain().cuCtxPopCurrent(&popped);
  EXPECT_EQ(popped, theirs);
}

TEST_F(Cuda, copies_rows_with_gaps_both_ways_and_across) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto one = gpu.buffer(4096), two = gpu.buffer(4096);
  std::vector<char> in(4096), out(4096, 'x');
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<char>(i * 7);
  gpu.copy_rows(queue, TRINE_HOST_TO_DEVICE, in.data(), 100, gpu.native(one), 64, 50, 20);
  gpu.copy_rows(queue, TRINE_DEVICE_TO_DEVICE, gpu.native(one), 64, gpu.native(two), 50, 50, 20);
  gpu.copy_rows(queue, TRINE_DEVICE_TO_HOST, gpu.native(two), 50, out.data(), 70, 50, 20);
  gpu.wait(queue);
  for (size_t row = 0; row < 20; ++row) {
    EXPECT_EQ(std::memcmp(&out[row * 70], &in[row * 100], 50), 0) << row;
    EXPECT_EQ(out[row * 70 + 50], 'x');
  }
}

TEST_F(Cuda, copies_take_host_memory_when_the_queue_comes_to_them) { faults::copy_late(*backend); }

TEST_F(Cuda, copies_rows_further_apart_than_the_driver_can) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const uint64_t pitch = (1 << 20) + 64;  // the fake driver's limit is 2^20
  const auto buffer = gpu.buffer(3 * pitch);
  const char in[12] = "first......";
  char out[12] = "";
  gpu.copy_rows(queue, TRINE_HOST_TO_DEVICE, in, 4, gpu.native(buffer), pitch, 4, 3);
  gpu.copy_rows(queue, TRINE_DEVICE_TO_HOST, gpu.native(buffer), pitch, out, 4, 4, 3);
  gpu.wait(queue);
  EXPECT_EQ(std::memcmp(in, out, 12), 0);
}

TEST_F(Cuda, fills_with_every_width) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto buffer = gpu.buffer(96);
  const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
    unsigned char out[96];
    const uint32_t poison = 0;
    gpu.check(backend->fill(queue.get(), gpu.native(buffer), 0, 96, &poison, 4));
    gpu.check(backend->fill(queue.get(), gpu.native(buffer), 16, 64, pattern, width));
    gpu.copy(queue, TRINE_DEVICE_TO_HOST, gpu.native(buffer), out, 96);
    gpu.wait(queue);
    for (size_t i = 0; i < 96; ++i) {
      EXPECT_EQ(out[i], i < 16 || i >= 80 ? 0 : pattern[(i - 16) % width]) << width << " " << i;
    }
  }
  EXPECT_EQ(backend->fill(queue.get(), gpu.native(buffer), 0, 96, pattern, 3),
            TRINE_INVALID_ARGUMENT);
}

TEST_F(Cuda, fills_views_of_any_strides_by_one_launch) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto buffer = gpu.buffer(8192);
  const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const uint32_t width : {1u, 2u, 4u, 8u, 16u}) {
    std::vector<unsigned char> out(8192), wanted(8192);
    const uint32_t zero = 0;
    gpu.check(backend->fill(queue.get(), gpu.native(buffer), 0, 8192, &zero, 4));
    const trine_view view{gpu.native(buffer), 32, 4, 5, 3, 12, 2, 60};
    const size_t launches = fake_cuda::launches().size();
    gpu.check(backend->fill_view(queue.get(), &view, pattern, width));
    EXPECT_EQ(fake_cuda::launches().size(), launches + 1);
    gpu.copy(queue, TRINE_DEVICE_TO_HOST, gpu.native(buffer), out.data(), 8192);
    gpu.wait(queue);
    for (size_t b = 0; b < 3; ++b)
      for (size_t i = 0; i < 4; ++i)
        for (size_t j = 0; j < 5; ++j)
          std::memcpy(&wanted[32 + width * (60 * b + 12 * i + 2 * j)], pattern, width);
    EXPECT_EQ(out, wanted) << width;
  }
}

TEST_F(Cuda, a_row_repeated_a_million_times_takes_few_commands) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  constexpr uint64_t rows = 1'000'003;
  const auto buffer = gpu.buffer(4 * rows);
  const char row[2] = {'a', 'b'};
  gpu.copy_rows(queue, TRINE_HOST_TO_DEVICE, row, 0, gpu.native(buffer), 4, 2, rows);
  std::vector<char> out(4 * rows);
  gpu.copy(queue, TRINE_DEVICE_TO_HOST, gpu.native(buffer), out.data(), out.size());
  gpu.wait(queue);
  for (uint64_t i = 0; i < rows; ++i) ASSERT_EQ(std::memcmp(&out[4 * i], row, 2), 0) << i;
}

TEST_F(Cuda, an_event_orders_two_queues) {
  const faults::Device gpu(*backend);
  const auto first = gpu.queue(), second = gpu.queue();
  const auto gate = gpu.event(true), done = gpu.event();
  const auto buffer = gpu.buffer(4), pinned = gpu.buffer(4, TRINE_MEMORY_PINNED);
  const uint32_t one = 1;
  auto& seen = *static_cast<uint32_t*>(gpu.facts(pinned).host);
  seen = 0;
  gpu.check(backend->queue_wait_event(first.get(), gate.get()));
  gpu.check(backend->fill(first.get(), gpu.native(buffer), 0, 4, &one, 4));
  gpu.check(backend->event_record(done.get(), first.get()));
  gpu.check(backend->queue_wait_event(second.get(), done.get()));
  gpu.copy(second, TRINE_DEVICE_TO_HOST, gpu.native(buffer), &seen, 4);
  EXPECT_EQ(backend->queue_query(second.get()), TRINE_NOT_READY);
  EXPECT_EQ(backend->event_query(done.get()), TRINE_NOT_READY);
  EXPECT_EQ(seen, 0u);
  gpu.check(backend->event_signal(gate.get()));
  gpu.wait(second);
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(backend->event_query(done.get()), TRINE_OK);
}

TEST_F(Cuda, a_flag_serves_the_next_event) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  for (int i = 0; i < 3000; ++i) {  // more than a block of flags, one after the other
    const auto event = gpu.event(true);
    gpu.check(backend->queue_wait_event(queue.get(), event.get()));
    EXPECT_EQ(backend->queue_query(queue.get()), TRINE_NOT_READY);
    gpu.check(backend->event_signal(event.get()));
    EXPECT_EQ(backend->queue_query(queue.get()), TRINE_OK);
  }
  std::vector<faults::Device::Handle<trine_event>> many;
  many.reserve(1500);
  for (int i = 0; i < 1500; ++i) many.push_back(gpu.event(true));
}

TEST_F(Cuda, an_event_destroyed_before_its_signal_holds_nobody_back) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  auto event = gpu.event(true);
  gpu.check(backend->queue_wait_event(queue.get(), event.get()));
  event.reset();
  gpu.wait(queue);
}

TEST_F(Cuda, a_notice_comes_once_after_its_event) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto gate = gpu.event(true), event = gpu.event();
  int calls = 0;
  const auto count = [](void* counter) { ++*static_cast<int*>(counter); };
  gpu.check(backend->queue_wait_event(queue.get(), gate.get()));
  gpu.check(backend->event_record(event.get(), queue.get()));
  gpu.check(backend->event_notify(event.get(), count, &calls));
  gpu.check(backend->event_notify(gate.get(), count, &calls));
  EXPECT_EQ(backend->queue_query(queue.get()), TRINE_NOT_READY);
  EXPECT_EQ(calls, 0);
  gpu.check(backend->event_signal(gate.get()));
  gpu.wait(queue);
  EXPECT_EQ(calls, 2);
  gpu.check(backend->event_notify(gate.get(), count, &calls));
  gpu.check(backend->event_notify(event.get(), count, &calls));
  gpu.wait(queue);
  EXPECT_EQ(calls, 4);
}

TEST_F(Cuda, waits_for_a_signal_of_another_thread) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto gate = gpu.event(true);
  gpu.check(backend->queue_wait_event(queue.get(), gate.get()));
  std::thread other([&] { backend->event_signal(gate.get()); });
  gpu.wait(queue);
  gpu.check(backend->event_wait(gate.get()));
  other.join();
}

TEST_F(Cuda, gives_the_time_between_events) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto start = gpu.event(), stop = gpu.event(), by_host = gpu.event(true);
  gpu.check(backend->event_record(start.get(), queue.get()));
  gpu.check(backend->event_record(stop.get(), queue.get()));
  gpu.check(backend->event_wait(stop.get()));
  double seconds = 0;
  gpu.check(backend->event_elapsed(start.get(), stop.get(), &seconds));
  EXPECT_DOUBLE_EQ(seconds, 1e-3);
  EXPECT_EQ(backend->event_elapsed(start.get(), by_host.get(), &seconds), TRINE_INVALID_ARGUMENT);
}

TEST_F(Cuda, knows_pinned_wrapped_and_adopted_memory) {
  const faults::Device gpu(*backend);
  const auto pinned = gpu.buffer(1000, TRINE_MEMORY_PINNED);
  EXPECT_EQ(gpu.facts(pinned).host, gpu.native(pinned));
  std::vector<char> mine(500);
  trine_buffer* made = nullptr;
  gpu.check(backend->buffer_wrap(gpu.device, mine.data(), mine.size(), &made));
  const faults::Device::Handle<trine_buffer> wrapped(made, backend->buffer_free);
  EXPECT_EQ(gpu.native(wrapped), mine.data());
  gpu.check(backend->buffer_adopt(gpu.device, gpu.native(pinned), 1000, &made));
  backend->buffer_free(made);
  int outside = 0;
  EXPECT_EQ(backend->buffer_adopt(gpu.device, &outside, 4, &made), TRINE_INVALID_ARGUMENT);
}

TEST_F(Cuda, wraps_a_range_again_and_a_part_of_it) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  std::string mine(600, 'a');
  const auto wrap = [&](size_t offset, size_t bytes) {
    trine_buffer* made = nullptr;
    gpu.check(backend->buffer_wrap(gpu.device, &mine[offset], bytes, &made));
    return faults::Device::Handle<trine_buffer>(made, backend->buffer_free);
  };
  auto whole = wrap(0, 500), again = wrap(0, 500), part = wrap(100, 50);
  whole.reset();
  again.reset();
  const char value = 'b';  // still pinned, for the part's sake
  gpu.check(backend->fill(queue.get(), gpu.native(part), 0, 50, &value, 1));
  gpu.wait(queue);
  EXPECT_EQ(mine.substr(99, 52), "a" + std::string(50, 'b') + "a");

  trine_buffer* made = nullptr;
  EXPECT_EQ(backend->buffer_wrap(gpu.device, &mine[400], 200, &made), TRINE_UNSUPPORTED);
  EXPECT_THAT(backend->last_error(), testing::HasSubstr("wrap the whole range once"));
  part.reset();
  const auto free_again = wrap(400, 200);
}

TEST_F(Cuda, leaves_what_the_program_pinned_to_the_program) {
  const faults::Device gpu(*backend);
  void *device = nullptr, *context = nullptr;
  gpu.check(backend->device_native(gpu.device, &device, &context));
  fake_cuda::plain().cuCtxPushCurrent(static_cast<trine::cuda::Context>(context));
  std::string mine(500, 'a');
  fake_cuda::plain().cuMemHostRegister(mine.data(), 400, 0);
  trine_buffer* made = nullptr;
  gpu.check(backend->buffer_wrap(gpu.device, &mine[100], 300, &made));
  backend->buffer_free(made);
  EXPECT_EQ(backend->buffer_wrap(gpu.device, &mine[100], 400, &made), TRINE_UNSUPPORTED);
  // Its two ends are pinned, each for itself; what lies between is not.
  fake_cuda::plain().cuMemHostRegister(&mine[450], 50, 0);
  EXPECT_EQ(backend->buffer_wrap(gpu.device, mine.data(), 500, &made), TRINE_UNSUPPORTED);
  EXPECT_EQ(fake_cuda::plain().cuMemHostUnregister(&mine[450]), trine::cuda::kSuccess);
  EXPECT_EQ(fake_cuda::plain().cuMemHostUnregister(mine.data()), trine::cuda::kSuccess);
  trine::cuda::Context popped = nullptr;
  fake_cuda::plain().cuCtxPopCurrent(&popped);
}

// A call on host data has two buffers or three, and so has the next one.
TEST_F(Cuda, a_pools_memory_lasts_from_call_to_call) {
  const faults::Device gpu(*backend);
  const int before = fake_cuda::mapped();
  for (int call = 0; call < 3; ++call) {
    const auto input = gpu.buffer(1 << 20), output = gpu.buffer(1 << 20);
    EXPECT_EQ(fake_cuda::mapped(), before + 2) << call;
  }
}

// Waiting would take the pool's memory; asking would go on as long as another library's work does.
TEST_F(Cuda, waits_for_memory_that_is_late_when_it_has_asked_for_a_while) {
  const faults::Device gpu(*backend);
  for (const bool late : {false, true}) {
    fake_cuda::set_memory_is_late(late);
    const int before = fake_cuda::host_waits();
    const auto buffer = gpu.buffer(64);
    EXPECT_EQ(fake_cuda::host_waits() - before, late ? 1 : 0);
  }
}

TEST_F(Cuda, allocates_without_pools_too) {
  fake_cuda::set_has_pools(false);
  const faults::Device gpu(*backend);
  const auto buffer = gpu.buffer(1000);
  EXPECT_EQ(gpu.facts(buffer).bytes, 1000u);
  trine_buffer* made = nullptr;
  EXPECT_EQ(backend->buffer_allocate(gpu.device, uint64_t{1} << 40, TRINE_MEMORY_DEVICE, &made),
            TRINE_UNSUPPORTED);
}

// No other process could open it.
TEST_F(Cuda, memory_that_MPI_is_given_is_not_of_a_pool) {
  for (const char* const word : {"direct", "staged"}) {
    setenv("TRINE_MPI_DEVICE_MEMORY", word, 1);
    const faults::Device gpu(*backend);
    unsetenv("TRINE_MPI_DEVICE_MEMORY");
    const int before = fake_cuda::mapped();
    const auto buffer = gpu.buffer(1000);
    EXPECT_EQ(fake_cuda::mapped() - before, word[0] == 'd' ? 0 : 1) << word;
  }
}

TEST_F(Cuda, uses_a_stream_of_the_program_and_leaves_it_alive) {
  const faults::Device gpu(*backend);
  void *device = nullptr, *context = nullptr;
  gpu.check(backend->device_native(gpu.device, &device, &context));
  fake_cuda::plain().cuCtxPushCurrent(static_cast<trine::cuda::Context>(context));
  trine::cuda::Stream theirs = nullptr;
  fake_cuda::plain().cuStreamCreate(&theirs, 0);
  trine_queue* queue = nullptr;
  gpu.check(backend->queue_adopt(gpu.device, theirs, &queue));
  EXPECT_EQ(backend->queue_native(queue), theirs);
  gpu.check(backend->queue_wait(queue));
  backend->queue_destroy(queue);
  EXPECT_EQ(fake_cuda::plain().cuStreamDestroy(theirs), 0);
  trine::cuda::Context popped = nullptr;
  fake_cuda::plain().cuCtxPopCurrent(&popped);
}

TEST_F(Cuda, a_capture_takes_copies_from_pinned_memory_and_survives_the_others) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto buffer = gpu.buffer(64), pinned = gpu.buffer(64, TRINE_MEMORY_PINNED);
  auto* const stream = static_cast<trine::cuda::Stream>(backend->queue_native(queue.get()));
  const char pageable[64] = "";
  const trine_copy copy{
      sizeof copy, TRINE_HOST_TO_DEVICE, pageable, gpu.native(buffer), 0, 0, 64, 64, 64, 1};
  fake_cuda::set_captured(stream, true);
  EXPECT_EQ(backend->copy(queue.get(), &copy), TRINE_UNSUPPORTED);
  EXPECT_THAT(backend->last_error(), testing::HasSubstr("captured into a graph; pin the memory"));
  gpu.copy(queue, TRINE_HOST_TO_DEVICE, gpu.facts(pinned).host, gpu.native(buffer), 64);
  EXPECT_TRUE(fake_cuda::is_capture_intact(stream));
  fake_cuda::set_captured(stream, false);
}

TEST_F(Cuda, a_capture_takes_calls_that_load_kernels_and_get_memory) {
  const faults::Device gpu(*backend);
  const auto queue = gpu.queue();
  const auto in = gpu.buffer(256), out = gpu.buffer(256);
  auto* const stream = static_cast<trine::cuda::Stream>(backend->queue_native(queue.get()));
  const trine_transpose op = faults::transpose_of(gpu.native(in), gpu.native(out), 8, 8);
  const trine_call call{sizeof call, TRINE_TRANSPOSE, &op};
  const trine_selection naive = gpu.select(TRINE_TRANSPOSE, "naive");
  int32_t captured = 1;
  EXPECT_EQ(backend->queue_is_captured(queue.get(), &captured), TRINE_OK);
  EXPECT_EQ(captured, 0);
  fake_cuda::set_captured(stream, true);
  EXPECT_EQ(backend->queue_is_captured(queue.get(), &captured), TRINE_OK);
  EXPECT_EQ(captured, 1);
  EXPECT_EQ(backend->launch(queue.get(), &naive, &call, nullptr), TRINE_OK);
  trine_buffer* workspace = nullptr;
  gpu.check(backend->queue_allocate(queue.get(), 64, &workspace));
  EXPECT_TRUE(fake_cuda::is_capture_intact(stream));
  int mode = 0;
  fake_cuda::plain().cuThreadExchangeStreamCaptureMode(&mode);
  EXPECT_EQ(mode, 0) << "the thread has the mode that it had";
  fake_cuda::set_captured(stream, false);
  backend->buffer_free(workspace);
}

TEST_F(Cuda, objects_outlive_a_device_closed_early) {
  auto gpu = std::make_unique<faults::Device>(*backend);
  auto queue = gpu->queue();
  auto buffer = gpu->buffer(16);
  gpu.reset();
  const uint32_t one = 1;
  EXPECT_EQ(backend->fill(queue.get(), buffer.get() ? [&] {
              trine_buffer_facts facts{};
              facts.size = sizeof facts;
              backend->buffer_facts(buffer.get(), &facts);
              return facts.native;
            }() : nullptr, 0, 16, &one, 4), TRINE_OK);
}

TEST_F(Cuda, a_sticky_error_loses_the_device_and_a_new_one_can_be_opened) {
  {
    const faults::Device gpu(*backend);
    const auto queue = gpu.queue();
    const auto event = gpu.event();
    fake_cuda::break_device(700);
    EXPECT_EQ(backend->queue_wait(queue.get()), TRINE_DEVICE_LOST);
    fake_cuda::break_device(0);
    EXPECT_EQ(backend->queue_wait(queue.get()), TRINE_DEVICE_LOST);
    EXPECT_NE(std::string(backend->last_error()).find("cuda:0 is lost"), std::string::npos);
    int calls = 0;
    EXPECT_EQ(backend->event_notify(
                  event.get(), [](void* n) { ++*static_cast<int*>(n); }, &calls),
              TRINE_OK);
    EXPECT_EQ(calls, 1) << "whoever waits for a notice must get it";
    const faults::Device fresh(*backend);
    const auto works = fresh.queue();
    fresh.wait(works);
  }
  fake_cuda::reset();  // what a lost context held, its driver gives back
}

TEST_F(Cuda, without_a_driver_there_are_no_devices_and_a_reason) {
  fake_cuda::break_device(100);
  int count = -1;
  EXPECT_EQ(backend->device_count(&count), TRINE_OK);
  EXPECT_EQ(count, 0);
  EXPECT_NE(std::string(backend->last_error()).find("offers no device"), std::string::npos);
}

}  // namespace
