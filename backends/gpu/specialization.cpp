// Names and order of the specializations of a kernel file.
#include "specialization.hpp"

namespace trine::gpu {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool exists(const Variant& variant, const int* macro) {
  return !variant.exists || variant.exists(macro);
}

// Counts `macro` up by one, the last macro fastest; false when it turns over.
bool step(const Variant& variant, int* macro) {
  for (std::size_t m = variant.macros.size(); m-- > 0;) {
    if (++macro[m] < static_cast<int>(variant.macros[m].values.size())) return true;
    macro[m] = 0;
  }
  return false;
}

}  // namespace

std::span<const Variant> variants_of(uint32_t operation) {
  switch (operation) {
#define TRINE_VARIANTS(VALUE, word, ...) \
  case TRINE_##VALUE: return word##_variants();
    TRINE_OPERATIONS(TRINE_VARIANTS)
#undef TRINE_VARIANTS
    default: return {};
  }
}

const Variant* variant_at(int index) {
  auto at = static_cast<std::size_t>(index);
  for (uint32_t operation = 0; operation <= TRINE_OPERATION_COUNT; ++operation) {
    const auto ladder = operation == 0 ? service_variants() : variants_of(operation);
    if (at < ladder.size()) return &ladder[at];
    at -= ladder.size();
  }
  return nullptr;
}

bool is_word_character(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

bool is_word(const char* value) {
  bool letters = is_letter(*value);
  for (; *value != '\0'; ++value) {
    if (!is_word_character(*value)) return false;
    letters = letters || (is_letter(*value) && value[1] != '\0');  // not the u of 1u
  }
  return letters;
}

uint64_t specialization_number(const Variant& variant, const int* macro) {
  uint64_t number = 0;
  for (std::size_t m = 0; m < variant.macros.size(); ++m) {
    number = number * variant.macros[m].values.size() + static_cast<uint64_t>(macro[m]);
  }
  return number;
}

bool first_specialization(const Variant& variant, int* macro) {
  for (int m = 0; m < kMaxMacros; ++m) macro[m] = 0;
  return exists(variant, macro) || next_specialization(variant, macro);
}

bool next_specialization(const Variant& variant, int* macro) {
  while (step(variant, macro)) {
    if (exists(variant, macro)) return true;
  }
  return false;
}

}  // namespace trine::gpu
