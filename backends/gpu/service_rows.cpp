// Rows that belong to no ladder: the arithmetic probe of a device.
#include "instance.hpp"

namespace trine::gpu {
namespace {

constexpr const char* kProbeEntries[] = {"probe"};

constexpr Row kRows[] = {
    {.name = "probe",
     .operation = 0,
     .numerics = TRINE_REPRODUCIBLE,
     .summary = "what the device's arithmetic is",
     .requirement = nullptr,
     .file = "service/probe",
     .backends = kBoth,
     .parameters = {},
     .macros = {},
     .entries = kProbeEntries,
     .exists = nullptr,
     .refuses = nullptr,
     .workspace_bytes = nullptr,
     .plan = nullptr,
     .self_check = nullptr,
     .options = nullptr,
     .architectures = nullptr},
};

}  // namespace

std::span<const Row> service_rows() { return kRows; }

}  // namespace trine::gpu
