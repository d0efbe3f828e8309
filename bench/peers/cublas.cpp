// cuBLAS as a rung pack: the peer of the cuda backend's gemm and transpose (geam), asum and dot.
// cuBLAS is column-major: a row-major C is computed as C' = B' A'.
#include <cublas_v2.h>

#include "current_device.hpp"
#include "pack.hpp"

namespace trine::peers {
namespace {

const trine_rung kGemm =
    rung("cublas", "cublasSgemmStridedBatched, …Dgemm…, default math", nullptr);
const trine_rung kTranspose = rung("cublas", "cublasSgeam, cublasDgeam", nullptr);
const trine_rung kReduce = rung("cublas", "cublasSasum, cublasDasum; cublasSdot, cublasDdot",
                                "map=abs or product of contiguous data");

constexpr Rungs kRungs{&kReduce, &kTranspose, &kGemm};

const char* why_not(const trine_gemm& op) {
  if (const char* why = blas_refuses(op)) return why;
  if (!fits_int(op.a) || !fits_int(op.b) || !fits_int(op.c) || op.c.batch > INT32_MAX)
    return "cublas counts in 32 bits here";
  return nullptr;
}

const char* why_not(const trine_transpose& op) {
  if (op.element_size != 4 && op.element_size != 8) return "geam transposes 4 and 8 bytes only";
  if (!row_major(op.input) || !row_major(op.output) || !fits_int(op.input) || op.input.batch != 1)
    return "geam takes one row-major matrix on each side";
  return nullptr;
}

const char* why_not(const trine_reduce& op) { return blas_refuses(op); }

trine_status refuses(const trine_native*, const trine_selection*, const trine_call* call,
                     char* reason, size_t reason_bytes) {
  return answer(visit(*call, [](const auto& op) { return why_not(op); }), reason, reason_bytes);
}

trine_status check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return TRINE_OK;
  std::snprintf(error_text, sizeof error_text, "%s: %s", what, cublasGetStatusString(status));
  return TRINE_BACKEND_ERROR;
}

trine_status state_create(const trine_native* native, void** state) {
  CurrentDevice current(native->device_index);
  cublasHandle_t handle = nullptr;
  trine_status status = check(cublasCreate(&handle), "cublasCreate");
  if (status == TRINE_OK)
    status =
        check(cublasSetStream(handle, static_cast<cudaStream_t>(native->queue)), "cublasSetStream");
  // Default math: f32 and f64 at full precision (TF32 is opt-in), by whichever kernels are fastest.
  if (status != TRINE_OK && handle != nullptr) cublasDestroy(handle);
  *state = status == TRINE_OK ? handle : nullptr;
  return status;
}

void state_destroy(void* state) { cublasDestroy(static_cast<cublasHandle_t>(state)); }

trine_status run(cublasHandle_t handle, const trine_gemm& op) {
  const auto trans = [](const trine_view& view, bool want_rows) {
    return unit_rows(view) == want_rows ? CUBLAS_OP_N : CUBLAS_OP_T;
  };
  // In column-major eyes a row-major C is C', so the operands swap and transpose.
  const bool swap = unit_rows(op.c);
  const trine_view &a = swap ? op.b : op.a, &b = swap ? op.a : op.b;
  const int m = int(swap ? op.c.cols : op.c.rows), n = int(swap ? op.c.rows : op.c.cols);
  const int k = int(op.a.cols), batches = int(op.c.batch);
  const cublasOperation_t ta = trans(a, swap), tb = trans(b, swap);
  const int lda = int(leading(a)), ldb = int(leading(b)), ldc = int(leading(op.c));
  if (op.dtype == TRINE_F32)
    return check(cublasSgemmStridedBatched(handle, ta, tb, m, n, k, &op.alpha.f32, at<float>(a, 0),
                                           lda, a.batch_stride, at<float>(b, 0), ldb,
                                           b.batch_stride, &op.beta.f32, at<float>(op.c, 0), ldc,
                                           op.c.batch_stride, batches),
                 "cublasSgemmStridedBatched");
  return check(
      cublasDgemmStridedBatched(handle, ta, tb, m, n, k, &op.alpha.f64, at<double>(a, 0), lda,
                                a.batch_stride, at<double>(b, 0), ldb, b.batch_stride, &op.beta.f64,
                                at<double>(op.c, 0), ldc, op.c.batch_stride, batches),
      "cublasDgemmStridedBatched");
}

trine_status run(cublasHandle_t handle, const trine_transpose& op) {
  const int m = int(op.output.cols), n = int(op.output.rows);
  const int lda = int(leading(op.input)), ldc = int(leading(op.output));
  if (op.element_size == 4) {
    const float one = 1, zero = 0;
    return check(
        cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, at<float>(op.input, 0), lda,
                    &zero, at<float>(op.output, 0), ldc, at<float>(op.output, 0), ldc),
        "cublasSgeam");
  }
  const double one = 1, zero = 0;
  return check(
      cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, at<double>(op.input, 0), lda, &zero,
                  at<double>(op.output, 0), ldc, at<double>(op.output, 0), ldc),
      "cublasDgeam");
}

trine_status run(cublasHandle_t handle, const trine_reduce& op) {
  const int n = int(op.input.rows * op.input.cols);
  trine_status status =
      check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  const bool dot = op.map == TRINE_PRODUCT;
  if (status == TRINE_OK && dot && op.dtype == TRINE_F32)
    status = check(cublasSdot(handle, n, at<float>(op.input, 0), 1, at<float>(op.second, 0), 1,
                              at<float>(op.output, 0)),
                   "cublasSdot");
  else if (status == TRINE_OK && dot)
    status = check(cublasDdot(handle, n, at<double>(op.input, 0), 1, at<double>(op.second, 0), 1,
                              at<double>(op.output, 0)),
                   "cublasDdot");
  else if (status == TRINE_OK && op.dtype == TRINE_F32)
    status = check(cublasSasum(handle, n, at<float>(op.input, 0), 1, at<float>(op.output, 0)),
                   "cublasSasum");
  else if (status == TRINE_OK)
    status = check(cublasDasum(handle, n, at<double>(op.input, 0), 1, at<double>(op.output, 0)),
                   "cublasDasum");
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  return status;
}

trine_status launch(const trine_native* native, void* state, const trine_selection*,
                    const trine_call* call, const trine_workspace*) {
  CurrentDevice current(native->device_index);
  auto* handle = static_cast<cublasHandle_t>(state);
  return visit(*call, [handle](const auto& op) { return run(handle, op); });
}

}  // namespace
}  // namespace trine::peers

extern "C" trine_status trine_rungs_v1(const trine_host*, const trine_pack** pack) {
  using namespace trine::peers;
  static char build[64];
  int version = 0;
  cublasGetProperty(MAJOR_VERSION, &version);
  int minor = 0;
  cublasGetProperty(MINOR_VERSION, &minor);
  std::snprintf(build, sizeof build, "cuBLAS %d.%d, default math", version, minor);
  static const trine_pack table{
      sizeof(trine_pack), TRINE_ABI_VERSION, "cublas",     "cuda",       build,         last_error,
      rungs<kRungs>,      refuses,           no_workspace, state_create, state_destroy, launch};
  *pack = &table;
  return TRINE_OK;
}
