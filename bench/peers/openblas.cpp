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

const char* why_not(const trine_gemm& gemm) {
  if (const char* why = blas_refuses(gemm)) return why;
  if (!fits_int(gemm.a) || !fits_int(gemm.b) || !fits_int(gemm.c))
    return "openblas counts in 32 bits";
  return nullptr;
}

const char* why_not(const trine_transpose& op) {
  if (op.element_size != 4 && op.element_size != 8) return "openblas transposes 4 and 8 bytes only";
  if (!row_major(op.input) || !row_major(op.output) || !fits_int(op.input))
    return "this peer takes row-major operands";
  return nullptr;
}

const char* why_not(const trine_reduce& op) { return blas_refuses(op); }

trine_status refuses(const trine_native*, const trine_selection*, const trine_call* call,
                     char* reason, size_t reason_bytes) {
  return answer(visit(*call, [](const auto& op) { return why_not(op); }), reason, reason_bytes);
}

void run(const trine_gemm& op) {
  const CBLAS_TRANSPOSE ta = unit_rows(op.a) ? CblasNoTrans : CblasTrans;
  const CBLAS_TRANSPOSE tb = unit_rows(op.b) ? CblasNoTrans : CblasTrans;
  const bool row_major_c = unit_rows(op.c);
  const auto m = blasint(op.c.rows), n = blasint(op.c.cols), k = blasint(op.a.cols);
  // A column-major C is the row-major transpose: C' = B' A'.
  const trine_view &a = row_major_c ? op.a : op.b, &b = row_major_c ? op.b : op.a;
  const auto flip = [](CBLAS_TRANSPOSE t) { return t == CblasTrans ? CblasNoTrans : CblasTrans; };
  const CBLAS_TRANSPOSE left = row_major_c ? ta : flip(tb), right = row_major_c ? tb : flip(ta);
  const auto rows = row_major_c ? m : n, cols = row_major_c ? n : m;
  const auto lda = blasint(leading(a)), ldb = blasint(leading(b)), ldc = blasint(leading(op.c));
  for (int64_t batch = 0; batch < op.c.batch; ++batch) {
    if (op.dtype == TRINE_F32)
      cblas_sgemm(CblasRowMajor, left, right, rows, cols, k, op.alpha.f32, at<float>(a, batch), lda,
                  at<float>(b, batch), ldb, op.beta.f32, at<float>(op.c, batch), ldc);
    else
      cblas_dgemm(CblasRowMajor, left, right, rows, cols, k, op.alpha.f64, at<double>(a, batch),
                  lda, at<double>(b, batch), ldb, op.beta.f64, at<double>(op.c, batch), ldc);
  }
}

void run(const trine_transpose& op) {
  const auto rows = blasint(op.input.rows), cols = blasint(op.input.cols);
  const auto lda = blasint(leading(op.input)), ldb = blasint(leading(op.output));
  for (int64_t batch = 0; batch < op.input.batch; ++batch) {
    if (op.element_size == 4)
      cblas_somatcopy(CblasRowMajor, CblasTrans, rows, cols, 1.0F, at<float>(op.input, batch), lda,
                      at<float>(op.output, batch), ldb);
    else
      cblas_domatcopy(CblasRowMajor, CblasTrans, rows, cols, 1.0, at<double>(op.input, batch), lda,
                      at<double>(op.output, batch), ldb);
  }
}

void run(const trine_reduce& op) {
  const auto n = blasint(op.input.rows * op.input.cols);
  const bool dot = op.map == TRINE_PRODUCT;
  if (dot && op.dtype == TRINE_F32)
    *at<float>(op.output, 0) = cblas_sdot(n, at<float>(op.input, 0), 1, at<float>(op.second, 0), 1);
  else if (dot)
    *at<double>(op.output, 0) =
        cblas_ddot(n, at<double>(op.input, 0), 1, at<double>(op.second, 0), 1);
  else if (op.dtype == TRINE_F32)
    *at<float>(op.output, 0) = cblas_sasum(n, at<float>(op.input, 0), 1);
  else
    *at<double>(op.output, 0) = cblas_dasum(n, at<double>(op.input, 0), 1);
}

trine_status launch(const trine_native* native, void*, const trine_selection*,
                    const trine_call* call, const trine_workspace*) {
  if (native->threads > 0) openblas_set_num_threads(native->threads);
  visit(*call, [](const auto& op) { run(op); });
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
      rungs<kRungs>,      refuses,           no_workspace, nullptr, nullptr, launch};
  *pack = &table;
  return TRINE_OK;
}
