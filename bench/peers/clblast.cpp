// CLBlast as a rung pack: the peer of the opencl backend's gemm, transpose (omatcopy) and sums.
// It takes its tuned parameters for the device from its own database.
#include <clblast.h>

#include <new>

#include "pack.hpp"

namespace trine::peers {
namespace {

using clblast::Layout;
using clblast::StatusCode;
using clblast::Transpose;

const trine_host* host = nullptr;
const trine_rung kGemm = rung("clblast", "clblast::Gemm, clblast::GemmStridedBatched", nullptr);
const trine_rung kTranspose = rung("clblast", "clblast::Omatcopy", nullptr);
const trine_rung kReduce =
    rung("clblast", "clblast::Sum, map=abs: clblast::Asum, map=product: clblast::Dot",
         "function=sum of contiguous data, map=identity, abs or product");

constexpr Rungs kRungs{&kReduce, &kTranspose, &kGemm};

// --- What it refuses ---------------------------------------------------------------------------

constexpr const char* k32Bits = "clblast's kernels count elements in 32 bits";

/// Its kernels index from the buffer's first element, by int.
bool counts_in_int(const trine_view& view, int64_t size) {
  const int64_t last = int64_t(view.offset) / size + (view.rows - 1) * view.row_stride +
                       (view.cols - 1) * view.col_stride + (view.batch - 1) * view.batch_stride;
  return last < INT32_MAX && leading(view) < INT32_MAX;
}

const char* why_not(const trine_gemm& op) {
  const int64_t size = trine_dtype_size(op.dtype);
  if (const char* why = blas_refuses(op)) return why;
  if (op.a.cols == 0) return "clblast takes no empty matrix";
  if (!counts_in_int(op.a, size) || !counts_in_int(op.b, size) || !counts_in_int(op.c, size))
    return k32Bits;
  return nullptr;
}

const char* why_not(const trine_transpose& op) {
  if (const char* why = blas_refuses(op)) return why;
  if (op.input.offset % op.element_size != 0 || op.output.offset % op.element_size != 0)
    return "clblast takes offsets in elements";
  if (!counts_in_int(op.input, op.element_size) || !counts_in_int(op.output, op.element_size))
    return k32Bits;
  return nullptr;
}

const char* why_not(const trine_reduce& op) {
  const bool dot = op.map == TRINE_PRODUCT;
  if (op.function != TRINE_SUM || op.map == TRINE_SQUARE || op.axis != TRINE_ALL)
    return "clblast reduces by sum, asum and dot: function=sum, map=identity, abs or product, "
           "axis=all";
  if (!is_f32_or_f64(op.dtype) || op.dtype != op.result_dtype)
    return "clblast's sums have f32 and f64 only";
  if (!contiguous(op.input) || (dot && !contiguous(op.second)))
    return "clblast's sums take contiguous data";
  const uint32_t element = trine_dtype_size(op.dtype);
  if (!counts_in_int(op.input, element) || (dot && !counts_in_int(op.second, element)))
    return k32Bits;
  return nullptr;
}

constexpr auto kWhyNot = [](const auto& op, const trine_native& native) {
  const char* refusal = why_not(op);
  if (refusal == nullptr && in_f64(op) && (native.facts->capabilities & TRINE_CAN_F64) == 0)
    refusal = "clblast moves 8 bytes as doubles, which this device hasn't";
  return refusal;
};

// --- Calls -------------------------------------------------------------------------------------

trine_status check(StatusCode status, const char* what) {
  if (status == StatusCode::kSuccess) return TRINE_OK;
  std::snprintf(error_text, sizeof error_text, "%s: status %d (clblast.h)", what, int(status));
  return status == StatusCode::kTempBufferAllocFailure ? TRINE_OUT_OF_MEMORY : TRINE_BACKEND_ERROR;
}

/// A queue's buffer for gemm's padded and transposed operands, which clblast would otherwise
/// allocate in each call.
struct Scratch {
  cl_mem memory = nullptr;
  size_t bytes = 0;

  /// The driver frees the old one when the kernels that use it have run.
  cl_int grow(cl_context context, size_t wanted) {
    if (wanted <= bytes) return CL_SUCCESS;
    release();
    cl_int error = CL_SUCCESS;
    memory = clCreateBuffer(context, CL_MEM_READ_WRITE, wanted, nullptr, &error);
    if (error == CL_SUCCESS) bytes = wanted;
    return error;
  }
  void release() {
    if (memory != nullptr) clReleaseMemObject(memory);
    memory = nullptr;
    bytes = 0;
  }
};

trine_status state_create(const trine_native*, void** state) {
  void* const memory = host->allocate(host->context, sizeof(Scratch), alignof(Scratch));
  if (memory == nullptr) return TRINE_OUT_OF_MEMORY;
  *state = new (memory) Scratch;
  return TRINE_OK;
}

void state_destroy(void* state) {
  static_cast<Scratch*>(state)->release();
  host->release(host->context, state);
}

cl_mem memory_of(const trine_view& view) { return static_cast<cl_mem>(view.memory); }

template <class T>
size_t first(const trine_view& view, int64_t batch = 0) {
  return size_t(view.offset) / sizeof(T) + size_t(batch * view.batch_stride);
}

template <class T>
trine_status run(cl_command_queue queue, Scratch& scratch, const trine_gemm& op) {
  const Layout layout = unit_rows(op.c) ? Layout::kRowMajor : Layout::kColMajor;
  const auto trans = [&](const trine_view& view) {
    return transposed(view, op.c) ? Transpose::kYes : Transpose::kNo;
  };
  const auto m = size_t(op.c.rows), n = size_t(op.c.cols), k = size_t(op.a.cols);
  const auto lda = size_t(leading(op.a)), ldb = size_t(leading(op.b)), ldc = size_t(leading(op.c));
  const T alpha = scalar<T>(op.alpha), beta = scalar<T>(op.beta);
  if (op.c.batch > 1)
    return check(clblast::GemmStridedBatched<T>(
                     layout, trans(op.a), trans(op.b), m, n, k, alpha, memory_of(op.a),
                     first<T>(op.a), lda, size_t(op.a.batch_stride), memory_of(op.b),
                     first<T>(op.b), ldb, size_t(op.b.batch_stride), beta, memory_of(op.c),
                     first<T>(op.c), ldc, size_t(op.c.batch_stride), size_t(op.c.batch), &queue),
                 "clblast::GemmStridedBatched");
  size_t bytes = 0;
  const trine_status status = check(
      clblast::GemmTempBufferSize<T>(layout, trans(op.a), trans(op.b), m, n, k, first<T>(op.a), lda,
                                     first<T>(op.b), ldb, first<T>(op.c), ldc, &queue, bytes),
      "clblast::GemmTempBufferSize");
  if (status != TRINE_OK) return status;
  cl_context context = nullptr;  // the queue's: an adopted one may have its own
  cl_int error = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, nullptr);
  if (error == CL_SUCCESS) error = scratch.grow(context, bytes);
  if (error != CL_SUCCESS) return check(static_cast<StatusCode>(error), "gemm's scratch buffer");
  return check(clblast::Gemm<T>(layout, trans(op.a), trans(op.b), m, n, k, alpha, memory_of(op.a),
                                first<T>(op.a), lda, memory_of(op.b), first<T>(op.b), ldb, beta,
                                memory_of(op.c), first<T>(op.c), ldc, &queue, nullptr,
                                bytes == 0 ? nullptr : scratch.memory),
               "clblast::Gemm");
}

template <class T>
trine_status run(cl_command_queue queue, Scratch&, const trine_transpose& op) {
  trine_status status = TRINE_OK;
  for (int64_t batch = 0; batch < op.input.batch && status == TRINE_OK; ++batch)
    status = check(clblast::Omatcopy<T>(Layout::kRowMajor, Transpose::kYes, size_t(op.input.rows),
                                        size_t(op.input.cols), T(1), memory_of(op.input),
                                        first<T>(op.input, batch), size_t(leading(op.input)),
                                        memory_of(op.output), first<T>(op.output, batch),
                                        size_t(leading(op.output)), &queue),
                   "clblast::Omatcopy");
  return status;
}

template <class T>
trine_status run(cl_command_queue queue, Scratch&, const trine_reduce& op) {
  if (op.map == TRINE_PRODUCT)
    return check(clblast::Dot<T>(size_t(op.input.rows * op.input.cols), memory_of(op.output),
                                 first<T>(op.output), memory_of(op.input), first<T>(op.input), 1,
                                 memory_of(op.second), first<T>(op.second), 1, &queue),
                 "clblast::Dot");
  const auto sum = op.map == TRINE_ABS ? clblast::Asum<T> : clblast::Sum<T>;
  return check(sum(size_t(op.input.rows * op.input.cols), memory_of(op.output), first<T>(op.output),
                   memory_of(op.input), first<T>(op.input), 1, &queue, nullptr),
               op.map == TRINE_ABS ? "clblast::Asum" : "clblast::Sum");
}

trine_status launch(const trine_native* native, void* state, const trine_selection*,
                    const trine_call* call, const trine_workspace*) {
  return visit_typed(*call, [&]<class T>(const auto& op, T) {
    return run<T>(static_cast<cl_command_queue>(native->queue), *static_cast<Scratch*>(state), op);
  });
}

}  // namespace
}  // namespace trine::peers

extern "C" trine_status trine_rungs_v1(const trine_host* services, const trine_pack** pack) {
  using namespace trine::peers;
  host = services;
  static const trine_pack table{sizeof(trine_pack),
                                TRINE_ABI_VERSION,
                                "clblast",
                                "opencl",
                                "CLBlast " TRINE_CLBLAST_VERSION ", parameters of its database",
                                last_error,
                                rungs<kRungs>,
                                refuses<kWhyNot>,
                                no_workspace,
                                state_create,
                                state_destroy,
                                launch};
  *pack = &table;
  return TRINE_OK;
}
