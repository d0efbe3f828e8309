// The instances of a kernel file: one for each combination of its rows' macro values. Here they get
// their names, once for the build-time generator and for the backends that look them up.
#pragma once

#include "row.hpp"

namespace trine::gpu {

constexpr int kMaxSymbol = 256, kMaxDefines = 768;

/// Rows that belong to no ladder.
std::span<const Row> service_rows();
const Row& probe_row();
const Row& fill_row();   // CUDA's driver has no fill with 8 and 16 bytes
const Row& stamp_row();  // NVIDIA's OpenCL makes launches slower when it stamps them itself
void plan_fill(const trine_view& view, const void* element, uint32_t bytes, Plan& plan);

/// All rows, those of no ladder first; nullptr behind the last.
const Row* row_at(int index);

/// Writes "__256_float": what the generator appends to each kernel's name in this instance, and
/// returns its length, or -1 where it doesn't fit. A row without macros has "__".
int suffix_of(const Row& row, const int* macro, char* text, int bytes);

/// Macro values as one number.
uint64_t instance_number(const Row& row, const int* macro);

/// Calls visit(name, value, is_word) for each macro of the instance: the row's NAME with its value, and for
/// a value that is a word also NAME_value = 1, for #if.
template <class Visit>
void visit_macros(const Row& row, const int* macro, Visit&& visit);

/// Is a value of a macro a word ("float", "16x32") and not a number or an expression ("256", "1u")?
bool is_word(const char* value);

/// The row's first and next existing combination of macro values; false where there is none.
bool first_instance(const Row& row, int* macro);
bool next_instance(const Row& row, int* macro);

template <class Visit>
void visit_macros(const Row& row, const int* macro, Visit&& visit) {
  for (std::size_t m = 0; m < row.macros.size(); ++m) {
    const char* value = row.macros[m].values[static_cast<std::size_t>(macro[m])];
    visit(row.macros[m].name, value, is_word(value));
  }
}

}  // namespace trine::gpu
