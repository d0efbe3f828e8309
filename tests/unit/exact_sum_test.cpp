// ExactSum on a real backend. The conformance cases compare the states that devices write with the
// oracle's; partial_test.cpp merges parts of any size in any order, sums among them.
#include <gtest/gtest.h>
#include <trine/trine.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "oracle/exact_sum.hpp"

namespace trine::testing {
namespace {

const HostOptions kOn{.device = "cpu"};

template <class T>
ExactSum sum_of(const std::vector<T>& values, Map map = Map::identity) {
  ExactSum sum;
  sum.add(values, map, kOn);
  return sum;
}

/// Doubles of any exponent, denormals and zeros among them.
std::vector<double> any_doubles(size_t count, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::vector<double> values(count);
  for (double& value : values) {
    value = std::bit_cast<double>(bits());
    while (!std::isfinite(value)) value = std::bit_cast<double>(bits());
  }
  return values;
}

template <class T>
std::array<uint64_t, 1> bits_of(T value) {
  return {sizeof(T) == 4 ? uint64_t(std::bit_cast<uint32_t>(float(value)))
                         : std::bit_cast<uint64_t>(double(value))};
}

TEST(ExactSum, RefusesWhatNoStateHolds) {
  const std::vector<double> largest = {std::numeric_limits<double>::max()},
                            least = {-std::numeric_limits<double>::max()};
  for (const auto& factor : {largest, least}) {
    ExactSum sum;
    sum.add_dot(largest, factor, kOn);
    for (int doubled = 0; doubled < 127; ++doubled) sum.merge(sum);
    const ExactSum before = sum;
    try {
      sum.merge(sum);
      FAIL() << "nothing was refused";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(),
                   "ExactSum: merge: the sum leaves what a state holds, +-2^2175; round one of the "
                   "two before.");
    }
    EXPECT_EQ(sum.state(), before.state());
    EXPECT_EQ(sum.round<double>(), factor[0] * std::numeric_limits<double>::infinity());
  }
}

TEST(ExactSum, RoundsAsTheOracleDoes) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    // Terms near a rounding boundary of either format, at any magnitude.
    const int exponent = int(random() % 2200) - 1130;
    const double large = std::ldexp(double(int64_t(random()) >> (random() % 40)), exponent);
    const double half = std::ldexp(large, random() % 2 ? -53 : -24);
    std::vector<double> terms{large, half, std::ldexp(double(int(random() % 3)) - 1, -1074)};
    if (random() % 2) terms.push_back(-large);
    oracle::ExactSum expected;
    ExactSum sum;
    for (const double term : terms) {
      expected.add(term);
      sum.merge(sum_of(std::vector{term}));
    }
    uint64_t state[TRINE_EXACT_WORDS];
    expected.state(state);
    ASSERT_TRUE(std::ranges::equal(sum.state(), state)) << i;
    if (std::isfinite(large) && std::isfinite(half)) {
      ASSERT_EQ(bits_of(sum.round<double>()), bits_of(expected.to_f64())) << i;
      ASSERT_EQ(bits_of(sum.round<float>()), bits_of(expected.to_f32())) << i;
    }
  }
}

TEST(ExactSum, KnowsNothingMinusZeroInfinitiesAndNan) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const ExactSum nothing, minus_zero = sum_of(std::vector{-0.0}), zero = sum_of(std::vector{0.0});
  EXPECT_EQ(nothing.state(), ExactSum::State{});
  EXPECT_EQ(sum_of(std::vector<double>{}), nothing);
  EXPECT_FALSE(std::signbit(nothing.round<double>()));
  EXPECT_TRUE(std::signbit(minus_zero.round<float>()));
  EXPECT_FALSE(std::signbit(zero.round<double>()));
  const auto merged = [](ExactSum a, const ExactSum& b) {
    a.merge(b);
    return a;
  };
  EXPECT_EQ(merged(nothing, minus_zero), minus_zero);
  EXPECT_EQ(merged(minus_zero, zero), zero);
  EXPECT_EQ(merged(sum_of(std::vector{1.5}), sum_of(std::vector{-1.5})), zero);
  const ExactSum plus = sum_of(std::vector{kInfinity}), minus = sum_of(std::vector{-kInfinity});
  EXPECT_EQ(merged(sum_of(std::vector{3.0}), minus), minus);
  EXPECT_EQ(minus.round<float>(), -kInfinity);
  EXPECT_TRUE(std::isnan(merged(plus, minus).round<double>()));
  EXPECT_EQ(merged(plus, minus), sum_of(std::vector{1.0, std::nan("")}));
}

/// Values whose products with each other set all flags of a state.
template <class T>
std::vector<T> special_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values{0, 1, L::infinity(), L::quiet_NaN(), L::denorm_min(), L::max()};
  for (size_t i = 0, count = values.size(); i < count; ++i) values.push_back(-values[i]);
  return values;
}

template <class T>
void add_mapped(oracle::ExactSum& sum, Map map, T x, T y) {
  if (map == Map::product) return sum.add_product(x, y);
  if (map == Map::square) return sum.add_product(x, x);
  sum.add(map == Map::abs ? std::abs(x) : x);
}

/// Compares the states that each rung of each device writes for rows (or columns) of one pair,
/// which stands there `length` times, with the oracle's.
template <class T>
void expect_states_of_pairs(Map map, Axis axis, int64_t length) {
  std::vector<T> x, y;
  for (const T a : special_values<T>())
    for (const T b : special_values<T>()) x.push_back(a), y.push_back(b);
  const auto pairs = int64_t(x.size());
  std::vector<ExactSum::State> expected(x.size());
  for (size_t p = 0; p < x.size(); ++p) {
    oracle::ExactSum sum;
    for (int64_t i = 0; i < length; ++i) add_mapped(sum, map, x[p], y[p]);
    sum.state(expected[p].data());
    EXPECT_EQ(ExactSum(expected[p]).state(), expected[p]);  // canonical: it is taken as it is
  }
  for (const Facts& facts : devices()) {
    Queue queue(open(facts.id));
    const View u = vector(Buffer::of<T>(queue.device(), x.size()), dtype_of<T>, pairs),
               v = vector(Buffer::of<T>(queue.device(), x.size()), dtype_of<T>, pairs);
    copy(queue, host_vector(x.data(), dtype_of<T>, pairs), u);
    copy(queue, host_vector(y.data(), dtype_of<T>, pairs), v);
    const auto repeated = [&](View view) {
      view.cols = length, view.col_stride = 0;
      if (axis == Axis::each_column) {
        std::swap(view.rows, view.cols);
        std::swap(view.row_stride, view.col_stride);
      }
      return view;
    };
    const View out = row_major({queue.device(), x.size() * sizeof(ExactSum::State)}, Dtype::u64,
                               pairs, ExactSum::words);
    std::vector<RungInfo> rungs = queue.device().rungs(Operation::reduce);
    rungs.emplace_back();  // the device's choice
    for (const RungInfo& rung : rungs) {
      std::vector<ExactSum::State> seen(x.size());
      try {
        run(queue,
            Reduce{.map = map,
                   .axis = axis,
                   .input = repeated(u),
                   .output = out,
                   .second = map == Map::product ? repeated(v) : View{}},
            rung.name);
      } catch (const Error&) { continue; }  // it writes no states, or there is no f64
      copy(queue, out, host_row_major(seen.data()->data(), Dtype::u64, pairs, ExactSum::words));
      queue.wait();
      for (size_t p = 0; p < x.size(); ++p)
        EXPECT_EQ(seen[p], expected[p]) << facts.id << " " << rung.name << ", " << name(map) << ": "
                                        << x[p] << " and " << y[p] << ", " << length << " times";
    }
  }
}

TEST(ExactSum, StatesOfSpecialValuesAreTheOraclesOnEveryRungAndDevice) {
  for (const Map map : {Map::identity, Map::abs, Map::square, Map::product})
    for (const Axis axis : {Axis::each_row, Axis::each_column})
      for (const int64_t length : {1, 2, 7, 100}) {
        expect_states_of_pairs<float>(map, axis, length);
        expect_states_of_pairs<double>(map, axis, length);
      }
}

TEST(ExactSum, SpecialValuesMergeInAnyOrder) {
  const std::vector<double> values = special_values<double>();
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    std::vector<double> x, y;
    std::vector<ExactSum> parts;
    oracle::ExactSum expected;
    for (size_t p = 0; p < 1 + random() % 4; ++p) {
      x.push_back(values[random() % values.size()]), y.push_back(values[random() % values.size()]);
      expected.add_product(x.back(), y.back());
      parts.emplace_back().add_dot(std::vector{x.back()}, std::vector{y.back()}, kOn);
    }
    ExactSum::State state;
    expected.state(state.data());
    ExactSum whole, merged;
    whole.add_dot(x, y, kOn);
    std::shuffle(parts.begin(), parts.end(), random);
    for (const ExactSum& part : parts) merged.merge(part);
    EXPECT_EQ(whole.state(), state);
    EXPECT_EQ(merged.state(), state);
  }
}

TEST(ExactSum, MergesWithItself) {
  ExactSum sum = sum_of(std::vector{1e300, -3.5, 1e-300});
  sum.merge(sum);
  EXPECT_EQ(sum, sum_of(std::vector{1e300, -3.5, 1e-300, 1e-300, -3.5, 1e300}));
}

TEST(ExactSum, TakesSquaresDotsAndDeviceMemory) {
  const std::vector<double> x = any_doubles(3000, 4), y = any_doubles(3000, 5);
  ExactSum expected, pieces;
  expected.add_dot(x, y, kOn);
  EXPECT_EQ(bits_of(expected.round<double>()), bits_of(dot(x, y, kOn)));
  Queue queue(open("cpu"));
  const Buffer a(queue.device(), 24000), b(queue.device(), 24000);
  const View u = vector(a, Dtype::f64, 3000), v = vector(b, Dtype::f64, 3000);
  copy(queue, host_vector(x.data(), Dtype::f64, 3000), u);
  copy(queue, host_vector(y.data(), Dtype::f64, 3000), v);
  for (const auto& [from, count] : {std::pair<int64_t, int64_t>{1000, 2000}, {0, 1000}})
    pieces.add_dot(queue, rows(u, from, count), rows(v, from, count));
  EXPECT_EQ(pieces, expected);
  ExactSum squares;
  squares.add(queue, u, Map::square);
  EXPECT_EQ(squares, sum_of(x, Map::square));
  // Squares beyond f64's range are sums like others until they are rounded.
  EXPECT_EQ(sum_of(std::vector{1e200}, Map::square).round<double>(), INFINITY);
}

TEST(ExactSum, SumsOfFloatsAndDoublesAreOneKind) {
  ExactSum sum = sum_of(std::vector{0.5f, 3e38f});
  sum.add(std::vector{0.25}, Map::identity, kOn);
  EXPECT_EQ(sum, sum_of(std::vector<double>{double(3e38f), 0.75}));
}

TEST(ExactSum, RefusesWhatIsNoState) {
  const ExactSum good = sum_of(std::vector{1.0});
  EXPECT_EQ(ExactSum(good.state()), good);
  const auto refused = [](size_t word, uint64_t value, ExactSum::State state,
                          const char* remedy = "all words of a state(), as they were") {
    state[word] = value;
    try {
      (void)ExactSum(state);
    } catch (const Error& error) {
      return error.status() == Status::invalid_argument &&
             std::string(error.what()).find(remedy) != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(
      refused(0, good.state()[0] | uint64_t{1} << 32, good.state(), "read it with a newer one"));
  EXPECT_TRUE(refused(0, good.state()[0] | 32, good.state()));
  EXPECT_TRUE(refused(0, 0, good.state()));
  EXPECT_TRUE(refused(0, TRINE_EXACT_ANY, good.state()));
  EXPECT_TRUE(refused(0, good.state()[0] | TRINE_EXACT_NAN, good.state()));
  const ExactSum infinite = sum_of(std::vector{INFINITY});
  EXPECT_TRUE(refused(7, 1, infinite.state()));
}

TEST(ExactSum, ErrorsLeaveTheSum) {
  ExactSum sum = sum_of(std::vector{1.0});
  const ExactSum before = sum;
  Event event;
  EXPECT_THROW(sum.add(std::vector{1.0}, Map::identity, {.event = &event}), Error);
  EXPECT_THROW(sum.add_dot(std::vector{1.0}, std::vector{1.0, 2.0}, kOn), Error);
  const std::vector<int> integers = {1};
  EXPECT_THROW(sum.add(host_vector(integers.data(), Dtype::i32, 1), Map::identity, kOn), Error);
  EXPECT_EQ(sum, before);
}

TEST(ExactSum, StatesAreRefusedOfOtherShapesAndRungs) {
  Queue queue(open("cpu"));
  const Buffer buffer(queue.device(), 100000);
  const View x = row_major(buffer, Dtype::f32, 4, 100),
             good = row_major(buffer, Dtype::u64, 4, 69, 2000);
  const auto message = [&](const View& output, Function function, const char* rung) -> std::string {
    try {
      run(queue, Reduce{function, Map::identity, Axis::each_row, x, output}, rung);
    } catch (const Error& error) { return error.what(); }
    return "";
  };
  EXPECT_EQ(message(good, Function::sum, ""), "");
  EXPECT_NE(message(good, Function::sum, "simd").find("states of sums"), std::string::npos);
  EXPECT_NE(message(good, Function::max, "").find("gives f32"), std::string::npos);
  View narrow = good;
  narrow.cols = 68;
  EXPECT_NE(message(narrow, Function::sum, "").find("gives 4 x 69, a state a row"),
            std::string::npos);
  View spaced = row_major(buffer, Dtype::u64, 4, 69 * 2, 2000);
  spaced.cols = 69, spaced.col_stride = 2;
  EXPECT_NE(message(spaced, Function::sum, "").find("column stride of 1"), std::string::npos);
  queue.wait();
}

/// 1 + a² + b² is so near a tie that bits 2^-88 below the largest square decide.
TEST(Squares, KeepTheirLastBits) {
  const std::vector<std::vector<double>> cases = {
      {1, 0x1.69980f2b15ae5p-12, 0x1.367649ca78ed0p-12},
      {1, 0x1.376351bb4932cp-12, 0x1.4fbf61597f190p-12},
      {1, 0x1.f33321135fa17p-12, 0x1.2ce02598f1810p-12}};
  for (const Facts& facts : devices())
    for (const char* rung : {"", "exact", "exact_stream"})
      for (const auto& x : cases) {
        Queue queue(open(facts.id));
        const View in = vector(Buffer::of<double>(queue.device(), 3), Dtype::f64, 3);
        const View out = vector(Buffer::of<double>(queue.device(), 1), Dtype::f64, 1);
        copy(queue, host_vector(x.data(), Dtype::f64, 3), in);
        try {
          run(queue, Reduce{Function::sum, Map::square, Axis::all, in, out}, rung);
        } catch (const Error&) { continue; }  // no such rung here, or no f64
        double seen = 0;
        copy(queue, out, host_vector(&seen, Dtype::f64, 1));
        queue.wait();
        EXPECT_EQ(seen, sum_of(x, Map::square).round<double>()) << facts.id << " " << rung;
      }
}

}  // namespace
}  // namespace trine::testing
