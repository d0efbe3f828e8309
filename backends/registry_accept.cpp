// The registry accepts across the ABI tables and rows of any size that grew by appending, with
// nothing in them that this library doesn't know, and every function it needs.
#include <algorithm>
#include <cstring>

#include "kit/abi_struct.hpp"
#include "registry.hpp"

namespace trine::registry {
namespace {

struct Slot {
  bool is_filled;
  const char* name;
};

/// The name of the first that is missing, or nullptr.
const char* missing(std::initializer_list<Slot> slots) {
  for (const Slot& slot : slots) {
    if (!slot.is_filled) return slot.name;
  }
  return nullptr;
}

// clang-format off
#define TRINE_SLOT(field) {table.field != nullptr, #field},
const char* missing_function(const trine_backend& table) {
  return missing({
    TRINE_SLOT(name) TRINE_SLOT(last_error)
    TRINE_DEVICE_FUNCTIONS(TRINE_SLOT)
    TRINE_QUEUE_FUNCTIONS(TRINE_SLOT)
    TRINE_BUFFER_FUNCTIONS(TRINE_SLOT)
    TRINE_OPERATION_FUNCTIONS(TRINE_SLOT)
  });
}

const char* missing_function(const trine_pack& table) {
  return missing({
    TRINE_SLOT(name) TRINE_SLOT(backend) TRINE_SLOT(last_error) TRINE_SLOT(rungs)
    TRINE_SLOT(refuses) TRINE_SLOT(workspace_bytes) TRINE_SLOT(launch)
  });
}
#undef TRINE_SLOT
// clang-format on

/// Copies a struct of theirs, `who`; the reason why it can't be read, or "".
template <class T>
std::string read(const T* foreign, T& ours, const std::string& who) {
  if (kit::take(foreign, ours)) return {};
  const std::string bytes = std::to_string(foreign->size) + " bytes)";
  if (!kit::is_size_of<T>(foreign->size))
    return who + " (" + bytes +
           " has a size that no version of the contract has: it is too old or broken";
  return who + " (" + bytes + " uses what this library (" + std::to_string(sizeof(T)) +
         " bytes) doesn't know; the library is too old for it";
}

/// The same of element `index` of an array whose writer's element size is `stride`.
template <class T>
std::string read(const T* array, std::size_t index, std::size_t stride, T& ours,
                 const std::string& who) {
  const T* const foreign = kit::element(array, index, stride);
  if (!kit::is_size_of<T>(stride) || stride % alignof(T) != 0 || foreign->size > stride)
    return who + " stands in an array of elements of " + std::to_string(stride) +
           " bytes, which no version of the contract has";
  return read(foreign, ours, who);
}

/// Checks one row that was copied, and copies its parameters; the reason why it can't be used, or
/// "".
std::string accept_rung(Rung& rung) {
  const trine_rung& row = rung.row;
  if (!row.name || !*row.name) return "a rung has no name";
  const std::string who = std::string("rung '") + row.name + "' ";
  if (row.numerics < TRINE_REPRODUCIBLE || row.numerics > TRINE_VENDOR) {
    return who + "has numerics that this library doesn't know";
  }
  if (row.parameter_count < 0 || row.parameter_count > TRINE_MAX_PARAMETERS ||
      (row.parameter_count > 0 && !row.parameters)) {
    return who + "has a broken list of parameters";
  }
  rung.parameters.resize(static_cast<std::size_t>(row.parameter_count));
  for (std::size_t i = 0; i < rung.parameters.size(); ++i) {
    trine_parameter& parameter = rung.parameters[i];
    const std::string why =
        read(row.parameters, i, row.parameter_stride, parameter, who + "has a parameter: it");
    if (!why.empty()) return why;
    if (!parameter.name || !parameter.values || parameter.value_count < 1 ||
        parameter.default_value < 0 || parameter.default_value >= parameter.value_count) {
      return who + "has a parameter without a name, values or a default among them";
    }
  }
  rung.row.parameters = rung.parameters.data();
  rung.row.parameter_stride = sizeof(trine_parameter);
  return {};
}

}  // namespace

template <class Table>
std::string accept(const Table* foreign, Table& ours) {
  if (!foreign) return "its entry gave no table";
  // Size and version come first, whatever else has grown: read them before anything else.
  if (foreign->size < offsetof(Table, version) + sizeof foreign->version) {
    return "its table is too small to have a version";
  }
  if (foreign->version != TRINE_ABI_VERSION) {
    return "it speaks version " + std::to_string(foreign->version) +
           " of the contract, this library version " + std::to_string(TRINE_ABI_VERSION);
  }
  if (std::string why = read(foreign, ours, "its table"); !why.empty()) return why;
  if (const char* name = missing_function(ours)) {
    return std::string("its table lacks ") + name + "; it is too old or broken";
  }
  return {};
}

template std::string accept(const trine_backend* foreign, trine_backend& ours);
template std::string accept(const trine_pack* foreign, trine_pack& ours);

std::string accept_rungs(const trine_rung* rows, int32_t count, uint32_t stride, const Pack* pack,
                         Ladder& ladder) {
  if (count < 0 || (count > 0 && !rows)) return "its list of rungs is broken";
  for (int32_t i = 0; i < count; ++i) {
    const auto rung = std::make_shared<Rung>();
    rung->pack = pack;
    rung->index = i;
    std::string why = read(rows, static_cast<std::size_t>(i), stride, rung->row, "a rung's row");
    if (why.empty()) why = accept_rung(*rung);
    if (!why.empty()) return why;
    const std::string_view name = rung->row.name;
    if (std::ranges::any_of(ladder, [&](const auto& other) { return other->row.name == name; }))
      return std::string("rung '") + rung->row.name + "' exists already";
    ladder.push_back(rung);
  }
  return {};
}

}  // namespace trine::registry
