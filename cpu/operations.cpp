// Rungs, choice and launch of the contract: one generic road, taken once per operation.
#include <cstring>

#include "backends/kit/border.hpp"
#include "handles.hpp"
#include "ladder.hpp"

namespace trine::cpu {
namespace {

std::span<const ReduceRung> rungs_of(const trine_reduce*) { return reduce_rungs(); }
std::span<const TransposeRung> rungs_of(const trine_transpose*) { return transpose_rungs(); }
std::span<const GemmRung> rungs_of(const trine_gemm*) { return gemm_rungs(); }

template <class Operation>
const Ladder<Operation>& ladder() {
  static const Ladder<Operation> rows(rungs_of(static_cast<const Operation*>(nullptr)));
  return rows;
}

// body(descriptor), of the operation's type; `descriptor` may be null.
template <class Body>
auto typed(std::uint32_t operation, const void* descriptor, Body&& body) {
  switch (operation) {
    case TRINE_REDUCE: return body(static_cast<const trine_reduce*>(descriptor));
    case TRINE_TRANSPOSE: return body(static_cast<const trine_transpose*>(descriptor));
    case TRINE_GEMM: return body(static_cast<const trine_gemm*>(descriptor));
    default: kit::fail(TRINE_UNSUPPORTED, "cpu: operation %u is unknown here", operation);
  }
}

// Runs body(ladder, descriptor) for the call's operation, the descriptor as we know its form.
template <class Body>
trine_status with(const trine_call* call, Body&& body) {
  return typed(call->operation, call->descriptor,
               [&]<class Operation>(const Operation* descriptor) -> trine_status {
                 Operation storage;
                 const auto* known = kit::read(descriptor, storage);
                 if (!known)
                   kit::fail(TRINE_UNSUPPORTED,
                             "cpu: the operation's descriptor has fields unknown here");
                 return body(ladder<Operation>(), *known);
               });
}

const trine_rung* rungs(std::uint32_t operation, std::int32_t* count, std::uint32_t* stride) {
  *count = 0;
  if (operation < TRINE_REDUCE || operation > TRINE_GEMM) return nullptr;
  return typed(operation, nullptr, [&]<class Operation>(const Operation*) {
    return ladder<Operation>().rows(count, stride);
  });
}

trine_status refuses(trine_device*, const trine_selection* selection, const trine_call* call,
                     char* reason, std::size_t reason_bytes) {
  return checked([&] {
    return with(call, [&](const auto& rows, const auto& operation) -> trine_status {
      const auto& rung = rows.at(*selection);
      const char* words =
          rung.refuses ? rung.refuses(operation, rows.values(*selection).data()) : nullptr;
      if (!words) return TRINE_OK;
      if (reason && reason_bytes > 0) {
        std::strncpy(reason, words, reason_bytes - 1);
        reason[reason_bytes - 1] = '\0';
      }
      return kit::report(TRINE_UNSUPPORTED, "cpu: rung %s refuses: %s", rung.name, words);
    });
  });
}

trine_status choose(trine_device*, const trine_call* call, trine_selection* selection) {
  return checked([&] {
    return with(call, [&](const auto& rows, const auto& operation) -> trine_status {
      trine_selection ours{};
      if (!rows.choose(operation, ours))
        return kit::report(TRINE_UNSUPPORTED, "cpu: no rung of the ladder takes this operation");
      kit::give(ours, selection);
      return TRINE_OK;
    });
  });
}

// The contract's control bytes come first; CPU rungs have no use for them and start behind.
trine_status workspace_bytes(trine_device* device, const trine_selection* selection,
                             const trine_call* call, std::uint64_t* bytes) {
  return checked([&] {
    return with(call, [&](const auto& rows, const auto& operation) -> trine_status {
      const auto& rung = rows.at(*selection);
      *bytes =
          rung.workspace_bytes
              ? rung.workspace_bytes(operation, rows.values(*selection).data(), device->threads)
              : 0;
      if (*bytes > 0) *bytes += TRINE_CONTROL_BYTES;
      return TRINE_OK;
    });
  });
}

template <class Operation>
struct Launch {
  const Rung<Operation>* rung;
  std::array<std::int64_t, Ladder<Operation>::kParameters> values;
  void* workspace;
  Operation operation;

  static void run(void* payload, Parallel& parallel) {
    const auto& launch = *static_cast<const Launch*>(payload);
    launch.rung->run(launch.operation, launch.values.data(), launch.workspace, parallel);
  }
};

trine_status launch(trine_queue* queue, const trine_selection* selection, const trine_call* call,
                    const trine_workspace* workspace) {
  return checked([&] {
    return with(call,
                [&]<class Operation>(const Ladder<Operation>& rows,
                                     const Operation& operation) -> trine_status {
                  const Rung<Operation>& rung = rows.at(*selection);
                  std::byte* memory = nullptr;
                  if (workspace && workspace->memory)
                    memory = static_cast<std::byte*>(workspace->memory) + workspace->offset +
                             TRINE_CONTROL_BYTES;
                  const trine_status status = queue->device->executor->submit(
                      queue->queue, rung.nanoseconds(operation), Launch<Operation>::run,
                      Launch<Operation>{&rung, rows.values(*selection), memory, operation});
                  if (status != TRINE_OK)
                    kit::report(status, "cpu: no memory to enqueue the operation");
                  return status;
                });
  });
}

}  // namespace

void fill_operation_table(trine_backend& table) { TRINE_OPERATION_FUNCTIONS(TRINE_SET) }

}  // namespace trine::cpu
