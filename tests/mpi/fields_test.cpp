// Reductions of many fields have the bits of the whole on one device: on any number of ranks,
// however the fields are dealt out, alone and together, with weights and masks, in any layout.
#include <gmock/gmock.h>

#include <trine/mpi_sums.hpp>

#include <ctime>

#include "errors.hpp"
#include "ledger.hpp"
#include "on_devices.hpp"

namespace {

namespace mpi = trine::mpi;
using namespace ranks;
using testing::HasSubstr;
using trine::Dtype;
using trine::Function;

const MPI_Comm kWorld = MPI_COMM_WORLD;

/// The result's type.
template <class T, Function function>
using ResultOf = std::conditional_t<function == Function::sum, trine::Sum<T>, T>;

/// Fields of one length; where there are weights or a mask, each has its own or all have the first.
template <class T>
struct Whole {
  std::vector<std::vector<T>> fields, weights;
  std::vector<std::vector<uint8_t>> masks;

  const std::vector<T>* weights_of(size_t i) const {
    return weights.empty() ? nullptr : &weights[weights.size() == 1 ? 0 : i];
  }
  /// The result of one field on one device.
  template <Function function>
  ResultOf<T, function> expected(size_t i) const {
    std::vector<T> x, w;
    for (size_t at = 0; at < fields[i].size(); ++at) {
      if (!masks.empty() && masks[masks.size() == 1 ? 0 : i][at] == 0) continue;
      x.push_back(fields[i][at]);
      if (!weights.empty()) w.push_back((*weights_of(i))[at]);
    }
    if constexpr (std::floating_point<T> && function == Function::sum)
      if (!weights.empty()) return trine::dot(x, w, {.device = "cpu"});
    if constexpr (function == Function::sum) return trine::sum(x, {.device = "cpu"});
    if constexpr (function == Function::min) return trine::min(x, {.device = "cpu"});
    return trine::max(x, {.device = "cpu"});
  }
};

/// This rank's part of all fields, one behind the other with gaps, of which nothing counts.
template <class T>
std::vector<T> packed(const std::vector<std::vector<T>>& fields, Deal deal, T gap) {
  std::vector<T> memory;
  for (const auto& field : fields) {
    const auto mine = part(field, deal);
    memory.insert(memory.end(), mine.begin(), mine.end());
    memory.insert(memory.end(), 3, gap);
  }
  return memory;
}

/// Makes the call on this rank's part of the whole, on a device or with the data there.
template <Function function, class T>
std::vector<ResultOf<T, function>> call(const Whole<T>& whole, Deal deal, const std::string& device,
                                        MPI_Comm comm = kWorld) {
  auto values = packed(whole.fields, deal, T(7)), weights = packed(whole.weights, deal, T(7));
  auto masks = packed(whole.masks, deal, uint8_t{1});
  const auto length = int64_t(part(whole.fields[0], deal).size()), ld = length + 3;
  std::vector<ResultOf<T, function>> results(whole.fields.size());
  const auto view_of = [&](const auto& memory) {
    return mpi::fields(memory.data(), length, int64_t(memory.size()) / ld, ld);
  };
  if (is_resident(device)) {
    Resident on(device);
    mpi::DeviceFields fields = {.values = on.upload(values, view_of(values))};
    if (!weights.empty()) fields.weights = on.upload(weights, view_of(weights));
    if (!masks.empty()) fields.mask = on.upload(masks, view_of(masks));
    mpi::reduce_fields(function, on.queue, fields, results, comm);
    return results;
  }
  mpi::Fields fields = {.values = view_of(values)};
  if (!weights.empty()) fields.weights = view_of(weights);
  if (!masks.empty()) fields.mask = view_of(masks);
  mpi::reduce_fields(function, fields, results, comm, {.device = device});
  return results;
}

template <Function function, class T>
void check(const Whole<T>& whole, Deal deal, const std::string& device, MPI_Comm comm = kWorld) {
  const auto results = call<function>(whole, deal, device, comm);
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(bits_of(results[i]), bits_of(whole.template expected<function>(i)))
        << name(function) << " of field " << i << " on " << device;
  ++cases;
}

std::vector<uint8_t> mask_of(uint64_t seed, int64_t length) {
  auto mask = make<uint64_t>(Values::denormal, seed, length);
  std::vector<uint8_t> bytes;
  for (const uint64_t random : mask) bytes.push_back(random % 3 == 0 ? 0 : uint8_t(random | 2));
  return bytes;
}

/// A field of each kind of values: of far and near exponents, with infinities and NaNs.
template <class T>
Whole<T> fields_of_all_kinds(int64_t length) {
  Whole<T> whole;
  for (const Values values : kAllValues)
    whole.fields.push_back(make<T>(values, whole.fields.size(), length));
  return whole;
}

template <class T>
class Fields : public testing::Test {};
using Numbers = testing::Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Fields, Numbers);

TYPED_TEST(Fields, HaveTheBitsOfTheWhole) {
  for (const auto& job : jobs_and_resident_ones())
    for (const Deal deal : kAllDeals)
      for (const int64_t length : {9, 701})  // few elements are added at once
        for (const bool has_mask : {false, true}) {
          Whole<TypeParam> whole = fields_of_all_kinds<TypeParam>(length);
          if (has_mask) whole.masks = {mask_of(5, length)};
          check<Function::sum>(whole, deal, device_of(job));
          check<Function::min>(whole, deal, device_of(job));
          check<Function::max>(whole, deal, device_of(job));
        }
}

template <class T>
class Weighted : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Weighted, Floats);

TYPED_TEST(Weighted, SumsAreExact) {
  for (const auto& job : jobs_and_resident_ones())
    for (const bool has_own : {false, true})
      for (const bool has_mask : {false, true}) {
        auto whole = fields_of_all_kinds<TypeParam>(501);
        for (size_t i = 0; i < (has_own ? whole.fields.size() : 1); ++i) {
          whole.weights.push_back(make<TypeParam>(Values::cancelling, 20 + i, 501));
          if (has_mask) whole.masks.push_back(mask_of(40 + i, 501));
        }
        check<Function::sum>(whole, Deal::ragged, device_of(job));
      }
}

// A masked field of more elements than are chosen at a time.
TEST(Masks, OfLongFields) {
  Whole<double> whole = {{make<double>(Values::cancelling, 1, 300'000)}, {}, {}};
  whole.masks = {mask_of(2, 300'000)};
  check<Function::sum>(whole, Deal::some_empty, "cpu");
}

TEST(Fields, AloneAndTogetherAndInAnyOrderOfRanks) {
  MPI_Comm reversed = MPI_COMM_NULL;
  PMPI_Comm_split(kWorld, 0, -rank(), &reversed);
  Whole<double> all = fields_of_all_kinds<double>(301);
  all.weights = {make<double>(Values::like, 9, 301)};
  check<Function::sum>(all, Deal::even, "cpu", reversed);
  for (size_t i = 0; i < all.fields.size(); ++i)
    check<Function::sum>(Whole<double>{{all.fields[i]}, all.weights, {}}, Deal::permuted, "cpu");
  PMPI_Comm_free(&reversed);
}

/// Blocks of 6 x 5 in memory with a halo, the values row by row or column by column, as a model
/// has them; some strided.
TEST(Fields, OfAnyLayout) {
  constexpr int64_t kRows = 6, kCols = 5, kFields = 3;
  struct Layout {
    int64_t row_stride, col_stride, batch_stride;
  };
  auto values = make<double>(Values::like, size_t(rank()), 2000), weights = values;
  std::vector<uint8_t> mask = mask_of(uint64_t(rank()), 2000);
  for (auto* const random : {&values, &weights}) std::ranges::reverse(*random);
  const auto view = [&](const auto& memory, Layout l) {
    auto is = mpi::fields(memory.data(), kRows, kFields);
    is.cols = kCols, is.row_stride = l.row_stride, is.col_stride = l.col_stride;
    is.batch_stride = l.batch_stride;
    return is;
  };
  const Layout layouts[] = {{5, 1, 30}, {1, 6, 30}, {1, 9, 77}, {8, 1, 0}, {30, 3, 200}};
  for (const std::string device : {"cpu", "@cpu"})
    for (const Layout of_values : layouts)
      for (const Layout of_weights : layouts)
        for (const int with : {0, 1, 2, 3}) {
          std::vector<double> sums(kFields);
          mpi::Fields fields = {.values = view(values, of_values)};
          if ((with & 1) != 0) fields.weights = view(weights, of_weights);
          if ((with & 2) != 0) fields.mask = view(mask, of_weights);
          if (is_resident(device)) {
            Resident on(device);
            mpi::DeviceFields there = {.values = on.upload(values, fields.values)};
            if (fields.weights) there.weights = on.upload(weights, *fields.weights);
            if (fields.mask) there.mask = on.upload(mask, *fields.mask);
            mpi::sums(on.queue, there, sums, kWorld);
          } else {
            mpi::sums(fields, sums, kWorld, {.device = device});
          }
          for (int64_t f = 0; f < kFields; ++f) {
            std::vector<double> x, w;
            for (int64_t i = 0; i < kRows; ++i)
              for (int64_t j = 0; j < kCols; ++j) {
                const auto at = [&](Layout l) {
                  return size_t(i * l.row_stride + j * l.col_stride + f * l.batch_stride);
                };
                if ((with & 2) != 0 && mask[at(of_weights)] == 0) continue;
                x.push_back(values[at(of_values)]);
                w.push_back((with & 1) != 0 ? weights[at(of_weights)] : 1);
              }
            EXPECT_EQ(sums[size_t(f)], mpi::dot(x, w, kWorld, {.device = "cpu"}));
          }
          ++cases;
        }
}

template <class M>
void check_masks_of() {
  const std::vector<float> values = {1, 2, 4, 8};
  const M mask[] = {M(1), M(0), M(-1), M(M(1) << (8 * sizeof(M) - 1))};
  float sum = 0;
  mpi::sums(mpi::Fields{.values = mpi::fields(values.data(), 4), .mask = mpi::fields(mask, 4)},
            std::span(&sum, 1), kWorld);
  EXPECT_EQ(sum, float(13 * size()));
}
TEST(Masks, OfAnySizeCountIfAnyBitIsSet) {
  check_masks_of<uint8_t>();
  check_masks_of<int16_t>();
  check_masks_of<int32_t>();
  check_masks_of<int64_t>();
}

// Weights and a mask that serve all fields come from the device once. They are wide, so that a
// copy takes most of the time.
TEST(Masks, OfAllFieldsAreCopiedOnce) {
  constexpr int64_t kStep = 1 << 18, kMany = 200;
  std::vector<double> values(4 * kMany, 1), weights(4 * kStep, 1), sums(kMany);
  Resident on("@cpu");
  mpi::DeviceFields fields = {.values = on.upload(values, mpi::fields(values.data(), 4, kMany))};
  trine::ConstHostView wide = mpi::fields(weights.data(), 4);
  wide.row_stride = kStep;
  fields.weights = fields.mask = on.upload(weights, wide);
  const auto time_of = [&](int64_t count) {
    fields.values.batch = count;
    std::clock_t best = std::numeric_limits<std::clock_t>::max();
    for (int i = 0; i < 5; ++i) {
      const std::clock_t begin = std::clock();
      mpi::sums(on.queue, fields, std::span(sums).first(size_t(count)), MPI_COMM_SELF);
      best = std::min(best, std::clock() - begin);
    }
    return best;
  };
  const std::clock_t one = time_of(1);
  EXPECT_LT(time_of(kMany), 8 * one);
  EXPECT_THAT(sums, testing::Each(4.0));
}

// Nothing counts, or there is nothing; on one rank or on all.
TEST(Empty, FieldsAndMasksAndLists) {
  const std::vector<double> values(8, -0.0);
  const std::vector<uint8_t> none(8, 0);
  const bool masks[] = {false, true};
  std::vector<mpi::Fields> list;
  list.push_back({.values = mpi::fields(values.data(), 4, 2), .mask = mpi::fields(none.data(), 4)});
  list.push_back({.values = mpi::fields(values.data(), rank() == 0 ? 8 : 0)});
  list.push_back({.values = mpi::fields(static_cast<const double*>(nullptr), 0)});
  if (rank() == 0)
    list.push_back({.values = mpi::fields(values.data(), 2), .mask = mpi::fields(masks, 2)});
  else
    list.push_back({.values = mpi::fields(values.data(), 1)});
  std::vector<double> results(5, 77);
  mpi::sums(list, results, kWorld);
  const double expected[] = {0.0, 0.0, -0.0, 0.0, -0.0};
  for (size_t i = 0; i < results.size(); ++i)
    EXPECT_EQ(bits_of(results[i]), bits_of(expected[i])) << i;
  mpi::reduce_fields(Function::min, list, results, kWorld);
  EXPECT_EQ(results[3], std::numeric_limits<double>::infinity());
  for (const Function function : {Function::sum, Function::max})
    mpi::reduce_fields(function, std::span<const mpi::Fields>(), std::span<double>(), kWorld);
}

TEST(Results, HaveAnyStrideAndSumsOfFloatsMayBeDoubles) {
  const std::vector<float> values = {1, 0x1p-30f, 2, 0x1p-30f};
  std::vector<double> sums(4, 77);
  trine::HostView to = trine::host_vector(sums.data(), Dtype::f64, 2);
  to.row_stride = 2;
  mpi::sums(mpi::Fields{.values = mpi::fields(values.data(), 2, 2)}, to, kWorld);
  EXPECT_THAT(sums, testing::ElementsAre(size() * (1 + 0x1p-30), 77, size() * (2 + 0x1p-30), 77));
}

// All fields go in one message; those whose exponents are far from each other in a second.
TEST(Messages, AreAsManyAsOfOneField) {
  const auto messages_of = [](int64_t count, double first) {
    std::vector<double> values(size_t(2 * count), 1);
    values[0] = first, values[1] = 1e-200;
    std::vector<double> sums(static_cast<size_t>(count));
    ledger::messages();
    mpi::sums(mpi::Fields{.values = mpi::fields(values.data(), 2, count)}, sums, kWorld);
    return ledger::messages();
  };
  const auto one = messages_of(1, 1e-200), many = messages_of(100, 1e-200);
  EXPECT_EQ(many.count, one.count);
  EXPECT_EQ(many.bytes, 100 * one.bytes);
  EXPECT_EQ(one.longest, size() == 1 ? 0 : 128);
  const auto far = messages_of(100, 1e200);
  EXPECT_EQ(far.count, many.count + 1);
  EXPECT_EQ(far.bytes, many.bytes + 8 * trine::ExactSum::words);
}

/// The error of a call on 5 values of which the last rank has other ones: `spoil` changes them.
template <class Spoil>
std::string error_on_last(Spoil&& spoil) {
  std::vector<double> values(10, 1), weights(5, 1), sums(2, 77);
  Function function = Function::sum;
  std::vector<mpi::Fields> list = {
      {.values = mpi::fields(values.data(), 5, 2), .weights = mpi::fields(weights.data(), 5)}};
  trine::HostView results = trine::host_vector(sums.data(), Dtype::f64, 2);
  if (rank() == size() - 1) spoil(list, results, function);
  const std::string text =
      error_of_all([&] { mpi::reduce_fields(function, list, results, kWorld); });
  EXPECT_THAT(sums, testing::Each(77.0)) << text;
  return text;
}
using List = std::vector<mpi::Fields>;

TEST(Errors, WhatIsAskedForDiffers) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::string differ = "invalid_argument: trine::mpi: the ranks ask for different things. ";
  const std::string last = std::to_string(size() - 1);
  const std::vector<float> floats(5, 1);
  EXPECT_THAT(error_on_last([](List& list, trine::HostView& results, Function&) {
                list[0].values.batch = 1, results.rows = 1;
              }),
              testing::AllOf(testing::StartsWith(differ),
                             HasSubstr("sum of 2 fields of f64, 2 of them with weights; rank " +
                                       last + ": sum of 1 fields of f64")));
  EXPECT_THAT(error_on_last([](List& list, trine::HostView&, Function&) { list[0].weights = {}; }),
              HasSubstr("; rank " + last + ": sum of 2 fields of f64."));
  EXPECT_THAT(error_on_last([&](List& list, trine::HostView&, Function&) {
                const auto view = mpi::fields(floats.data(), 5);
                list = {{.values = view, .weights = view}, {.values = view, .weights = view}};
              }),
              HasSubstr("; rank " + last + ": sum of 2 fields of f32"));
  EXPECT_THAT(error_on_last([](List& list, trine::HostView&, Function& function) {
                function = Function::max, list[0].weights = {};
              }),
              HasSubstr("; rank " + last + ": max of 2 fields of f64."));
  EXPECT_THAT(error_on_last([](List& list, trine::HostView&, Function&) {
                const mpi::Fields one = {.values = list[0].values};
                list = {list[0], one, list[0]};
                list[0].values.batch = list[1].values.batch = 1, list.pop_back();
              }),
              HasSubstr("; rank " + last + ": sum of 2 fields of f64, 1 of them with weights."));
}

TEST(Errors, AnotherCallOnOneRank) {
  if (size() == 1) GTEST_SKIP() << "one rank agrees with itself";
  const std::vector<double> values = {1, 2};
  double result = 77;
  for (const bool is_first : {true, false})
    EXPECT_THAT(error_of_all([&] {
                  if ((rank() == 0) == is_first)
                    mpi::sums(mpi::Fields{.values = mpi::fields(values.data(), 2)},
                              std::span(&result, 1), kWorld);
                  else
                    result = mpi::sum(values, kWorld);
                }),
                testing::AllOf(HasSubstr("sum of 1 fields of f64"),
                               HasSubstr("allreduce: sum, map identity, of f64")));
  EXPECT_EQ(result, 77);
}

TEST(Errors, OfOneRankReachAll) {
  const std::string on =
      "invalid_argument: On rank " + std::to_string(size() - 1) + ": trine::mpi: ";
  const std::vector<uint8_t> mask(10, 1);
  const auto expect = [&](const std::string& sentence, auto&& spoil) {
    EXPECT_THAT(error_on_last(spoil), HasSubstr(on + sentence));
  };
  expect("the masks are 1 of 4 x 1 elements, and the fields are 2 of 5 x 1.",
         [&](List& list, auto&, auto&) { list[0].mask = mpi::fields(mask.data(), 4); });
  expect("the masks have no memory.", [&](List& list, auto&, auto&) {
    list[0].mask = mpi::fields(static_cast<const bool*>(nullptr), 5);
  });
  expect("the weights are 3 of 5 x 1 elements, and the fields are 2 of 5 x 1.",
         [&](List& list, auto&, auto&) { list[0].weights->batch = 3; });
  expect("the weights are of f32, and the values of f64.",
         [&](List& list, auto&, auto&) { list[0].weights->dtype = Dtype::f32; });
  expect("the values have no memory.",
         [&](List& list, auto&, auto&) { list[0].values.data = nullptr; });
  expect("the values have an extent or a stride of -1.",
         [&](List& list, auto&, auto&) { list[0].values.row_stride = -1; });
  expect("the values exceed 2^63 bytes.",
         [&](List& list, auto&, auto&) { list[0].values.batch_stride = INT64_MAX / 4; });
  expect("weights go with sums of f32 or f64.",
         [&](List&, auto&, Function& function) { function = Function::min; });
  expect("fields have sums, min and max, not prod.",
         [&](List&, auto&, Function& function) { function = Function::prod; });
  expect("one call has fields of f64 and of i32.", [&](List& list, auto&, auto&) {
    list.push_back(list[0]), list[1].values.dtype = Dtype::i32;
  });
  expect("there are 2 fields, and room for 1 results.",
         [&](List&, trine::HostView& results, auto&) { results.rows = 1; });
  expect("the results are of i64, and sum of f64 gives f64.",
         [&](List&, trine::HostView& results, auto&) { results.dtype = Dtype::i64; });
  expect("a call has at most 1048576 fields.", [&](List& list, auto&, auto&) {
    list[0].values.batch = (1 << 20) + 1, list[0].values.batch_stride = 0;
  });
  EXPECT_THAT(error_of([&] { mpi::sums(List(), trine::HostView(), MPI_COMM_NULL); }),
              HasSubstr("the communicator is MPI_COMM_NULL."));
}

}  // namespace
