// The saved tuning table in selection: a row decides the calls it was measured for and no others,
// never moves what a call promises of its bits, and what can't be used is named while the built-in
// choice runs.
#include "core/src/call/tuning.hpp"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "core/src/runtime/persistent_file.hpp"
#include "fixture.hpp"

namespace trine::testing {
namespace {

namespace fs = std::filesystem;

const std::string kBuiltIn = "default: the fake's best";

Reduce sum_of(int64_t count, Numerics numerics = Numerics::reproducible) {
  return {.input = vector({}, Dtype::f32, count),
          .output = vector({}, Dtype::f32, 1),
          .numerics = numerics};
}
Gemm product_of(int64_t m, int64_t n, int64_t k, Dtype dtype = Dtype::f32) {
  return {.a = row_major({}, dtype, m, k),
          .b = row_major({}, dtype, k, n),
          .c = row_major({}, dtype, m, n)};
}
template <class Operation>
Tuned row(const Operation& operation, const std::string& rung) {
  return {tuning_key(operation), rung, 12.3e-6, 15e-6, "2026-11-21"};
}

struct TuningTest : FakeDevice, DataFolder {
  TuningTest() { forget_tuning(); }
  ~TuningTest() override {
    forget_tuning();
    use_tuning(true);
  }
  template <class Operation>
  std::string rung(const Operation& operation) const {
    return choose(device, operation).rung();
  }
  template <class Operation>
  std::string why(const Operation& operation) const {
    return std::string(choose(device, operation).why);
  }
  /// A file that is whole and ours, whatever stands in its rows.
  void write(const std::vector<std::string>& rows) {
    detail::write_persistent("tuning", 1, detail::saved_key(detail::Access::use(device)), rows);
    ++detail::tuning_generation;
  }
  void expect_refused(const std::string& words) {
    ++detail::tuning_generation;  // as another process would find it
    const Tuning table = tuning(device);
    EXPECT_TRUE(table.found);
    EXPECT_TRUE(table.rows.empty());
    EXPECT_THAT(table.refusal, HasSubstr(words));
    EXPECT_EQ(rung(sum_of(1000)), "tuned:threads=256,finish=atomic");
    EXPECT_EQ(why(sum_of(1000)), "the saved tuning table for this device was refused: " +
                                     table.refusal + "; the built-in choice");
    const Buffer input = upload<float>({1, 2, 3}), output(device, 4);
    run(queue,
        Reduce{.input = vector(input, Dtype::f32, 3), .output = vector(output, Dtype::f32, 1)});
    EXPECT_EQ(download<float>(output), std::vector<float>{6});
  }
};

TEST_F(TuningTest, WithoutATableTheBackendChooses) {
  EXPECT_FALSE(tuning(device).found);
  EXPECT_EQ(tuning(device).refusal, "");
  EXPECT_EQ(why(sum_of(1000)), kBuiltIn);
}

TEST_F(TuningTest, ARowDecidesAndSaysSo) {
  const std::string path = save_tuning(device, {row(sum_of(1000), "tuned:threads=64")});
  EXPECT_EQ(tuning(device).path, path);
  ASSERT_EQ(tuning(device).rows.size(), 1U);
  EXPECT_EQ(tuning(device).rows[0].rung, "tuned:threads=64,finish=atomic");
  EXPECT_EQ(tuning(device).rows[0].seconds, 12.3e-6);
  const Choice choice = choose(device, sum_of(1000));
  EXPECT_EQ(choice.rung(), "tuned:threads=64,finish=atomic");
  EXPECT_EQ(choice.why,
            "tuned: 12.3 µs against 15 µs of the default at 1000 (trine sweep, 2026-11-21)");
  const std::vector<float> ones(1000, 1);
  const Buffer input = upload<float>(ones), output(device, 4);
  const Reduce sum{.input = vector(input, Dtype::f32, 1000),
                   .output = vector(output, Dtype::f32, 1)};
  EXPECT_EQ(run(queue, sum).rung(), "tuned:threads=64,finish=atomic");
  EXPECT_EQ(download<float>(output), std::vector<float>{1000});
  EXPECT_EQ(choose(device, sum, "naive").why, "named by the caller");
}

TEST_F(TuningTest, TheNearestRowWithinAFactorOfTwoDecides) {
  save_tuning(device,
              {row(sum_of(1000), "tuned:threads=64"), row(sum_of(3000), "tuned:threads=128"),
               row(product_of(64, 64, 64), "naive")});
  for (const auto& [count, threads] : std::vector<std::pair<int64_t, const char*>>{
           {499, "256"}, {500, "64"}, {1700, "64"}, {1800, "128"}, {6000, "128"}, {6001, "256"}})
    EXPECT_EQ(rung(sum_of(count)), std::string("tuned:threads=") + threads + ",finish=atomic");
  EXPECT_EQ(rung(sum_of(0)), "tuned:threads=256,finish=atomic");
  EXPECT_EQ(rung(product_of(64, 100, 33)), "naive");
  EXPECT_EQ(why(product_of(64, 64, 129)), kBuiltIn) << "every extent counts";
}

TEST_F(TuningTest, ANegativeResultKeepsItsNeighboursAway) {
  save_tuning(device, {row(sum_of(1000), "tuned:threads=64"), row(sum_of(1400), "")});
  EXPECT_EQ(why(sum_of(1300)), kBuiltIn);
  EXPECT_NE(why(sum_of(1100)), kBuiltIn);
}

TEST_F(TuningTest, ARowDecidesItsOwnKindOfCallsAlone) {
  save_tuning(device, {row(sum_of(1000), "naive"), row(product_of(64, 64, 64), "naive")});
  const auto with = [](auto&& change) {
    Reduce sum = sum_of(1000);
    change(sum);
    return sum;
  };
  EXPECT_EQ(rung(sum_of(1000)), "naive");
  EXPECT_EQ(why(with([](Reduce& r) { r.function = Function::max; })), kBuiltIn);
  EXPECT_EQ(why(with([](Reduce& r) { r.map = Map::square; })), kBuiltIn);
  EXPECT_EQ(why(with([](Reduce& r) { r.output.dtype = Dtype::f64; })), kBuiltIn);
  EXPECT_EQ(why(with([](Reduce& r) { r.input.row_stride = 3; })), kBuiltIn);
  EXPECT_EQ(why(with([](Reduce& r) {
              r.axis = Axis::each_row;
              r.output.rows = 1000;
            })),
            kBuiltIn);
  EXPECT_NE(rung(sum_of(1000, Numerics::fast)), "naive");
  Gemm fast = product_of(64, 64, 64);
  fast.numerics = Numerics::fast;
  EXPECT_NE(rung(fast), "naive");
  EXPECT_EQ(why(product_of(64, 64, 64, Dtype::f64)), kBuiltIn);
  Gemm turned = product_of(64, 64, 64);
  turned.b = col_major({}, Dtype::f32, 64, 64);
  EXPECT_EQ(why(turned), kBuiltIn);
  // A packed matrix is as good as a vector to a sum over all of it.
  Reduce matrix = sum_of(1000);
  matrix.input = row_major({}, Dtype::f32, 10, 100);
  EXPECT_EQ(rung(matrix), "naive");
}

TEST_F(TuningTest, WhatMayNotBeChosenIsNotSaved) {
  EXPECT_REFUSED(Status::invalid_argument, "rung picky is study, the call asks for reproducible",
                 save_tuning(device, {row(sum_of(1000), "picky")}));
  EXPECT_REFUSED(Status::invalid_argument, "rung packed is vendor",
                 save_tuning(device, {row(sum_of(1000), "packed")}));
  EXPECT_REFUSED(Status::not_found, "bogus", save_tuning(device, {row(sum_of(1000), "bogus")}));
  EXPECT_REFUSED(Status::not_found, "threads=65",
                 save_tuning(device, {row(sum_of(1000), "tuned:threads=65")}));
  Tuned bad = row(sum_of(1000), "naive");
  bad.call += "x1";
  EXPECT_REFUSED(Status::invalid_argument, "is not a row", save_tuning(device, {bad}));
  bad = row(sum_of(1000), "naive");
  bad.call = tuning_key(product_of(80, 64, 64));
  bad.call.replace(bad.call.find("80x"), 3, "-80x");
  EXPECT_REFUSED(Status::invalid_argument, "is not a row", save_tuning(device, {bad}));
  bad = row(sum_of(1000), "naive");
  bad.seconds = 0;
  EXPECT_REFUSED(Status::invalid_argument, "is not a row", save_tuning(device, {bad}));
  bad = row(sum_of(1000), "naive");
  bad.date = "21 Nov";
  EXPECT_REFUSED(Status::invalid_argument, "is not a row", save_tuning(device, {bad}));
  EXPECT_FALSE(tuning(device).found) << "nothing was written";
}

TEST_F(TuningTest, WhatMayNotBeChosenIsNotReadEither) {
  const std::string call = tuning_key(sum_of(1000)), times = " 1e-6 2e-6 2026-11-21";
  write({call + " picky" + times});
  EXPECT_EQ(rung(sum_of(1000)), "tuned:threads=256,finish=atomic");
  EXPECT_THAT(why(sum_of(1000)), HasSubstr("table's picky was refused: rung picky is study"));
  write({call + " gone:threads=3" + times});
  EXPECT_THAT(why(sum_of(1000)), HasSubstr("table's gone:threads=3 was refused"));
  EXPECT_EQ(why(sum_of(5000)), kBuiltIn) << "which the row doesn't concern";
}

TEST_F(TuningTest, ARungThatRefusesTheCallIsNotUsed) {
  save_tuning(device, {row(product_of(80, 64, 64), "tuned:threads=64")});
  EXPECT_EQ(rung(product_of(100, 64, 64)), "tuned:threads=64,finish=atomic");
  EXPECT_EQ(rung(product_of(101, 64, 64)), "tuned:threads=256,finish=atomic");
  EXPECT_EQ(why(product_of(101, 64, 64)),
            "the saved tuning table's tuned:threads=64,finish=atomic was refused: it refuses this "
            "call; the built-in choice");
}

TEST_F(TuningTest, ADamagedTableIsRefusedAndReplaced) {
  const std::string path = save_tuning(device, {row(sum_of(1000), "naive")});
  std::fstream(path, std::ios::in | std::ios::out).seekp(40).put('#');
  expect_refused("damaged");
  save_tuning(device, {row(sum_of(1000), "naive")});
  EXPECT_EQ(rung(sum_of(1000)), "naive");
}

TEST_F(TuningTest, ATableOfAnotherDriverVersionOrRowsIsRefused) {
  detail::PersistentKey key = detail::saved_key(detail::Access::use(device));
  for (detail::PersistentKey::Line& line : key.lines)
    if (line.name == "driver") line.value = "an older one";
  detail::write_persistent("tuning", 1, key, {});
  expect_refused("its driver is 'an older one'");
  detail::write_persistent("tuning", 2, detail::saved_key(detail::Access::use(device)), {});
  expect_refused("its format is 2");
  write({"reduce sum"});
  expect_refused(":9: this line is not a row: reduce sum");
  std::string negative = tuning_key(product_of(80, 64, 64));
  negative.replace(negative.find("80x"), 3, "-80x");
  write({negative + " naive 1 1 2026-11-21"});
  expect_refused("this line is not a row: gemm");
  write({"reduce sum identity all f32 f32 q reproducible 1000x1 naive 1 1 2026-11-21"});
  expect_refused("this line is not a row");
  write({"reduce sum identity all f32 f32 r reproducible 1000x1 naive 1 nan 2026-11-21"});
  expect_refused("this line is not a row");
}

TEST_F(TuningTest, AnotherDevicesTableIsItsOwn) {
  save_tuning(device, {row(sum_of(1000), "naive")});
  EXPECT_FALSE(tuning(open("other:0")).found);
  EXPECT_EQ(choose(open("other:0"), sum_of(1000)).why, kBuiltIn);
}

TEST_F(TuningTest, RowsAreAddedInThePlaceOfThoseOfTheSameCall) {
  save_tuning(device, {row(sum_of(1000), "naive"), row(product_of(64, 64, 64), "naive")});
  save_tuning(device, {row(sum_of(1000), "tuned:threads=128"), row(sum_of(9000), "")});
  EXPECT_EQ(tuning(device).rows.size(), 3U);
  EXPECT_EQ(rung(sum_of(1000)), "tuned:threads=128,finish=atomic");
  EXPECT_EQ(rung(product_of(64, 64, 64)), "naive");
}

TEST_F(TuningTest, RowsThatAreSavedAtOnceAreAllKept) {
  constexpr int kWriters = 4, kRows = 8;
  std::vector<std::thread> threads;
  threads.reserve(kWriters);
  for (int writer = 0; writer < kWriters; ++writer)
    threads.emplace_back([&, writer] {
      for (int i = 0; i < kRows; ++i)
        save_tuning(device, {row(sum_of(int64_t{1} << (writer * kRows + i)), "")});
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(tuning(device).rows.size(), std::size_t{kWriters * kRows});
}

TEST_F(TuningTest, CanBeSwitchedOffAndForgotten) {
  const std::string path = save_tuning(device, {row(sum_of(1000), "naive")});
  use_tuning(false);
  EXPECT_FALSE(uses_tuning());
  EXPECT_EQ(why(sum_of(1000)), kBuiltIn);
  use_tuning(true);
  EXPECT_EQ(rung(sum_of(1000)), "naive");
  EXPECT_EQ(forget_tuning(), std::vector<std::string>{path});
  EXPECT_EQ(why(sum_of(1000)), kBuiltIn);
}

TEST_F(TuningTest, IsForgottenWhenASweepThatAddsItsRowsHasWrittenThem) {
  const std::string path = save_tuning(device, {row(sum_of(1000), "naive")});
  std::atomic<bool> forgotten{false};
  std::optional<detail::PersistentLock> sweep(std::in_place);
  std::thread forgetting([&] {
    forget_tuning();
    forgotten = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(forgotten);
  EXPECT_TRUE(fs::exists(path));
  sweep.reset();
  forgetting.join();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TuningTest, ForgettingLeavesNoFolderWhereNoneWas) {
  EXPECT_TRUE(forget_tuning().empty());
  EXPECT_FALSE(forget_tuning(device, tuning_key(sum_of(1000))));
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(TuningTest, OneRowCanBeForgotten) {
  save_tuning(device, {row(sum_of(1000), "naive"), row(product_of(64, 64, 64), "naive")});
  EXPECT_TRUE(forget_tuning(device, tuning_key(sum_of(1000))));
  EXPECT_EQ(why(sum_of(1000)), kBuiltIn);
  EXPECT_EQ(rung(product_of(64, 64, 64)), "naive");
  EXPECT_FALSE(forget_tuning(device, tuning_key(sum_of(1000))));
  EXPECT_TRUE(forget_tuning(device, tuning_key(product_of(64, 64, 64))));
  EXPECT_EQ(why(product_of(64, 64, 64)), kBuiltIn);
  EXPECT_EQ(tuning(device).refusal, "") << "a table without rows is one";
}

TEST_F(TuningTest, WordsOutliveTheTableTheyCameFrom) {
  save_tuning(device, {row(sum_of(1000), "naive")});
  const Choice choice = choose(device, sum_of(1000));
  save_tuning(device, {row(sum_of(1000), "tuned")});
  rung(sum_of(1000));
  EXPECT_TRUE(choice.why.starts_with("tuned: 12.3 µs")) << choice.why;
}

TEST_F(TuningTest, IsReadOnceByAnyNumberOfThreads) {
  save_tuning(device, {row(sum_of(1000), "naive")});
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int call = 0; call < 50; ++call) {
        if (call % 10 == 0) ++detail::tuning_generation;
        right += choose(device, sum_of(1000)).rung_name() == "naive";
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

TEST(TuningKey, OfADamagedLineIsNoneOrReadsBack) {
  const std::string good[] = {"reduce argmax abs each_column i64 i64 s reproducible 7x9",
                              "transpose b128 rc reproducible 3x4x5",
                              "gemm f32 rcr fast 512x513x514x2"};
  std::mt19937 random(38);
  int read = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = damaged(good[random() % std::size(good)], random);
    detail::TuningKey call, again;
    if (!detail::read_call(line, call)) continue;
    ++read;
    EXPECT_TRUE(detail::read_call(detail::text_of(call), again)) << line;
    EXPECT_EQ(detail::text_of(call), detail::text_of(again)) << line;
  }
  EXPECT_GT(read, 50);
  EXPECT_LT(read, 2500);
}

TEST(TuningKey, ReadsBackAsItWasWritten) {
  const char* const good[] = {"reduce argmax abs each_column i64 i64 s reproducible 7x9",
                              "transpose b128 rc reproducible 3x4x5",
                              "gemm f32 rcr fast 512x513x514x2"};
  for (const char* text : good) {
    detail::TuningKey call;
    EXPECT_TRUE(detail::read_call(text, call)) << text;
    EXPECT_EQ(detail::text_of(call), text);
  }
  const char* const bad[] = {"",
                             "gemm",
                             "fft f32 rrr reproducible 1x1x1x1",
                             "gemm f32 rrr reproducible 512x513x514",
                             "gemm f32 rrr reproducible 512x513x514x2x2",
                             "gemm f32 rrr reproducible 512x513x514x2 ",
                             "gemm f31 rrr reproducible 512x513x514x2",
                             "gemm f32 rrr reproducible 512x513x514x99999999999999999999"};
  for (const char* text : bad) {
    detail::TuningKey call;
    EXPECT_FALSE(detail::read_call(text, call)) << text;
  }
  EXPECT_EQ(tuning_key(sum_of(1000)), "reduce sum identity all f32 f32 r reproducible 1000x1");
  EXPECT_EQ(tuning_key(Transpose{col_major({}, Dtype::f64, 3, 4), row_major({}, Dtype::f64, 4, 3)}),
            "transpose b64 cr reproducible 3x4x1");
  EXPECT_EQ(tuning_key(product_of(2, 3, 4)), "gemm f32 rrr reproducible 2x3x4x1");
  const auto exact = [](Gemm product) {
    product.numerics = Numerics::exact;
    return tuning_key(product);
  };
  EXPECT_EQ(exact(product_of(2, 3, 4)), "gemm f32 rrr exact 2x3x4x1");
  EXPECT_EQ(exact(product_of(2, 3, 4, Dtype::f64)), "gemm f64 rrr exact 2x3x4x1");
}

}  // namespace
}  // namespace trine::testing
