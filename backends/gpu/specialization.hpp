// The specializations of a kernel file: one for each combination of its variants' macro values. Here they get
// their names, once for the build-time generator and for the backends that look them up.
#pragma once

#include "variant.hpp"

namespace trine::gpu {

constexpr int kMaxSymbol = 256, kMaxDefines = 768;

/// Variants that belong to no ladder.
std::span<const Variant> service_variants();
const Variant& probe_variant();
const Variant& fill_variant();   // CUDA's driver has no fill with 8 and 16 bytes
const Variant& stamp_variant();  // NVIDIA's OpenCL makes launches slower when it stamps them itself
void plan_fill(const trine_view& view, const void* element, uint32_t bytes, Plan& plan);

/// All variants, those of no ladder first; nullptr behind the last.
const Variant* variant_at(int index);

/// Writes "__256_float": what the generator appends to each kernel's name in this specialization, and
/// returns its length, or -1 where it doesn't fit. A variant without macros has "__".
int suffix_of(const Variant& variant, const int* macro, char* text, int bytes);

/// Macro values as one number.
uint64_t specialization_number(const Variant& variant, const int* macro);

/// Calls visit(name, value, is_word) for each macro of the specialization: the variant's NAME with its value, and for
/// a value that is a word also NAME_value = 1, for #if.
template <class Visit>
void visit_macros(const Variant& variant, const int* macro, Visit&& visit);

/// Is a value of a macro a word ("float", "16x32") and not a number or an expression ("256", "1u")?
bool is_word(const char* value);

/// The variant's first and next existing combination of macro values; false where there is none.
bool first_specialization(const Variant& variant, int* macro);
bool next_specialization(const Variant& variant, int* macro);

template <class Visit>
void visit_macros(const Variant& variant, const int* macro, Visit&& visit) {
  for (std::size_t m = 0; m < variant.macros.size(); ++m) {
    const char* value = variant.macros[m].values[static_cast<std::size_t>(macro[m])];
    visit(variant.macros[m].name, value, is_word(value));
  }
}

}  // namespace trine::gpu
