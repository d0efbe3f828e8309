// Receipts, logs and results that were damaged, in a few thousand ways each: read within bounds, or
// refused in a sentence with the file and the line; what is read is run again, or asked about,
// without harm.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <regex>

#include "bench/placement/trace.hpp"
#include "bench/receipts/receipts.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/lines.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

/// Damage of every kind that a disk, an editor, another program or a malicious hand does.
class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  Texts to(Texts lines) {
    for (size_t times = 1 + below(3); times > 0; --times) damage(lines);
    return lines;
  }
  size_t below(size_t end) { return random_() % end; }

 private:
  static Json odd(size_t which) {
    static const Json kOdd[] = {-1,
                                0,
                                1,
                                2,
                                3,
                                59,
                                61,
                                1 << 20,
                                INT32_MAX,
                                INT64_MAX,
                                UINT64_MAX,
                                1e300,
                                0.5,
                                -0.0,
                                true,
                                nullptr,
                                "",
                                "x",
                                "nan",
                                "inf",
                                "-1",
                                "../../../etc/passwd",
                                "gemm",
                                "reduce",
                                "scalar",
                                "axpby",
                                "f64",
                                "b128",
                                "all",
                                Json::array(),
                                Json::object(),
                                Json::array({1}),
                                std::string(5000, 'y')};
    return kOdd[which % std::size(kOdd)];
  }

  void damage(Texts& lines) {
    if (lines.empty()) return;
    std::string& line = lines[below(lines.size())];
    switch (below(10)) {
      case 0: line.resize(below(line.size() + 1)); return;
      case 1: lines.erase(lines.begin() + std::ptrdiff_t(below(lines.size()))); return;
      case 2:
        lines.insert(lines.begin() + std::ptrdiff_t(below(lines.size())),
                     lines[below(lines.size())]);
        return;
      case 3: line += lines[below(lines.size())]; return;
      case 4:
        line = std::string(below(4) == 0 ? (kLongestLine + 1) : below(3000), "[{\"0"[below(4)]);
        return;
      case 5: std::swap(line, lines[below(lines.size())]); return;
      case 6:
      case 7: return damage_value(line);
      default:
        for (size_t bytes = 1 + below(4); bytes > 0 && !line.empty(); --bytes) {
          const size_t at = below(line.size());
          if (below(2) == 0)
            line[at] = char(below(256));
          else
            line.erase(at, below(8));
        }
    }
  }

  /// Another value, a member less, or one of another name.
  void damage_value(std::string& line) {
    Json json = Json::parse(line, nullptr, false);
    if (json.is_discarded()) return;
    Json* at = &json;
    while (at->is_structured() && !at->empty() && (at == &json || below(3) != 0)) {
      auto member = at->begin();
      std::advance(member, std::ptrdiff_t(below(at->size())));
      if (below(12) == 0) {
        at->erase(member);
        line = json.dump();
        return;
      }
      at = &*member;
    }
    if (at->is_object() && below(2) == 0)
      (*at)[below(2) == 0 ? "rows" : "k"] = odd(random_());
    else
      *at = odd(random_());
    line = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::mt19937 random_;
};

struct DamagedLines : ::testing::Test {
  static std::filesystem::path folder;
  static Texts receipts;

  /// A program whose receipts are kept whole.
  static void SetUpTestSuite() {
    folder = std::filesystem::temp_directory_path() / ("trine_lines_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    const std::string file = (folder / "whole").string();
    if (const pid_t child = fork(); child == 0) {
      setenv("TRINE_RECEIPTS", file.c_str(), 1);
      setenv("TRINE_RECEIPTS_KEEP", "all", 1);
      _exit(calls());
    } else {
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      ASSERT_EQ(status, 0);
    }
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) receipts.push_back(line);
    ASSERT_EQ(receipts.size(), 7u);
    std::filesystem::rename(file + ".kept", folder / "damaged.kept");
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder); }

  static int calls() try {
    const HostOptions on{.device = "cpu"};
    std::vector<double> x(60 * 40, 0.25), y(60 * 40);
    const auto a = host_row_major(std::as_const(x).data(), Dtype::f64, 60, 40);
    reduce(Function::sum, Map::identity, Axis::each_row, a, host_vector(y.data(), Dtype::f64, 60),
           on);
    dot(a, a, host_vector(y.data(), Dtype::f64, 1), Axis::all, on);
    transpose(a, host_row_major(y.data(), Dtype::f64, 40, 60), on);
    gemm(0.5, host_row_major(std::as_const(x).data(), Dtype::f64, 4, 5),
         host_row_major(std::as_const(x).data(), Dtype::f64, 5, 6), 2,
         host_row_major(y.data(), Dtype::f64, 4, 6), on);
    Queue queue(open("cpu"));
    const View v = vector(Buffer::of<double>(queue.device(), 60), Dtype::f64, 60);
    copy(queue, host_vector(std::as_const(x).data(), Dtype::f64, 60), v);
    axpby(queue, 2, v, 0.5, v);
    scalar(queue, Arithmetic::divide, vector(v.buffer, Dtype::f64, 1), 4,
           vector(v.buffer, Dtype::f64, 1));
    queue.wait();
    return 0;
  } catch (const std::exception& error) { return std::fprintf(stderr, "%s\n", error.what()); }

  static std::string put(const Texts& lines) {
    const std::string path = (folder / "damaged").string();
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    for (const std::string& line : lines) file << line << '\n';
    return path;
  }
  /// Reads such a file, and counts those that are refused, each in a sentence that begins with the
  /// file.
  template <class Read>
  static void read_all(const Texts& whole, int times, Read read) {
    int refused = 0;
    for (int seed = 0; seed < times; ++seed) {
      SCOPED_TRACE(seed);
      const std::string path = put(Damage(unsigned(seed)).to(whole));
      try {
        read(path, unsigned(seed));
      } catch (const Refusal& why) {
        ++refused;
        EXPECT_TRUE(std::string_view(why.what()).starts_with(path)) << why.what();
      } catch (const std::exception& error) { ADD_FAILURE() << error.what(); }
      if (HasFailure()) return;
    }
    EXPECT_GT(refused, times / 5);
    EXPECT_LT(refused, times);
  }
};
std::filesystem::path DamagedLines::folder;
Texts DamagedLines::receipts;

TEST_F(DamagedLines, OfReceipts) {
  const std::regex where(":[0-9]+: (not a line of TRINE_RECEIPTS|longer than|written by a later)");
  read_all(receipts, 2500, [&](const std::string& path, unsigned seed) {
    Receipts read;
    try {
      read = read_receipts(path);
    } catch (const Refusal& why) {
      EXPECT_TRUE(std::regex_search(why.what(), where) ||
                  std::string_view(why.what()).ends_with("has no receipts"))
          << why.what();
      throw;
    }
    compare_receipts(read, read);
    if (seed % 4 == 0)
      for (const ReadCall& call : read.calls) run_again(call, path + ".kept", "cpu", "");
  });
}

TEST_F(DamagedLines, OfTheShimsLog) {
  const Texts log = {
      R"({"trine_blas":1,"version":"0.1.0","program":"x","device":"cpu","process":1})",
      R"({"routine":"dgemm","m":15,"n":16,"k":17,"data":"host","device":"cpu","seconds":0.772,"process":1,"thread":1})",
      R"({"routine":"ddot","n":1000,"data":"host","device":"cpu","calls":7,"seconds":0.1,"least":0.01,"greatest":0.02,"process":1})",
      R"({"routine":"somatcopy","rows":3,"cols":4,"transposed":1,"data":"host","device":"cpu","calls":1,"seconds":1e-7,"least":1e-7,"greatest":1e-7,"process":1})",
      R"({"routine":"idamax","n":5,"data":"host","device":"cpu","why":"none","seconds":0.1,"process":1,"thread":1})",
      R"({"forwarded":"dcopy_","calls":4500,"process":1})"};
  Target cpu{"cpu", "", open("cpu")};
  const std::regex where(":[0-9]+: (not a line of TRINE_BLAS_LOG|longer than|written by a later)");
  read_all(log, 2500, [&](const std::string& path, unsigned) {
    Trace trace;
    try {
      trace = read_trace(path);
    } catch (const Refusal& why) {
      EXPECT_TRUE(std::regex_search(why.what(), where) ||
                  std::string_view(why.what()).ends_with("has no calls"))
          << why.what();
      throw;
    }
    for (const TracedCalls& calls : trace.all) answer(cpu, calls, Where::host);
  });
}

TEST_F(DamagedLines, OfResults) {
  std::ifstream file(TRINE_TEST_RESULTS);
  Texts lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  ASSERT_GT(lines.size(), 100u);
  read_all(lines, 600, [](const std::string& path, unsigned) { read_json(path); });
}

TEST_F(DamagedLines, WithinBounds) {
  const std::string path = (folder / "bounded").string();
  const LineKind kind{"TRINE_X", "x", 3000};
  const auto nothing = [](const Json&, bool, int64_t) {};
  const auto said = [&] {
    try {
      each_line(path, kind, nothing);
    } catch (const Refusal& why) { return std::string(why.what()); }
    return std::string();
  };
  std::ofstream(path) << std::string(2999, '\n') << "\n";
  EXPECT_EQ(said(), "");
  std::ofstream(path) << std::string(3001, '\n');
  EXPECT_EQ(said(), path + ": larger than 3000 bytes, and no such file is");
  std::ofstream(path) << R"({"x":1})"
                      << "\n\n{}";
  EXPECT_FALSE(each_line(path, kind, nothing));
  std::ofstream(path) << "{\"x\":1}\n{\"y\n{\"x\":1}\n{\"y";
  EXPECT_TRUE(each_line(path, kind, nothing));
  for (const char* behind : {"{\"y\":1}\n", ""}) {
    std::ofstream(path) << "{\"x\":1}\n{\"y\n" << behind;
    EXPECT_EQ(said(), path + ":2: not a line of TRINE_X");
  }
}

}  // namespace
}  // namespace trine::bench
