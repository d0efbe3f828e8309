// OpenBLAS as a rung pack: the peer of the cpu backend's gemm and transpose.
//
// OpenBLAS picks its kernels when it is loaded and takes old ones on processors it doesn't know, so
// the program sets OPENBLAS_CORETYPE first. Sums have no counterpart there that adds (asum takes
// magnitudes), so the `sum` peer is served for map=abs, and for map=product by dot.
#include <cblas.h>

#include <cstdio>

#include "pack.hpp"

namespace trine::peers {
namespace {

const trine_rung kGemm = rung("openblas", "cblas_sgemm, cblas_dgemm", nullptr);
const trine_rung kTranspose = rung("openblas", "cblas_somatcopy, cblas_domatcopy", nullptr);
const trine_rung kReduce = rung("openblas", "cblas_sasum, cblas_dasum; cblas_sdot, cblas_ddot",
                                "map=abs or product of contiguous data");

constexpr Rungs kRungs{&kReduce, &kTranspose, &kGemm};

constexpr auto kWhyNot = [](const auto& op, const trine_native&) { return blas_refuses(op); };

template <class T>
void run(const trine_gemm& op) {
  const auto gemm = of_type<T>(cblas_sgemm, cblas_dgemm);
  const CBLAS_ORDER order = unit_rows(op.c) ? CblasRowMajor : CblasColMajor;
  const auto trans = [&](const trine_view& view) {
    return transposed(view, op.c) ? CblasTrans : CblasNoTrans;
  };
  const auto m = blasint(op.c.rows), n = blasint(op.c.cols), k = blasint(op.a.cols);
  const auto lda = blasint(leading(op.a)), ldb = blasint(leading(op.b)),
             ldc = blasint(leading(op.c));
  for (int64_t batch = 0; batch < op.c.batch; ++batch)
    gemm(order, trans(op.a), trans(op.b), m, n, k, scalar<T>(op.alpha), at<T>(op.a, batch), lda,
         at<T>(op.b, batch), ldb, scalar<T>(op.beta), at<T>(op.c, batch), ldc);
}

template <class T>
void run(const trine_transpose& op) {
  const auto omatcopy = of_type<T>(cblas_somatcopy, cblas_domatcopy);
  const auto rows = blasint(op.input.rows), cols = blasint(op.input.cols);
  const auto lda = blasint(leading(op.input)), ldb = blasint(leading(op.output));
  for (int64_t batch = 0; batch < op.input.batch; ++batch)
    omatcopy(CblasRowMajor, CblasTrans, rows, cols, 1, at<T>(op.input, batch), lda,
             at<T>(op.output, batch), ldb);
}

template <class T>
void run(const trine_reduce& op) {
  const auto dot = of_type<T>(cblas_sdot, cblas_ddot);
  const auto asum = of_type<T>(cblas_sasum, cblas_dasum);
  const auto n = blasint(op.input.rows * op.input.cols);
  const T* const input = at<T>(op.input, 0);
  *at<T>(op.output, 0) =
      op.map == TRINE_PRODUCT ? dot(n, input, 1, at<T>(op.second, 0), 1) : asum(n, input, 1);
}

trine_status launch(const trine_native* native, void*, const trine_selection*,
                    const trine_call* call, const trine_workspace*) {
  if (native->threads > 0) openblas_set_num_threads(native->threads);
  visit_typed(*call, []<class T>(const auto& op, T) { run<T>(op); });
  return TRINE_OK;
}

}  // namespace
}  // namespace trine::peers

extern "C" trine_status trine_rungs_v1(const trine_host*, const trine_pack** pack) {
  using namespace trine::peers;
  static char build[256];
  std::snprintf(build, sizeof build, "%s, core %s", openblas_get_config(), openblas_get_corename());
  static const trine_pack table{
      sizeof(trine_pack), TRINE_ABI_VERSION, "openblas",   "cpu",   build,   last_error,
      rungs<kRungs>,      refuses<kWhyNot>,  no_workspace, nullptr, nullptr, launch};
  *pack = &table;
  return TRINE_OK;
}
