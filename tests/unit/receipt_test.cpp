// Receipts: digests as they are defined, on every device the same; the file, whoever writes it; and
// calls on queues. Cases that need the environment are children of a process that hasn't used the
// library yet.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <set>

#include "fixture.hpp"

namespace trine::testing {
namespace {

const std::filesystem::path& folder() {
  static const auto path = [] {
    char name[] = "/tmp/trine-receipts-XXXXXX";
    return std::filesystem::path(mkdtemp(name));
  }();
  return path;
}

struct Receipts : ::testing::Test {
  static void TearDownTestSuite() { std::filesystem::remove_all(folder()); }
};

/// Starts body() in a child whose calls leave receipts in `file`; what it prints on stderr goes to
/// FILE.err.
template <class Body>
pid_t start(const std::string& file, const char* keep, Body&& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(120);
  setenv("TRINE_RECEIPTS", file.c_str(), 1);
  if (keep) setenv("TRINE_RECEIPTS_KEEP", keep, 1);
  const int err = ::open((folder() / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(err, STDERR_FILENO);
  int status = 1;
  try {
    status = body() ? 0 : 2;
  } catch (const std::exception& error) { std::fprintf(stderr, "%s\n", error.what()); }
  std::_Exit(status);
}
int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 200 + WTERMSIG(status);
}
std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}
int count(const std::string& text, std::string_view piece) {
  int found = 0;
  for (size_t at = 0; (at = text.find(piece, at)) != std::string::npos; ++at) ++found;
  return found;
}

std::vector<float> numbers(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) x[size_t(i)] = float(i * 7919 % 1000) / 8 - 50;
  return x;
}

// --- The file ----------------------------------------------------------------------------------

TEST_F(Receipts, ThreadsAndProcessesShareAFile) {
  constexpr int kProcesses = 2, kThreads = 3, kCalls = 60;
  const std::filesystem::path file = folder() / "shared";
  const auto work = [] {
    std::vector<std::thread> threads(kThreads);
    for (int t = 0; t < kThreads; ++t)
      threads[t] = std::thread([t] {
        const std::vector<float> x = numbers(1000 + t);
        for (int i = 0; i < kCalls; ++i) sum(x, {.device = "cpu"});
      });
    for (std::thread& thread : threads) thread.join();
    return true;
  };
  std::vector<pid_t> all(kProcesses);
  for (pid_t& child : all) child = start(file, nullptr, work);
  for (const pid_t child : all) ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  const std::vector<std::string> lines = lines_of(file);
  EXPECT_EQ(lines.size(), size_t(kProcesses + kProcesses * kThreads * kCalls));
  std::set<std::string> calls, digests;
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with('{') && line.ends_with('}')) << line;
    if (line.find("\"call\":") == std::string::npos) continue;
    calls.insert(line.substr(0, line.find(",\"thread\"")));  // call and process
    digests.insert(line.substr(line.rfind("\"digest\"")));
  }
  EXPECT_EQ(calls.size(), size_t(kProcesses * kThreads * kCalls));
  EXPECT_EQ(digests.size(), size_t(kThreads));
}

TEST_F(Receipts, AForkedChildsLinesStayWhole) {
  const std::filesystem::path file = folder() / "forked";
  const pid_t parent = start(file, nullptr, [] {
    Receipt none;
    const std::vector<float> x = numbers(10);
    sum(x, {.device = "cpu"});
    if (const pid_t child = fork(); child == 0) {
      _exit(sum(x, {.device = "cpu"}) == sum(x) ? 0 : 3);
    } else if (status_of(child) != 0) {
      return false;
    }
    sum(x, {.device = "cpu"});
    return true;
  });
  ASSERT_EQ(status_of(parent), 0) << text_of(folder() / "err");
  EXPECT_EQ(lines_of(file).size(), 5u) << text_of(file);
}

/// Calls that a program makes, whose results are right.
bool calls(int count) {
  const std::vector<float> x = {1, 2};
  float total = 0;
  for (int i = 0; i < count; ++i) total += sum(x, {.device = "cpu"});
  return total == 3 * float(count);
}

/// One sentence about the file, and its reason; no signal is left to the program.
void expect_said(const std::string& file, const char* why) {
  const std::string said = text_of(folder() / "err");
  EXPECT_EQ(count(said, "TRINE_RECEIPTS=" + file + ": "), 1) << said;
  EXPECT_EQ(count(said, why), 1) << said;
  EXPECT_EQ(count(said, "The calls go on without."), 1) << said;
}
bool no_signal_waits() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGXFSZ) == 0 && sigismember(&pending, SIGPIPE) == 0;
}

std::set<std::string> open_files() {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::filesystem::path file = std::filesystem::read_symlink(entry.path(), gone);
    if (std::filesystem::is_regular_file(file, gone)) found.insert(file);
  }
  return found;
}

// It closes every descriptor and goes elsewhere; files of its own then have their numbers.
TEST_F(Receipts, ADaemonsFilesAreLeftAlone) {
  for (const int flags : {O_RDWR, O_WRONLY, O_WRONLY | O_APPEND}) {
    const std::filesystem::path file = folder() / "daemon", mine = folder() / "mine";
    const pid_t child = start("daemon", "all", [&] {
      std::filesystem::current_path(folder());
      const std::set<std::string> before = open_files();
      if (!calls(1)) return false;
      std::filesystem::current_path("/");
      for (const std::string& kept : open_files())
        if (kept != file && !before.contains(kept))
          std::fprintf(stderr, "kept open over calls: %s: this test must try it, too\n",
                       kept.c_str());
      for (int number = 3; number < 256; ++number) close(number);
      std::vector<int> own(20);
      for (size_t i = 0; i < own.size(); ++i) {
        own[i] =
            ::open((mine.string() + std::to_string(i)).c_str(), O_CREAT | O_TRUNC | flags, 0600);
        if (write(own[i], "fifteen letters", 15) != 15) return false;
      }
      if (!calls(2)) return false;
      const float next = 5;
      sum(std::span(&next, 1), {.device = "cpu"});  // another operand to keep
      return std::ranges::all_of(own, [](int number) { return close(number) == 0; });
    });
    ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
    EXPECT_EQ(text_of(folder() / "err"), "");
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(text_of(mine.string() + std::to_string(i)), "fifteen letters") << i;
    EXPECT_EQ(lines_of(file).size(), 1u + 1 + 2 + 1);
    EXPECT_FALSE(std::filesystem::exists("/daemon.kept"));
    std::filesystem::remove(file);
  }
}

TEST_F(Receipts, AFileThatMayNotGrowAndAPipeWithoutReaderRaiseNoSignal) {
  const std::filesystem::path file = folder() / "short";
  pid_t child = start(file, nullptr, [] {
    signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{2000, 2000};
    setrlimit(RLIMIT_FSIZE, &limit);
    return calls(40) && no_signal_waits();
  });
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  expect_said(file, "it can't be written: File too large.");
  EXPECT_LE(std::filesystem::file_size(file), 2000u);
  // The line that the limit cut stays a line of its own, and the lines after it are whole.
  ASSERT_EQ(status_of(start(file, nullptr, [] { return calls(1); })), 0);
  EXPECT_TRUE(lines_of(file).back().ends_with('}'));

  const std::filesystem::path pipe = folder() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  child = start(pipe, nullptr, [&] {
    signal(SIGPIPE, SIG_DFL);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    return calls(1) && close(reader) == 0 && calls(3) && no_signal_waits();
  });
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  expect_said(pipe, "it can't be written: Broken pipe.");
  child = start(pipe, nullptr, [] { return calls(3); });  // and nobody waits for a reader
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  expect_said(pipe, "it can't be opened: No such device or address.");
}

TEST_F(Receipts, OperandsThatCannotBeKeptAreSaidOnceAndLinesGoOn) {
  const std::filesystem::path file = folder() / "unkept";
  std::ofstream(file.string() + ".kept") << "no folder";
  const pid_t child = start(file, "all", [] { return calls(3); });
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  const std::string said = text_of(folder() / "err");
  EXPECT_EQ(
      count(said, "libtrine: TRINE_RECEIPTS_KEEP: " + file.string() + ".kept: it can't be written"),
      1)
      << said;
  EXPECT_EQ(count(said, "\n"), 1) << said;
  EXPECT_EQ(lines_of(file).size(), 4u);
}

TEST_F(Receipts, WhatCannotBeWrittenIsSaidOnceAndCallsGoOn) {
  for (const std::string& file :
       {(folder() / "no such folder" / "file").string(), std::string("/dev/full")}) {
    const pid_t child = start(file, "everything", [] {
      const std::vector<float> x = {1, 2};
      float total = 0;
      for (int i = 0; i < 3; ++i) total += sum(x, {.device = "cpu"});
      return total == 9;
    });
    ASSERT_EQ(status_of(child), 0);
    const std::string said = text_of(folder() / "err");
    EXPECT_EQ(count(said, "TRINE_RECEIPTS=" + file), 1) << said;
    EXPECT_EQ(count(said, "The calls go on without."), 1) << said;
  }
}

TEST_F(Receipts, WhatCoreMeasuresForItselfLeavesNone) {
  const std::filesystem::path file = folder() / "auto";
  const pid_t child = start(file, nullptr, [] {
    sum(numbers(1 << 20));
    return roofs(open("cpu")).read > 0;
  });
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  EXPECT_EQ(lines_of(file).size(), 2u) << text_of(file);
}

TEST_F(Receipts, QueuesLeaveTheDigestsOfHostCalls) {
  const std::filesystem::path file = folder() / "queue";
  const pid_t child = start(file, "all", [] {
    const std::vector<float> x = numbers(6000);
    Queue queue(open("cpu"));
    const Device& device = queue.device();
    const View a = row_major(Buffer::of<float>(device, 6000), Dtype::f32, 60, 100);
    const View sums = vector(Buffer::of<float>(device, 60), Dtype::f32, 60);
    const View norm = vector(Buffer::of<float>(device, 1), Dtype::f32, 1);
    copy(queue, host_row_major(x.data(), Dtype::f32, 60, 100), a);
    run(queue, Reduce{.axis = Axis::each_row, .input = a, .output = sums});
    run(queue, Reduce{.map = Map::square, .input = sums, .output = norm});
    axpby(queue, norm, sums, 2, sums);
    scalar(queue, Arithmetic::divide, norm, 4, norm);
    queue.wait();
    std::vector<float> host(60);
    reduce(Function::sum, Map::identity, Axis::each_row,
           host_row_major(x.data(), Dtype::f32, 60, 100), host_vector(host.data(), Dtype::f32, 60),
           {.device = "cpu"});
    return true;
  });
  ASSERT_EQ(status_of(child), 0) << text_of(folder() / "err");
  const std::vector<std::string> lines = lines_of(file);
  ASSERT_EQ(lines.size(), 6u);
  const auto operands = [&](size_t i) {
    const size_t at = lines[i].find("\"operands\"");
    return lines[i].substr(at, lines[i].find(']') - at);
  };
  EXPECT_EQ(operands(1), operands(5));
  EXPECT_EQ(count(lines[2], "\"digest\""), 2);
  EXPECT_EQ(count(lines[3], "\"operation\":\"axpby\""), 1);
  EXPECT_EQ(count(lines[3], "\"before\""), 1) << "beta isn't 0";
  EXPECT_EQ(count(lines[4], "\"function\":\"divide\",\"alpha\":"), 1);
  EXPECT_EQ(count(lines[4], "\"beta\":\"4\""), 1);
  for (size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(count(lines[i], "\"why\""), 0) << lines[i];
  // Everything that a line names is kept, once, under its digest.
  std::set<std::string> named;
  for (const std::string& line : lines)
    for (const char* key : {"\"digest\":\"", "\"before\":\""})
      for (size_t at = 0; (at = line.find(key, at)) != std::string::npos; ++at)
        named.insert(line.substr(at + 10, 32));
  std::set<std::string> kept;
  for (const auto& entry : std::filesystem::directory_iterator(file.string() + ".kept"))
    kept.insert(entry.path().filename());
  EXPECT_EQ(named, kept);
}

// --- Digests -----------------------------------------------------------------------------------

// Computed by the definition in docs/receipts.md, with Python's xxhash.
TEST_F(Receipts, DigestsAreDefined) {
  EXPECT_EQ(digest(host_vector(static_cast<const float*>(nullptr), Dtype::f32, 0)),
            "99aa06d3014798d86001c324468d497f");
  const std::vector<float> few = {1, 2, 3};
  EXPECT_EQ(digest(host_vector(few.data(), Dtype::f32, 3)), "c1a84b1bea045e153e96e28b53d0c4bb");
  std::vector<int32_t> i(100003);
  std::vector<double> d(i.size());
  std::vector<float> f(i.size());
  for (size_t k = 0; k < i.size(); ++k)
    i[k] = int32_t(7 * k), d[k] = double(k) / 8, f[k] = float(k % 1000) / 4;
  f[5] = NAN, f[70000] = -std::nanf("17");
  const auto size = int64_t(i.size());
  EXPECT_EQ(digest(host_vector(i.data(), Dtype::i32, size)), "9a1134adac156feae3d4d7d647b93103");
  EXPECT_EQ(digest(host_vector(d.data(), Dtype::f64, size)), "9ede33ef9bf606b1e2ddcc7378277c81");
  EXPECT_EQ(digest(host_vector(f.data(), Dtype::f32, size)), "eada1bac32282cda8b5e6b5e13887048");
  const std::string bits = digest(host_vector(f.data(), Dtype::b32, size));
  f[70000] = NAN;
  EXPECT_EQ(digest(host_vector(f.data(), Dtype::f32, size)), "eada1bac32282cda8b5e6b5e13887048");
  EXPECT_NE(digest(host_vector(f.data(), Dtype::b32, size)), bits) << "bits have no NaN";
  EXPECT_REFUSED(Status::invalid_argument, "null",
                 digest(host_vector(static_cast<const float*>(nullptr), Dtype::f32, 1)));
}

TEST_F(Receipts, DigestsKnowNoStrides) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(random);
  };
  for (int round = 0; round < 60; ++round) {
    const int64_t rows = pick(300), cols = pick(300), batch = pick(3);
    const int64_t inner = pick(3), gap = pick(9) - 1;
    const bool turned = round % 2 != 0;
    ConstHostView v{
        .dtype = round % 3 ? Dtype::b16 : Dtype::f64, .rows = rows, .cols = cols, .batch = batch};
    v.col_stride = turned ? inner * rows + gap : inner;
    v.row_stride = turned ? inner : inner * cols + gap;
    v.batch_stride = turned ? v.col_stride * cols : v.row_stride * rows;
    const size_t element = size_of(v.dtype);
    std::vector<char> wide(size_t(v.batch_stride * batch) * element + 64), dense;
    for (char& byte : wide) byte = char(random());
    v.data = wide.data();
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < cols; ++j) {
          const char* at = wide.data() + element * size_t(b * v.batch_stride + i * v.row_stride +
                                                          j * v.col_stride);
          dense.insert(dense.end(), at, at + element);
        }
    EXPECT_EQ(digest(v),
              digest(host_vector(std::as_const(dense).data(), v.dtype, rows * cols * batch)))
        << rows << "x" << cols << "x" << batch << " turned " << turned;
    // Every byte counts.
    const std::string before =
        digest(host_vector(std::as_const(dense).data(), Dtype::b8, int64_t(dense.size())));
    dense[random() % dense.size()] ^= 1;
    EXPECT_NE(digest(host_vector(std::as_const(dense).data(), Dtype::b8, int64_t(dense.size()))),
              before);
  }
  // Rows that repeat.
  const std::vector<float> row = numbers(100);
  std::vector<float> many;
  for (int i = 0; i < 90; ++i) many.insert(many.end(), row.begin(), row.end());
  ConstHostView repeated = host_row_major(row.data(), Dtype::f32, 90, 100);
  repeated.row_stride = 0;
  EXPECT_EQ(digest(repeated), digest(host_row_major(many.data(), Dtype::f32, 90, 100)));
}

/// The receipts of the same calls, each with `options`.
std::vector<Receipt> receipts_of(const HostOptions& options) {
  static const std::vector<float> x = numbers(3000 * 1001);
  std::vector<Receipt> all;
  const auto call = [&](auto&& body) {
    Receipt receipt;
    HostOptions own = options;
    own.receipt = &receipt;
    body(own);
    all.push_back(receipt);
  };
  std::vector<float> sums(3000), turned(x.size()), c = numbers(300 * 200);
  std::vector<double> d(x.begin(), x.end());
  const ConstHostView m = host_row_major(x.data(), Dtype::f32, 3000, 1001);
  call([&](const HostOptions& o) { sum(x, o); });
  call([&](const HostOptions& o) { prod(d, o); });
  call([&](const HostOptions& o) { argmax(x, o); });
  call([&](const HostOptions& o) { dot(d, d, o); });
  call([&](const HostOptions& o) {
    reduce(Function::sum, Map::square, Axis::each_row, m,
           host_vector(sums.data(), Dtype::f32, 3000), o);
  });
  call([&](const HostOptions& o) {
    reduce(Function::max, Map::identity, Axis::each_column, m,
           host_vector(sums.data(), Dtype::f32, 1001), o);
  });
  call([&](const HostOptions& o) { transpose(3000, 1001, x.data(), turned.data(), o); });
  call([&](const HostOptions& o) {
    gemm(300, 200, 400, 2.0f, x.data(), x.data(), -1.0f, c.data(), o);
  });
  std::vector<float> square = numbers(500 * 500);
  call([&](const HostOptions& o) { transpose(500, 500, square.data(), square.data(), o); });
  return all;
}

TEST_F(Receipts, AreTheSameOnEveryDeviceAndWay) {
  const std::vector<Receipt> first = receipts_of({.device = "cpu:threads=1"});
  for (const Receipt& receipt : first) {
    EXPECT_EQ(receipt.device, "cpu:threads=1");
    EXPECT_FALSE(receipt.rung.empty());
    for (const ReceiptOperand& operand : receipt.operands) EXPECT_EQ(operand.digest.size(), 32u);
  }
  EXPECT_EQ(first[0].operands[0].digest, first[2].operands[0].digest);
  EXPECT_EQ(first[3].operands[0].digest, first[3].operands[1].digest) << "x and x";
  EXPECT_FALSE(first[7].operands[2].before.empty());
  const std::vector<float> x = numbers(3000 * 1001);
  EXPECT_EQ(first[0].operands[0].digest, digest(host_vector(x.data(), Dtype::f32, 3000 * 1001)));
  EXPECT_EQ(first[8].operands[0].digest, digest(host_vector(x.data(), Dtype::f32, 500 * 500)));
  EXPECT_EQ(first[8].operands[1].digest, digest(host_col_major(x.data(), Dtype::f32, 500, 500)))
      << "in place";
  std::vector<HostOptions> ways = {{.device = "cpu"}, {.device = "cpu", .in_place = false}};
  if (std::ranges::any_of(devices(), [](const Facts& d) { return d.id == "opencl:0"; })) {
    ways.push_back({.device = "opencl:0"});
    ways.push_back({.device = "opencl:0", .chunks = 3});
  } else {
    EXPECT_FALSE(is_required("opencl"));
  }
  for (const HostOptions& way : ways) {
    const std::vector<Receipt> other = receipts_of(way);
    for (size_t i = 0; i < first.size(); ++i)
      for (size_t k = 0; k < first[i].operands.size(); ++k) {
        EXPECT_EQ(first[i].operands[k].digest, other[i].operands[k].digest)
            << other[i].device << " call " << i << " " << first[i].operands[k].name;
        EXPECT_EQ(first[i].operands[k].before, other[i].operands[k].before);
      }
  }
}

TEST_F(Receipts, AreNotThereYetWhenACallWithAnEventReturns) {
  std::vector<float> x = numbers(6), sums(3, 7.0f);
  Receipt receipt;
  Event event;
  const Refusal refusal = refusal_of([&] {
    reduce(Function::sum, Map::identity, Axis::each_column,
           host_row_major(x.data(), Dtype::f32, 2, 3), host_vector(sums.data(), Dtype::f32, 3),
           {.device = "cpu", .event = &event, .receipt = &receipt});
  });
  EXPECT_EQ(refusal.status, Status::invalid_argument);
  EXPECT_THAT(refusal.sentence, HasSubstr("TRINE_RECEIPTS"));
  EXPECT_EQ(sums[0], 7.0f);
}

TEST_F(Receipts, LeaveOutWhatIsNotRead) {
  std::vector<float> a(6, NAN), c(4, 1.0f);
  Receipt receipt;
  gemm(2, 2, 3, 0.0f, a.data(), a.data(), 2.0f, c.data(), {.device = "cpu", .receipt = &receipt});
  EXPECT_EQ(receipt.operands[0].digest, "");
  EXPECT_NE(receipt.operands[2].before, "");
  EXPECT_THAT(receipt.json(), Not(HasSubstr("\"why\"")));
  gemm(2, 2, 3, 1.0f, a.data(), a.data(), 0.0f, c.data(), {.device = "cpu", .receipt = &receipt});
  EXPECT_NE(receipt.operands[0].digest, "");
  EXPECT_EQ(receipt.operands[2].before, "");
  EXPECT_THAT(receipt.json(), Not(HasSubstr("continues")));
  gemm(2, 2, 3, 1.0f, a.data(), a.data(), 0.0f, c.data(),
       {.device = "cpu", .continues = true, .receipt = &receipt});
  EXPECT_NE(receipt.operands[2].before, "");
  EXPECT_THAT(receipt.json(), HasSubstr("\"beta\":\"0\",\"continues\":true,"));
}

}  // namespace
}  // namespace trine::testing
