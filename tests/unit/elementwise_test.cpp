// axpby, scalar, and products with scalars of device memory: results and refusals on a fake device;
// their bits on real ones are conformance's (conformance/elementwise.cpp).
#include "fixture.hpp"

namespace trine::testing {
namespace {

struct Elementwise : FakeDevice {
  Buffer x = upload<float>({1, 2, 3, 4, 5, 6}), y = upload<float>({10, 20, 30, 40, 50, 60});
  Buffer two = upload<float>({-1, 2});

  View all(const Buffer& buffer) const { return vector(buffer, Dtype::f32, 6); }
  View number() const { return vector(two, Dtype::f32, 1, 4); }
};

TEST_F(Elementwise, AxpbyTakesNumbersOfTheHostAndOfTheDevice) {
  axpby(queue, number(), all(x), 0.5, all(y));
  EXPECT_EQ(download<float>(y), (std::vector<float>{7, 14, 21, 28, 35, 42}));
  axpby(queue, 1, all(x), number(), all(y));
  EXPECT_EQ(download<float>(y), (std::vector<float>{15, 30, 45, 60, 75, 90}));
  axpby(queue, number(), all(y), 0, all(y));
  EXPECT_EQ(download<float>(y), (std::vector<float>{30, 60, 90, 120, 150, 180}));
}

TEST_F(Elementwise, AxpbyWalksViewsOfAnyStrides) {
  View across = row_major(x, Dtype::f32, 3, 2);      // 1 2, 3 4, 5 6
  const View down = col_major(y, Dtype::f32, 3, 2);  // 10 40, 20 50, 30 60
  axpby(queue, 1, across, 1, down);
  EXPECT_EQ(download<float>(y), (std::vector<float>{11, 23, 35, 42, 54, 66}));
  across.row_stride = 0;  // its first row again and again
  axpby(queue, 1, across, 0, down);
  EXPECT_EQ(download<float>(y), (std::vector<float>{1, 1, 1, 2, 2, 2}));
  axpby(queue, 1, View{x, Dtype::f32, 0, 0, 2}, 0, View{y, Dtype::f32, 0, 0, 2});  // nothing to do
  queue.wait();
}

TEST_F(Elementwise, AxpbyRefuses) {
  const std::vector<float> before = download<float>(y);
  EXPECT_REFUSED(Status::invalid_argument, "axpby: x and y have one dtype",
                 axpby(queue, 1, vector(x, Dtype::u32, 6), 0, vector(y, Dtype::u32, 6)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: x and y have one shape; here they are 5 x 1",
                 axpby(queue, 1, vector(x, Dtype::f32, 5), 0, all(y)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: alpha = 0.1",
                 axpby(queue, 0.1, all(x), 0, all(y)));
  EXPECT_REFUSED(Status::invalid_argument,
                 "axpby: beta is one element of f32; here it is a view of 2",
                 axpby(queue, 1, all(x), vector(two, Dtype::f32, 2), all(y)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: alpha: its buffer is empty",
                 axpby(queue, vector({}, Dtype::f32, 1), all(x), 0, all(y)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: y overlaps x",
                 axpby(queue, 1, vector(y, Dtype::f32, 5), 0, vector(y, Dtype::f32, 5, 4)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: y overlaps beta",
                 axpby(queue, 1, all(x), vector(y, Dtype::f32, 1, 8), all(y)));
  EXPECT_REFUSED(Status::invalid_argument, "axpby: y: an output's elements may not overlap",
                 axpby(queue, 1, View{x, Dtype::f32, 0, 2, 3, 1, 1, 1}, 0,
                       View{y, Dtype::f32, 0, 2, 3, 1, 1, 1}));
  EXPECT_EQ(download<float>(y), before);
}

TEST_F(Elementwise, ScalarComputesWhereTheNumberMayBeItsOwnResult) {
  scalar(queue, Arithmetic::divide, number(), 4, number());
  EXPECT_EQ(download<float>(two), (std::vector<float>{-1, 0.5}));
  EXPECT_REFUSED(Status::invalid_argument, "scalar: there is no function 9",
                 scalar(queue, Arithmetic(9), 1, 1, number()));
  EXPECT_REFUSED(Status::invalid_argument, "scalar: result: i32",
                 scalar(queue, Arithmetic::add, 1, 1, vector(two, Dtype::i32, 1)));
  EXPECT_REFUSED(Status::invalid_argument, "scalar: result is one element of f32",
                 scalar(queue, Arithmetic::add, 1, 1, vector(two, Dtype::f32, 2)));
}

TEST_F(Elementwise, AProductTakesScalarsOfTheDevice) {
  const Buffer c = upload<float>({1, 1, 1, 1});
  const Gemm product{.alpha = number(),
                     .beta = 3,
                     .a = row_major(x, Dtype::f32, 2, 3),
                     .b = col_major(x, Dtype::f32, 3, 2),
                     .c = row_major(c, Dtype::f32, 2, 2)};
  run(queue, product);
  EXPECT_EQ(download<float>(c), (std::vector<float>{31, 67, 67, 157}));
  Gemm overlapping = product;
  overlapping.beta = vector(c, Dtype::f32, 1);
  EXPECT_REFUSED(Status::invalid_argument, "gemm: c overlaps beta", run(queue, overlapping));
}

TEST_F(Elementwise, AProductThatContinuesIsScaledInPlace) {
  const Buffer c = upload<float>({1, 2, 3, 4});
  Gemm product{.alpha = number(),
               .a = row_major(x, Dtype::f32, 2, 3),
               .b = col_major(x, Dtype::f32, 3, 2),
               .c = row_major(c, Dtype::f32, 2, 2),
               .continues = true};
  run(queue, product);
  EXPECT_EQ(download<float>(c), (std::vector<float>{30, 68, 70, 162}));
  product.a.cols = product.b.rows = 0;  // the chains of no products are c
  run(queue, product);
  EXPECT_EQ(download<float>(c), (std::vector<float>{60, 136, 140, 324}));
}

TEST_F(Elementwise, SquaresAreTransposedInPlace) {
  const Buffer square = upload<float>({0, 1, 2, 3, 4, 5, 6, 7, 8});
  const View whole = row_major(square, Dtype::f32, 3, 3);
  run(queue, Transpose{whole, whole});
  EXPECT_EQ(download<float>(square), (std::vector<float>{0, 3, 6, 1, 4, 7, 2, 5, 8}));
  const View part = submatrix(whole, 1, 1, 2, 2);
  run(queue, Transpose{part, part});
  EXPECT_EQ(download<float>(square), (std::vector<float>{0, 3, 6, 1, 4, 5, 2, 7, 8}));
  EXPECT_REFUSED(Status::invalid_argument, "transpose: output overlaps input",
                 run(queue, Transpose{part, transposed(part)}));
  EXPECT_REFUSED(Status::invalid_argument, "transpose: output",
                 run(queue, Transpose{rows(whole, 0, 2), rows(whole, 0, 2)}));
}

TEST_F(Elementwise, AnOlderBackendSaysThatItCannot) {
  const Device other = open("other:0");
  Queue there(other);
  const View v = vector(Buffer(other, 24), Dtype::f32, 6);
  EXPECT_REFUSED(Status::unsupported, "other:0: axpby: this backend has no elementwise commands",
                 axpby(there, 1, v, 0, v));
}

}  // namespace
}  // namespace trine::testing
