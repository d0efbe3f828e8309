// Every mistake that core refuses, with its status and its words; a refused call writes nothing.
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <set>

#include "core/src/operations/check.hpp"
#include "fixture.hpp"

namespace trine::testing {
namespace {

constexpr Status kInvalid = Status::invalid_argument;

struct Checks : FakeDevice {
  Buffer data{device, 4096}, result{device, 4096};
  View in = row_major(data, Dtype::f32, 4, 8);
  View out = vector(result, Dtype::f32, 1);

  Reduce sum() const { return {.input = in, .output = out}; }
  Transpose turn() const {
    return {row_major(data, Dtype::f32, 4, 8), row_major(result, Dtype::f32, 8, 4)};
  }
  Gemm product() const {
    return {.a = row_major(data, Dtype::f32, 4, 8),
            .b = row_major(data, Dtype::f32, 8, 2),
            .c = row_major(result, Dtype::f32, 4, 2)};
  }

  template <class Operation>
  using Mistakes = std::initializer_list<std::pair<const char*, std::function<void(Operation&)>>>;
  /// Each of the mistakes by itself is refused in these words.
  template <class Operation>
  void expect_refused(const Operation& good, Mistakes<Operation> mistakes) {
    for (const auto& [words, make] : mistakes) {
      Operation op = good;
      make(op);
      EXPECT_REFUSED(kInvalid, words, run(queue, op));
    }
  }
};

TEST_F(Checks, NullAndForeignObjectsAreRefused) {
  Queue none;
  EXPECT_REFUSED(kInvalid, "Queue is empty", run(none, sum()));
  EXPECT_REFUSED(kInvalid, "Device is empty", Queue{Device{}});
  EXPECT_REFUSED(kInvalid, "Device is empty", Buffer(Device{}, 4));
  EXPECT_REFUSED(kInvalid, "Buffer is empty", Buffer{}.bytes());
  Reduce op = sum();
  op.input.buffer = {};
  EXPECT_REFUSED(kInvalid, "reduce: input: its buffer is empty", run(queue, op));
  const Device second = open("fake:1");
  op.input.buffer = Buffer(second, 4096);
  EXPECT_REFUSED(kInvalid, "belongs to fake:1, the operation runs on fake:0", run(queue, op));
}

TEST_F(Checks, ExtentsMustFitTheirBuffer) {
  constexpr int64_t kFar = int64_t{1} << 40;
  expect_refused(sum(),
                 {{"needs 4128 bytes from byte 0 on, but its buffer has 4096",
                   [](Reduce& r) { r.input.rows = 129; }},
                  {"its buffer has 4096", [](Reduce& r) { r.input.offset = 4096; }},
                  {"its buffer has 4096", [](Reduce& r) { r.input.offset = UINT64_MAX - 3; }},
                  {"extents are never negative", [](Reduce& r) { r.input.rows = -1; }},
                  {"strides are never negative", [](Reduce& r) { r.input.col_stride = -1; }},
                  {"more than 2^63 - 1",
                   [](Reduce& r) {
                     r.input.rows = r.input.cols = kFar;
                     r.input.row_stride = r.input.col_stride = 0;
                   }},
                  {"reach beyond 2^63 bytes", [](Reduce& r) {
                     r.input.rows = r.input.row_stride = kFar;
                     r.input.cols = 2, r.input.col_stride = 0;
                   }}});
}

TEST_F(Checks, TheLastLegalByteIsLegal) {
  Reduce op = sum();
  op.input = row_major(data, Dtype::f32, 128, 8);
  run(queue, op);
  op.input = vector(data, Dtype::f32, 1, 4092);
  run(queue, op);
  queue.wait();
}

TEST_F(Checks, BroadcastAndOverlapAreForInputsOnly) {
  Reduce op = sum();
  op.input.rows = int64_t{1} << 20;
  op.input.row_stride = 0;
  run(queue, op, "naive");
  queue.wait();
  Transpose turned = turn();
  turned.output.row_stride = 0;
  EXPECT_REFUSED(kInvalid, "transpose: output: an output's elements may not overlap",
                 run(queue, turned));
  turned = turn();
  turned.output.row_stride = 3;
  EXPECT_REFUSED(kInvalid, "may not overlap or repeat", run(queue, turned));
  Reduce rows = sum();
  rows.axis = Axis::each_row;
  rows.output = vector(result, Dtype::f32, 4);
  rows.output.row_stride = 0;
  EXPECT_REFUSED(kInvalid, "may not overlap or repeat", run(queue, rows));
  rows.output.row_stride = 5;
  run(queue, rows);
  Gemm batch = product();
  batch.c.batch = batch.a.batch = batch.b.batch = 3;
  EXPECT_REFUSED(kInvalid, "may not overlap or repeat", run(queue, batch));
  batch.c.batch_stride = 8;
  run(queue, batch);
  batch.c = {result, Dtype::f32, 0, 4, 2, 3, 6, 1, 2};  // batches side by side in each row
  run(queue, batch);
  queue.wait();
}

TEST_F(Checks, PinnedMemoryThatStaysMappedIsNoOperand) {
  constexpr auto kRefused = Status::unsupported;
  const char* const why = "pinned memory of fake:0 can't be an operand";
  const View pinned = vector(Buffer(device, 4096, Memory::pinned), Dtype::f32, 64);
  const View own = vector(data, Dtype::f32, 64);
  Reduce op = sum();
  op.input = pinned;
  EXPECT_REFUSED(kRefused, why, run(queue, op));
  EXPECT_REFUSED(kRefused, why, copy(queue, pinned, own));
  EXPECT_REFUSED(kRefused, why, copy(queue, own, pinned));
  const float one = 1;
  EXPECT_REFUSED(kRefused, why, fill(queue, pinned, &one));
  copy(queue, host_vector(pinned.buffer.host(), Dtype::f32, 64), own);
  queue.wait();
  // Where device and host share memory it is as any other.
  const Device shared = open("other:0");
  Queue there(shared);
  op.input = vector(Buffer(shared, 256, Memory::pinned), Dtype::f32, 64);
  op.output = vector(Buffer(shared, 4), Dtype::f32, 1);
  run(there, op);
  there.wait();
}

TEST_F(Checks, OutputsMayNotOverlapInputs) {
  Reduce op = sum();
  op.output = vector(data, Dtype::f32, 1, 16);
  EXPECT_REFUSED(kInvalid, "reduce: output overlaps input", run(queue, op));
  op.output = vector(data, Dtype::f32, 1, 4 * 8 * 4);
  run(queue, op);
  Gemm gemm = product();
  gemm.c.buffer = data;
  EXPECT_REFUSED(kInvalid, "gemm: c overlaps a", run(queue, gemm));
  // The same memory behind two buffers.
  gemm = product();
  gemm.c.buffer = Buffer::adopt(device, data.native(), 4096);
  EXPECT_REFUSED(kInvalid, "gemm: c overlaps a", run(queue, gemm));
  // Sub-matrices of one matrix, side by side.
  const auto part = [&](int64_t rows, int64_t cols, uint64_t column) {
    View view = row_major(data, Dtype::f32, rows, cols, column * 4);
    view.row_stride = 32;
    return view;
  };
  run(queue, Gemm{.a = part(8, 8, 0), .b = part(8, 8, 8), .c = part(8, 8, 16)});
  EXPECT_REFUSED(kInvalid, "gemm: c overlaps b",
                 run(queue, Gemm{.a = part(8, 8, 0), .b = part(8, 8, 9), .c = part(8, 8, 16)}));
  queue.wait();
}

TEST_F(Checks, ReduceKnowsItsDtypesAndShapes) {
  const auto with = [&](Function function, Map map, Dtype input, Dtype output) {
    Reduce op = sum();
    op.function = function, op.map = map, op.input.dtype = input, op.output.dtype = output;
    return op;
  };
  run(queue, with(Function::sum, Map::identity, Dtype::f32, Dtype::f64));
  run(queue, with(Function::sum, Map::square, Dtype::f32, Dtype::f32));
  using Change = std::function<void(Reduce&)>;
  const auto be = [&](Function function, Map map, Dtype input, Dtype output) -> Change {
    return [=](Reduce& r) { r = with(function, map, input, output); };
  };
  expect_refused(
      sum(),
      {{"of f32 gives f32, the output is i64",
        be(Function::sum, Map::identity, Dtype::f32, Dtype::i64)},
       {"gives f32", be(Function::max, Map::identity, Dtype::f32, Dtype::f64)},
       {"sum with map identity of i32 gives i64",
        be(Function::sum, Map::identity, Dtype::i32, Dtype::f32)},
       {"min with map abs of i32 gives u32", be(Function::min, Map::abs, Dtype::i32, Dtype::f32)},
       {"b32 can't be reduced", be(Function::min, Map::abs, Dtype::b32, Dtype::f32)},
       {"map square needs function sum", be(Function::prod, Map::square, Dtype::f32, Dtype::f32)},
       {"there is no function 9", [](Reduce& r) { r.function = Function(9); }},
       {"each_column of 4 x 8 gives 8 x 1", [](Reduce& r) { r.axis = Axis::each_column; }},
       {"batch of 1", [](Reduce& r) { r.input.batch = 2; }},
       {"'reproducible', 'fast' or 'exact'", [](Reduce& r) { r.numerics = Numerics::study; }}});
  queue.wait();
}

TEST_F(Checks, AProductTakesTwoInputsThatMatch) {
  Reduce good = sum();
  good.map = Map::product;
  good.second = good.input;
  run(queue, good);
  expect_refused(
      good,
      {{"second: map identity takes one input", [](Reduce& r) { r.map = Map::identity; }},
       {"second: map square takes one input", [](Reduce& r) { r.map = Map::square; }},
       {"map product needs function sum, not max", [](Reduce& r) { r.function = Function::max; }},
       {"takes a second input of the input's shape, 4 x 8; there is none",
        [](Reduce& r) { r.second = {}; }},
       {"second: 8 x 4, but the input is 4 x 8",
        [&](Reduce& r) { r.second = row_major(data, Dtype::f32, 8, 4); }},
       {"second: f64, but the input is f32", [](Reduce& r) { r.second.dtype = Dtype::f64; }},
       {"second: its buffer is empty", [](Reduce& r) { r.second.buffer = {}; }},
       {"second: needs 128 bytes from byte 4000 on", [](Reduce& r) { r.second.offset = 4000; }},
       {"output overlaps second", [&](Reduce& r) { r.second.buffer = result; }},
       {"map product takes f32 and f64, the input is i32", [](Reduce& r) {
          r.second.dtype = r.input.dtype = Dtype::i32;
          r.output.dtype = Dtype::i64;
        }}});
  const View x = vector(data, Dtype::f64, 100), y = vector(data, Dtype::f64, 100, 800);
  dot(queue, x, y, vector(result, Dtype::f64, 1));
  EXPECT_REFUSED(kInvalid, "but the input is 100 x 1",
                 dot(queue, x, vector(data, Dtype::f64, 99), vector(result, Dtype::f64, 1)));
  EXPECT_EQ(
      tuning_key(Reduce{
          .map = Map::product, .input = x, .output = vector(result, Dtype::f64, 1), .second = y}),
      "reduce sum product all f64 f64 rr reproducible 100x1");
  queue.wait();
}

TEST_F(Checks, TransposeWantsTurnedShapesAndUnitStrides) {
  Transpose op = turn();
  op.output.rows = 4;
  EXPECT_REFUSED(kInvalid, "output: 4 x 4", run(queue, op));
  op = turn();
  op.output.dtype = Dtype::f64;
  EXPECT_REFUSED(kInvalid, "differ in size", run(queue, op));
  op = turn();
  op.input.col_stride = 2;
  op.input.row_stride = 16;
  EXPECT_REFUSED(kInvalid, "one of them must be 1", run(queue, op));
  op.input = row_major(data, Dtype::f32, 4, 8);
  op.input.col_stride = 0;  // one element for each row
  run(queue, op);
  // Extents of 1 need no unit stride.
  op.input = {data, Dtype::f32, 0, 4, 1, 1, 7, 99, 5};
  op.output = {result, Dtype::f32, 0, 1, 4, 1, 99, 3, 5};
  run(queue, op);
  queue.wait();
}

TEST_F(Checks, GemmWantsMatchingOperands) {
  expect_refused(
      product(),
      {{"doesn't give c 4 x 2", [](Gemm& g) { g.b.rows = 7; }},
       {"one dtype", [](Gemm& g) { g.b.dtype = Dtype::f64; }},
       {"i64 can't be multiplied", [](Gemm& g) { g.a.dtype = g.b.dtype = g.c.dtype = Dtype::i64; }},
       {"batches of a, b and c differ", [](Gemm& g) { g.a.batch = 2; }},
       {"gemm: a has strides 16 and 2", [](Gemm& g) { g.a.row_stride = 16, g.a.col_stride = 2; }},
       {"f16 can't be multiplied", [](Gemm& g) {
          g.numerics = Numerics::fast;
          g.a.dtype = g.b.dtype = Dtype::f16;
        }}});
}

TEST_F(Checks, ChainsBeginAtAnElementToWhichNothingIsAdded) {
  Gemm op = product();
  op.continues = true;
  op.beta = 1;
  EXPECT_REFUSED(kInvalid, "gemm: beta: a product that continues its chains", run(queue, op));
  op.beta = vector(data, Dtype::f32, 1);
  EXPECT_REFUSED(kInvalid, "so beta is 0", run(queue, op));
  op.beta = -0.0;
  run(queue, op);
  queue.wait();
}

TEST_F(Checks, ExactProductsAreRefusedWhereTheyCannotBeRoundedOnce) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Gemm op = product();
    for (View* view : {&op.a, &op.b, &op.c}) view->dtype = dtype;
    op.numerics = Numerics::exact;
    for (const char* rung : {"", "naive"})
      EXPECT_REFUSED(Status::unsupported, "rounds at every step of a chain, not once",
                     run(queue, op, rung));
    op.continues = true;
    EXPECT_REFUSED(kInvalid, "an exact product is rounded once, to c", run(queue, op));
    op.continues = false;
    for (Scalar Gemm::*scalar : {&Gemm::alpha, &Gemm::beta}) {
      Gemm scaled = op;
      scaled.*scalar = vector(data, dtype, 1);
      EXPECT_REFUSED(Status::unsupported, "scalars of device memory", run(queue, scaled));
    }
  }
}

// Sums, which are exact, products of integers, which no step rounds, and all that has no other
// bits.
TEST_F(Checks, ExactIsTakenWhereReproducibleIs) {
  Gemm op = product();
  op.numerics = Numerics::exact;
  for (View* view : {&op.a, &op.b, &op.c}) view->dtype = Dtype::i32;
  EXPECT_EQ(run(queue, op).numerics, Numerics::reproducible);
  op.alpha = vector(data, Dtype::i32, 1);
  run(queue, op);
  op.alpha = 1;
  op.continues = true;
  run(queue, op);
  for (const Function function : {Function::sum, Function::prod, Function::argmax}) {
    Reduce whole = sum();
    whole.function = function;
    if (function == Function::argmax) whole.output = vector(result, Dtype::i64, 1);
    whole.numerics = Numerics::exact;
    EXPECT_EQ(run(queue, whole).numerics, Numerics::reproducible);
  }
  queue.wait();
}

// Nobody asks a rung whose row doesn't say that it continues chains: it may be older than they are.
TEST_F(Checks, RungsThatDoNotKnowHowToContinueChainsAreNotAsked) {
  Gemm op = product();
  op.continues = true;
  const long before = panel.count(FAKE_LAUNCHES);
  EXPECT_REFUSED(Status::unsupported,
                 "fake:0: rung naive refuses this gemm: begins its chains at 0, not at c",
                 run(queue, op, "naive"));
  EXPECT_EQ(panel.count(FAKE_LAUNCHES), before);
  EXPECT_EQ(choose(device, op).rung_name(), "tuned");
  const Device older = open("other:0");
  for (View* view : {&op.a, &op.b, &op.c}) view->buffer = {};
  EXPECT_REFUSED(Status::unsupported, "other:0: rung tuned refuses this gemm: begins its chains",
                 choose(older, op));
  op.continues = false;
  EXPECT_EQ(choose(older, op).rung_name(), "tuned");
}

TEST_F(Checks, ScalarsMustBeExact) {
  Gemm op = product();
  op.alpha = 0.1;
  EXPECT_REFUSED(kInvalid, "alpha = 0.10000000000000001 has no exact f32 value", run(queue, op));
  op.alpha = 1e300;
  EXPECT_REFUSED(kInvalid,
                 "alpha = 1.0000000000000001e+300 has no exact f32 value; it lies beyond all f32",
                 run(queue, op));
  op.alpha = std::numeric_limits<double>::infinity();
  run(queue, op);
  op.alpha = std::nan("");
  run(queue, op);
  for (const double exact : {0x1p-149, -0x1.fffffcp-127, -0.0, 0x1.fffffep127, 0x1.8p-148}) {
    op.alpha = exact;
    run(queue, op);
  }
  for (const double between :
       {0x1p-150, 0x1.8p-149, 0x1.fffffep-127, 0x1.fffffe8p127, 0x1p128, 0x1p-1060}) {
    op.alpha = between;
    EXPECT_REFUSED(kInvalid, "no exact f32 value", run(queue, op));
  }
  op.alpha = 1;
  op.a.dtype = op.b.dtype = op.c.dtype = Dtype::i32;
  op.alpha = 2147483647;
  run(queue, op);
  op.alpha = 2147483648.0;
  EXPECT_REFUSED(kInvalid, "no exact i32 value", run(queue, op));
  EXPECT_REFUSED(kInvalid, "give a whole number from -2147483648 to 2147483647", run(queue, op));
  op.alpha = 1, op.beta = 0.5;
  EXPECT_REFUSED(kInvalid, "beta = 0.5 has no exact i32 value", run(queue, op));
  queue.wait();
}

TEST_F(Checks, BlocksOfOneMatrixLieSideBySide) {
  // A, broadcast over the batch, in columns 15 … 19 of rows of 20; C's three blocks in 0 … 14.
  Gemm op = product();
  op.a = View{result, Dtype::f32, 4 * 15, 4, 5, 3, 20, 1, 0};
  op.b = View{data, Dtype::f32, 0, 5, 5, 3, 5, 1, 25};
  op.c = View{result, Dtype::f32, 0, 4, 5, 3, 20, 1, 5};
  run(queue, op);
  queue.wait();
  op.a.offset -= 4;
  EXPECT_REFUSED(kInvalid, "gemm: c overlaps a", run(queue, op));
}

// Views that are called apart are apart, byte by byte: views of every kind on little memory.
TEST(Overlap, IsNeverDenied) {
  std::mt19937 random(1);
  const auto below = [&](int n) { return int64_t(random() % unsigned(n)); };
  constexpr uint32_t element = 2;
  int apart = 0;
  for (int round = 0; round < 200'000; ++round) {
    trine_view views[2];
    uint64_t first[2], last[2];
    std::set<uint64_t> bytes[2];
    for (int v = 0; v < 2; ++v) {
      trine_view& view = views[v] = {nullptr,      0,        1 + below(4), 1 + below(4),
                                     1 + below(3), below(9), below(9),     below(9)};
      first[v] = uint64_t(below(20));
      for (int64_t b = 0; b < view.batch; ++b)
        for (int64_t i = 0; i < view.rows; ++i)
          for (int64_t j = 0; j < view.cols; ++j)
            for (uint32_t byte = 0; byte < element; ++byte)
              bytes[v].insert(first[v] + byte +
                              element * uint64_t(b * view.batch_stride + i * view.row_stride +
                                                 j * view.col_stride));
      last[v] = *bytes[v].rbegin() + 1;
    }
    if (detail::overlap({&views[0], first[0], last[0], element},
                        {&views[1], first[1], last[1], element}))
      continue;
    ++apart;
    for (const uint64_t byte : bytes[0])
      ASSERT_FALSE(bytes[1].contains(byte)) << "round " << round << ", byte " << byte;
  }
  EXPECT_GT(apart, 5000);
}

TEST_F(Checks, MisalignedBasesAreRefused) {
  Reduce op = sum();
  op.input.offset = 2;
  EXPECT_REFUSED(kInvalid, "starts at byte 2", run(queue, op));
  op = sum();
  op.input.buffer = Buffer::adopt(device, static_cast<char*>(data.native()) + 1, 4000);
  EXPECT_REFUSED(kInvalid, "its buffer is misaligned", run(queue, op));
  // Nor where the offset makes up for it: OpenCL's kernels count it in elements.
  op.input.buffer = Buffer::adopt(device, static_cast<char*>(data.native()) + 1, 4000);
  op.input.offset = 3;
  EXPECT_REFUSED(kInvalid, "starts at byte 3", run(queue, op));
  Gemm doubles = product();
  for (View* view : {&doubles.a, &doubles.b, &doubles.c}) view->dtype = Dtype::f64;
  doubles.a.rows = doubles.a.cols = doubles.b.rows = doubles.b.cols = doubles.c.rows =
      doubles.c.cols = 2;
  doubles.c.buffer = Buffer::adopt(device, static_cast<char*>(result.native()) + 4, 1000);
  doubles.c.offset = 4;
  EXPECT_REFUSED(kInvalid, "starts at byte 4", run(queue, doubles));
  const float one = 1;
  View odd =
      vector(Buffer::adopt(device, static_cast<char*>(data.native()) + 2, 4000), Dtype::f32, 4, 2);
  EXPECT_REFUSED(kInvalid, "starts at byte 2", fill(queue, odd, &one));
  Transpose wide{row_major(data, Dtype::b128, 2, 4, 4), row_major(result, Dtype::b128, 4, 2, 8)};
  run(queue, wide);
  wide.input.offset = 2;
  EXPECT_REFUSED(kInvalid, "not a multiple of 4", run(queue, wide));
  Transpose narrow{row_major(data, Dtype::b8, 2, 4, 3), row_major(result, Dtype::b8, 4, 2, 5)};
  run(queue, narrow);
  queue.wait();
}

TEST_F(Checks, ARefusedCallWritesNothing) {
  const std::vector<float> before(1024, 7);
  const Buffer guarded = upload(before);
  const long launches = panel.count(FAKE_LAUNCHES), fills = panel.count(FAKE_FILLS);
  Reduce op = sum();
  op.output = vector(guarded, Dtype::f32, 1);
  op.input.offset = 1;
  EXPECT_REFUSED(kInvalid, "starts at byte 1", run(queue, op));
  op.input.offset = 0;
  EXPECT_REFUSED(Status::not_found, "naive", run(queue, op, "nave"));
  EXPECT_REFUSED(Status::unsupported, "it likes nothing", run(queue, op, "picky"));
  op.input = row_major(data, Dtype::f32, 0, 8);
  op.output.row_stride = 0, op.output.rows = 2;
  EXPECT_REFUSED(kInvalid, "", run(queue, op));
  queue.wait();
  EXPECT_EQ(panel.count(FAKE_LAUNCHES), launches);
  EXPECT_EQ(panel.count(FAKE_FILLS), fills);
  EXPECT_EQ(download<float>(guarded), before);
}

TEST_F(Checks, RungsAreNamedExactlyOrRefusedWithTheClosest) {
  EXPECT_REFUSED(Status::not_found, "Did you mean 'tuned'? There are: naive, tuned, picky, packed",
                 run(queue, sum(), "tunde"));
  EXPECT_REFUSED(Status::not_found, "It has: threads, finish",
                 run(queue, sum(), "tuned:thread=64"));
  EXPECT_REFUSED(Status::not_found, "Did you mean 'threads'?",
                 run(queue, sum(), "tuned:thread=64"));
  EXPECT_REFUSED(Status::not_found, "threads=65 doesn't exist; it can be 64, 128, 256",
                 run(queue, sum(), "tuned:threads=65"));
  EXPECT_REFUSED(Status::not_found, "parameter=value is needed",
                 run(queue, sum(), "tuned:threads"));
  for (const auto& [rung, words] : std::vector<std::pair<const char*, const char*>>{
           {"tuned:", "ends without a pair"},
           {"naive:", "ends without a pair"},
           {"tuned:threads=64,", "ends without a pair"},
           {"tuned:,threads=64", "has an empty pair"},
           {"tuned:threads=64,,finish=one", "has an empty pair"},
           {"tuned:threads=", "has a key without a value"},
           {"tuned:=64", "has a value without a key"},
           {"tuned:threads=64,threads=64", "has a key twice"}}) {
    EXPECT_REFUSED(Status::not_found, words, run(queue, sum(), rung));
    EXPECT_REFUSED(Status::not_found, words, choose(device, sum(), rung));
  }
  EXPECT_REFUSED(Status::not_found, "It has: none", run(queue, turn(), "naive:threads=64"));
  EXPECT_REFUSED(Status::not_found, "no rung of transpose is called 'tuned'",
                 run(queue, turn(), "tuned"));
}

TEST_F(Checks, WhatExceedsTheLargestBufferIsUnsupported) {
  EXPECT_REFUSED(Status::unsupported, "larger than this device's largest, 1073741824 bytes",
                 Buffer(device, (uint64_t{1} << 30) + 1));
  EXPECT_REFUSED(kInvalid, "Buffer::wrap", Buffer(device, 16, Memory::wrapped));
  EXPECT_REFUSED(kInvalid, "null", Buffer::wrap(device, nullptr, 16));
  EXPECT_REFUSED(kInvalid, "null", Buffer::adopt(device, nullptr, 16));
  EXPECT_EQ(Buffer(device, 0).bytes(), 0u);
  EXPECT_EQ(Buffer::wrap(device, nullptr, 0).bytes(), 0u);
}

TEST_F(Checks, PlanningNeedsNoBuffersButChecksAllElse) {
  Reduce op = sum();
  op.input.buffer = op.output.buffer = {};
  EXPECT_EQ(choose(device, op).rung(), "tuned:threads=256,finish=atomic");
  EXPECT_EQ(choose(device, op, "naive").rung(), "naive");
  op.output.rows = 2;
  EXPECT_REFUSED(kInvalid, "gives 1 x 1", choose(device, op));
}

}  // namespace
}  // namespace trine::testing
