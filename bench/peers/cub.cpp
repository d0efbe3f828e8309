// CUB as a rung pack: the peer of the cuda backend's reduce. Sums, minima and maxima of all elements
// or of each row, and where the extremes of all elements lie; by CUB's own tuning for the device.
#include <cub/version.cuh>

#include "cub_reduce.hpp"
#include "current_device.hpp"
#include "pack.hpp"

namespace trine::peers {
namespace {

const trine_rung kReduce = rung("cub", "cub::DeviceReduce, each_row: cub::DeviceSegmentedReduce",
                                "map=identity of contiguous rows");

constexpr Rungs kRungs{&kReduce};

const char* refuses_reduce(const trine_reduce& op) {
  const bool index = op.function == TRINE_ARGMIN || op.function == TRINE_ARGMAX;
  if (op.function == TRINE_PROD) return "cub has no product of its own";
  if (op.map != TRINE_IDENTITY) return "this peer reduces the elements as they are: map=identity";
  if (op.axis == TRINE_EACH_COLUMN) return "cub's segments are contiguous: axis=all or each_row";
  if (op.axis == TRINE_EACH_ROW && index)
    return "cub gives the index of a segment's extreme in 32 bits and beside its value";
  if (op.axis == TRINE_ALL && !contiguous(op.input)) return "DeviceReduce takes contiguous data";
  if (!unit_rows(op.input)) return "DeviceSegmentedReduce takes contiguous rows";
  if (op.output.rows > 1 && op.output.row_stride != 1) return "cub writes its results side by side";
  return nullptr;
}

const char* refuses_operation(const trine_call& call) {
  if (call.operation != TRINE_REDUCE) return "cub reduces only";
  return refuses_reduce(*static_cast<const trine_reduce*>(call.descriptor));
}

trine_status refuses(const trine_native*, const trine_selection*, const trine_call* call,
                     char* reason, size_t reason_bytes) {
  return answer(refuses_operation(*call), reason, reason_bytes);
}

trine_status check(cudaError_t error) {
  if (error == cudaSuccess) return TRINE_OK;
  cudaGetLastError();  // CUB asks for the last error: this one mustn't stay
  std::snprintf(error_text, sizeof error_text, "cub: %s", cudaGetErrorString(error));
  return error == cudaErrorMemoryAllocation ? TRINE_OUT_OF_MEMORY : TRINE_BACKEND_ERROR;
}

/// What the bytes depend on.
struct Question {
  int32_t device;
  uint32_t function, axis, dtype, result_dtype;
  int64_t rows, cols;
  bool operator==(const Question&) const = default;
};

/// Behind the contract's control bytes. The last answer is kept, as a caller of CUB would: asking takes as
/// long as a launch.
trine_status workspace_bytes(const trine_native* native, const trine_selection*,
                             const trine_call* call, uint64_t* bytes) {
  thread_local Question last{};
  thread_local size_t temp = 0;
  const auto& op = *static_cast<const trine_reduce*>(call->descriptor);
  const Question question{native->device_index, op.function,   op.axis,      op.dtype,
                          op.result_dtype,      op.input.rows, op.input.cols};
  if (temp == 0 || question != last) {
    const CurrentDevice current(native->device_index);
    size_t answer = 0;
    const trine_status status = check(reduce_by_cub(op, nullptr, answer, nullptr));
    if (status != TRINE_OK) return status;
    last = question;
    temp = answer;
  }
  *bytes = TRINE_CONTROL_BYTES + temp;
  return TRINE_OK;
}

trine_status launch(const trine_native* native, void*, const trine_selection*,
                    const trine_call* call, const trine_workspace* workspace) {
  const CurrentDevice current(native->device_index);
  char* const temp = static_cast<char*>(workspace->memory) + workspace->offset;
  size_t bytes = workspace->bytes - TRINE_CONTROL_BYTES;
  return check(reduce_by_cub(*static_cast<const trine_reduce*>(call->descriptor),
                             temp + TRINE_CONTROL_BYTES, bytes,
                             static_cast<cudaStream_t>(native->queue)));
}

}  // namespace
}  // namespace trine::peers

extern "C" trine_status trine_rungs_v1(const trine_host*, const trine_pack** pack) {
  using namespace trine::peers;
  static char build[64];
  std::snprintf(build, sizeof build, "CUB %d.%d.%d, its default tuning", CUB_MAJOR_VERSION,
                CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
  static const trine_pack table{
      sizeof(trine_pack), TRINE_ABI_VERSION, "cub",           "cuda",  build,   last_error,
      rungs<kRungs>,      refuses,           workspace_bytes, nullptr, nullptr, launch};
  *pack = &table;
  return TRINE_OK;
}
