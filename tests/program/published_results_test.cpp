// Tests of the figures that the source documents published, and of those that are read off their
// tables as measured today.
#include "bench/published/results.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trine::bench {
namespace {

Line line(const char* label, const char* column, double published, int64_t n) {
  Problem p;
  p.operation = Operation::gemm;
  p.dtype = p.result = Dtype::f64;
  p.size = {n, 1, 0};
  return {label, column, std::string("rung_of_") + column, p, {published}};
}

/// The results of a right kernel of that time and rate.
Measured measured(const Line& line, double seconds, double rate) {
  Result result;
  result.problem = line.problem;
  result.rung = line.rung + ":with=parameters";
  result.kernel = seconds;
  result.rate = rate;
  result.verified = true;
  return {&line, {result}, {rate / 1e9}};
}

/// Two sizes of a slow and a fast column, which is ahead from the second size on.
class TableToday : public testing::Test {
 protected:
  Table table{"table",
              "",
              {"GF/s"},
              {line("2^1", "first", 1, 2), line("2^1", "other", 4, 2), line("2^2", "first", 2, 4),
               line("2^2", "other", 3, 4), line("2^2", "third", 5, 4)}};
  std::vector<Measured> today{measured(table.lines[0], 1, 10e9), measured(table.lines[1], 2, 5e9),
                              measured(table.lines[2], 4, 8e9), measured(table.lines[3], 2, 16e9),
                              measured(table.lines[4], 3, 11e9)};
};

TEST_F(TableToday, BreakEvenIsBetweenTwoSizes) {
  const std::vector<BreakEven> all = break_evens(table, today);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].column, "other");
  EXPECT_EQ(all[0].text, "between 2^1 and 2^2, near 3 elements");
  EXPECT_DOUBLE_EQ(*all[0].found.crossing(), std::sqrt(8));  // half as fast at 2, twice at 4
  EXPECT_EQ(all[1].text, "below 2^2");                       // ahead at every size that it has
  EXPECT_FALSE(all[1].found.crossing());
}

TEST_F(TableToday, PeaksHaveTheLeastBreakEven) {
  Table wider = table;
  wider.curves = {1.5, 38, 262144, 8192};
  const auto least = [&] { return peaks(wider, today).rows[1].today[2]; };
  EXPECT_TRUE(std::isnan(least()));  // "third" is ahead at every size that it has
  wider.lines.push_back(line("2^1", "third", 4, 2));
  today.push_back(measured(wider.lines.back(), 1.2, 10e9));
  const std::vector<BreakEven> all = break_evens(wider, today);
  EXPECT_DOUBLE_EQ(least(), *all[1].found.crossing());
  EXPECT_LT(least(), *all[0].found.crossing());
}

TEST_F(TableToday, SpeedUpIsOfTheBestRightLine) {
  PublishedResults published_results = speed_ups(table, today);
  ASSERT_EQ(published_results.rows.size(), 2u);
  EXPECT_EQ(published_results.figures, std::vector<std::string>{"over first"});
  EXPECT_EQ(published_results.rows[0].published[0], 4);
  EXPECT_EQ(published_results.rows[0].today[0], 0.5);
  EXPECT_EQ(published_results.rows[1].published[0], 2.5);
  EXPECT_EQ(published_results.rows[1].today[0], 2);
  EXPECT_EQ(published_results.rows[1].rung, "rung_of_other:with=parameters");
  today[3].results[0].verified = false;
  published_results = speed_ups(table, today);
  EXPECT_DOUBLE_EQ(published_results.rows[1].today[0], 4.0 / 3);
  today[1].results.clear();
  published_results = speed_ups(table, today);
  EXPECT_TRUE(std::isnan(published_results.rows[0].today[0]));
  EXPECT_EQ(published_results.rows[0].verdict, "not here");
}

/// The results of a rung that failed its verification, or refused.
Measured without_figure(const Line& line, bool refused) {
  Measured all = measured(line, 1, 0);
  all.today = {std::nan("")};
  all.results[0].verified = false;
  all.results[0].skipped = refused;
  return all;
}

TEST_F(TableToday, AReadingSaysWhyItHasNoFigure) {
  table.curves = {1.5, 38, 262144, 8192};
  table.roofline = {"2^2", {{"measured", 154, 1370, 72.1, 36.5}}};
  const std::vector<Measured> right = today;
  for (const bool refused : {false, true}) {
    today = right;
    const char* verdict = refused ? "refused" : "WRONG";
    // The best of a label: no other line of it is right.
    today[1] = without_figure(table.lines[1], refused);
    PublishedResult row = speed_ups(table, today).rows[0];
    EXPECT_EQ(row.verdict, verdict);
    EXPECT_EQ(row.rung, "rung_of_other:with=parameters");
    EXPECT_TRUE(std::isnan(row.today[0]));
    // The base, over which it is.
    today[2] = without_figure(table.lines[2], refused);
    row = speed_ups(table, today).rows[1];
    EXPECT_EQ(row.verdict, verdict);
    EXPECT_TRUE(std::isnan(row.today[0]));
    // All that a label has.
    for (const size_t i : {3u, 4u}) today[i] = without_figure(table.lines[i], refused);
    const Measured* best = best_of(today, "2^2");
    ASSERT_EQ(best, &today[2]);
    row = read_roofline(table, best, {}, {64e9, 32e9}).rows[0];
    EXPECT_EQ(row.verdict, verdict);
    EXPECT_TRUE(std::isnan(row.today[3]));
    today[0] = without_figure(table.lines[0], refused);
    row = peaks(table, today).rows[0];
    EXPECT_EQ(row.verdict, verdict);
    for (const double figure : row.today) EXPECT_TRUE(std::isnan(figure));
  }
  today = right;
  today[2].results.clear();  // a base that isn't there
  EXPECT_EQ(speed_ups(table, today).rows[1].verdict, "not here");
  today[2] = without_figure(table.lines[2], false);
  today[3].results.clear(), today[4].results.clear();
  EXPECT_EQ(speed_ups(table, today).rows[1].verdict, "WRONG");
}

/// Step and cumulative of a line, read again.
std::vector<double> steps(const Table& table, std::vector<Measured> all, size_t line) {
  for (Measured& each : all) each.today.clear();
  read_today(table, all);
  return all[line].today;
}

TEST_F(TableToday, StepsLookBackToTheLineAboveAndToTheFirst) {
  table.figures = {"step", "cumulative"};
  EXPECT_EQ(steps(table, today, 4), (std::vector<double>{2.0 / 3, 1.0 / 3}));
  EXPECT_TRUE(std::isnan(steps(table, today, 0)[0]));
  EXPECT_TRUE(std::isnan(steps(table, today, 0)[1]));
  std::vector<Measured> all = today;
  all[3] = without_figure(table.lines[3], false);
  EXPECT_TRUE(std::isnan(steps(table, all, 4)[0]));  // over a published line that failed
  EXPECT_EQ(steps(table, all, 4)[1], 1.0 / 3);
  for (const bool refused : {false, true}) {
    all[0] = without_figure(table.lines[0], refused);
    for (const size_t i : {0u, 1u, 2u, 4u})
      EXPECT_TRUE(std::isnan(steps(table, all, i)[1]))
          << "cumulative over another line than the first";
    EXPECT_EQ(steps(table, all, 2)[0], 0.5);
  }
}

TEST_F(TableToday, BestsAreTheDocumentsAndTodays) {
  const PublishedResults published_results = bests(table, today);
  EXPECT_EQ(published_results.figures, std::vector<std::string>{"GF/s"});
  ASSERT_EQ(published_results.rows.size(), 2u);
  EXPECT_EQ(published_results.rows[0].published, std::vector<double>{4});  // of the second column
  EXPECT_EQ(published_results.rows[0].today, std::vector<double>{10});     // of the first
  EXPECT_EQ(published_results.rows[0].rung, "rung_of_first:with=parameters");
  EXPECT_EQ(published_results.rows[1].published, std::vector<double>{5});
  EXPECT_EQ(published_results.rows[1].today, std::vector<double>{16});
  today[0] = without_figure(table.lines[0], false);
  EXPECT_EQ(bests(table, today).rows[0].today, std::vector<double>{5});
  today[1] = without_figure(table.lines[1], false);
  EXPECT_TRUE(std::isnan(bests(table, today).rows[0].today[0]));
  EXPECT_EQ(bests(table, today).rows[0].verdict, "WRONG");
}

TEST(Documents, TheBestShapesStandBesideTodaysBest) {
  const Publication& document = *find_document("002");
  const Table& shapes = document.tables.back();
  EXPECT_TRUE(shapes.bests);
  size_t published = 0;
  for (const Line& each : shapes.lines) published += std::isnan(published_of(each)) ? 0 : 1;
  EXPECT_EQ(published, 4u);  // the document's best at each of four sizes
  for (const Line& each : document.tables[1].lines) EXPECT_NE(each.column, "best");
}

TEST_F(TableToday, LinesStandAsTheTableHasThem) {
  table.ours = "what it doesn't state";
  table.lines[1].published.clear();
  const PublishedResults published_results = lines_of(table, today);
  EXPECT_EQ(published_results.title, "table");
  EXPECT_EQ(published_results.ours, table.ours);
  EXPECT_EQ(published_results.figures, std::vector<std::string>{"GF/s"});
  ASSERT_EQ(published_results.rows.size(), 5u);
  EXPECT_EQ(published_results.rows[3].label, "2^2");
  EXPECT_EQ(published_results.rows[3].column, "other");
  EXPECT_EQ(published_results.rows[3].rung, "rung_of_other");
  EXPECT_EQ(published_results.rows[3].verdict, "same bits");
  EXPECT_EQ(published_results.rows[3].published, std::vector<double>{3});
  EXPECT_EQ(published_results.rows[3].today, std::vector<double>{16});
  EXPECT_TRUE(std::isnan(published_results.rows[1].published[0]));
}

TEST_F(TableToday, PeaksAreOfTheFirstColumnAndOfTheOthers) {
  table.curves = {1.5, 38, 262144, 8192};
  PublishedResults published_results = peaks(table, today);
  EXPECT_TRUE(std::isnan(published_results.rows[1].today[2]));  // the third's lies below the sizes
  today[4].results.clear();
  published_results = peaks(table, today);
  ASSERT_EQ(published_results.rows.size(), 2u);
  EXPECT_EQ(published_results.rows[0].label, "first");
  EXPECT_EQ(published_results.rows[0].published[0], 1.5);
  EXPECT_EQ(published_results.rows[0].today[0], 10);
  EXPECT_EQ(published_results.rows[0].today[1], 2);
  EXPECT_EQ(published_results.rows[1].published, (std::vector<double>{38, 262144, 8192}));
  EXPECT_EQ(published_results.rows[1].today[0], 16);
  EXPECT_EQ(published_results.rows[1].today[1], 4);
  EXPECT_DOUBLE_EQ(published_results.rows[1].today[2], std::sqrt(8));
}

TEST_F(TableToday, RidgeAndPointAreRatesOverBandwidth) {
  table.roofline = {"2^2",
                    {{"nominal", 240, 1370, 45.6, 23.1}, {"measured", 154, 1370, 72.1, 36.5}}};
  const Measured* best = best_of(today, "2^2");
  ASSERT_EQ(best, &today[3]);
  const PublishedResults published_results = read_roofline(table, best, {}, {64e9, 32e9});
  ASSERT_EQ(published_results.rows.size(), 2u);
  EXPECT_EQ(published_results.rows[0].published, (std::vector<double>{240, 1370, 45.6, 23.1}));
  for (const double unknown : published_results.rows[0].today) EXPECT_TRUE(std::isnan(unknown));
  EXPECT_EQ(published_results.rows[1].today, (std::vector<double>{64, 32, 4, 2}));
  EXPECT_EQ(best_of(today, "2^3"), nullptr);
  EXPECT_TRUE(std::isnan(read_roofline(table, nullptr, {}, {64e9, 32e9}).rows[1].today[3]));
}

TEST(Documents, RooflineFollowsFromItsOwnFigures) {
  const Publication& document = *find_document("002");
  const Roofline& roofline = *document.tables.back().roofline;
  ASSERT_EQ(roofline.roofs.size(), 2u);
  for (const Roofline::Roofs& roofs : roofline.roofs) {
    // Its measured ones follow from 152 GB/s rather than from the 154 that it names.
    EXPECT_NEAR(roofs.ridge, roofs.gigaflops / roofs.gigabytes * 8, 1);
    EXPECT_NEAR(roofs.point, 693.0 / roofs.gigabytes * 8, 0.6);
  }
}

TEST(Documents, KernelsWithoutEdgeChecksStandAtMultiplesOf64) {
  const Publication& document = *find_document("002");
  size_t aligned = 0, guarded_beside = 0;
  for (const Table& table : document.tables)
    for (const Line& each : table.lines) {
      if (each.rung.rfind("ilp16", 0) != 0) continue;
      const bool ours = each.column.find("guarded") != std::string::npos;
      const bool multiple = each.problem.size.rows % 64 == 0;
      EXPECT_EQ(each.rung.find("edges=aligned") != std::string::npos, multiple && !ours)
          << each.rung;
      EXPECT_TRUE(multiple || !ours) << each.label;
      EXPECT_TRUE(!ours || std::isnan(published_of(each))) << each.label;
      aligned += multiple && !ours;
      guarded_beside += ours;
    }
  EXPECT_EQ(guarded_beside, 14u);  // seven sizes, two shapes
  EXPECT_GT(aligned, 40u);
}

TEST(Documents, StateWhatTheyPublished) {
  const auto has = [](const char* number, double figure) {
    for (const Table& table : find_document(number)->tables)
      for (const Line& each : table.lines)
        for (const double published : each.published)
          if (published == figure) return true;
    return false;
  };
  for (const double figure : {2.696, 99.57, 756.16, 7.59, 13.80, 40.33, 43.69, 21.85})
    EXPECT_TRUE(has("000", figure)) << figure;
  for (const double figure : {4.238, 4.098, 30.1, 28.7, 17.2})
    EXPECT_TRUE(has("001", figure)) << figure;
  for (const double figure : {91.7, 361.7, 382.9, 719.1, 5.84, 328.2, 717.7, 175.0, 546.9})
    EXPECT_TRUE(has("002", figure)) << figure;
  for (const double figure : {8.054, 62.671, 30.04, 73.0})
    EXPECT_TRUE(has("003", figure)) << figure;
  EXPECT_TRUE(has("004", 0.5));
  EXPECT_EQ(find_document("004")->tables[0].curves->peak, 38);
  EXPECT_EQ(find_document("004")->tables[1].curves->break_even, 3000);
  EXPECT_EQ(find_document("005"), nullptr);
}

}  // namespace
}  // namespace trine::bench
