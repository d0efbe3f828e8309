// The calls over ranks in C and in Fortran give the bits of those in C++, and their errors on all
// ranks.
#include "languages.h"

#include <gmock/gmock.h>

#include <array>
#include <cstring>

#include <trine/mpi_sums.hpp>

#include "errors.hpp"
#include "matrices.hpp"

namespace {

using namespace ranks;
using testing::HasSubstr;
using trine::Dtype;
using trine::Function;
using trine::Map;

constexpr int kAll = TRINE_MPI_ALL_RANKS;
const trine::HostOptions on_cpu = {.device = "cpu"};

class Languages : public testing::TestWithParam<const Language*> {
 protected:
  const Language& language() const { return *GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Both, Languages, testing::Values(&in_c, &in_fortran),
                         [](const auto& of) { return of.param == &in_c ? "InC" : "InFortran"; });

/// The sentence of a call that fails: the same on all ranks, and the next call works.
template <class Call>
std::string sentence_of_all(Call&& call) {
  return error_of_all([&] {
    if (const int status = call(); status != TRINE_OK)
      throw trine::Error(trine::Status(status), trine_last_error());
  });
}

template <class T>
void check_results(const Language& in, Values values) {
  constexpr int64_t kStep = 3;
  const auto whole = make<T>(values, 8, 300), other = make<T>(values, 9, 300);
  const int64_t first = 300 * rank() / size(), count = 300 * (rank() + 1) / size() - first;
  std::vector<T> x(size_t(count * kStep)), y(x.size());
  for (int64_t i = 0; i < count; ++i)
    x[size_t(i * kStep)] = whole[size_t(first + i)],
                 y[size_t(i * kStep)] = other[size_t(first + i)];
  for (const Function function : kFunctions)
    for (const Map map : {Map::identity, Map::abs, Map::square, Map::product}) {
      const bool is_sum = function == Function::sum && std::is_floating_point_v<T>;
      if (map >= Map::square && !is_sum) continue;
      if (function == Function::prod && values == Values::cancelling)
        continue;  // a NaN has any sign
      const Dtype dtype = map == Map::product ? trine::dtype_of<T>
                                              : result_dtype(function, map, trine::dtype_of<T>);
      uint64_t expected = 0, found = 0;
      auto of = trine::host_vector(whole.data(), trine::dtype_of<T>, 300), by = of;
      by.data = other.data();
      const auto to = trine::host_vector(&expected, dtype, 1);
      if (map == Map::product)
        dot(of, by, to, trine::Axis::all, on_cpu);
      else
        reduce(function, map, trine::Axis::all, of, to, on_cpu);
      EXPECT_EQ(
          in.result(name(function).data(), name(map).data(), uint32_t(trine::dtype_of<T>), count,
                    kStep, x.data(), map == Map::product ? y.data() : nullptr, first, &found),
          TRINE_OK)
          << trine_last_error();
      EXPECT_EQ(found, expected) << name(function) << " " << name(map);
      ++cases;
    }
}

TEST_P(Languages, ResultsOfDistributedArrays) {
  for (const Values values : {Values::like, Values::cancelling}) {
    check_results<float>(language(), values);
    check_results<double>(language(), values);
  }
  check_results<int32_t>(language(), Values::like);
  check_results<int64_t>(language(), Values::cancelling);
}

template <class T>
void check_elementwise(const Language& in) {
  constexpr int64_t kLength = 40;
  const auto mine = make<T>(Values::cancelling, 5, kLength * size());
  for (const Function function : kFunctions)
    for (const int root : {kAll, size() - 1})
      for (const int begins : {0, 1}) {
        const Dtype dtype = result_dtype(function, Map::identity, trine::dtype_of<T>);
        std::array<uint64_t, kLength> expected, found;
        expected.fill(7), found.fill(7);
        T* const x = const_cast<T*>(mine.data()) + kLength * rank();
        const auto from = trine::host_vector(x, trine::dtype_of<T>, kLength);
        const auto to = trine::host_vector(expected.data(), dtype, kLength);
        if (root == kAll)
          trine::mpi::allreduce(function, from, to, MPI_COMM_WORLD, on_cpu);
        else
          trine::mpi::reduce(function, from, to, root, MPI_COMM_WORLD, on_cpu);
        EXPECT_EQ(in.reduce(name(function).data(), uint32_t(trine::dtype_of<T>), kLength, x,
                            found.data(), root, begins),
                  TRINE_OK)
            << trine_last_error();
        EXPECT_EQ(found, expected) << name(function) << " to " << root;
        ++cases;
      }
}

TEST_P(Languages, ElementForElement) {
  check_elementwise<float>(language());
  check_elementwise<double>(language());
  check_elementwise<int32_t>(language());
  check_elementwise<int64_t>(language());
}

TEST_P(Languages, StatesAreMerged) {
  const auto mine = make<double>(Values::cancelling, uint64_t(rank()), 50);
  for (const int root : {kAll, 0}) {
    trine::ExactSum sum;
    trine::Partial least(Function::argmin, Dtype::f64);
    sum.add(mine);
    least.add(mine, 50 * rank());
    auto words = sum.state();
    auto more_words = least.state();
    EXPECT_EQ(language().merge(words.data(), 0, root), TRINE_OK) << trine_last_error();
    EXPECT_EQ(language().merge(more_words.data(), 1, root), TRINE_OK) << trine_last_error();
    if (root == kAll) {
      trine::mpi::allreduce(sum, MPI_COMM_WORLD);
      trine::mpi::allreduce(least, MPI_COMM_WORLD);
    } else {
      trine::mpi::reduce(sum, root, MPI_COMM_WORLD);
      trine::mpi::reduce(least, root, MPI_COMM_WORLD);
    }
    EXPECT_EQ(words, sum.state());
    EXPECT_EQ(more_words, least.state());
  }
}

template <class T>
void check_fields(const Language& in, bool has_weights, bool has_mask) {
  constexpr int64_t kCount = 5;
  const int64_t length = 50 + 10 * rank(), room = 50 + 10 * size();
  auto values = make<T>(Values::cancelling, uint64_t(rank()), kCount * room);
  auto weights = make<T>(Values::like, uint64_t(rank()) + 9, kCount * room);
  std::vector<int32_t> mask(static_cast<size_t>(room));
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = i % 3 == 0 ? 0 : 1;
  trine::mpi::Fields fields = {.values = trine::mpi::fields(values.data(), length, kCount, room)};
  if (has_weights) fields.weights = trine::mpi::fields(weights.data(), length, kCount, room);
  if (has_mask) fields.mask = trine::mpi::fields(mask.data(), length);
  for (const Function function : {Function::sum, Function::min, Function::max}) {
    if (has_weights && function != Function::sum) continue;
    std::array<uint64_t, kCount> expected{}, found{};
    reduce_fields(
        function, fields,
        trine::host_vector(expected.data(),
                           result_dtype(function, Map::identity, trine::dtype_of<T>), kCount),
        MPI_COMM_WORLD, on_cpu);
    EXPECT_EQ(in.fields(name(function).data(), uint32_t(trine::dtype_of<T>), length, kCount, room,
                        values.data(), has_weights ? weights.data() : nullptr,
                        has_mask ? mask.data() : nullptr, found.data()),
              TRINE_OK)
        << trine_last_error();
    EXPECT_EQ(found, expected) << name(function);
    ++cases;
  }
}

TEST_P(Languages, ManyFields) {
  for (const bool has_mask : {false, true}) {
    for (const bool has_weights : {false, true}) {
      check_fields<float>(language(), has_weights, has_mask);
      check_fields<double>(language(), has_weights, has_mask);
    }
    check_fields<int32_t>(language(), false, has_mask);
  }
}

TEST(InFortran, CommunicatorsAndArraysOfItsOwn) { EXPECT_EQ(fortran_details(), 0); }

/// One rank has another number of fields, or a list that is null.
TEST(InC, FieldsThatDiffer) {
  const bool is_last = rank() == size() - 1;
  double x[4] = {1, 2, 3, 4}, sums[2] = {7, 7};
  const trine_mpi_fields_t two = {trine_mpi_field_view(x, TRINE_F64, 2, 2, 0), {}, {}};
  const trine_mpi_fields_t one = {trine_mpi_field_view(x, TRINE_F64, 4, 1, 0), {}, {}};
  const auto reduce = [&](const trine_mpi_fields_t* fields, int64_t count) {
    return sentence_of_all([&] {
      return trine_mpi_reduce_fields(0, fields, 1, trine_host_vector(sums, TRINE_F64, count),
                                     MPI_COMM_WORLD, nullptr);
    });
  };
  EXPECT_THAT(reduce(is_last ? nullptr : &two, 2), HasSubstr("the list of fields is null"));
  if (size() > 1) {
    EXPECT_THAT(reduce(is_last ? &one : &two, is_last ? 1 : 2), HasSubstr("1 fields"));
  }
  trine_mpi_fields_t untyped[] = {two, two};
  untyped[0].weights.data = untyped[1].mask.data = x;
  EXPECT_THAT(reduce(is_last ? &untyped[0] : &two, 2), HasSubstr("the weights have memory and no"));
  EXPECT_THAT(reduce(is_last ? &untyped[1] : &two, 2), HasSubstr("the mask has memory and no"));
  EXPECT_THAT(sums, testing::Each(7.0));
  EXPECT_EQ(reduce(&two, 2), "nothing");
  EXPECT_EQ(sums[1], 7.0 * size());
}

trine_mpi_distribution_t in_c_form(const Distribution& d) {
  return {.rows = d.rows,
          .cols = d.cols,
          .block_rows = d.block_rows,
          .block_cols = d.block_cols,
          .grid_rows = d.grid_rows,
          .grid_cols = d.grid_cols,
          .first_row = d.first_row,
          .first_col = d.first_col,
          .ranks_by_columns = d.ranks_by_columns,
          .reserved = 0};
}
template <class T>
Piece piece_of(Part<T>& part) {
  return {.distribution = in_c_form(part.distribution),
          .data = part.memory.data(),
          .rows = int64_t(part.rows.size()),
          .cols = int64_t(part.cols.size()),
          .leading_dimension = part.col_stride};
}

template <class T>
void check_matrices(const Language& in, uint64_t seed) {
  constexpr Dtype kDtype = trine::dtype_of<T>;
  const auto whole = make<T>(Values::like, seed, 30 * 30);
  const Distribution d = distribution(seed, 30, 30), other = distribution(seed + 1, 30, 30);
  Part<T> a(d, Layout::wide_columns, whole), b(other, Layout::columns, whole), c(a), right(b);
  Piece from = piece_of(a), to = piece_of(b), product = piece_of(c);
  trine::mpi::transpose(a.matrix(kDtype), right.matrix(kDtype), MPI_COMM_WORLD, on_cpu);
  EXPECT_EQ(in.transpose(uint32_t(kDtype), &from, &to), TRINE_OK) << trine_last_error();
  EXPECT_EQ(b.memory, right.memory);

  int64_t rows = -1, cols = -1;
  EXPECT_EQ(in.local_shape(&from.distribution, &rows, &cols), TRINE_OK);
  if (d.grid_row(rank()) >= 0) {
    EXPECT_EQ(
        trine_mpi_local_extent(d.rows, d.block_rows, d.grid_row(rank()), d.first_row, d.grid_rows),
        rows);
  }
  EXPECT_EQ(rows, from.rows);
  EXPECT_EQ(cols, from.cols);

  Part<T> expected(a);
  trine::mpi::gemm(-2, a.matrix(kDtype), a.matrix(kDtype), 1, expected.matrix(kDtype),
                   MPI_COMM_WORLD, on_cpu);
  EXPECT_EQ(in.gemm(uint32_t(kDtype), -2, &from, &from, 1, &product, "reproducible"), TRINE_OK)
      << trine_last_error();
  EXPECT_EQ(c.memory, expected.memory);
  cases += 2;
}

TEST_P(Languages, Matrices) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    check_matrices<float>(language(), seed);
    check_matrices<double>(language(), seed);
  }
}

/// One device's bits, in an example in which a sum that is rounded at each step has others.
template <class T>
void check_exact_product(const Language& in, uint64_t seed) {
  const auto from = make<T>(Values::like, seed, 30 * 30);
  const auto product = [&](trine::Numerics numerics) {
    auto c = from;
    trine::gemm(30, 30, 30, T(-2), from.data(), from.data(), T(1), c.data(),
                {.device = "cpu", .numerics = numerics});
    return c;
  };
  const auto exact = product(trine::Numerics::exact);
  EXPECT_NE(exact, product(trine::Numerics::reproducible));

  const Distribution d = distribution(seed, 30, 30);
  Part<T> a(d, Layout::columns, from), c(d, Layout::wide_columns, from);
  const Piece factor = piece_of(a), to = piece_of(c);
  EXPECT_EQ(in.gemm(uint32_t(trine::dtype_of<T>), -2, &factor, &factor, 1, &to, "exact"), TRINE_OK)
      << trine_last_error();
  EXPECT_EQ(c.memory, Part<T>(d, Layout::wide_columns, exact).memory);
  ++cases;
}

TEST_P(Languages, ExactProductsOnAnyGrid) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    check_exact_product<float>(language(), seed);
    check_exact_product<double>(language(), seed);
  }
}

TEST_P(Languages, NumericsThatThereAreNot) {
  const int last = size() - 1;
  Part<double> a({.rows = 4, .cols = 4, .grid_rows = size()}, Layout::columns,
                 make<double>(Values::like, 1, 16));
  Part<double> c(a);
  const Piece factor = piece_of(a), to = piece_of(c);
  EXPECT_THAT(sentence_of_all([&] {
                return language().gemm(TRINE_F64, 1, &factor, &factor, 0, &to,
                                       rank() == last ? "exactly" : "exact");
              }),
              testing::AllOf(HasSubstr("On rank " + std::to_string(last) + ": "),
                             HasSubstr(GetParam() == &in_c
                                           ? "asked for as 'reproducible', 'fast' or 'exact', not"
                                           : "No numerics is called 'exactly'")));
  EXPECT_EQ(c.memory, a.memory);
}

/// The last rank is wrong; nothing is written.
TEST_P(Languages, ErrorsOfOneRankAreThoseOfAll) {
  const bool is_last = rank() == size() - 1;
  const std::string on_last = "On rank " + std::to_string(size() - 1) + ": ";
  std::vector<double> x(6, 1), results(6, 7);
  const auto result = [&](const char* function, const char* map, int64_t step, double* values,
                          double* y) {
    return sentence_of_all([&] {
      return language().result(function, map, TRINE_F64, 3, step, values, y, 0, results.data());
    });
  };
  EXPECT_THAT(result(is_last ? "average" : "sum", "identity", 1, x.data(), nullptr),
              HasSubstr(on_last));
  EXPECT_THAT(result("sum", is_last ? "cube" : "abs", 1, x.data(), nullptr), HasSubstr(on_last));
  EXPECT_THAT(result("sum", "identity", 1, is_last ? nullptr : x.data(), nullptr),
              HasSubstr(on_last));
  for (const int begins : {0, 1}) {
    const auto reduce = [&](const char* function, int64_t count, double* values, int root) {
      return sentence_of_all([&] {
        return language().reduce(function, TRINE_F64, count, values, results.data(), root, begins);
      });
    };
    EXPECT_THAT(reduce(is_last ? "average" : "sum", 6, x.data(), kAll), HasSubstr(on_last));
    EXPECT_THAT(reduce("sum", 6, is_last ? nullptr : x.data(), kAll), HasSubstr(on_last));
    EXPECT_THAT(reduce("sum", 6, x.data(), -1), HasSubstr("the root is rank -1"));
    if (size() == 1) continue;
    EXPECT_THAT(reduce("sum", is_last ? 5 : 6, x.data(), kAll), HasSubstr("of 5"));
  }
  EXPECT_THAT(results, testing::Each(7.0));

  trine::ExactSum::State words{};
  if (is_last) words.back() = 77;
  const auto before = words;
  EXPECT_THAT(sentence_of_all([&] { return language().merge(words.data(), 0, kAll); }),
              HasSubstr(on_last));
  EXPECT_EQ(words, before);

  const Distribution d = {.rows = 6, .cols = 1, .block_rows = 6};
  Part<double> a(d, Layout::columns, x);
  Piece piece = piece_of(a), wrong = piece;
  if (is_last) wrong.distribution.cols = 2;
  EXPECT_THAT(sentence_of_all([&] { return language().transpose(TRINE_F64, &piece, &wrong); }),
              testing::Not("nothing"));
}

/// A function of C whose arguments can't be read.
TEST(InC, ArgumentsThatCannotBeRead) {
  const bool is_last = rank() == size() - 1;
  double x[] = {1, 2}, total = 7;
  const trine_host_view_t view = trine_host_vector(x, TRINE_F64, 2);
  trine_options_t options = {};
  trine_event_t* event = nullptr;
  const auto result = [&](const trine_host_view_t* of, const trine_host_view_t* by, uint32_t map,
                          double* to, const trine_options_t* how) {
    return sentence_of_all(
        [&] { return trine_mpi_result(TRINE_SUM, map, of, by, 0, to, MPI_COMM_WORLD, how); });
  };
  EXPECT_THAT(result(is_last ? nullptr : &view, nullptr, 0, &total, nullptr),
              HasSubstr("x is null"));
  EXPECT_THAT(result(&view, nullptr, 0, is_last ? nullptr : &total, nullptr),
              HasSubstr("the place of the result is null"));
  EXPECT_THAT(result(&view, is_last ? nullptr : &view, TRINE_PRODUCT, &total, nullptr),
              HasSubstr("TRINE_PRODUCT needs y"));
  options.size = is_last ? 5 : 0;
  EXPECT_THAT(result(&view, nullptr, 0, &total, &options), HasSubstr("size of the options is 5"));
  options = {};
  if (is_last) options.event = &event;
  EXPECT_THAT(result(&view, nullptr, 0, &total, &options), HasSubstr("event"));
  EXPECT_EQ(total, 7);
  const trine_mpi_matrix_t matrix = {in_c_form({.rows = 2, .cols = 1, .block_rows = 2}), view};
  EXPECT_THAT(sentence_of_all([&] {
                return trine_mpi_gemm(1, &matrix, &matrix, 0, is_last ? nullptr : &matrix,
                                      MPI_COMM_WORLD, nullptr);
              }),
              HasSubstr("a matrix is null"));
  EXPECT_EQ(trine_mpi_request_wait(nullptr), TRINE_INVALID_ARGUMENT);
  trine_mpi_request_release(nullptr);
}

TEST(InC, CommunicatorsThatAreNone) {
  double x = 1, total = 7;
  const trine_host_view_t view = trine_host_vector(&x, TRINE_F64, 1);
  EXPECT_EQ(trine_mpi_result(0, 0, &view, nullptr, 0, &total, MPI_COMM_NULL, nullptr),
            TRINE_INVALID_ARGUMENT);
  EXPECT_STREQ(trine_last_error(), "trine::mpi: the communicator is MPI_COMM_NULL.");
  EXPECT_EQ(total, 7);
  auto* request = reinterpret_cast<trine_mpi_request_t*>(&total);
  EXPECT_EQ(trine_mpi_reduce(TRINE_SUM, view, view, kAll, MPI_COMM_NULL, nullptr, &request),
            TRINE_INVALID_ARGUMENT);
  EXPECT_EQ(request, nullptr);
}

/// No function waits for another rank, and all requests have the error.
TEST(InC, RequestsOfCallsThatCannotBegin) {
  const bool is_last = rank() == size() - 1;
  double x[] = {1, 2}, totals[] = {7, 7};
  trine_mpi_request_t* request = nullptr;
  const auto error_of = [&](trine_status status) {
    EXPECT_EQ(status, TRINE_OK) << trine_last_error();
    MPI_Barrier(MPI_COMM_WORLD);
    const std::string text = sentence_of_all([&] { return trine_mpi_request_wait(request); });
    trine_mpi_request_release(request);
    return text;
  };
  const auto reduce = [&](const trine_options_t* options) {
    return trine_mpi_reduce(TRINE_SUM, trine_host_vector(x, TRINE_F64, 2),
                            trine_host_vector(totals, TRINE_F64, 2), kAll, MPI_COMM_WORLD, options,
                            &request);
  };
  trine_options_t options = {};
  options.size = is_last ? 5 : 0;
  EXPECT_THAT(error_of(reduce(&options)), HasSubstr("size of the options is 5"));
  EXPECT_THAT(
      error_of(is_last ? trine_mpi_refuse(TRINE_NOT_FOUND, "No ice.", MPI_COMM_WORLD, &request)
                       : reduce(nullptr)),
      HasSubstr("No ice."));
  EXPECT_THAT(totals, testing::Each(7.0));
}

TEST(InC, OneRankRefusesForAll) {
  const bool is_last = rank() == size() - 1;
  double x = 1, total = 7;
  const trine_host_view_t view = trine_host_vector(&x, TRINE_F64, 1);
  EXPECT_THAT(
      sentence_of_all([&] {
        return is_last ? trine_mpi_refuse(TRINE_NOT_FOUND, "No ice.", MPI_COMM_WORLD, nullptr)
                       : trine_mpi_result(0, 0, &view, nullptr, 0, &total, MPI_COMM_WORLD, nullptr);
      }),
      HasSubstr("not_found: On rank " + std::to_string(size() - 1) + ": No ice."));
  EXPECT_EQ(trine_mpi_refuse(TRINE_OK, "Well.", MPI_COMM_SELF, nullptr), TRINE_INVALID_ARGUMENT);
  EXPECT_EQ(total, 7);
}

/// The results that options ask for are there when a call has ended that doesn't block; and calls
/// on device memory.
TEST(InC, QueuesAndOptionsOfCallsThatDoNotBlock) {
  double x[] = {rank() + 1.0, 2}, totals[] = {7, 7};
  const double expected[] = {size() * (size() + 1) / 2.0, 2.0 * size()};
  const trine_choice_t* choice = nullptr;
  trine_mpi_request_t* request = nullptr;
  trine_options_t options = {};
  options.device = "cpu", options.choice = &choice;
  EXPECT_EQ(trine_mpi_reduce(TRINE_SUM, trine_host_vector(x, TRINE_F64, 2),
                             trine_host_vector(totals, TRINE_F64, 2), kAll, MPI_COMM_WORLD,
                             &options, &request),
            TRINE_OK);
  EXPECT_EQ(trine_mpi_request_wait(request), TRINE_OK) << trine_last_error();
  trine_mpi_request_release(request);
  EXPECT_THAT(totals, testing::ElementsAreArray(expected));
  // One rank copies; and a rank that had nothing to compute has chosen nothing.
  if (rank() == size() - 1) { EXPECT_TRUE(choice && std::strstr(choice->sentence, "cpu")); }
  trine_free(choice);

  trine_device_t* device = nullptr;
  trine_queue_t* queue = nullptr;
  trine_buffer_t* buffer = nullptr;
  ASSERT_EQ(trine_device_open("cpu", &device), TRINE_OK);
  ASSERT_EQ(trine_queue_create(device, &queue), TRINE_OK);
  ASSERT_EQ(trine_buffer_wrap(device, x, sizeof x, &buffer), TRINE_OK);
  trine_view_t view = trine_vector(buffer, TRINE_F64, 2, 0);
  double total = 0;
  EXPECT_EQ(
      trine_mpi_result_on_queue(0, TRINE_PRODUCT, queue, &view, &view, 0, &total, MPI_COMM_WORLD),
      TRINE_OK);
  EXPECT_EQ(total, size() * (size() + 1) * (2 * size() + 1) / 6.0 + 4 * size());
  const trine_mpi_device_fields_t fields = {view, view, {}};
  EXPECT_EQ(
      trine_mpi_reduce_fields_on_queue(TRINE_SUM, queue, &fields, 1,
                                       trine_host_vector(totals, TRINE_F64, 1), MPI_COMM_WORLD),
      TRINE_OK)
      << trine_last_error();
  EXPECT_EQ(totals[0], total);
  trine_mpi_queue_options_t how = {};
  how.numerics = TRINE_REPRODUCIBLE;
  EXPECT_EQ(
      trine_mpi_reduce_on_queue(TRINE_SUM, queue, view, view, kAll, MPI_COMM_WORLD, &how, &request),
      TRINE_OK);
  EXPECT_EQ(trine_mpi_request_wait(request), TRINE_OK) << trine_last_error();
  trine_mpi_request_release(request);
  EXPECT_THAT(x, testing::ElementsAreArray(expected));
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(device);
}

TEST(InC, MatricesOfQueues) {
  trine_device_t* device = nullptr;
  trine_queue_t* queue = nullptr;
  ASSERT_EQ(trine_device_open("cpu", &device), TRINE_OK);
  ASSERT_EQ(trine_queue_create(device, &queue), TRINE_OK);
  const Distribution d = {
      .rows = 20, .cols = 20, .block_rows = 3, .block_cols = 20, .grid_rows = size()};
  const auto whole = make<double>(Values::like, 1, 400);
  Part<double> a(d, Layout::columns, whole), b(a), c(a), expected(a);
  std::vector<trine_buffer_t*> buffers;
  const auto on_device = [&](Part<double>& part) {
    const auto matrix = part.matrix(Dtype::f64).local;
    trine_buffer_t* buffer = nullptr;
    EXPECT_EQ(trine_buffer_wrap(device, matrix.data, part.memory.size() * sizeof(double), &buffer),
              TRINE_OK)
        << trine_last_error();
    buffers.push_back(buffer);
    trine_view_t view = trine_vector(buffer, TRINE_F64, matrix.cols, 0);
    view.rows = matrix.rows, view.cols = matrix.cols;
    view.row_stride = matrix.row_stride, view.col_stride = matrix.col_stride;
    return trine_mpi_device_matrix_t{in_c_form(d), view};
  };
  const auto of_a = on_device(a), of_b = on_device(b), of_c = on_device(c);
  const auto on_host = [](Part<double>& part) { return part.matrix(Dtype::f64); };

  trine::mpi::transpose(on_host(a), on_host(expected), MPI_COMM_WORLD, on_cpu);
  EXPECT_EQ(trine_mpi_transpose_on_queue(queue, &of_a, &of_b, MPI_COMM_WORLD, nullptr), TRINE_OK)
      << trine_last_error();
  EXPECT_EQ(b.memory, expected.memory);
  EXPECT_EQ(trine_mpi_transpose_on_queue(queue, &of_a, &of_a, MPI_COMM_WORLD, nullptr),
            TRINE_INVALID_ARGUMENT);

  expected.memory = c.memory;
  trine_mpi_queue_options_t how = {};
  how.numerics = TRINE_EXACT;
  trine::mpi::gemm(-2, on_host(a), on_host(b), 1, on_host(expected), MPI_COMM_WORLD,
                   {.device = "cpu", .numerics = trine::Numerics::exact});
  EXPECT_EQ(trine_mpi_gemm_on_queue(queue, -2, &of_a, &of_b, 1, &of_c, MPI_COMM_WORLD, &how),
            TRINE_OK)
      << trine_last_error();
  EXPECT_EQ(c.memory, expected.memory);
  EXPECT_EQ(trine_mpi_gemm_on_queue(nullptr, 1, &of_a, &of_b, 0, &of_c, MPI_COMM_WORLD, nullptr),
            TRINE_INVALID_ARGUMENT);
  for (trine_buffer_t* buffer : buffers) trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(device);
}

}  // namespace
