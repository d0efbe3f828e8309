// Devices by name: what opens, what doesn't and what the error then says; ladders and packs.
#include <dlfcn.h>

#include <algorithm>

#include "backends/kit/mpi_job.hpp"
#include "fixture.hpp"

namespace trine::testing {
namespace {

const BackendInfo* find(const std::vector<BackendInfo>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& info) { return info.name == name; });
  return found == all.end() ? nullptr : &*found;
}

TEST(Devices, AreListedWithTheirFacts) {
  const std::vector<BackendInfo> all = backends();
  const BackendInfo* fake = find(all, "fake");
  ASSERT_NE(fake, nullptr);
  EXPECT_EQ(fake->path, TRINE_TEST_FAKES "/trine_fake.so");
  EXPECT_EQ(fake->build, "C11, for tests");
  EXPECT_EQ(fake->reason, "");
  ASSERT_EQ(fake->devices.size(), 2u);
  EXPECT_EQ(fake->devices[1].id, "fake:1");
  EXPECT_EQ(fake->devices[1].name, "fake device 1");
  EXPECT_EQ(fake->devices[0].kind, DeviceKind::gpu);
  const BackendInfo* pack = find(all, "pack_for_fake");
  ASSERT_NE(pack, nullptr);
  EXPECT_EQ(pack->extends, "fake");
  EXPECT_EQ(search_path().front(), TRINE_TEST_FAKES);
  std::vector<std::string> ids, listed;
  for (const Facts& facts : devices()) ids.push_back(facts.id);
  for (const BackendInfo& info : all)
    for (const Facts& facts : info.devices) listed.push_back(facts.id);
  EXPECT_EQ(ids, listed);
}

TEST(Devices, OpenByNameAndAreTheSameAgain) {
  const Device device = open("fake:1");
  EXPECT_EQ(device.id(), "fake:1");
  EXPECT_EQ(device.backend(), "fake");
  EXPECT_TRUE(device == open("fake:1"));
  EXPECT_FALSE(device == open("fake:0"));
  EXPECT_TRUE(open("fake") == open("fake:0"));
  const Device noop = open("fake:0:mode=noop");
  EXPECT_EQ(noop.id(), "fake:0:mode=noop");
  EXPECT_FALSE(noop == open("fake:0"));
}

// As many launchers as kit/mpi_job.hpp knows.
TEST(Devices, RanksOfANodeTakeTurns) {
  const char* const launchers[][2] = {{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                      {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
                                      {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
                                      {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
                                      {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"}};
  for (const auto& [rank, ranks] : launchers) {
    setenv(ranks, "5(x2),3", 1);
    for (const auto& [number, id] : {std::pair("1", "fake:1"), {"3", "fake:1"}, {"4", "fake:0"}}) {
      setenv(rank, number, 1);
      EXPECT_EQ(open("fake").id(), id) << rank << " " << number;
      EXPECT_EQ(open("fake:as=mine").id(), std::string(id) + ":as=mine");
      EXPECT_EQ(open("fake:0").id(), "fake:0");
      EXPECT_EQ(open("other").id(), "other:0");
      EXPECT_REFUSED(Status::not_found, "No device is called", open("no"));
    }
    unsetenv(rank), unsetenv(ranks);
  }
  EXPECT_EQ(open("fake").id(), "fake:0");
}

TEST(Devices, SlurmListsTheRanksOfAllNodes) {
  using kit::number_of_node;
  const int ranks[] = {4, 4, 3, 12, 12, 12, 1};
  for (int node = 0; node < 7; ++node)
    EXPECT_EQ(number_of_node("4(x2),3,12(x3),1", node), ranks[node]) << node;
  EXPECT_EQ(number_of_node("4", 0), 4);
  for (const char* list : {"4", "3,4", "4(x2", "4(x2)"})
    EXPECT_EQ(number_of_node(list, 9), 4) << list;
  for (const char* list : {"", "3,4,"}) EXPECT_EQ(number_of_node(list, 9), 0) << list;
}

TEST(Devices, AWrongNameSaysWhatThereIs) {
  EXPECT_REFUSED(Status::not_found, "Did you mean 'fake:0'?", open("fale:0"));
  EXPECT_REFUSED(Status::not_found, "Did you mean 'fake:0'?", open("FAKE:0"));
  EXPECT_REFUSED(Status::not_found, "Did you mean 'fake:0'?", open("gpu"));
  EXPECT_REFUSED(Status::not_found, "fake:0, fake:1, other:0", open("nothing like it"));
  for (const char* name : {"fake:2", "fake:-1", "fake:", "fake:x", "fake:0:", "fake:0:x", "", ":",
                           "FAKE:0", "fake:0 ", "fake:99999999999"}) {
    EXPECT_REFUSED(Status::not_found, "No device is called", open(name));
  }
  for (const char* name :
       {"fake:0:mode=noop,", "fake:0:,mode=noop", "fake:0:mode=noop,,mode=noop",
        "fake:0:mode=", "fake:0:=noop", "fake:0:=", "fake:0:,", "fake:0:mode=noop,mode=noop",
        "fake:0:mode=noop,x", "fake::mode=noop", "fake:-0", "fake:+0", "fake:0:mode=noop:"}) {
    EXPECT_REFUSED(Status::not_found, "", open(name));
  }
  EXPECT_REFUSED(Status::not_found, "'mode=noop,' ends without a pair", open("fake:0:mode=noop,"));
  EXPECT_REFUSED(Status::not_found, "has a key twice", open("fake:0:mode=noop,mode=yes"));
  EXPECT_REFUSED(Status::invalid_argument, "place()", open("auto"));
  EXPECT_REFUSED(Status::not_found, "the options are mode=noop", open("fake:0:mode=yes"));
}

TEST(Devices, CloseWithTheirLastHandleAndOpenAgain) {
  const Device keeper = open("fake:0");
  const fake_panel& panel = panel_of(keeper);
  const long devices = panel.count(FAKE_DEVICES), buffers = panel.count(FAKE_BUFFERS);
  for (int i = 0; i < 20; ++i) {
    const Device device = open("fake:1:as=mine");
    Queue queue(device);
    const Buffer buffer(device, 64);
    EXPECT_EQ(panel.count(FAKE_DEVICES), devices + 1) << "round " << i;
  }
  EXPECT_EQ(panel.count(FAKE_DEVICES), devices);
  EXPECT_EQ(panel.count(FAKE_BUFFERS), buffers);
}

TEST(Devices, ADeviceThatFailsToOpenSaysSo) {
  const Device keeper = open("fake:0");
  panel_of(keeper).fail(FAKE_DEVICE_OPEN, TRINE_OUT_OF_MEMORY);
  EXPECT_REFUSED(Status::out_of_memory, "fake:1:as=mine: opening the device: a planted fault",
                 open("fake:1:as=mine"));
  EXPECT_EQ(open("fake:1:as=mine").id(), "fake:1:as=mine");
}

TEST(Devices, LaddersHoldTheBackendsRungsThenThePacks) {
  const std::vector<RungInfo> ladder = open("fake:0").rungs(Operation::reduce);
  ASSERT_EQ(ladder.size(), 4u);
  EXPECT_EQ(ladder[0].name, "naive");
  EXPECT_EQ(ladder[1].parameters.at(0).name, "threads");
  EXPECT_EQ(ladder[1].parameters.at(0).default_value, "128");
  EXPECT_EQ(ladder[1].parameters.at(1).values, (std::vector<std::string>{"atomic", "two"}));
  EXPECT_EQ(ladder[2].requirement, "the impossible");
  EXPECT_EQ(ladder[2].numerics, Numerics::study);
  EXPECT_EQ(ladder[3].name, "packed");
  EXPECT_EQ(ladder[3].pack, "pack_for_fake");
  EXPECT_EQ(ladder[3].numerics, Numerics::vendor);
  for (const uint32_t none : {0u, 4u})
    EXPECT_REFUSED(Status::invalid_argument, "there is no operation",
                   static_cast<void>(open("fake:0").rungs(Operation(none))));
}

// The backend that was asked for ran: the proof that a test of a backend tests that backend.
TEST(Devices, TheBackendThatRanIsTheOneThatWasAskedFor) {
  for (const char* name : {"fake:0", "other:0"}) {
    const Device device = open(name);
    const fake_panel& panel = panel_of(device);
    const long before = panel.count(FAKE_LAUNCHES);
    Queue queue(device);
    const Buffer input(device, 64), output(device, 4);
    const float one = 1;
    fill(queue, vector(input, Dtype::f32, 16), &one);
    const Choice choice = run(queue, Reduce{.input = vector(input, Dtype::f32, 16),
                                            .output = vector(output, Dtype::f32, 1)});
    queue.wait();
    EXPECT_EQ(choice.device.id(), name);
    EXPECT_EQ(choice.device.backend(), std::string(name).substr(0, std::string(name).find(':')));
    EXPECT_EQ(panel.count(FAKE_LAUNCHES), before + 1);
  }
}

struct Packs : FakeDevice {};

TEST_F(Packs, RunByNameAndKeepAStatePerQueue) {
  const Buffer input = upload<float>({1, 2, 3}), output(device, 4);
  const Reduce sum{.input = vector(input, Dtype::f32, 3), .output = vector(output, Dtype::f32, 1)};
  const Choice choice = run(queue, sum, "packed");
  EXPECT_EQ(choice.pack(), "pack_for_fake");
  EXPECT_EQ(choice.numerics, Numerics::vendor);
  EXPECT_EQ(download<float>(output), std::vector<float>{6});
  run(queue, sum, "packed");
  View many = sum.input;
  many.rows = 1001, many.row_stride = 0;
  EXPECT_REFUSED(Status::unsupported, "rung packed refuses this reduce: more than 1000 rows",
                 run(queue, Reduce{.input = many, .output = sum.output}, "packed"));
  many.rows = 13;
  EXPECT_REFUSED(Status::backend_error, "13 rows bring bad luck",
                 run(queue, Reduce{.input = many, .output = sum.output}, "packed"));
}

TEST_F(Packs, LoadOnDemandAndRunInTheQueuesOrder) {
  const Device other = open("other:0");
  EXPECT_EQ(other.rungs(Operation::reduce).size(), 3u);
  const std::vector<BackendInfo> loaded = load_packs(TRINE_TEST_LATER);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded[0].name, "pack_for_other");
  EXPECT_EQ(loaded[0].reason, "");
  for (const char* again : {"/trine_other_pack.so", "/../later/trine_other_pack.so", "/../later"})
    EXPECT_EQ(load_packs(std::string(TRINE_TEST_LATER) + again).size(), 1u) << again;
  EXPECT_EQ(load_packs(TRINE_TEST_FAKES "/../fakes/trine_fake_pack.so").size(), 1u)
      << "found with the backends";
  EXPECT_EQ(other.rungs(Operation::reduce).size(), 4u)
      << "an open device sees it, and sees it once";

  Queue on_other(other);
  std::vector<float> values(13, 2.0f), total(1);
  const Buffer input = Buffer::wrap(other, values.data(), 13 * 4),
               output = Buffer::wrap(other, total.data(), 4);
  Reduce sum{.input = vector(input, Dtype::f32, 12), .output = vector(output, Dtype::f32, 1)};
  panel_of(other).hold(1);
  run(on_other, sum, "packed");
  EXPECT_EQ(total[0], 0);
  panel_of(other).hold(0);
  on_other.wait();
  EXPECT_EQ(total[0], 24);
  sum.input.rows = 13;  // fails inside the queue: the wait says so
  run(on_other, sum, "packed");
  EXPECT_REFUSED(Status::backend_error, "13 rows bring bad luck", on_other.wait());
  on_other.wait();
}

TEST_F(Packs, ThatCantLoadSayWhy) {
  const std::vector<BackendInfo> missing = load_packs(TRINE_TEST_LATER "/trine_missing.so");
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_THAT(missing[0].reason, HasSubstr("can't be loaded"));
  const std::vector<BackendInfo> backend = load_packs(TRINE_TEST_ODD "/grown");
  ASSERT_EQ(backend.size(), 1u);
  EXPECT_THAT(backend[0].reason, HasSubstr("no rung pack"));
}

}  // namespace
}  // namespace trine::testing
