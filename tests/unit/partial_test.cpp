// Partial: parts of reductions that become the whole, on a real backend. The whole is what
// reduce() returns, which the conformance cases compare with the oracle.
#include <gmock/gmock.h>
#include <trine/trine.hpp>

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace trine::testing {
namespace {

using ::testing::HasSubstr;

const HostOptions kOn{.device = "cpu"};

/// Merges neighbours in a random tree, as an allreduce over ranks does.
Partial merged(std::span<const Partial> parts, std::mt19937& random) {
  if (parts.size() == 1) return parts.front();
  const size_t at = 1 + random() % (parts.size() - 1);
  Partial left = merged(parts.first(at), random), right = merged(parts.subspan(at), random);
  if (random() % 2 != 0) std::swap(left, right);
  left.merge(right);
  return left;
}

/// Random places between 0 and n, in order, both included: some twice, so that parts are empty.
std::vector<int64_t> cuts(int64_t n, size_t parts, std::mt19937& random) {
  std::vector<int64_t> at{0, n};
  while (at.size() < parts + 1) at.push_back(int64_t(random() % uint64_t(n + 1)));
  std::ranges::sort(at);
  return at;
}

/// Values among which all rules show: ties, zeros of both signs, sometimes a NaN or an infinity;
/// products stay finite for long, but are rounded.
template <class T>
std::vector<T> values(int64_t n, std::mt19937& random) {
  std::vector<T> all;
  const unsigned kind = random() % 4;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      T x = T(0.5) + T(random() % 1000003) / T(1000003);
      if (random() % 2) x = -x;
      if (kind == 1) x = T(int(random() % 3) - 1) * T(random() % 2 ? 1 : -1);
      if (kind == 2 && random() % 97 == 0)
        x = std::copysign(std::numeric_limits<T>::quiet_NaN(), x);
      if (kind == 3) x = std::ldexp(x, int(random() % 200) - 100);
      all.push_back(kind == 3 && random() % 301 == 0 ? std::numeric_limits<T>::infinity() : x);
    } else {
      all.push_back(kind % 2 ? T(random() % 5) : T(uint64_t(random()) << 32 | random()));
    }
  }
  return all;
}

/// The bits of a result; of a NaN those of one.
uint64_t bits(Dtype dtype, uint64_t raw) {
  if (dtype == Dtype::f32 && std::isnan(std::bit_cast<float>(uint32_t(raw)))) return 1;
  if (dtype == Dtype::f64 && std::isnan(std::bit_cast<double>(raw))) return 1;
  return raw;
}
uint64_t result_of(const Partial& p, Dtype dtype) {
  uint64_t raw = 0;
  p.result(dtype, &raw);
  return bits(dtype, raw);
}
uint64_t whole(Function function, Map map, const ConstHostView& x, Dtype dtype) {
  uint64_t raw = 0;
  reduce(function, map, Axis::all, x, host_vector(&raw, dtype, 1), kOn);
  return bits(dtype, raw);
}

struct Kind {
  Function function;
  Map map;
};
std::vector<Kind> kinds() {
  std::vector<Kind> all{{Function::sum, Map::square}};
  for (const Function f : {Function::sum, Function::prod, Function::min, Function::max,
                           Function::argmin, Function::argmax})
    for (const Map m : {Map::identity, Map::abs}) all.push_back({f, m});
  return all;
}

/// The words of the error that `body` throws, which is of an argument.
template <class Body>
std::string message(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_argument);
    return error.what();
  }
  return "nothing was refused";
}

template <class T>
class EveryDtype : public ::testing::Test {};
using Dtypes = ::testing::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(EveryDtype, Dtypes);

TYPED_TEST(EveryDtype, PartsCutAnywhereMergeToTheWhole) {
  using T = TypeParam;
  std::mt19937 random(1);
  for (const int64_t n : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 255, 256, 257, 1000, 4095, 4096, 4097}) {
    for (const auto& [function, map] : kinds()) {
      const std::vector<T> x = values<T>(n, random);
      const Dtype dtype = result_dtype(function, map, dtype_of<T>);
      Partial all(function, dtype_of<T>, map);
      all.add(x, 0, kOn);
      ASSERT_EQ(result_of(all, dtype),
                whole(function, map, host_vector(x.data(), dtype_of<T>, n), dtype))
          << n << " " << name(function) << " " << name(map);
      for (int turn = 0; turn < 3; ++turn) {
        const std::vector<int64_t> at = cuts(n, 1 + random() % 12, random);
        std::vector<Partial> parts;
        for (size_t p = 0; p + 1 < at.size(); ++p) {
          parts.emplace_back(function, dtype_of<T>, map);
          parts.back().add(std::vector(x.begin() + at[p], x.begin() + at[p + 1]), at[p], kOn);
        }
        std::ranges::shuffle(parts, random);  // so few that products hold them in any order
        ASSERT_EQ(merged(parts, random).state(), all.state())
            << n << " " << name(function) << " " << name(map);
      }
      ASSERT_EQ(Partial(all.state()), all);
    }
  }
}

TYPED_TEST(EveryDtype, TenThousandPartsMergeInAnyTree) {
  using T = TypeParam;
  constexpr int64_t kParts = 10000;
  std::mt19937 random(2);
  const std::vector<T> x = values<T>(2 * kParts, random);
  for (const Function function : {Function::sum, Function::prod, Function::min, Function::argmax}) {
    Partial all(function, dtype_of<T>);
    all.add(x, 0, kOn);
    std::vector<Partial> parts;
    const std::vector<int64_t> at = cuts(2 * kParts, kParts, random);
    for (size_t p = 0; p < kParts; ++p) {
      parts.emplace_back(function, dtype_of<T>);
      parts.back().add(std::span(x).subspan(size_t(at[p]), size_t(at[p + 1] - at[p])), at[p], kOn);
    }
    // Only a product minds which ones meet.
    if (function != Function::prod) std::ranges::shuffle(parts, random);
    ASSERT_EQ(merged(parts, random).state(), all.state()) << name(function);
  }
}

TYPED_TEST(EveryDtype, MatricesCountRowByRow) {
  using T = TypeParam;
  std::mt19937 random(3);
  const std::vector<T> x = values<T>(40 * 50, random);
  const ConstHostView dense = host_row_major(x.data(), dtype_of<T>, 40, 50);
  const ConstHostView views[] = {dense,
                                 submatrix(dense, 3, 7, 20, 21),
                                 transposed(dense),
                                 submatrix(transposed(dense), 1, 2, 30, 1),
                                 cols(dense, 4, 1),
                                 rows(dense, 5, 1)};
  for (const auto& [function, map] : kinds()) {
    const Dtype dtype = result_dtype(function, map, dtype_of<T>);
    for (const ConstHostView& view : views) {
      Partial lower(function, dtype_of<T>, map), upper = lower;
      const int64_t half = view.rows / 3;
      upper.add(rows(view, 0, half), 0, kOn);
      lower.add(rows(view, half, view.rows - half), half * view.cols, kOn);
      lower.merge(upper);
      ASSERT_EQ(result_of(lower, dtype), whole(function, map, view, dtype))
          << name(function) << " " << name(map) << " " << view.rows << " x " << view.cols;
    }
  }
}

TYPED_TEST(EveryDtype, DeviceMemoryGivesTheSameBytes) {
  using T = TypeParam;
  std::mt19937 random(4);
  const std::vector<T> x = values<T>(30 * 41, random);
  const ConstHostView host = host_row_major(x.data(), dtype_of<T>, 30, 41);
  Queue queue(open("cpu"));
  const View view = row_major(Buffer::of<T>(queue.device(), 30 * 41), dtype_of<T>, 30, 41);
  copy(queue, host, view);
  for (const auto& [function, map] : kinds()) {
    Partial expected(function, dtype_of<T>, map), seen = expected, block = expected;
    expected.add(host, 11, kOn);
    seen.add(queue, rows(view, 10, 20), 11 + 410);
    seen.add(queue, rows(view, 0, 10), 11);
    ASSERT_EQ(seen.state(), expected.state()) << name(function) << " " << name(map);
    expected = block;
    expected.add(cols(host, 5, 17), 0, kOn);
    block.add(queue, cols(view, 5, 17), 0);
    ASSERT_EQ(block.state(), expected.state()) << name(function) << " " << name(map);
  }
}

TEST(Partial, EveryDeviceGivesTheSameBytes) {
  std::mt19937 random(6);
  const std::vector<float> x = values<float>(997, random);
  for (const Facts& facts : devices()) {
    Queue queue(open(facts.id));
    const View view = vector(Buffer::of<float>(queue.device(), 997), Dtype::f32, 997);
    copy(queue, host_vector(x.data(), Dtype::f32, 997), view);
    for (const Function function : {Function::sum, Function::prod, Function::argmax}) {
      Partial expected(function, Dtype::f32), seen = expected;
      expected.add(x, 3, kOn);
      seen.add(queue, rows(view, 500, 497), 503);
      seen.add(queue, rows(view, 0, 500), 3);
      EXPECT_EQ(seen.state(), expected.state()) << facts.id << " " << name(function);
    }
  }
}

// An infinity is no less than nothing was, but it has an index.
TEST(Partial, TiesGoToTheLowestIndexAndNanToTheFirst) {
  const float infinity = INFINITY, nan = NAN;
  const auto at = [](Function function, std::vector<std::pair<float, int64_t>> seen) {
    std::vector<int64_t> found;
    for (int turn = 0; turn < 2; ++turn, std::ranges::reverse(seen)) {
      Partial all(function, Dtype::f32);
      for (const auto& [x, index] : seen) {
        Partial one(function, Dtype::f32);
        one.add(std::vector{x}, index, kOn);
        all.merge(one);
      }
      found.push_back(all.result<int64_t>());
    }
    EXPECT_EQ(found[0], found[1]);
    return found[0];
  };
  EXPECT_EQ(at(Function::argmin, {{infinity, 5}}), 5);
  EXPECT_EQ(at(Function::argmin, {{2, 9}, {1, 7}, {1, 4}, {1, 8}}), 4);
  EXPECT_EQ(at(Function::argmax, {{2, 9}, {2, 7}, {1, 4}}), 7);
  EXPECT_EQ(at(Function::argmax, {{infinity, 0}, {nan, 7}, {-nan, 4}}), 4);
  EXPECT_EQ(at(Function::argmin, {{0.0f, 1}, {-0.0f, 7}}), 7);
  EXPECT_EQ(at(Function::argmax, {{-0.0f, 1}, {0.0f, 7}}), 7);
}

TEST(Partial, TheCallersRoundingDoesntReachTheTree) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> factor(0.9, 1.1);
  std::vector<double> x(1001);
  for (double& each : x) each = factor(random);
  x[3] = 1e-300, x[1000] = 1e-10;  // the last product is a denormal
  const auto product = [&] {
    Partial all(Function::prod, Dtype::f64);
    for (size_t i = 0; i < x.size(); ++i) all.add(std::vector{x[i]}, int64_t(i), kOn);
    return all;
  };
  const Partial expected = product();
  const double root = expected.result<double>();
  EXPECT_EQ(root, prod(x, kOn));
  EXPECT_EQ(std::fpclassify(root), FP_SUBNORMAL);
  std::fenv_t before;
  std::fegetenv(&before);
  std::fesetround(FE_UPWARD);
#if defined(__SSE2__)
  const unsigned flushing = __builtin_ia32_stmxcsr() | 0x8040;
  __builtin_ia32_ldmxcsr(flushing);
#endif
  const Partial seen = product();
  const auto again = std::bit_cast<uint64_t>(seen.result<double>());
#if defined(__SSE2__)
  EXPECT_EQ(__builtin_ia32_stmxcsr() & ~0x3fu, flushing & ~0x3fu);
#endif
  std::fesetenv(&before);
  EXPECT_EQ(seen.state(), expected.state());
  EXPECT_EQ(again, std::bit_cast<uint64_t>(root));
}

TEST(Partial, ProductsSayWhatIsMissingTwiceOrTooScattered) {
  const std::vector<float> two = {2, 2};
  Partial all(Function::prod, Dtype::f32);
  all.add(two, 7, kOn);
  EXPECT_EQ(message([&] { (void)all.result<float>(); }),
            "Partial: result: the product lacks the elements 0 to 6.");
  const Partial before = all;
  EXPECT_EQ(message([&] { all.add(two, 8, kOn); }), "Partial: the product has element 8 twice.");
  EXPECT_EQ(message([&] { all.merge(all); }), "Partial: the product has element 7 twice.");
  EXPECT_EQ(all, before);
  Partial scattered(Function::prod, Dtype::f32);
  for (int64_t i = 0; i < 127; ++i) scattered.add(std::vector{2.0f}, 2 * i, kOn);
  const Partial full = scattered;
  EXPECT_EQ(Partial(full.state()), full);
  EXPECT_THAT(message([&] { scattered.add(std::vector{2.0f}, 2 * 127, kOn); }),
              HasSubstr("128 blocks of its tree, and a state holds 127. Merge pieces with their"));
  EXPECT_EQ(scattered, full);
  for (int64_t i = 0; i < 127; ++i) scattered.add(std::vector{0.5f}, 2 * i + 1, kOn);
  EXPECT_EQ(scattered.result<float>(), 1);
}

// The most blocks that a run of indices can be.
TEST(Partial, ARunOfAnyLengthFits) {
  const float one = 1;
  ConstHostView part = host_vector(&one, Dtype::f32, (1 << 12) - 2);
  part.row_stride = 0;
  Partial all(Function::prod, Dtype::f32);
  all.add(part, (int64_t{1} << 62) - part.rows / 2, kOn);
  EXPECT_EQ(all.state()[2], std::bit_cast<uint32_t>(one));
  EXPECT_EQ(all.state()[2 * 22 + 1], 0u);
  EXPECT_NE(all.state()[2 * 22 - 1], 0u);
}

TEST(Partial, RefusesWhatIsNoState) {
  const auto refused = [](const Partial& good, size_t word, uint64_t value) {
    Partial::State state = good.state();
    state[word] = value;
    return message([&] { (void)Partial(state); }) != "nothing was refused";
  };
  const auto of = [](Function function, Dtype dtype) { return Partial(function, dtype); };
  EXPECT_TRUE(refused(of(Function::sum, Dtype::f32), 0, 0));
  const Partial least = of(Function::min, Dtype::f32), at = of(Function::argmin, Dtype::f32);
  EXPECT_TRUE(refused(least, 0, least.state()[0] | uint64_t{1} << 32));
  EXPECT_TRUE(refused(least, 0, least.state()[0] | 1 << 24));
  EXPECT_TRUE(refused(least, 1, uint64_t{1} << 32));
  EXPECT_TRUE(refused(least, 1, 0x7fc00001));
  EXPECT_FALSE(refused(least, 1, 0x7fc00000));
  EXPECT_TRUE(refused(least, 2, 1));
  EXPECT_TRUE(refused(at, 1, 0));
  EXPECT_TRUE(refused(at, 2, UINT64_MAX - 1));
  EXPECT_FALSE(refused(at, 2, 5));
  EXPECT_TRUE(refused(of(Function::sum, Dtype::i32), 2, 1));
  EXPECT_FALSE(refused(of(Function::sum, Dtype::i32), 1, 12));
  EXPECT_TRUE(refused(of(Function::sum, Dtype::f64), 1, 1));   // ExactSum's own check
  EXPECT_TRUE(refused(of(Function::sum, Dtype::f64), 70, 1));  // behind it
  Partial product = of(Function::prod, Dtype::f64);
  product.add(std::vector{1.5, 2.5, 3.5}, 1, kOn);  // 1, 2 and 3
  EXPECT_EQ(product.state()[1], 3u);
  EXPECT_EQ(product.state()[3], 6u);
  EXPECT_TRUE(refused(product, 1, 5));   // twice
  EXPECT_TRUE(refused(product, 1, 11));  // out of order
  EXPECT_TRUE(refused(product, 3, 1));   // halves
  EXPECT_TRUE(refused(product, 4, UINT64_MAX));
  EXPECT_TRUE(refused(product, 255, 1));
}

TEST(Partial, ErrorsLeaveIt) {
  EXPECT_EQ(message([] { (void)Partial(Function::sum, Dtype::f32, Map::product); }),
            "Partial: map product takes two inputs; ExactSum::add_dot() does.");
  EXPECT_EQ(message([] { (void)Partial(Function::max, Dtype::f32, Map::square); }),
            "reduce: map square needs function sum, not max.");
  EXPECT_THAT(message([] { (void)Partial(Function::max, Dtype::b32); }),
              HasSubstr("can't be reduced"));
  Partial all(Function::argmax, Dtype::f32);
  const std::vector<float> x = {1, 2};
  all.add(x, 0, kOn);
  const Partial before = all;
  EXPECT_EQ(message([&] { all.add(std::vector{1.0}, 2, kOn); }),
            "Partial: add: it is made for f32, the part is f64.");
  EXPECT_THAT(message([&] { all.add(x, -1, kOn); }), HasSubstr("2 elements from -1 on"));
  EXPECT_THAT(message([&] { all.add(x, INT64_MAX - 1, kOn); }), HasSubstr("beyond"));
  Event event;
  EXPECT_NE(message([&] { all.add(x, 2, {.event = &event}); }), "nothing was refused");
  EXPECT_THAT(message([&] { all.add(x, 2, {.numerics = Numerics::fast}); }),
              HasSubstr("reproducible"));
  ConstHostView view = host_vector(x.data(), Dtype::f32, 2);
  view.batch = 2;
  EXPECT_THAT(message([&] { all.add(view, 2, kOn); }), HasSubstr("batch of 1"));
  EXPECT_EQ(message([&] { all.merge(Partial(Function::argmax, Dtype::f32, Map::abs)); }),
            "Partial: merge: this is of argmax identity f32, the other of argmax abs f32.");
  EXPECT_THAT(message([&] { (void)all.result<float>(); }), HasSubstr("gives i64"));
  EXPECT_EQ(all, before);
  EXPECT_THAT(message([] { (void)Partial(Function::sum, Dtype::f64).result<float>(); }),
              HasSubstr("f64"));
}

}  // namespace
}  // namespace trine::testing
