// Sums by plain additions, which the processor's flag tells to be exact: what was rounded is added
// again, nothing is read beside the elements, and zeros keep their sign.
#include <algorithm>

#include "enclosed.hpp"
#include "reduce/inexact.hpp"
#include "reduce_fixture.hpp"

namespace trine::cpu {
namespace {

// One piece and several, vectors and rests, rows that are shorter and longer than a vector, columns
// in strips with blocks of rows, narrow ones without gaps and with them.
constexpr Shape kShapes[] = {
    {1, 40003, 40003, 1}, {9001, 20, 20, 1},  {9001, 20, 33, 1}, {700, 256, 256, 1},
    {513, 4, 4, 1},       {300, 2, 2, 1},     {301, 7, 7, 1},    {90, 100, 101, 1},
    {4, 5003, 5003, 1},   {100, 300, 301, 1}, {70, 5000, 1, 70}, {99, 1, 1, 1},
    {203, 3, 3, 1},       {205, 5, 5, 1},     {207, 6, 6, 1},    {201, 9, 9, 1},
    {205, 13, 17, 1},     {203, 17, 17, 1},   {107, 31, 33, 1}};

TEST(Inexact, is_told_by_this_processor) { EXPECT_TRUE(Inexact::is_told()); }

// Elements alike, and here and there one that no double can hold together with them.
template <class T>
std::vector<T> alike(Shape s, double lone) {
  std::vector<T> data = values<T>(extent(s), 0, false, 3);
  for (T& x : data) x = std::fabs(x);
  if (lone != 0)
    for (std::size_t i = data.size() / 3; i < data.size(); i += data.size() / 2)
      data[i] = static_cast<T>(lone);
  return data;
}

template <class T>
void check(double lone) {
  for (Shape s : kShapes)
    for (trine_axis axis : kAxes) {
      const auto data = alike<T>(s, lone);
      const auto sums =
          reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY, TRINE_F64, 2);
      const auto squares =
          reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_SQUARE, TRINE_F64, 2);
      const auto own =
          reduce<T>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY, dtype_of<T>(), 2);
      for (std::int64_t r = 0; r < result_count(s, axis); ++r) {
        const auto list = elements(data, s, axis, r);
        const std::vector<double> terms(list.begin(), list.end());
        std::vector<double> squared;
        for (double x : terms) squared.insert(squared.end(), {x * x, std::fma(x, x, -(x * x))});
        ASSERT_EQ(sums[r], reference_sum(terms)) << s.rows << 'x' << s.cols << " axis " << axis;
        ASSERT_EQ(squares[r], reference_sum(squared)) << s.rows << 'x' << s.cols;
        if constexpr (std::is_same_v<T, float>) {
          ASSERT_EQ(own[r], reference_sum_f32(terms)) << s.rows << 'x' << s.cols;
        }
      }
    }
}

TEST_P(ExactSum, what_was_rounded_is_added_again) {
  for (double lone : {0.0, -0x1p-30, 0x1p120}) check<float>(lone);
  for (double lone : {0.0, -0x1p-30, 0x1p300}) check<double>(lone);
}

// A term that no plain addition holds goes to limbs, whose halves all count.
TEST_P(ExactSum, terms_of_every_size_are_summed) {
  for (Shape s : kShapes)
    for (int spread : {30, 900}) {
      const auto data = values<double>(extent(s), spread, spread == 900, 7);
      for (trine_axis axis : kAxes) {
        const auto sums =
            reduce<double>("exact", data, s, axis, TRINE_SUM, TRINE_IDENTITY, TRINE_F64, 2);
        for (std::int64_t r = 0; r < result_count(s, axis); ++r)
          ASSERT_EQ(sums[r], reference_sum(elements(data, s, axis, r))) << s.rows << 'x' << s.cols;
      }
    }
}

// Columns whose parts meet: as doubles, by accumulators, or by both; a part that isn't exact, parts
// that are and whose sum isn't, an infinity, and zeros.
constexpr Shape kColumns{9001, 40, 40, 1};

TEST_P(ExactSum, parts_of_columns_meet) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto check = [&]<class T>(const std::vector<T>& data, const char* what) {
    for (int threads : {2, 16}) {
      const auto sums = reduce<T>("exact", data, kColumns, TRINE_EACH_COLUMN, TRINE_SUM,
                                  TRINE_IDENTITY, dtype_of<T>(), threads);
      for (std::int64_t r = 0; r < kColumns.cols; ++r) {
        const auto list = elements(data, kColumns, TRINE_EACH_COLUMN, r);
        const auto infinity =
            std::find_if(list.begin(), list.end(), [](T x) { return std::isinf(x); });
        const std::vector<double> terms(list.begin(), list.end());
        const T sum = infinity != list.end()     ? *infinity
                      : std::is_same_v<T, float> ? T(reference_sum_f32(terms))
                                                 : T(reference_sum(terms));
        ASSERT_EQ(sums[r], sum) << what << ' ' << r;
        const bool negative =
            std::all_of(list.begin(), list.end(), [](T x) { return x == 0 && std::signbit(x); });
        ASSERT_EQ(std::signbit(sums[r]), sum < 0 || negative) << what << ' ' << r;
      }
    }
  };
  const auto both = [&](const char* what, auto element) {
    std::vector<float> narrow(extent(kColumns));
    std::vector<double> wide(narrow.size());
    for (std::size_t i = 0; i < narrow.size(); ++i)
      wide[i] = element(i / 40, i % 40), narrow[i] = float(wide[i]);
    for (const int held : {0, 0xa5}) {
      workspace_holds = std::byte(held);
      check(narrow, what);
      check(wide, what);
    }
  };
  const auto number = [](std::size_t i, std::size_t j) {
    return std::ldexp(double((i * 40 + j) * 2654435761 % 16777213), -20);
  };
  both("alike", number);
  both("a part that isn't exact", [&](std::size_t i, std::size_t j) {
    return i == 8000 && j % 3 == 0 ? 0x1p-70 : number(i, j);
  });
  both("parts whose sum isn't exact", [&](std::size_t i, std::size_t j) {
    return i == 0 ? 0x1p80 : i == 8000 ? -0x1p80 : i > 4000 && i < 5000 ? number(i, j) : 0;
  });
  both("an infinity",
       [&](std::size_t i, std::size_t j) { return i == 7000 && j == 5 ? -inf : number(i, j); });
  both("zeros", [](std::size_t i, std::size_t j) {
    return j % 2 == 0 || (j == 7 && i == 8999) ? 0.0 : -0.0;
  });
  both("-0", [](std::size_t, std::size_t) { return -0.0; });
}

// Elements between pages that nobody may touch, for reduce().
template <class T>
struct EnclosedElements : Enclosed {
  EnclosedElements(const std::vector<T>& values, bool at_end)
      : Enclosed(values.size() * sizeof(T), at_end) {
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(Enclosed::data()));
  }
  const T* data() const { return reinterpret_cast<const T*>(Enclosed::data()); }
};

template <class T>
void check_between_pages(Shape s) {
  const auto data = values<T>(extent(s), 1, false, 9);
  for (bool at_end : {false, true}) {
    const EnclosedElements<T> enclosed(data, at_end);
    for (trine_axis axis : kAxes)
      for (trine_map map : {TRINE_IDENTITY, TRINE_SQUARE})
        EXPECT_EQ(reduce<T>("exact", enclosed, s, axis, TRINE_SUM, map, dtype_of<T>(), 1),
                  reduce<T>("exact", data, s, axis, TRINE_SUM, map, dtype_of<T>(), 1))
            << s.rows << 'x' << s.cols << " axis " << axis;
  }
}

TEST_P(ExactSum, nothing_is_read_beside_the_elements) {
  for (std::int64_t rows : {1, 3, 8, 61})
    for (std::int64_t cols : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 31, 33, 257}) {
      check_between_pages<float>({rows, cols, cols, 1});
      check_between_pages<double>({rows, cols, cols, 1});
      check_between_pages<double>({rows, cols, cols + 3, 1});
    }
}

}  // namespace
}  // namespace trine::cpu
