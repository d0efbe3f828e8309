// The files of saved measurements: what isn't whole, ours and of this very device is refused in
// words, nowhere to keep one is an ordinary state, and any number of processes may write at once.
#include "core/src/runtime/persistent_file.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fixture.hpp"

namespace trine::testing {
namespace {

namespace fs = std::filesystem;
using namespace detail;

struct PersistentFile : ::testing::Test, DataFolder {
  PersistentFile() {
    key.label = "fake";
    key.add("host", "A CPU @ 2 GHz", true);
    key.add("driver", "1.0", false);
  }

  std::string write(int version = 1) { return write_persistent("table", version, key, rows); }
  Saved read(int version = 1) const { return read_persistent("table", version, key); }
  void expect_refused(const char* words, int line, int version = 1) const {
    const Saved saved = read(version);
    EXPECT_TRUE(saved.found) << line;
    EXPECT_TRUE(saved.rows.empty()) << line;
    EXPECT_THAT(saved.refusal, HasSubstr(words)) << line << ": " << saved.refusal;
    EXPECT_TRUE(saved.refusal.starts_with(saved.path)) << saved.refusal;
  }
  long files() const { return std::distance(fs::directory_iterator(folder), {}); }

  PersistentKey key;
  const std::vector<std::string> rows = {"one 1", "two 2", "three 3"};
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

TEST_F(PersistentFile, ComesBackAsItWasWritten) {
  EXPECT_FALSE(read().found);
  EXPECT_EQ(read().refusal, "");
  const std::string path = write();
  const Saved saved = read();
  EXPECT_TRUE(saved.found);
  EXPECT_EQ(saved.path, path);
  EXPECT_EQ(saved.refusal, "");
  EXPECT_EQ(saved.rows, rows);
  EXPECT_EQ(files(), 1) << "a temporary was left";
  EXPECT_EQ(contents(path).find("trine table 1\nhost A CPU @ 2 GHz\ndriver 1.0\n\none 1\n"), 0U);
}

TEST_F(PersistentFile, EveryDamagedByteIsNoticed) {
  const std::string path = write(), whole = contents(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {1, 0x10, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      put(path, damaged);
      expect_refused("damaged", __LINE__);
    }
  }
  put(path, whole);
  EXPECT_EQ(read().rows, rows);
}

TEST_F(PersistentFile, EveryShorterOrLongerFileIsNoticed) {
  const std::string path = write(), whole = contents(path);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    put(path, whole.substr(0, bytes));
    expect_refused("damaged", __LINE__);
  }
  put(path, whole + "\n");
  expect_refused("damaged", __LINE__);
  put(path, whole + whole);
  expect_refused("damaged", __LINE__);
}

TEST_F(PersistentFile, AnotherVersionKindOrKeyIsRefusedByName) {
  const std::string path = write();
  expect_refused("its format is 1, this Trine's is 2", __LINE__, 2);
  const std::string other = write_persistent("other", 1, key, rows);
  fs::copy_file(other, path, fs::copy_options::overwrite_existing);
  expect_refused("not a file of kind table", __LINE__);
  write();
  key.lines[1].value = "1.1";
  expect_refused("its driver is '1.0', here it is '1.1'", __LINE__);
  key.add("trine", "0.2.0", false);
  key.lines[1].value = "1.0";
  expect_refused("doesn't say the trine", __LINE__);
  key.lines.pop_back();
  key.lines.pop_back();
  expect_refused("header has no end", __LINE__);
}

TEST_F(PersistentFile, AnotherHostHasAFileOfItsOwnAndRefusesACopiedOne) {
  const std::string path = write();
  key.lines[0].value = "Another CPU";
  const Saved elsewhere = read();
  EXPECT_FALSE(elsewhere.found);
  EXPECT_NE(elsewhere.path, path);
  fs::copy_file(path, elsewhere.path);
  expect_refused("its host is 'A CPU @ 2 GHz', here it is 'Another CPU'", __LINE__);
}

TEST_F(PersistentFile, WhatIsNoFileOrTooLargeIsRefused) {
  const std::string path = write();
  fs::resize_file(path, (1 << 20) + 1);
  expect_refused("larger than 1048576 bytes", __LINE__);
  fs::remove(path);
  fs::create_directory(path);
  expect_refused("no regular file", __LINE__);
  EXPECT_REFUSED(Status::unsupported, "can't be written", write());
  EXPECT_EQ(files(), 1) << "a temporary was left";
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  expect_refused("no regular file", __LINE__);  // and nobody waits for a writer
}

TEST_F(PersistentFile, WhatMayNotGrowIsSaidAndRaisesNoSignal) {
  fs::create_directories(folder);
  const auto before = signal(SIGXFSZ, SIG_DFL);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit little{20, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &little);
  EXPECT_REFUSED(Status::unsupported, "can't be written: File too large", write());
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, before);
  EXPECT_EQ(files(), 0) << "a temporary was left";
}

TEST_F(PersistentFile, MoreThanAFileHoldsIsNotWritten) {
  const std::string path = write();
  EXPECT_REFUSED(Status::unsupported, "2000 rows don't fit a file",
                 write_persistent("table", 1, key, {2000, std::string(1000, 'x')}));
  EXPECT_EQ(read().rows, rows);
}

TEST_F(PersistentFile, NowhereToKeepItIsAnOrdinaryState) {
  for (const char* nowhere : {"/proc/self/nowhere", "/dev/null/below", ""}) {
    setenv("TRINE_DATA_DIR", nowhere, 1);
    EXPECT_FALSE(read().found) << nowhere;
    EXPECT_EQ(read().refusal, "") << nowhere;
    EXPECT_REFUSED(Status::unsupported, *nowhere ? "can't be written" : "TRINE_DATA_DIR", write());
  }
}

TEST_F(PersistentFile, WhatMayNotBeReadOrWrittenIsRefused) {
  const std::string path = write();
  chmod(path.c_str(), 0);
  chmod(folder.c_str(), 0500);
  const uid_t user = geteuid();
  if (seteuid(user == 0 ? 65534 : user) != 0) {  // root may do anything
    chmod(folder.c_str(), 0700);
    GTEST_SKIP() << "there is no other user here";
  }
  expect_refused("can't be read: Permission denied", __LINE__);
  EXPECT_REFUSED(Status::unsupported, "can't be written: Permission denied", write());
  ASSERT_EQ(seteuid(user), 0);
  chmod(folder.c_str(), 0700);
  EXPECT_EQ(files(), 1);
}

TEST_F(PersistentFile, LiesWhereTheEnvironmentSays) {
  unsetenv("TRINE_DATA_DIR");
  const std::string xdg = folder / "xdg", home = folder / "home";
  const char* const old_home = std::getenv("HOME");
  const std::string kept = old_home ? old_home : "";
  setenv("HOME", home.c_str(), 1);
  setenv("XDG_DATA_HOME", xdg.c_str(), 1);
  EXPECT_TRUE(write().starts_with(xdg + "/trine/table-fake-"));
  setenv("XDG_DATA_HOME", "relative", 1);  // which the XDG specification says to ignore
  EXPECT_TRUE(write().starts_with(home + "/.local/share/trine/table-fake-"));
  unsetenv("XDG_DATA_HOME");
  unsetenv("HOME");
  EXPECT_REFUSED(Status::unsupported, "HOME", write());
  if (old_home) setenv("HOME", kept.c_str(), 1);
}

TEST_F(PersistentFile, ForgettingTakesThisKindAlone) {
  const std::string path = write();
  key.lines[0].value = "Another CPU";
  const std::string another = write(), other = write_persistent("other", 1, key, rows);
  for (const char* name : {"table-notes.txt", "table.txt", "table-fake-0123456789abcdeg.txt"})
    put(folder / name, "the user's own");
  std::vector<std::string> expected = {path, another};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(forget_persistent("table"), expected);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(other));
  EXPECT_EQ(files(), 4);
  EXPECT_TRUE(forget_persistent("table").empty());
}

TEST_F(PersistentFile, ProcessesThatWriteAtOnceLeaveOneWholeFile) {
  write();
  std::vector<pid_t> children;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    for (int i = 0; i < 50; ++i) write_persistent("table", 1, key, {200, std::string(100, letter)});
    _exit(0);
  }
  for (std::size_t left = children.size(); left > 0;) {
    const Saved saved = read();
    ASSERT_EQ(saved.refusal, "");
    ASSERT_FALSE(saved.rows.empty());
    if (saved.rows.size() != rows.size()) {  // a child's
      EXPECT_EQ(saved.rows, std::vector(200, saved.rows[0]));
    }
    int status = 0;
    while (left > 0 && waitpid(-1, &status, WNOHANG) > 0) {
      EXPECT_EQ(status, 0);
      --left;
    }
  }
  EXPECT_EQ(read().rows.size(), 200U);
  EXPECT_EQ(files(), 1) << "a temporary was left";
}

TEST_F(PersistentFile, ADevicesKeySaysWhatItWasMeasuredOn) {
  const Device device = open("fake:0");
  const PersistentKey of = saved_key(Access::use(device));
  EXPECT_EQ(of.label, "fake");
  std::vector<std::string> names;
  for (const PersistentKey::Line& line : of.lines) {
    names.push_back(line.name);
    EXPECT_THAT(line.value, Not(HasSubstr("\n")));
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"host", "backend", "device", "units", "driver", "trine"}));
  EXPECT_FALSE(host_model().empty());
}

}  // namespace
}  // namespace trine::testing
