// Host calls in chunks: what is cut and where, the same answers as in one piece, and failures on
// the way, after which nothing is in flight and the next call is right.
#include "core/src/operations/operations.hpp"

#include <algorithm>
#include <complex>

#include "core/src/host/operand.hpp"
#include "fixture.hpp"

namespace trine::testing {
namespace {

using namespace detail;

Transpose transpose_of(int64_t rows, int64_t cols) {
  return {row_major({}, Dtype::f32, rows, cols), row_major({}, Dtype::f32, cols, rows)};
}
Gemm gemm_of(int64_t m, int64_t n, int64_t k) {
  return {.a = row_major({}, Dtype::f32, m, k),
          .b = row_major({}, Dtype::f32, k, n),
          .c = row_major({}, Dtype::f32, m, n)};
}

/// The output's rows, one after the other, covering `total`, none larger than the first.
void expect_covers(const Cutting& cutting, int64_t total, size_t count, Range Part::*cut) {
  ASSERT_EQ(cutting.size(), count);
  int64_t end = 0;
  for (const Chunk& chunk : cutting) {
    const Range& some = chunk.parts[0].*cut;
    EXPECT_EQ(some.begin, end);
    EXPECT_GT(some.count, 0);
    EXPECT_LE(some.count, (cutting[0].parts[0].*cut).count);
    EXPECT_TRUE(chunk.begins && chunk.ends);
    end += some.count;
  }
  EXPECT_EQ(end, total);
}

TEST(Chunks, CoverTheWhole) {
  const auto transposes = [](int64_t rows, int64_t cols) {
    return cutting_of(transpose_of(rows, cols), {.pinned = true});
  };
  expect_covers(transposes(4096, 4096), 4096, 8, &Part::rows);
  expect_covers(transposes(5000, 3001), 5000, 7, &Part::rows);
  expect_covers(transposes(2048, 2048), 2048, 2, &Part::rows);
  expect_covers(cutting_of(gemm_of(4099, 4099, 1500), {}), 4099, 6, &Part::rows);
}

TEST(Chunks, AreNotMadeOfWhatIsSmallOrCantBeCut) {
  EXPECT_TRUE(cutting_of(transpose_of(2047, 2048), {.pinned = true}).empty());
  EXPECT_LT(cutting_of(transpose_of(100, 1 << 20), {.pinned = true}).size(),
            2u);  // less than a granule
  EXPECT_TRUE(cutting_of(transpose_of(4096, 4096), {}).empty());
  const Reduce sum{.input = vector({}, Dtype::f32, 1 << 28), .output = vector({}, Dtype::f32, 1)};
  EXPECT_TRUE(cutting_of(sum, {.pinned = true}).empty());
  Gemm fast = gemm_of(4096, 4096, 4096);
  fast.numerics = Numerics::fast;
  EXPECT_TRUE(cutting_of(fast, {.pinned = true}).empty());
}

TEST(Chunks, OfExactProductsLeaveKWhole) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Gemm op = gemm_of(4096, 4096, 4096);
    for (View* view : {&op.a, &op.b, &op.c}) view->dtype = dtype;
    op.numerics = Numerics::exact;
    const Cutting cutting = cutting_of(op, {.pinned = true, .chunks = 8});
    EXPECT_EQ(cutting.size(), 8u);
    for (const Chunk& chunk : cutting) EXPECT_TRUE(chunk.begins && chunk.ends);
    for (View* view : {&op.a, &op.b, &op.c}) view->batch = 32, view->batch_stride = 4096 * 4096;
    expect_covers(cutting_of(op, {.chunks = 4}), 32, 4, &Part::batch);
  }
}

/// Which dimensions of an operand are cut.
std::string cuts(const Cutting& cutting, size_t operand) {
  const Part &first = cutting.front().parts[operand], &last = cutting.back().parts[operand];
  std::string found;
  if (first.rows != last.rows) found += "rows ";
  if (first.cols != last.cols) found += "cols ";
  if (first.batch.begin != last.batch.begin) found += "batch ";
  return found;
}

TEST(Chunks, CutTheLargerInput) {
  const auto expect = [](const Gemm& op, const char* a, const char* b, const char* c) {
    const Cutting cutting = cutting_of(op, {});
    ASSERT_GE(cutting.size(), 2u);
    EXPECT_EQ(cuts(cutting, 0), a);
    EXPECT_EQ(cuts(cutting, 1), b);
    EXPECT_EQ(cuts(cutting, 2), c);
  };
  expect(gemm_of(4096, 4096, 1000), "rows ", "", "rows ");
  expect(gemm_of(1000, 16384, 1000), "", "cols ", "cols ");
  Gemm op = gemm_of(4096, 4096, 1000);
  op.c = col_major({}, Dtype::f32, 4096, 4096);
  expect(op, "", "cols ", "cols ");
  op = gemm_of(512, 512, 512);
  for (View* view : {&op.a, &op.b, &op.c}) view->batch = 32, view->batch_stride = 512 * 512;
  op.b.batch_stride = 0;
  expect(op, "batch ", "", "batch ");
  expect_covers(cutting_of(op, {}), 32, 4, &Part::batch);
}

TEST(Chunks, OfAChainGrowAndTheLastIsCutByResults) {
  const int64_t m = 8192, n = 8000, k = 9000;
  const Cutting cutting = cutting_of(gemm_of(m, n, k), {.pinned = true});
  ASSERT_GE(cutting.size(), 8u);
  int64_t terms = 0, before = 0, rows = 0;
  for (size_t s = 0; s < cutting.size(); ++s) {
    const auto& [a, b, c] = cutting[s].parts;
    EXPECT_EQ(a.cols, b.rows);
    EXPECT_EQ(a.rows, c.rows);
    EXPECT_EQ(b.cols, c.cols);
    EXPECT_EQ(c.cols, (Range{0, n}));
    EXPECT_EQ(cutting[s].begins, s == 0);
    EXPECT_EQ(first_with(cutting, 0, s), s);
    EXPECT_EQ(first_with(cutting, 1, s), std::min(s, size_t{4}));
    EXPECT_EQ(first_with(cutting, 2, s), 0u);
    EXPECT_EQ(a.cols.begin, terms);
    if (!cutting[s].ends) {
      EXPECT_EQ(c.rows, (Range{0, m}));
      EXPECT_LE(a.cols.count, s == 0 ? k / 32 : 2 * before + 128) << "would come too late";
      before = a.cols.count;
      EXPECT_EQ(a.cols.count % 128, 0);
      terms += a.cols.count;
    } else {
      EXPECT_EQ(a.cols.begin + a.cols.count, k);
      EXPECT_EQ(c.rows.begin, rows);
      rows += c.rows.count;
    }
  }
  EXPECT_EQ(rows, m);
  // 1 + 2 + 4 + 8 parts of k / 32, each rounded down to 128.
  EXPECT_GE(terms, k / 32 * 15 - 4 * 128);
  EXPECT_EQ(cutting[4].parts[2].rows.count, m / 4);
  EXPECT_EQ(cutting.back().parts[2].rows.count, 256) << "is waited for";
  EXPECT_TRUE(cutting_of(gemm_of(m, n, k), {}).front().ends);  // the host copies
  // c comes, too, and both inputs are whole before the first results.
  Gemm adds = gemm_of(m, n, k);
  adds.beta = 1;
  EXPECT_TRUE(cutting_of(adds, {.pinned = true}).front().ends);
  EXPECT_TRUE(
      cutting_of(gemm_of(8192, 8192, 1000), {.pinned = true}).front().ends);  // c takes longer
  EXPECT_TRUE(
      cutting_of(gemm_of(3000, 3000, 3000), {.pinned = true}).front().ends);  // the inputs do
}

/// The chunks of a gemm, and only those, may have a part of what an earlier chunk brought.
TEST(Chunks, LaterPartsLieAsInTheFirst) {
  std::vector<float> memory(1);
  size_t seen = 0;
  for (const auto& [m, n, k] : {std::tuple{70, 50, 90}, {40, 130, 90}, {130, 40, 90}, {1, 64, 90}})
    for (const int layouts : {0, 1, 2, 3, 4, 5, 6, 7})
      for (const int gap : {0, 3})
        for (int chunks = 2; chunks <= 12; ++chunks) {
          const auto host = [&](int which, int64_t rows, int64_t cols) {
            auto view = (layouts >> which & 1) != 0
                            ? host_col_major(memory.data(), Dtype::f32, rows, cols)
                            : host_row_major(memory.data(), Dtype::f32, rows, cols);
            ((layouts >> which & 1) != 0 ? view.col_stride : view.row_stride) += gap;
            return ConstHostView(view);
          };
          Gemm op;
          const Operand operands[] = {{host(0, m, k), {"gemm", "a", false}},
                                      {host(1, k, n), {"gemm", "b", false}},
                                      {host(2, m, n), {"gemm", "c", true}}};
          op.a = operands[0].view(), op.b = operands[1].view(), op.c = operands[2].view();
          const Cutting cutting = cutting_of(op, {true, chunks});
          for (size_t s = 0; s < cutting.size(); ++s)
            for (size_t i = 0; i < 3; ++i) {
              const size_t first = first_with(cutting, i, s);
              Operand whole = operands[i].part(cutting[first].parts[i]),
                      part = operands[i].part(cutting[s].parts[i]);
              whole.lay_out(), part.lay_out();
              const View &outer = whole.view(), &inner = part.view();
              if (inner.rows > 1) { EXPECT_EQ(inner.row_stride, outer.row_stride); }
              if (inner.cols > 1) { EXPECT_EQ(inner.col_stride, outer.col_stride); }
              seen += first < s;
            }
        }
  EXPECT_GT(seen, 1000u);
}

TEST(Chunks, AreAtMostAsManyAsWishedForWhateverTheyAreOf) {
  for (const auto& [m, n, k] : {std::tuple{8192, 8000, 9000}, {2048, 2048, 9000}, {4096, 64, 10}})
    for (const bool pinned : {false, true})
      for (int chunks = 2; chunks <= 12; ++chunks) {
        const Cutting cutting = cutting_of(gemm_of(m, n, k), {pinned, chunks});
        EXPECT_GE(cutting.size(), 2u) << m << " " << chunks;
        EXPECT_LE(cutting.size(), size_t(chunks)) << m << " " << pinned;
      }
}

/// Calls on the fake with memory of its own, and how many launches and allocations they were.
class CallsInChunks : public ::testing::Test {
 protected:
  Device device = open("fake:0");
  const fake_panel& panel = panel_of(device);
  HostOptions options{.device = "fake:0"};
  ~CallsInChunks() override {
    panel.slow_copies(0);
    panel.largest_buffer(1L << 30);
    release_idle();
    for (int call = 0; call < FAKE_CALLS; ++call) panel.fail(call, TRINE_OK);
  }
  template <class Call>
  long counted(int counter, Call&& call) {
    const long before = panel.count(counter);
    call();
    return panel.count(counter) - before;
  }
  template <class Call>
  long launches(Call&& call) {
    return counted(FAKE_LAUNCHES, call);
  }
};

/// The largest elements, so that 32 MiB are little for the fake to do.
using Wide = std::complex<double>;

template <class T>
std::vector<T> counting(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i % 1021);
  return values;
}

TEST_F(CallsInChunks, PinnedTransposesOfEitherLayout) {
  const int64_t rows = 1030, cols = 1050, pitch = 1053;
  const auto input = counting<Wide>(size_t(rows * pitch));
  options.pinned = true;
  for (const bool col_major : {false, true}) {
    ConstHostView from = host_row_major(input.data() + 1, Dtype::b128, rows, cols);
    from.row_stride = pitch;
    std::vector<Wide> output(size_t(cols * (rows + 5)), -1.0);
    HostView to = host_row_major(output.data() + 2, Dtype::b128, cols, rows);
    to.row_stride = rows + 5;
    const auto turn = [](auto& view) {  // the same memory, seen the other way
      std::swap(view.rows, view.cols), std::swap(view.row_stride, view.col_stride);
    };
    if (col_major) turn(from), turn(to);
    EXPECT_EQ(launches([&] { transpose(from, to, options); }), 2);
    size_t wrong = 0;
    for (size_t at = 0; at < output.size(); ++at) {
      const int64_t i = (int64_t(at) - 2) % (rows + 5), j = (int64_t(at) - 2) / (rows + 5);
      const bool inside = at >= 2 && i < rows && j < cols;
      wrong += output[at] != (inside ? input[size_t(1 + i * pitch + j)] : Wide(-1.0));
    }
    EXPECT_EQ(wrong, 0u) << col_major;
  }
}

TEST_F(CallsInChunks, GemmsByRowsAndByColumns) {
  for (const auto& [m, n] : {std::pair{2304, 2048}, std::pair{1024, 4300}}) {
    const auto a = counting<double>(size_t(m)), b = counting<double>(size_t(n));
    auto c = counting<double>(size_t(m) * size_t(n));
    const auto before = c;
    // c comes and goes: 64 MiB and more.
    // m and n are named again: clang before 16 captures no structured binding.
    EXPECT_EQ(
        launches([&, m = m, n = n] { gemm(m, n, 1, 2, a.data(), b.data(), 1, c.data(), options); }),
        4);
    size_t wrong = 0;
    for (size_t at = 0; at < c.size(); ++at)
      wrong += c[at] != 2 * a[at / size_t(n)] * b[at % size_t(n)] + before[at];
    EXPECT_EQ(wrong, 0u) << m;
  }
}

TEST_F(CallsInChunks, GemmsByPartsOfTheirChains) {
  using Kind = HostStep::Kind;
  HostTrace trace;
  options.trace = &trace;
  options.pinned = true;
  const auto copies_out = [&] {
    return std::ranges::count(trace.steps, Kind::copy_out, &HostStep::kind);
  };
  for (const auto& [m, n] : {std::pair{70, 50}, std::pair{40, 130}, std::pair{130, 40}}) {
    const int64_t k = 90;
    const auto a = counting<double>(size_t(m * k)), b = counting<double>(size_t(k * n));
    const ConstHostView left = host_row_major(a.data(), Dtype::f64, m, k),
                        right = host_row_major(b.data(), Dtype::f64, k, n);
    std::vector<double> c, whole;
    for (const bool col_major : {false, true}) {
      // m and n are named again: clang before 16 captures no structured binding.
      const auto call = [&, m = m, n = n](int chunks) {
        c.assign(size_t(m) * size_t(n), NAN);  // not read
        options.chunks = chunks;
        gemm(2, left, right, 0,
             col_major ? host_col_major(c.data(), Dtype::f64, m, n)
                       : host_row_major(c.data(), Dtype::f64, m, n),
             options);
      };
      EXPECT_EQ(launches([&] { call(1); }), 1);
      whole = c;
      panel.slow_copies(5);
      EXPECT_EQ(launches([&] { call(12); }), 12);
      panel.slow_copies(0);
      EXPECT_EQ(c, whole);
      EXPECT_LE(copies_out(), 8) << "results go when they are whole";
      EXPECT_EQ(launches([&] { call(2); }), 2);
      EXPECT_EQ(c, whole);
    }
  }
}

TEST_F(CallsInChunks, ProductsThatContinueBringTheirChains) {
  const int64_t m = 2304, n = 2048;
  const auto a = counting<double>(size_t(m)), b = counting<double>(size_t(n));
  auto c = counting<double>(size_t(m) * size_t(n));
  const auto before = c;
  options.continues = true;
  EXPECT_EQ(launches([&] { gemm(m, n, 1, 2, a.data(), b.data(), 0, c.data(), options); }), 4);
  size_t wrong = 0;
  for (size_t at = 0; at < c.size(); ++at)
    wrong += c[at] != 2 * (a[at / size_t(n)] * b[at % size_t(n)] + before[at]);
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CallsInChunks, BatchesThatShareAnInput) {
  constexpr int64_t kSide = 512, kBatch = 32;
  const auto a = counting<double>(kSide * kBatch), b = counting<double>(kSide);
  std::vector<double> c(kSide * kSide * kBatch);
  ConstHostView from = host_row_major(a.data(), Dtype::f64, kSide, 1),
                shared = host_row_major(b.data(), Dtype::f64, 1, kSide);
  HostView to = host_row_major(c.data(), Dtype::f64, kSide, kSide);
  from.batch = shared.batch = to.batch = kBatch;
  from.batch_stride = kSide, shared.batch_stride = 0, to.batch_stride = kSide * kSide;
  EXPECT_EQ(launches([&] { gemm(1, from, shared, 0, to, options); }), 4);
  size_t wrong = 0;
  for (size_t at = 0; at < c.size(); ++at) wrong += c[at] != a[at / kSide] * b[at % kSide];
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CallsInChunks, GoWholeWhereTheyAreToOrMust) {
  const auto input = counting<Wide>(1030 * 1050);
  std::vector<Wide> output(input.size());
  const auto call = [&] { transpose(1030, 1050, input.data(), output.data(), options); };
  options.pinned = true;
  EXPECT_EQ(launches(call), 2);
  options.rung = "naive";
  EXPECT_EQ(launches(call), 1);
  options.rung = {};
  options.overlap = false;
  EXPECT_EQ(launches(call), 1);
  options = {.device = "other:0", .pinned = true};  // which computes in the host's memory
  const fake_panel& other = panel_of(open("other:0"));
  const long before = other.count(FAKE_LAUNCHES);
  call();
  EXPECT_EQ(other.count(FAKE_LAUNCHES) - before, 1);
}

/// Three matrices of 8 MiB: three chunks.
struct Batch {
  static constexpr int64_t kRows = 512, kCols = 1024, kCount = 3;
  std::vector<Wide> input = counting<Wide>(size_t(kCount * kRows * kCols));
  std::vector<Wide> output = std::vector<Wide>(input.size());

  void run(const HostOptions& options) {
    HostView from = host_row_major(input.data(), Dtype::b128, kRows, kCols),
             to = host_row_major(output.data(), Dtype::b128, kCols, kRows);
    from.batch = to.batch = kCount;
    from.batch_stride = to.batch_stride = kRows * kCols;
    std::fill(output.begin(), output.end(), Wide(-1.0));
    transpose(from, to, options);
  }
  bool untouched() const {
    return std::count(output.begin(), output.end(), Wide(-1.0)) == std::ssize(output);
  }
  bool right() const {
    for (int64_t at = 0; at < kCount * kRows * kCols; ++at) {
      const int64_t matrix = at / (kRows * kCols), j = at / kRows % kCols, i = at % kRows;
      if (output[size_t(at)] != input[size_t((matrix * kRows + i) * kCols + j)]) return false;
    }
    return true;
  }
};

TEST_F(CallsInChunks, GoWholeWhereTheLargestBufferHoldsTheWholeAlone) {
  constexpr int64_t kRows = 513, kCols = 1023, kCount = 3;
  const auto input = counting<Wide>(kRows * kCols * kCount);
  std::vector<Wide> output(input.size());
  ConstHostView from = host_row_major(input.data(), Dtype::b128, kRows, kCols);
  HostView to = host_row_major(output.data(), Dtype::b128, kCols, kRows);
  from.batch = to.batch = kCount;
  from.batch_stride = to.batch_stride = kRows * kCols;
  EXPECT_EQ(launches([&] { transpose(from, to, options); }), 3);
  const std::vector<Wide> in_chunks = output;
  std::fill(output.begin(), output.end(), Wide(-1.0));
  panel.largest_buffer(kRows * kCols * kCount * long{sizeof(Wide)});
  options.device = "fake:1:as=small";
  EXPECT_EQ(launches([&] { transpose(from, to, options); }), 1);
  EXPECT_EQ(output, in_chunks);

  // A gemm whose c, its last operand, has as many bytes: nothing is allocated before that is found.
  constexpr int64_t kLong = 6 * kRows;
  const auto a = counting<double>(kLong), b = counting<double>(kCols);
  const auto before = counting<double>(kLong * kCols);
  std::vector<double> c;
  const auto call = [&] {
    c = before;
    gemm(kLong, kCols, 1, 2, a.data(), b.data(), 1, c.data(), options);
  };
  options.overlap = false;
  call();  // makes what is kept
  const std::vector<double> whole = c;
  const long allocations = counted(FAKE_ALLOCATIONS, call);
  options.overlap = true;
  EXPECT_EQ(counted(FAKE_ALLOCATIONS, [&] { EXPECT_EQ(launches(call), 1); }), allocations);
  EXPECT_EQ(c, whole);
  options.device = "fake:0";
  EXPECT_EQ(launches(call), 3);
  EXPECT_EQ(c, whole);
}

TEST_F(CallsInChunks, GoWholeWhereMemoryForChunksIsExhausted) {
  Batch batch;
  for (const int passes : {0, 1}) {
    panel.fail_later(FAKE_BUFFER_ALLOCATE, TRINE_OUT_OF_MEMORY, passes);
    EXPECT_EQ(launches([&] { batch.run(options); }), 1) << passes;
    EXPECT_TRUE(batch.right()) << passes;
  }
  EXPECT_EQ(launches([&] { batch.run(options); }), 3);
}

TEST_F(CallsInChunks, AFailureOnTheWayLeavesNothingInFlightAndTheNextCallIsRight) {
  Batch batch;
  EXPECT_EQ(launches([&] { batch.run(options); }), 3);  // makes what is kept: lanes, pinned memory
  EXPECT_TRUE(batch.right());
  for (const int fault : {FAKE_LAUNCH, FAKE_IN_QUEUE, FAKE_COPY, FAKE_COPY_IN_QUEUE,
                          FAKE_EVENT_RECORD, FAKE_QUEUE_WAIT, FAKE_BUFFER_ALLOCATE}) {
    const int last = fault == FAKE_BUFFER_ALLOCATE ? 1 : 2;
    for (int passes = 0; passes <= last; ++passes) {
      options.pinned = passes == 1;
      panel.fail_later(fault, TRINE_BACKEND_ERROR, passes);
      EXPECT_REFUSED(Status::backend_error, "a planted fault", batch.run(options));
      EXPECT_EQ(panel.count(FAKE_PENDING), 0) << fault << " after " << passes;
      const bool before_any_result =
          passes == 0 && (fault == FAKE_LAUNCH || fault == FAKE_COPY ||
                          fault == FAKE_EVENT_RECORD || fault == FAKE_BUFFER_ALLOCATE);
      EXPECT_TRUE(!before_any_result || batch.untouched()) << fault;
    }
    panel.fail(fault, TRINE_OK);
    batch.run(options);
    EXPECT_TRUE(batch.right()) << fault;
  }
}

TEST_F(CallsInChunks, KernelsWaitForCopiesAndCopiesForKernels) {
  Batch batch;
  for (const bool pinned : {false, true}) {
    options.pinned = pinned;
    std::reverse(batch.input.begin(), batch.input.end());  // memory holds the last call's
    panel.slow_copies(50);
    batch.run(options);
    panel.slow_copies(0);
    EXPECT_TRUE(batch.right()) << pinned;
  }
}

TEST_F(CallsInChunks, ATraceTellsEachStep) {
  using Kind = HostStep::Kind;
  Batch batch;
  HostTrace trace;
  options.trace = &trace;
  for (const bool overlap : {true, false}) {
    options.overlap = overlap;
    for (int again = 0; again < 2; ++again) batch.run(options);  // it is written again each time
    EXPECT_TRUE(batch.right());
    const int chunks = overlap ? 3 : 1;
    ASSERT_EQ(std::ssize(trace.steps), 3 * chunks);
    EXPECT_GE(trace.allocation, 0);
    EXPECT_GT(trace.reading, 0);
    EXPECT_EQ(trace.steps[0].begin, 0);
    for (int i = 0; i < 3 * chunks; ++i) {
      const HostStep& step = trace.steps[size_t(i)];
      EXPECT_EQ(step.kind,
                (std::array{Kind::copy_in, Kind::kernel, Kind::copy_out})[size_t(i / chunks)]);
      EXPECT_EQ(step.chunk, i % chunks);
      EXPECT_LE(step.begin, step.end);
      if (i >= chunks) { EXPECT_GE(step.begin, trace.steps[size_t(i - chunks)].end); }
    }
  }
  options = {.device = "other:0", .trace = &trace};  // which computes in the host's memory
  batch.run(options);
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].kind, Kind::kernel);
  options.in_place = false;
  batch.run(options);
  EXPECT_GT(trace.steps.size(), 1u);
  EXPECT_TRUE(batch.right());
}

TEST_F(CallsInChunks, AsManyAsAreWishedFor) {
  const auto input = counting<double>(100 * 70);
  std::vector<double> output(input.size());
  const auto call = [&] { transpose(100, 70, input.data(), output.data(), options); };
  options.pinned = true;
  EXPECT_EQ(launches(call), 1);
  options.chunks = 3;
  EXPECT_EQ(launches(call), 3);
  EXPECT_EQ(output[1], input[70]);
  EXPECT_EQ(output.back(), input.back());
  options.chunks = 1;
  EXPECT_EQ(launches(call), 1);
}

TEST_F(CallsInChunks, ASquareInPlaceIsCutByMatricesAlone) {
  const auto before = counting<double>(3 * 64 * 64);
  std::vector<double> values = before;
  options.pinned = true;
  options.chunks = 3;
  EXPECT_EQ(launches([&] { transpose(64, 64, values.data(), values.data(), options); }), 1);
  EXPECT_EQ(values[1], before[64]);
  values = before;
  const HostView squares = host_batched(values.data(), Dtype::f64, 3, 64, 64);
  EXPECT_EQ(launches([&] { transpose(squares, squares, options); }), 3);
  size_t wrong = 0;
  for (size_t at = 0; at < values.size(); ++at) {
    const size_t matrix = at / 4096 * 4096, i = at % 4096 / 64, j = at % 64;
    wrong += values[at] != before[matrix + j * 64 + i];
  }
  EXPECT_EQ(wrong, 0u);
}

TEST_F(CallsInChunks, TwoThreadsAtOnce) {
  Batch batches[2];
  std::vector<std::thread> threads;
  for (Batch& batch : batches) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3; ++i) batch.run(options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Batch& batch : batches) EXPECT_TRUE(batch.right());
}

}  // namespace
}  // namespace trine::testing
