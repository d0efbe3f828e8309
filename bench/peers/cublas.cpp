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

const char* why_not(const trine_transpose& op) {
  const char* const why = blas_refuses(op);
  return why || op.input.batch == 1 ? why : "geam takes one matrix";
}
const char* why_not(const auto& op) { return blas_refuses(op); }

constexpr auto kWhyNot = [](const auto& op, const trine_native&) { return why_not(op); };

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

template <class T>
trine_status run(cublasHandle_t handle, const trine_gemm& op) {
  const auto gemm = of_type<T>(cublasSgemmStridedBatched, cublasDgemmStridedBatched);
  const auto trans = [&](const trine_view& view) {
    return transposed(view, op.c) ? CUBLAS_OP_T : CUBLAS_OP_N;
  };
  // In column-major eyes a row-major C is C', so the operands swap.
  const bool swap = unit_rows(op.c);
  const trine_view &a = swap ? op.b : op.a, &b = swap ? op.a : op.b;
  const int m = int(swap ? op.c.cols : op.c.rows), n = int(swap ? op.c.rows : op.c.cols);
  return check(gemm(handle, trans(a), trans(b), m, n, int(op.a.cols), &scalar<T>(op.alpha),
                    at<T>(a, 0), int(leading(a)), a.batch_stride, at<T>(b, 0), int(leading(b)),
                    b.batch_stride, &scalar<T>(op.beta), at<T>(op.c, 0), int(leading(op.c)),
                    op.c.batch_stride, int(op.c.batch)),
               "cublas…gemmStridedBatched");
}

template <class T>
trine_status run(cublasHandle_t handle, const trine_transpose& op) {
  const auto geam = of_type<T>(cublasSgeam, cublasDgeam);
  const int ldc = int(leading(op.output));
  const T one = 1, zero = 0;
  T* const output = at<T>(op.output, 0);
  return check(
      geam(handle, CUBLAS_OP_T, CUBLAS_OP_N, int(op.output.cols), int(op.output.rows), &one,
           at<T>(op.input, 0), int(leading(op.input)), &zero, output, ldc, output, ldc),
      "cublas…geam");
}

template <class T>
trine_status run(cublasHandle_t handle, const trine_reduce& op) {
  const auto dot = of_type<T>(cublasSdot, cublasDdot);
  const auto asum = of_type<T>(cublasSasum, cublasDasum);
  const int n = int(op.input.rows * op.input.cols);
  const T* const input = at<T>(op.input, 0);
  T* const output = at<T>(op.output, 0);
  trine_status status =
      check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  if (status == TRINE_OK)
    status = op.map == TRINE_PRODUCT
                 ? check(dot(handle, n, input, 1, at<T>(op.second, 0), 1, output), "cublas…dot")
                 : check(asum(handle, n, input, 1, output), "cublas…asum");
  cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  return status;
}

trine_status launch(const trine_native* native, void* state, const trine_selection*,
                    const trine_call* call, const trine_workspace*) {
  CurrentDevice current(native->device_index);
  auto* handle = static_cast<cublasHandle_t>(state);
  return visit_typed(*call, [&]<class T>(const auto& op, T) { return run<T>(handle, op); });
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
      rungs<kRungs>,      refuses<kWhyNot>,  no_workspace, state_create, state_destroy, launch};
  *pack = &table;
  return TRINE_OK;
}
