// Rungs, choice and launch of the contract: the same functions for every operation.
#include <array>
#include <cstring>
#include <span>

#include "backends/kit/abi_struct.hpp"
#include "backends/lists.h"
#include "handles.hpp"
#include "rung.hpp"

namespace trine::cpu {
namespace {

// body(ladder, descriptor), of the operation's types; `descriptor` may be null.
template <class Body>
auto typed(std::uint32_t operation, const void* descriptor, Body&& body) {
  switch (operation) {
#define TRINE_TYPED(VALUE, word, ...) \
  case TRINE_##VALUE: return body(word##_rungs(), static_cast<const trine_##word*>(descriptor));
    TRINE_OPERATIONS(TRINE_TYPED)
#undef TRINE_TYPED
    default: kit::fail(TRINE_UNSUPPORTED, "cpu: operation %u is unknown here", operation);
  }
}

template <class Operation>
using Ladder = std::span<const Rung<Operation>>;

// Runs body(ladder, descriptor) for the call's operation, the descriptor as we know its form.
template <class Body>
trine_status with(const trine_call* call, Body&& body) {
  return typed(call->operation, call->descriptor,
               [&]<class Operation>(Ladder<Operation> ladder, const Operation* descriptor) {
                 Operation storage;
                 const auto* known = kit::read(descriptor, storage);
                 if (!known)
                   kit::fail(TRINE_UNSUPPORTED,
                             "cpu: the operation's descriptor has fields unknown here");
                 return body(ladder, *known);
               });
}

using Values = std::array<std::int64_t, 4>;  // of a rung's parameters

template <class Operation>
Values values_of(const Rung<Operation>& rung, const trine_selection& selection) {
  Values values{};
  for (std::size_t p = 0; p < rung.parameters().size(); ++p)
    values[p] = number_of(rung.row.parameters[p].values[selection.values[p]]);
  return values;
}

const trine_rung* rungs(std::uint32_t operation, std::int32_t* count, std::uint32_t* stride) {
  *count = 0;
  if (operation < 1 || operation > TRINE_OPERATION_COUNT) return nullptr;
  return typed(operation, nullptr, [&](auto ladder, const auto*) {
    *count = static_cast<std::int32_t>(ladder.size());
    *stride = sizeof ladder[0];
    return ladder.empty() ? nullptr : &ladder[0].row;
  });
}

// Why this device has no Kokkos for a rung, or null. Kokkos 3.4 can't use fewer threads than it was
// started with.
const char* lacks_kokkos(const trine_device& device) {
  if (!device.executor->has_kokkos()) return "Kokkos doesn't start in a forked child";
  if (device.threads == device.executor->threads()) return nullptr;
  return "Kokkos runs on all threads of the process's pool: open `cpu` without `threads=`, and set "
         "OMP_NUM_THREADS for fewer";
}

trine_status refuses(trine_device* device, const trine_selection* selection, const trine_call* call,
                     char* reason, std::size_t reason_bytes) {
  return kit::guard([&] {
    return with(call, [&](auto ladder, const auto& operation) -> trine_status {
      const auto& rung = ladder[selection->rung];
      const char* words =
          rung.refuses ? rung.refuses(operation, values_of(rung, *selection).data()) : nullptr;
      if (!words && rung.needs_kokkos()) words = lacks_kokkos(*device);
      if (!words) return TRINE_OK;
      if (reason && reason_bytes > 0) {
        std::strncpy(reason, words, reason_bytes - 1);
        reason[reason_bytes - 1] = '\0';
      }
      return kit::report(TRINE_UNSUPPORTED, "cpu: rung %s refuses: %s", rung.row.name, words);
    });
  });
}

// The reason why the row doesn't take the call, apart from its own refuses().
const char* untaken(const trine_rung& row, const trine_gemm& op) {
  return trine_untaken(row.takes, &op);
}
template <class Operation>
const char* untaken(const trine_rung&, const Operation&) {
  return nullptr;
}

// The last reproducible row that takes the operation and pays: ladders end with their best.
trine_status choose(trine_device* device, const trine_call* call, trine_selection* selection) {
  return kit::guard([&] {
    return with(call, [&](auto ladder, const auto& operation) -> trine_status {
      trine_selection ours{};
      ours.size = sizeof ours;
      ours.why = "the last reproducible rung of the CPU's ladder that takes the call and pays";
      for (ours.rung = static_cast<std::int32_t>(ladder.size()); ours.rung-- > 0;) {
        const auto& rung = ladder[ours.rung];
        if (rung.row.numerics != TRINE_REPRODUCIBLE || untaken(rung.row, operation)) continue;
        if (rung.needs_kokkos()) continue;
        if (rung.pays && !rung.pays(operation, device->threads)) continue;
        if (rung.refuses && rung.refuses(operation, values_of(rung, ours).data())) continue;
        kit::give(ours, selection);
        return TRINE_OK;
      }
      return kit::report(TRINE_UNSUPPORTED, "cpu: no rung of the ladder takes this operation");
    });
  });
}

// The contract's control bytes come first; CPU rungs have no use for them and start behind.
trine_status workspace_bytes(trine_device* device, const trine_selection* selection,
                             const trine_call* call, std::uint64_t* bytes) {
  return kit::guard([&] {
    return with(call, [&](auto ladder, const auto& operation) -> trine_status {
      const auto& rung = ladder[selection->rung];
      *bytes =
          rung.workspace_bytes
              ? rung.workspace_bytes(operation, values_of(rung, *selection).data(), device->threads)
              : 0;
      if (*bytes > 0) *bytes += TRINE_CONTROL_BYTES;
      return TRINE_OK;
    });
  });
}

template <class Operation>
struct Launch {
  const Rung<Operation>* rung;
  Values values;
  void* workspace;
  const trine_witness* witness;
  Operation operation;

  static void run(void* payload, Parallel& parallel) {
    const auto& launch = *static_cast<const Launch*>(payload);
    parallel.witness = launch.witness;
    launch.rung->run(launch.operation, launch.values.data(), launch.workspace, parallel);
  }
};

trine_status launch(trine_queue* queue, const trine_selection* selection, const trine_call* call,
                    const trine_workspace* workspace) {
  return checked([&] {
    return with(call, [&]<class Operation>(Ladder<Operation> ladder, const Operation& operation) {
      const Rung<Operation>& rung = ladder[selection->rung];
      std::byte* memory = nullptr;
      if (workspace && workspace->memory)
        memory =
            static_cast<std::byte*>(workspace->memory) + workspace->offset + TRINE_CONTROL_BYTES;
      const double nanoseconds =
          rung.needs_kokkos() ? kNeverSmall : rung.nanoseconds(operation, queue->device->threads);
      queue->device->executor->submit(
          queue->queue, nanoseconds, Launch<Operation>::run,
          Launch<Operation>{&rung, values_of(rung, *selection), memory, queue->witness, operation});
      return TRINE_OK;
    });
  });
}

}  // namespace

void fill_operation_table(trine_backend& table) { TRINE_OPERATION_FUNCTIONS(TRINE_SET) }

}  // namespace trine::cpu
