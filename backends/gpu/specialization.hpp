// The specializations of a kernel file: one for each combination of its variants' macro values.
// Here they get their names, once for the build-time generator and for the backends that look them
// up.
#pragma once

#include <string>

#include "variant.hpp"

namespace trine::gpu {

/// Variants that belong to no ladder.
std::span<const Variant> service_variants();
const Variant& probe_variant();
const Variant& fill_variant();   // CUDA's driver has no fill with 8 and 16 bytes
const Variant& stamp_variant();  // NVIDIA's OpenCL makes launches slower when it stamps them itself
const Variant& elementwise_variant();
const Variant& norms_variant();       // the first launch of exact products, gemm_exact.hpp
const Variant& one_by_one_variant();  // the last one
const Variant& add_chains_variant();  // the one between, if groups share k
void plan_elementwise(const trine_elementwise& call, Plan& plan);
void plan_fill(const trine_view& view, const void* element, uint32_t bytes, Plan& plan);

/// All variants, those of no ladder first; nullptr behind the last.
const Variant* variant_at(int index);

/// Macro values as one number.
uint64_t specialization_number(const Variant& variant, const int* macro);

/// Is a value of a macro a word ("float", "16x32") and not a number or an expression ("256", "1u")?
bool is_word(const char* value);
bool is_word_character(char c);

/// The variant's first and next existing combination of macro values; false where there is none.
bool first_specialization(const Variant& variant, int* macro);
bool next_specialization(const Variant& variant, int* macro);

/// "__256_float": what the generator appends to each kernel's name in this specialization; "__" for
/// a variant without macros.
template <class String>
String suffix_of(const Variant& variant, const int* macro) {
  String text(variant.macros.empty() ? "__" : "_");
  for (std::size_t m = 0; m < variant.macros.size(); ++m) {
    text += '_';
    for (const char c :
         std::string_view(variant.macros[m].values[static_cast<std::size_t>(macro[m])]))
      text += is_word_character(c) ? c : c == '-' ? 'm' : '_';
  }
  return text;
}

/// Calls visit(name, value) for each macro of the specialization: the variant's NAME with its
/// value, for a value that is a word also NAME_value with 1, for #if, and the value's constants.
template <class String, class Visit>
void visit_macros(const Variant& variant, const int* macro, Visit&& visit) {
  for (std::size_t m = 0; m < variant.macros.size(); ++m) {
    const Macro& one = variant.macros[m];
    const String name(one.name);
    const char* value = one.values[static_cast<std::size_t>(macro[m])];
    visit(name, String(value));
    if (is_word(value)) visit(name + "_" + value, String("1"));
    for (std::size_t c = 0; c < one.constants.size(); ++c)
      visit(String(one.constants[c]), String(std::to_string(one.constant(macro[m], c)).c_str()));
  }
}

}  // namespace trine::gpu
