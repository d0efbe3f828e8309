// Calibrations decide, say so, and are refused whole where anything in them is wrong.
#include "core/src/auto/calibration.hpp"
#include "core/src/auto/placement.hpp"

#include <trine/tuning.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fixture.hpp"

namespace trine::testing {
namespace {

namespace fs = std::filesystem;
using namespace detail;

/// A device on which a sum of f32 takes `overhead` + n * `slope`, and moving it as much again.
Calibration of_sums(double overhead, double slope) {
  const auto kind =
      static_cast<size_t>(class_of(Operation::reduce, Function::sum, Axis::all, Dtype::f32));
  Calibration made;
  made.date = "2026-11-21T10:00:00Z";
  for (const Where where : {Where::device, Where::host}) {
    Grid& grid = made.tables[kind][index_of(where)].emplace(call_classes()[kind].extents);
    for (size_t point = 0; point < grid.size(); ++point) {
      const double time =
          (overhead + slope * grid.extents(point)[0]) * (where == Where::host ? 2 : 1);
      grid.set(point, {time, time, time});
    }
  }
  return made;
}

Reduce sum_of(int64_t count) {
  return {.input = vector({}, Dtype::f32, count), .output = vector({}, Dtype::f32, 1)};
}

struct Calibrations : ::testing::Test, DataFolder {
  void TearDown() override {
    for (const Device& device : both) learn(device, nullptr);
  }
  void save(const Device& device, const std::vector<std::string>& rows) {
    write_persistent(kCalibrationKind, kCalibrationVersion, calibration_key(*Access::state(device)),
                     rows);
  }
  static Known read_saved(const Device& device) {
    return read_calibration(calibration_key(*Access::state(device)));
  }
  void learn_rows(const Device& device, const Calibration& calibration) {
    learn(device,
          std::make_shared<const Calibration>(calibration_of({.rows = rows_of(calibration)})));
  }
  /// On which a calibration is short.
  std::vector<Device> small_devices() const {
    const fake_panel &panel = panel_of(both[0]), &other = panel_of(both[1]);
    panel.largest_buffer(4096), other.largest_buffer(4096);
    std::vector<Device> devices{open("fake:0:mode=noop"), open("other:0:mode=noop")};
    panel.largest_buffer(1L << 30), other.largest_buffer(1L << 31);  // as it was
    return devices;
  }
  const std::vector<Device> both{open("fake:0"), open("other:0")};
};

TEST_F(Calibrations, EveryCallHasAtMostOneClass) {
  for (size_t i = 0; i < call_classes().size(); ++i) {
    const CallClass& kind = call_classes()[i];
    EXPECT_EQ(class_of(kind.operation, kind.function, kind.axis, kind.dtype), int(i)) << kind.words;
  }
  const auto reduce = [](Function function, Dtype dtype) {
    return class_of(Operation::reduce, function, Axis::each_row, dtype);
  };
  EXPECT_EQ(reduce(Function::min, Dtype::u32), reduce(Function::max, Dtype::i32));
  EXPECT_NE(reduce(Function::sum, Dtype::f32), reduce(Function::prod, Dtype::f32));
  EXPECT_EQ(class_of(Operation::transpose, {}, {}, Dtype::f64),
            class_of(Operation::transpose, {}, {}, Dtype::b64));
  EXPECT_EQ(class_of(Operation::gemm, {}, {}, Dtype::bf16), kNoClass);
}

TEST_F(Calibrations, DecideAmongTheDevicesGivenAndSayFromWhat) {
  learn_rows(both[0], of_sums(1e-3, 1e-9));
  learn_rows(both[1], of_sums(1e-6, 1e-7));
  const Placement small = place(sum_of(1000), Where::host, 1, both);
  EXPECT_EQ(small.device.id(), "other:0") << small.sentence;
  const Placement large = place(sum_of(1 << 20), Where::host, 1, both);
  EXPECT_EQ(large.device.id(), "fake:0") << large.sentence;
  EXPECT_THAT(large.sentence, HasSubstr("fake:0, other:0 calibrated on 2026-11-21"));
  ASSERT_EQ(large.candidates.size(), 2u);
  EXPECT_TRUE(large.candidates[0].calibrated);
  EXPECT_NEAR(large.seconds, 2 * (1e-3 + 1e-9 * (1 << 20)), 2e-4);
  EXPECT_NEAR(large.candidates[0].transfers, large.seconds / 2, 1e-4);
  // Shared among a thousand runs, half of the time, which is moving, no longer counts.
  const double many = place(sum_of(1 << 20), Where::host, 1000, both).seconds;
  EXPECT_NEAR(many, large.seconds / 2, large.seconds / 100);
  const Device one[] = {both[1]};
  EXPECT_EQ(place(sum_of(1 << 20), Where::host, 1, one).device.id(), "other:0");
}

TEST_F(Calibrations, ExactProductsTakeAsLongAsThoseOfF64) {
  const auto work = [](Dtype dtype, Numerics numerics) {
    const View square = row_major({}, dtype, 100, 100);
    return work_of(Gemm{.a = square, .b = square, .c = square, .numerics = numerics});
  };
  const Work exact = work(Dtype::f32, Numerics::exact);
  EXPECT_EQ(exact.call_class, class_of(Operation::gemm, {}, {}, Dtype::f64));
  EXPECT_EQ(exact.dtype, Dtype::f64);  // of the roofs
  EXPECT_EQ(exact.bytes_in, work(Dtype::f32, Numerics::reproducible).bytes_in);
  EXPECT_EQ(work(Dtype::i32, Numerics::exact).call_class,
            class_of(Operation::gemm, {}, {}, Dtype::i32));
}

TEST_F(Calibrations, CallsThatAreNotInThemFallBackOnRoofs) {
  learn_rows(both[0], of_sums(1e-3, 1e-9));
  learn_rows(both[1], of_sums(1e-6, 1e-7));
  Reduce other = sum_of(1 << 20);
  other.function = Function::max;
  const Placement placement = place(other, Where::host, 1, both);
  EXPECT_THAT(placement.sentence, HasSubstr("its calibration has no such calls"));
  EXPECT_FALSE(placement.candidates[0].calibrated);
}

TEST_F(Calibrations, GiveTheBreakEven) {
  learn_rows(both[0], of_sums(1e-3, 1e-9));
  learn_rows(both[1], of_sums(1e-6, 1e-7));  // equal at about 10091
  const auto found =
      break_even(Operation::reduce, Function::sum, Dtype::f32, Where::host, both[0], both[1]);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].never);
  EXPECT_EQ(found[0].below.id(), "other:0");
  EXPECT_EQ(found[0].above.id(), "fake:0");
  EXPECT_NEAR(double(found[0].size), 10091, 1000);
  EXPECT_LE(found[0].low, found[0].size);
  EXPECT_GE(found[0].high, found[0].size);
  EXPECT_THAT(found[0].sentence,
              HasSubstr("sum of f32, pageable host data: other:0 is faster below n = "));
  learn_rows(both[1], of_sums(1e-6, 1e-12));
  const auto never =
      break_even(Operation::reduce, Function::sum, Dtype::f32, Where::host, both[0], both[1]);
  ASSERT_EQ(never.size(), 1u);
  EXPECT_TRUE(never[0].never);
  EXPECT_EQ(never[0].below.id(), "other:0");
  EXPECT_THAT(never[0].sentence, HasSubstr("is never faster than other:0 within memory"));
}

TEST_F(Calibrations, GiveNoBreakEvenOfWhatPlaceRefuses) {
  const auto ask = [&](Operation operation, Function function, Dtype dtype) {
    break_even(operation, function, dtype, Where::host, both[0], both[1]);
  };
  const Status invalid = Status::invalid_argument;
  EXPECT_REFUSED(invalid, "i64 can't be multiplied", ask(Operation::gemm, {}, Dtype::i64));
  EXPECT_REFUSED(invalid, "f16 can't be multiplied", ask(Operation::gemm, {}, Dtype::f16));
  EXPECT_REFUSED(invalid, "b8 can't be reduced", ask(Operation::reduce, Function::sum, Dtype::b8));
  EXPECT_REFUSED(invalid, "no function 9", ask(Operation::reduce, Function(9), Dtype::f32));
  EXPECT_REFUSED(invalid, "no dtype 99", ask(Operation::transpose, {}, Dtype(99)));
  EXPECT_REFUSED(invalid, "no operation 4", ask(Operation(4), {}, Dtype::f32));
}

TEST_F(Calibrations, TellPipelinedCallsFromPinnedOnes) {
  const auto kind = static_cast<size_t>(class_of(Operation::gemm, {}, {}, Dtype::f32));
  Calibration made = of_sums(1e-3, 1e-9);
  const auto set = [&](Where where, double slope) {
    Grid& grid = made.tables[kind][index_of(where)].emplace(call_classes()[kind].extents);
    for (size_t point = 0; point < grid.size(); ++point) {
      const std::vector<double> e = grid.extents(point);
      const double time = 1e-6 + slope * e[0] * e[1] * e[2];
      grid.set(point, {time, time, time});
    }
  };
  set(Where::device, 1e-12), set(Where::host, 8e-12), set(Where::host_pinned, 4e-12);
  learn_rows(both[0], made);
  const View square = row_major({}, Dtype::f32, 1024, 1024);
  const Gemm op{.a = square, .b = square, .c = square};
  const auto seconds = [&](Where where) { return predict(both[0], work_of(op), where, 1).seconds; };
  EXPECT_EQ(seconds(Where::host_pipelined), seconds(Where::host_pinned));  // until it is measured
  set(Where::host_pipelined, 2e-12);
  learn_rows(both[0], made);
  EXPECT_NEAR(seconds(Where::host_pinned) / seconds(Where::host_pipelined), 2, 0.1);

  set(Where::host_pinned, 1e-13), set(Where::host_pipelined, 1e-11);
  learn_rows(both[1], made);
  const auto faster = [&](Where where) {
    const auto found = break_even(Operation::gemm, {}, Dtype::f32, where, both[0], both[1]);
    EXPECT_EQ(found.size(), 1u);
    return found[0];
  };
  EXPECT_EQ(faster(Where::host_pinned).below.id(), "other:0");
  const Crossing pipelined = faster(Where::host_pipelined);
  EXPECT_EQ(pipelined.below.id(), "fake:0");
  EXPECT_THAT(pipelined.sentence,
              HasSubstr("pinned host data, pipelined: other:0 is never faster than fake:0"));
}

TEST_F(Calibrations, ComeBackFromTheirFileAndAreRefusedWhole) {
  const Device& device = both[0];
  EXPECT_EQ(read_saved(device).refusal, "");
  const std::vector<std::string> good = rows_of(of_sums(1e-3, 1e-9));
  save(device, good);
  ASSERT_TRUE(read_saved(device).calibration);
  EXPECT_EQ(read_saved(device).calibration->date, "2026-11-21T10:00:00Z");
  const std::string point = "reduce sum f32 all pageable 17 ";
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{}, "it has no date"},
      {{"date "}, "it has no date"},
      {{good[0], good[1], good[1]}, "occurs twice"},
      {{good[0], "reduce mean f32 all pageable 17 1e-3 1e-3 1e-3"}, "is not a point"},
      {{good[0], "reduce sum f32 all pageable 18 1e-3 1e-3 1e-3"}, "is not a point"},
      {{good[0], point + "-1e-3 1e-3 1e-3"}, "three times"},
      {{good[0], point + "nan 1e-3 1e-3"}, "three times"},
      {{good[0], point + "1e-3 2e-3 3e-3"}, "three times"},
      {{good[0], point + "1e-3 1e-3"}, "three times"},
      {{good[0], "1e-3 1e-3 1e-3"}, "three times"},
      {{good[0], point + "1e-3 1e-3 1e-3x"}, "three times"}};
  for (const auto& [rows, words] : wrong) {
    save(device, rows);
    const Known known = read_saved(device);
    EXPECT_FALSE(known.calibration) << words;
    EXPECT_THAT(known.refusal, HasSubstr(words));
    EXPECT_THAT(known.refusal, HasSubstr("calibration-fake-"));
  }
}

TEST_F(Calibrations, WithADamagedRowAreRefusedByItsPlace) {
  const std::vector<std::string> good = rows_of(of_sums(1e-3, 1e-9));
  std::mt19937 random(38);
#if defined(__SANITIZE_THREAD__)  // which has one thread to look at here, and takes long
  constexpr int kRows = 9;
#elif defined(__SANITIZE_ADDRESS__)
  constexpr int kRows = 60;
#else
  constexpr int kRows = 300;
#endif
  int refused = 0;
  for (int i = 0; i < kRows; ++i) {
    Saved saved{.path = "/saved", .rows = {good[0], good[1], good[2]}, .first_line = 9};
    const std::size_t row = random() % saved.rows.size();
    saved.rows[row] = damaged(saved.rows[row], random);
    const Refusal refusal = refusal_of([&] { calibration_of(saved); });
    if (refusal.status == Status::ok) continue;
    ++refused;
    const bool is_there = refusal.sentence.starts_with(cat("/saved:", 9 + row, ": ")) ||
                          refusal.sentence.ends_with("occurs twice");
    EXPECT_TRUE(is_there) << refusal.sentence;
  }
  EXPECT_GT(refused, kRows / 3);
}

TEST_F(Calibrations, AnswerByTheirFileAsPlaceDoes) {
  const Device& device = both[0];
  save(device, rows_of(of_sums(1e-3, 1e-9)));
  const std::string path = fs::directory_iterator(folder)->path();
  const SavedCalibration saved(path);
  EXPECT_EQ(saved.backend(), "fake");
  EXPECT_EQ(saved.device(), device.facts().name);
  EXPECT_EQ(saved.date(), "2026-11-21");
  learn_rows(device, of_sums(1e-3, 1e-9));
  const Reduce sum = sum_of(1000);
  for (const int repeats : {1, 10}) {
    const Candidate here = place(sum, Where::host, repeats, {&device, 1}).candidates.at(0),
                    there = saved.predict(sum, Where::host, repeats);
    EXPECT_FALSE(there.device);
    EXPECT_DOUBLE_EQ(there.seconds, here.seconds);
    EXPECT_DOUBLE_EQ(there.transfers, here.transfers);
    EXPECT_DOUBLE_EQ(there.low, here.low);
    EXPECT_DOUBLE_EQ(there.high, here.high);
  }
  const auto status_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) { return error.status(); }
    return Status::ok;
  };
  EXPECT_EQ(status_of([&] { saved.predict(Gemm{}, Where::host); }), Status::unsupported);
  EXPECT_EQ(status_of([&] { saved.predict(sum, Where::host, 0); }), Status::invalid_argument);
  for (const uint32_t where : {0u, 99u})
    EXPECT_EQ(status_of([&] { saved.predict(sum, Where(where)); }), Status::invalid_argument);
  EXPECT_EQ(status_of([&] { SavedCalibration(path + "x"); }), Status::not_found);
  std::ofstream(path, std::ios::app) << "more\n";
  EXPECT_EQ(status_of([&] { SavedCalibration again(path); }), Status::invalid_argument);
}

TEST_F(Calibrations, HoldForTheTuningTheyWereMeasuredUnder) {
  const Device& device = both[0];
  const auto found = [&] { return words_of(read_saved(device)); };
  const std::string good = "calibrated on 2026-11-21";
  const Calibration sums = of_sums(1e-3, 1e-9);
  Tuned row{tuning_key(sum_of(1000)), "", 1e-6, 2e-6, "2026-11-21"};
  EXPECT_EQ(found(), "not calibrated");
  save(device, rows_of(sums));
  learn_rows(device, sums);
  save_tuning(device, {row});
  EXPECT_EQ(found(), good) << "the built-in choice won";
  EXPECT_EQ(calibration(device), good);

  row.rung = "naive";
  save_tuning(device, {row});
  for (const std::string& words : {found(), calibration(device)}) {
    EXPECT_THAT(words, HasSubstr("its tuning is 'none', here it is '"));
    EXPECT_THAT(words, HasSubstr("trine calibrate"));
  }
  const std::string why = place(sum_of(1000), Where::host, 1, both).sentence;
  EXPECT_THAT(why, HasSubstr("its tuning is 'none'"));

  save(device, rows_of(sums));  // under the table
  row.seconds /= 2, row.date = "2026-11-22";
  save_tuning(device, {row});
  EXPECT_EQ(found(), good) << "another time of the same rung";
  use_tuning(false);
  EXPECT_THAT(found(), HasSubstr("here it is 'none'"));
  use_tuning(true);
  forget_tuning();
  EXPECT_THAT(found(), HasSubstr("here it is 'none'"));
}

TEST_F(Calibrations, AreLearnedAndSavedOnlyWhole) {
  const std::vector<Device> small = small_devices();
  int asked = 0;
  CalibrateOptions options;
  options.proceed = [&](std::string_view what, double done) {
    EXPECT_THAT(what, HasSubstr("round 1 of 3"));
    EXPECT_GE(done, 0);
    return ++asked < 3;
  };
  const Calibrated ended = calibrate(small, options);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(ended.rounds, 0);
  EXPECT_TRUE(ended.files.empty());
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_FALSE(known_of(small[0]).calibration);
  options.rounds = 0;
  EXPECT_REFUSED(Status::invalid_argument, "rounds is 0", calibrate(small, options));
}

// In the middle of a round, as when another process takes the memory: all other turns count.
TEST_F(Calibrations, LoseTheTurnOfACallThatFailsAndNoMore) {
  const std::vector<Device> small = small_devices();
  const fake_panel& other = panel_of(small[1]);
  int asked = 0;
  CalibrateOptions options;
  options.rounds = 1;
  options.proceed = [&](std::string_view, double) {
    // The fifth: 65 elements in pageable memory. The first call there, which isn't timed, passes.
    if (++asked == 5) other.fail_later(FAKE_QUEUE_WAIT, TRINE_OUT_OF_MEMORY, 1);
    return true;
  };
  EXPECT_EQ(calibrate(small, options).rounds, 1);
  const auto sizes = [](const Device& device, std::string_view table) {
    std::string found;
    const PersistentKey key = calibration_key(*Access::state(device));
    for (const std::string& row : read_persistent(kCalibrationKind, kCalibrationVersion, key).rows)
      if (row.starts_with(table))
        found += row.substr(table.size(), row.find(' ', table.size()) - table.size()) + " ";
    return found;
  };
  EXPECT_EQ(sizes(small[0], "reduce sum f32 all pageable "), "17 65 257 ");
  EXPECT_EQ(sizes(small[1], "reduce sum f32 all pageable "), "17 ") << "65 failed, 257 lies above";
  EXPECT_EQ(sizes(small[1], "reduce prod f32 all pageable "), "17 65 257 ");
}

TEST_F(Calibrations, ThatCantBeSavedAreRefusedBeforeTheyBegin) {
  std::ofstream(folder) << "a file where the folder would be";
  CalibrateOptions options;
  options.proceed = [](std::string_view, double) -> bool { throw std::logic_error("it began"); };
  EXPECT_REFUSED(Status::unsupported, "can't be written: ", calibrate(both, options));
  setenv("TRINE_DATA_DIR", "", 1);
  EXPECT_REFUSED(Status::unsupported, "There is no folder", calibrate(both, options));
}

TEST_F(Calibrations, MaySaveInARelativeFolderThatIsNotThereYet) {
  CalibrateOptions options;
  options.proceed = [](std::string_view, double) { return false; };
  const fs::path here = fs::current_path();
  fs::create_directories(folder);
  fs::current_path(folder);
  for (const char* relative : {"d", "data", "more/data"}) {
    setenv("TRINE_DATA_DIR", relative, 1);
    EXPECT_EQ(calibrate(small_devices(), options).rounds, 0) << relative;
  }
  fs::current_path(here);
}

}  // namespace
}  // namespace trine::testing
