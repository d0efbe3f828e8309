// The registry: where it looks, what it accepts, and the reason for everything it doesn't.
#include "backends/registry.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "backends/kit/abi_struct.hpp"
#include "backends/kit/options.hpp"
#include "backends/kit/words.hpp"

namespace trine {
namespace {
/// A struct that has grown twice.
struct Grown {
  uint32_t size, first;
  const void* second;
  uint64_t third;
};
}  // namespace
namespace kit {
template <>
inline constexpr std::size_t sizes_of<Grown>[] = {8, 16, sizeof(Grown)};
}
}  // namespace trine

namespace trine::registry {
namespace {

namespace fs = std::filesystem;

std::string reason_of(const Registry& registry, const std::string& name) {
  for (const Absent& absent : registry.absent()) {
    if (absent.name == name || absent.path.find(name) != std::string::npos) return absent.reason;
  }
  return "not listed";
}

Registry of(std::initializer_list<std::string> folders) {
  return Registry(std::vector<std::string>(folders));
}

#define EXPECT_SAYS(text, piece) EXPECT_NE((text).find(piece), std::string::npos) << (text)

TEST(SearchPath, HoldsTheEnvironmentsFoldersThenTheOneBesideTheLibrary) {
  using Folders = std::vector<std::string>;
  EXPECT_EQ(search_folders(nullptr, false, "/opt/lib"), (Folders{"/opt/lib/trine"}));
  EXPECT_EQ(search_folders("/a:/b/c", false, "/opt/lib"),
            (Folders{"/a", "/b/c", "/opt/lib/trine"}));
}

TEST(SearchPath, NeverHoldsTheCurrentFolder) {
  using Folders = std::vector<std::string>;
  EXPECT_EQ(search_folders("", false, "/l"), (Folders{"/l/trine"}));
  EXPECT_EQ(search_folders(":", false, "/l"), (Folders{"/l/trine"}));
  EXPECT_EQ(search_folders(".:relative:/a:", false, "/l"), (Folders{"/a", "/l/trine"}));
}

TEST(SearchPath, IgnoresTheEnvironmentOfASetuidProgram) {
  EXPECT_EQ(search_folders("/a:/b", true, "/l"), (std::vector<std::string>{"/l/trine"}));
}

TEST(Registry, LoadsBackendsAndPacksOfAFolder) {
  Registry registry = of({TRINE_TEST_FAKES});
  ASSERT_EQ(registry.backends().size(), 2u);
  EXPECT_NE(registry.find("fake"), nullptr);
  EXPECT_NE(registry.find("other"), nullptr);
  EXPECT_EQ(registry.find("cuda"), nullptr);
  ASSERT_EQ(registry.packs().size(), 1u);
  EXPECT_EQ(registry.find("fake")->ladder(TRINE_REDUCE).size(), 4u);
  EXPECT_EQ(registry.find("other")->ladder(TRINE_REDUCE).size(), 3u);
  EXPECT_SAYS(reason_of(registry, "cuda"), "there is no trine_cuda.so in " TRINE_TEST_FAKES);
}

TEST(Registry, AFolderThatIsNoneIsListed) {
  Registry registry = of({"/nowhere/at/all", TRINE_TEST_FAKES});
  EXPECT_SAYS(reason_of(registry, "/nowhere/at/all"), "it is no folder");
  EXPECT_EQ(registry.backends().size(), 2u);
}

TEST(Registry, TheFirstOfTwoBackendsOfOneNameWins) {
  const fs::path copies =
      fs::temp_directory_path() / ("trine_registry_" + std::to_string(getpid()));
  fs::create_directories(copies);
  fs::copy_file(TRINE_TEST_FAKES "/trine_fake.so", copies / "trine_fake.so",
                fs::copy_options::overwrite_existing);
  fs::create_symlink(TRINE_TEST_FAKES "/trine_other.so", copies / "trine_other.so");
  Registry registry = of({TRINE_TEST_FAKES, copies.string()});
  EXPECT_EQ(registry.backends().size(), 2u);
  EXPECT_SAYS(reason_of(registry, copies.string()), "hidden by " TRINE_TEST_FAKES "/trine_fake.so");
  // A link to what is loaded already is the same file, not a second one.
  EXPECT_EQ(reason_of(registry, (copies / "trine_other.so").string()), "not listed");
  fs::remove_all(copies);
}

TEST(Registry, ABrokenLibraryIsListedWithTheLoadersWords) {
  const fs::path folder = fs::temp_directory_path() / ("trine_broken_" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "trine_broken.so") << "this is no library";
  std::ofstream(folder / "other_name.so") << "nor is this, but nobody asks";
  Registry registry = of({folder.string()});
  EXPECT_SAYS(reason_of(registry, "broken"), "it can't be loaded");
  EXPECT_EQ(reason_of(registry, "other_name"), "not listed");
  fs::remove_all(folder);
}

struct OddFiles : testing::Test {
  const fs::path folder = fs::temp_directory_path() / ("trine_files_" + std::to_string(getpid()));
  OddFiles() { fs::create_directories(folder); }
  ~OddFiles() override { fs::remove_all(folder); }
};

TEST_F(OddFiles, AreListedAndNeverReachTheLoader) {
  ASSERT_EQ(mkfifo((folder / "trine_pipe.so").c_str(), 0600), 0);
  fs::create_directories(folder / "trine_folder.so");
  fs::create_symlink("/dev/zero", folder / "trine_device.so");
  fs::create_symlink("/nowhere/at/all.so", folder / "trine_dangling.so");
  std::ofstream(folder / "trine_empty.so").flush();
  std::ofstream(folder / "trine_text.so") << "INPUT(libc.so.6) # a linker's script, say\n"
                                          << std::string(500, '#');
  Registry registry = of({folder.string()});
  for (const char* name : {"pipe", "folder", "device"})
    EXPECT_SAYS(reason_of(registry, name), "it can't be loaded: it is no regular file");
  for (const char* name : {"empty", "text"})
    EXPECT_SAYS(reason_of(registry, name), "it doesn't begin as one");
  EXPECT_SAYS(reason_of(registry, "dangling"), "No such file");
  const fs::path pipe = folder / "a_pack_by_name";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  registry.load_packs(pipe.string());
  EXPECT_SAYS(reason_of(registry, "a_pack_by_name"), "it is no regular file");
}

TEST_F(OddFiles, ALibraryCutShortAnywhereIsListed) {
  const fs::path whole = TRINE_TEST_FAKES "/trine_fake.so";
  const uintmax_t bytes = fs::file_size(whole);
  int count = 0;
  for (uintmax_t length = 0; length < bytes; length += length < 1024 ? 31 : 499) {
    const fs::path cut = folder / ("trine_cut" + std::to_string(length) + ".so");
    fs::copy_file(whole, cut);
    fs::resize_file(cut, length);
    ++count;
  }
  fs::copy_file(whole, folder / "trine_cut_by_a_byte.so");
  fs::resize_file(folder / "trine_cut_by_a_byte.so", bytes - 1);
  Registry registry = of({folder.string()});
  EXPECT_TRUE(registry.backends().empty());
  for (const Absent& absent : registry.absent()) {
    if (!absent.path.starts_with(folder.string() + "/trine_cut")) continue;
    --count;
    EXPECT_SAYS(absent.reason, "it can't be loaded: it is ");
  }
  EXPECT_EQ(count, -1) << "each is listed";
}

TEST_F(OddFiles, ALibraryForAnotherMachineIsListed) {
  const fs::path foreign = folder / "trine_foreign.so";
  fs::copy_file(TRINE_TEST_FAKES "/trine_fake.so", foreign);
  std::fstream(foreign, std::ios::in | std::ios::out | std::ios::binary).seekp(18).put('\x28');
  EXPECT_SAYS(reason_of(of({folder.string()}), "foreign"), "for this kind of machine");
}

TEST(Registry, RefusesWhatBreaksTheContractAndSaysHow) {
  EXPECT_SAYS(reason_of(of({TRINE_TEST_ODD "/version"}), "odd_version"),
              "version 7 of the contract, this library version 1");
  EXPECT_SAYS(reason_of(of({TRINE_TEST_ODD "/tail"}), "odd_tail"), "uses what this library");
  EXPECT_SAYS(reason_of(of({TRINE_TEST_ODD "/short"}), "odd_short"),
              "has a size that no version of the contract has");
  EXPECT_SAYS(reason_of(of({TRINE_TEST_ODD "/fails"}), "odd_fails"),
              "there is nothing in this machine");
  EXPECT_SAYS(reason_of(of({TRINE_TEST_ODD "/no_entry"}), "odd_no_entry"),
              "neither trine_backend_v1 nor trine_rungs_v1");
}

TEST(Registry, TakesANewerTableWhoseTailIsZero) {
  Registry registry = of({TRINE_TEST_ODD "/grown"});
  ASSERT_NE(registry.find("odd"), nullptr);
  std::string reason;
  EXPECT_EQ(registry.find("odd")->devices(&reason), 0);
  EXPECT_EQ(reason, "there is nothing in this machine");
}

TEST(Registry, ABackendOfMoreDevicesThanAMachineHasIsBroken) {
  Registry registry = of({TRINE_TEST_ODD "/many"});
  ASSERT_NE(registry.find("odd"), nullptr);
  std::string reason;
  EXPECT_EQ(registry.find("odd")->devices(&reason), 0);
  EXPECT_SAYS(reason, "it counts 2000000000 devices, more than any machine has (at most 4096)");
}

TEST(Backends, AreNamedByAList) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(nullptr), Names());
  EXPECT_EQ(names_of(""), Names());
  EXPECT_EQ(names_of("cpu"), Names{"cpu"});
  EXPECT_EQ(names_of(" cpu ,, cuda,"), (Names{"cpu", "cuda"}));
}

TEST(Backends, ThatTheListLeavesOutAreNotLoaded) {
  Registry some({TRINE_TEST_FAKES}, {"other", "cdua"});
  EXPECT_EQ(some.find("fake"), nullptr);
  EXPECT_NE(some.find("other"), nullptr);
  EXPECT_SAYS(reason_of(some, "fake"),
              "left out by the variable TRINE_BACKENDS, which is other, cdua");
  EXPECT_SAYS(reason_of(some, "cdua"), "TRINE_BACKENDS names it, but there is no trine_cdua.so in");
  EXPECT_SAYS(reason_of(some, "cdua"), "Did you mean 'cuda'?");
  Registry others({TRINE_TEST_FAKES}, {"-other"});
  EXPECT_NE(others.find("fake"), nullptr);
  EXPECT_EQ(others.find("other"), nullptr);
  EXPECT_EQ(others.packs().size(), 1u);
}

TEST(Backends, ThatWereAbsentForWantOfADescriptorAreLookedForAgain) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  Registry registry = of({TRINE_TEST_FAKES});
  const bool was_there = registry.find("fake") != nullptr;
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_FALSE(was_there);
  ASSERT_NE(registry.find("fake"), nullptr);
  EXPECT_EQ(registry.backends().size(), 2u);
  EXPECT_EQ(registry.find("fake")->ladder(TRINE_REDUCE).size(), 4u) << "with its pack";
  EXPECT_SAYS(reason_of(registry, "cuda"), "there is no trine_cuda.so in " TRINE_TEST_FAKES);
}

TEST(Registry, APackWithoutItsBackendIsListed) {
  const fs::path folder = fs::temp_directory_path() / ("trine_pack_" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::copy_file(TRINE_TEST_FAKES "/trine_fake_pack.so", folder / "trine_lonely.so",
                fs::copy_options::overwrite_existing);
  Registry registry = of({folder.string()});
  EXPECT_SAYS(reason_of(registry, "pack_for_fake"), "it extends 'fake', which isn't there");
  fs::remove_all(folder);
}

TEST(Registry, PacksAreLoadedOnDemandOnce) {
  Registry registry = of({TRINE_TEST_FAKES});
  EXPECT_EQ(registry.load_packs(TRINE_TEST_LATER).size(), 1u);
  EXPECT_EQ(registry.packs().size(), 2u);
  registry.load_packs(TRINE_TEST_LATER);
  EXPECT_EQ(registry.packs().size(), 2u);
  EXPECT_EQ(registry.find("other")->ladder(TRINE_REDUCE).back()->row.name, std::string("packed"));
}

struct NewRung {
  trine_rung known;
  uint64_t later;
};

TEST(Rows, ShorterRowsAndNarrowerArraysAreRefused) {
  alignas(trine_rung) std::byte memory[3 * sizeof(trine_rung)] = {};
  auto* const row = new (memory) trine_rung{0, TRINE_FAST, "a", "s", nullptr, nullptr, 0, 0, 0};
  for (uint32_t size = 0; size <= sizeof(trine_rung) + 64; ++size) {
    row->size = size;
    Ladder ladder;
    const std::string why = accept_rungs(row, 1, sizeof memory, nullptr, ladder);
    if (size < sizeof(trine_rung))
      EXPECT_SAYS(why, "no version of the contract has") << size;
    else
      EXPECT_EQ(why, "") << size;
  }
  row->size = sizeof(trine_rung);
  for (const uint32_t stride :
       {0u, 4u, 24u, uint32_t{sizeof(trine_rung)} - 8, uint32_t{sizeof(trine_rung)} + 4}) {
    Ladder ladder;
    EXPECT_SAYS(accept_rungs(row, 1, stride, nullptr, ladder), "an array of elements") << stride;
  }
  row->size += 64;
  Ladder ladder;
  EXPECT_SAYS(accept_rungs(row, 1, sizeof(trine_rung), nullptr, ladder), "an array of elements")
      << "the element reaches into the next one";
}

TEST(Rows, NewerRowsAreTakenOnlyWithAZeroTail) {
  NewRung rows[2] = {};
  rows[0].known = {sizeof(NewRung), TRINE_FAST, "a", "first", nullptr, nullptr, 0, 0, 0};
  rows[1].known = {sizeof(NewRung), TRINE_FAST, "b", "second", nullptr, nullptr, 0, 0, 0};
  Ladder ladder;
  EXPECT_EQ(accept_rungs(&rows[0].known, 2, sizeof(NewRung), nullptr, ladder), "");
  ladder.clear();
  rows[1].later = 1;
  EXPECT_SAYS(accept_rungs(&rows[0].known, 2, sizeof(NewRung), nullptr, ladder), "doesn't know");
}

TEST(Rows, BrokenRowsAreRefused) {
  const char* const values[] = {"1", "2"};
  trine_parameter parameter{sizeof parameter, 2, 2, "p", values};
  trine_rung row{sizeof row, TRINE_FAST, "a", "s", nullptr, &parameter, 1, sizeof parameter, 0};
  const auto why = [&] {
    Ladder ladder;
    return accept_rungs(&row, 1, sizeof row, nullptr, ladder);
  };
  EXPECT_SAYS(why(), "a default among them");
  parameter.default_value = 1;
  EXPECT_EQ(why(), "");
  row.parameter_count = 9;
  EXPECT_SAYS(why(), "broken list of parameters");
  row.parameter_count = 0;
  row.numerics = 77;
  EXPECT_SAYS(why(), "numerics");
  row.name = "";
  EXPECT_SAYS(why(), "has no name");
  Ladder ladder;
  EXPECT_SAYS(accept_rungs(nullptr, 1, sizeof row, nullptr, ladder), "list of rungs is broken");
  const trine_rung twice[] = {{sizeof row, 1, "x", "", nullptr, nullptr, 0, 0, 0},
                              {sizeof row, 1, "x", "", nullptr, nullptr, 0, 0, 0}};
  EXPECT_SAYS(accept_rungs(twice, 2, sizeof row, nullptr, ladder), "'x' exists already");
}

TEST(Border, GiveWritesWhatBothKnowAndNoMore) {
  struct Old {
    uint32_t size, kind;
    char rest[8];
  } old{8, 0, "kept"};
  trine_device_facts ours{};
  ours.size = sizeof ours;
  ours.kind = 3;
  ours.name[0] = 'x';
  kit::give(ours, reinterpret_cast<trine_device_facts*>(&old));
  EXPECT_EQ(old.size, 8u);
  EXPECT_EQ(old.kind, 3u);
  EXPECT_STREQ(old.rest, "kept");
}

TEST(Border, TakeTakesTheSizesOfVersionsAndZerosBehindTheLast) {
  struct {
    Grown known;
    std::byte more[64];
  } from{};
  from.known = {0, 7, &from, 9};
  for (uint32_t size = 0; size <= sizeof from; ++size) {
    from.known.size = size;
    Grown to;
    const bool is_right = size == 8 || size == 16 || size >= sizeof(Grown);
    EXPECT_EQ(kit::take(&from.known, to), is_right) << size;
    EXPECT_EQ(to.first, is_right ? 7u : 0u) << size;
    EXPECT_EQ(to.second, is_right && size > 8 ? &from : nullptr) << size;
    EXPECT_EQ(to.third, is_right && size > 16 ? 9u : 0u) << size;
    EXPECT_EQ(to.size, is_right ? sizeof to : 0u) << size;
    if (size <= sizeof(Grown)) continue;
    std::byte& last = reinterpret_cast<std::byte*>(&from)[size - 1];
    last = std::byte{1};
    EXPECT_FALSE(kit::take(&from.known, to)) << size;
    last = {};
  }
}

TEST(Border, ReadCopiesOnlyWhatIsOfAnotherSize) {
  struct {
    trine_workspace known;
    uint64_t more;
  } from{};
  trine_workspace storage;
  from.known.offset = 7;
  from.known.size = sizeof from.known;
  EXPECT_EQ(kit::read(&from.known, storage), &from.known);
  from.known.size = sizeof from;
  ASSERT_EQ(kit::read(&from.known, storage), &storage);
  EXPECT_EQ(storage.offset, 7u);
  EXPECT_EQ(storage.size, sizeof storage);
  from.more = 1;
  EXPECT_EQ(kit::read(&from.known, storage), nullptr);
}

trine_status read(const char* text, int64_t& threads) {
  return kit::guard([&] { threads = kit::integer_option(text, "threads", 1, 64, 7); });
}

TEST(Options, AreReadCheckedAndAllAccountedFor) {
  int64_t threads = 0;
  EXPECT_EQ(read("", threads), TRINE_OK);
  EXPECT_EQ(threads, 7);
  EXPECT_EQ(read("threads=8", threads), TRINE_OK);
  EXPECT_EQ(threads, 8);
  for (const char* wrong :
       {"threads", "threads=", "threads=0", "threads=65", "threads=8x", "=8", "threads=8,,"}) {
    EXPECT_EQ(read(wrong, threads), TRINE_INVALID_ARGUMENT) << wrong;
  }
  EXPECT_EQ(read("thread=8", threads), TRINE_NOT_FOUND);
  EXPECT_STREQ(kit::last_error(), "no device option 'thread'; did you mean 'threads'?");
  EXPECT_EQ(read("nonsense=8", threads), TRINE_NOT_FOUND);
  EXPECT_STREQ(kit::last_error(), "no device option 'nonsense'");
}

TEST(Guard, TurnsEveryExceptionIntoAStatus) {
  EXPECT_EQ(kit::guard([] {}), TRINE_OK);
  EXPECT_EQ(kit::guard([] { return TRINE_NOT_READY; }), TRINE_NOT_READY);
  EXPECT_EQ(kit::guard([] { throw std::bad_alloc(); }), TRINE_OUT_OF_MEMORY);
  EXPECT_EQ(kit::guard([] { throw 3; }), TRINE_INTERNAL);
  EXPECT_EQ(kit::guard([] { kit::fail(TRINE_UNSUPPORTED, "no %d", 3); }), TRINE_UNSUPPORTED);
  EXPECT_STREQ(kit::last_error(), "no 3");
}

TEST(Words, TheClosestIsFoundAndNonsenseIsNot) {
  const std::string_view words[] = {"sequential", "shared", "warp"};
  const auto near = [&](std::string_view word) {
    return kit::closest(word, std::begin(words), std::end(words));
  };
  EXPECT_EQ(near("sequentail"), "sequential");
  EXPECT_EQ(near("wrap"), "warp");
  EXPECT_EQ(near("xyz"), "");
  EXPECT_EQ(near(""), "");
  EXPECT_EQ(kit::edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(kit::edit_distance("cup", "cpu"), 1u);
  EXPECT_EQ(kit::edit_distance("", "four"), 4u);
}

}  // namespace
}  // namespace trine::registry
