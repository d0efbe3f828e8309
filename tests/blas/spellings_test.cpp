// Every spelling of names.def computes the same, and those with 64-bit integers mean all 64 bits.
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <trine/host.hpp>

#include <array>
#include <string>
#include <vector>

#include "blas.hpp"

namespace {

/// The program's own error handler of one spelling was told this; the other spellings have none.
std::string told_routine;
std::int64_t told_info = 0;

}  // namespace
extern "C" TRINE_API void scipy_xerbla_64_(const char* routine, const std::int64_t* info,
                                           std::size_t length) {
  told_routine.assign(routine, length);
  told_info = *info;
}
namespace {

template <class Spelling>
class BlasSpelling : public testing::Test {};
using Spellings = testing::Types<spelling, scipy_spelling, spelling64_, scipy_spelling64_>;
TYPED_TEST_SUITE(BlasSpelling, Spellings);
template <class Spelling>
class Blas64 : public testing::Test {};
using Spellings64 = testing::Types<spelling64_, scipy_spelling64_>;
TYPED_TEST_SUITE(Blas64, Spellings64);

/// All results of one spelling, of small numbers, whose sums are exact.
template <class T, class Spelling>
std::vector<T> results() {
  using B = BlasOf<T, Spelling>;
  using Int = typename Spelling::Int;
  const Int two = 2, three = 3, back = -1, one = 1;
  const T alpha = 2, beta = 3;
  const std::vector<T> a{1, 2, 3, 4, 5, 6}, x{7, -9, 8};
  std::vector<T> all{B::dot(&three, x.data(), &back, a.data(), &two),
                     B::asum(&three, x.data(), &one), B::nrm2(&two, a.data() + 2, &one),
                     T(B::iamax(&three, x.data(), &one)), T(B::cblas_iamax(3, x.data(), 1))};
  const auto keep = [&](std::vector<T> out, auto call) {
    call(out.data());
    all.insert(all.end(), out.begin(), out.end());
  };
  keep(a, [&](T* y) { B::axpy(&three, &alpha, x.data(), &one, y, &back); });
  keep(x, [&](T* y) {
    B::gemv("T", &two, &three, &alpha, a.data(), &two, a.data(), &two, &beta, y, &one);
  });
  keep({1, 1, 1, 1}, [&](T* c) {
    B::gemm("N", "T", &two, &two, &three, &alpha, a.data(), &two, a.data(), &two, &beta, c, &two);
  });
  keep({1, 1, 1, 1}, [&](T* c) {
    B::cblas_gemm(101, 111, 112, 2, 2, 3, alpha, a.data(), 3, a.data(), 3, beta, c, 2);
  });
  keep(a, [&](T* b) { B::omatcopy("C", "T", &two, &three, &alpha, a.data(), &two, b, &three); });
  return all;
}

TYPED_TEST(BlasSpelling, ComputesTheSame) {
  EXPECT_THAT((results<double, TypeParam>()),
              testing::ElementsAre(8 * 1 - 9 * 3 + 7 * 5, 24, 5, 2, 1,              // y = a
                                   1 + 2 * 8, 2 - 2 * 9, 3 + 2 * 7, 4, 5, 6,        //
                                   2 * 7 + 21, 2 * 15 - 27, 2 * 23 + 24,            //
                                   2 * 35 + 3, 2 * 44 + 3, 2 * 44 + 3, 2 * 56 + 3,  // columns
                                   2 * 14 + 3, 2 * 32 + 3, 2 * 32 + 3, 2 * 77 + 3,  // rows
                                   2, 6, 10, 4, 8, 12));
  const std::vector<float> narrow = results<float, TypeParam>();
  EXPECT_EQ(std::vector<double>(narrow.begin(), narrow.end()), (results<double, TypeParam>()));
}

TEST(BlasSpellings, WrongArgumentsReachTheirOwnXerbla) {
  double c = 7;
  scipy_cblas_dgemm64_(102, 111, 111, 1, 1, 1, 1, &c, 1, &c, 1, 0, &c, 0);
  EXPECT_EQ(told_routine, "DGEMM ");
  EXPECT_EQ(told_info, 13);
  EXPECT_EQ(c, 7) << "a refused call writes nothing";
}

TEST(BlasSpellings, WithoutAnXerblaTheyAreSaid) {
  double c = 7;
  testing::internal::CaptureStderr();
  cblas_dgemm64_(102, 111, 111, 1, 1, 1, 1, &c, 1, &c, 1, 0, &c, 0);
  scipy_cblas_dgemm(102, 7, 111, 1, 1, 1, 1, &c, 1, &c, 1, 0, &c, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            " ** On entry to DGEMM  parameter number 13 had an illegal value\n"
            "Parameter 2 to routine cblas_dgemm was incorrect\nIllegal TransA setting, 7\n");
  EXPECT_EQ(c, 7);
}

// None of them is right by its lower half: rows 0, no rows, an lda of 5.
TEST(BlasSpellings, All64BitsOfAnArgumentAreChecked) {
  constexpr std::int64_t kFar = std::int64_t{1} << 32;
  const double one = 1;
  double c = 7;
  const auto told = [&](std::int64_t m, std::int64_t lda) {
    const std::int64_t n = 1;
    told_info = 0;
    scipy_dgemm_64_("N", "N", &m, &n, &n, &one, &c, &lda, &c, &n, &one, &c, &n);
    return told_info;
  };
  EXPECT_EQ(told(-kFar, 1), 3);
  EXPECT_EQ(told(kFar, 5), 8);
  EXPECT_EQ(told(1, 5 - kFar), 8);
}

/// Addresses for `count` elements, all 0; only pages that are written take memory.
template <class T>
class Wide {
 public:
  explicit Wide(std::size_t count)
      : bytes_(count * sizeof(T)),
        room_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Wide() {
    if (*this) munmap(room_, bytes_);
  }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  explicit operator bool() const { return room_ != MAP_FAILED; }
  T* data() const { return static_cast<T*>(room_); }

 private:
  std::size_t bytes_;
  void* room_;
};

TYPED_TEST(Blas64, StridesBeyond32Bits) {
  using B = BlasOf<float, TypeParam>;
  constexpr std::int64_t kStep = (std::int64_t{1} << 32) + 3, kOne = 1, kTwo = 2;
  const Wide<float> wide(kStep + 2);
  if (!wide) GTEST_SKIP() << "no addresses for " << kStep << " elements";
  float* const x = wide.data();
  x[0] = 1, x[1] = 2, x[kStep] = 3, x[kStep + 1] = 4;  // a matrix of two columns
  const float y[] = {1, 10}, one = 1, zero = 0;
  const std::int64_t back = -kStep;
  EXPECT_EQ(B::dot(&kTwo, x, &kStep, y, &kOne), 31);
  EXPECT_EQ(B::dot(&kTwo, x, &back, y, &kOne), 13);
  EXPECT_EQ(B::iamax(&kTwo, x, &kStep), 2);
  std::array<float, 4> c{};
  B::gemm("N", "T", &kTwo, &kTwo, &kTwo, &one, x, &kStep, x, &kStep, &zero, c.data(), &kTwo);
  EXPECT_THAT(c, testing::ElementsAre(10, 14, 14, 20));
}

TEST(BlasSpellings, MoreElementsThan32BitsCount) {
  constexpr std::int64_t kMany = (std::int64_t{1} << 31) + 9, kOne = 1;
  const Wide<float> wide(kMany);
  if (!wide) GTEST_SKIP() << "no addresses for " << kMany << " elements";
  float* const x = wide.data();
  x[3] = 2, x[kMany - 2] = -5;
  EXPECT_EQ(scipy_isamax_64_(&kMany, x, &kOne), kMany - 1);
}

}  // namespace
