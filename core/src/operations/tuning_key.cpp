// Keys of the tuning table as text, and back.
#include <charconv>

#include "operations.hpp"

namespace trine::detail {
namespace {

enum Letter : uint32_t { kNone, kRows, kColumns, kStrided };
constexpr char kLetters[] = {'-', 'r', 'c', 's'};

Letter letter_of(const trine_view& view) {
  if (view.cols > 1 ? view.col_stride == 1 : view.rows <= 1 || view.row_stride == 1) return kRows;
  return view.rows > 1 && view.row_stride == 1 ? kColumns : kStrided;
}

std::string word_of(Field field, uint32_t value) {
  switch (field) {
    case kFunction: return std::string(name(static_cast<Function>(value)));
    case kMap: return std::string(name(static_cast<Map>(value)));
    case kAxis: return std::string(name(static_cast<Axis>(value)));
    case kNumerics: return std::string(name(static_cast<Numerics>(value)));
    case kLayout: {
      std::string letters;
      for (; value != 0; value >>= 2) letters += kLetters[value & 3];
      return letters;
    }
    default: return std::string(name(static_cast<Dtype>(value)));
  }
}

/// The value that a word stands for, found by trying all; 0 for none.
uint64_t value_named(Field field, std::string_view word) {
  for (uint32_t value = 1; value < 64; ++value)
    if (word_of(field, value) == word) return value;
  return 0;
}

std::string_view take_word(std::string_view& text) {
  const auto space = text.find(' ');
  const std::string_view word = text.substr(0, space);
  text = space == std::string_view::npos ? std::string_view{} : text.substr(space + 1);
  return word;
}

}  // namespace

TuningKey& TuningKey::set_layout(std::initializer_list<const trine_view*> views) {
  uint64_t letters = 0;
  int at = 0;
  for (const trine_view* view : views) letters |= uint64_t{letter_of(*view)} << (2 * at++);
  return set(kLayout, letters);
}

std::string text_of(const TuningKey& call) {
  const Description& is = description_of(static_cast<Operation>(call.get(kOperation)));
  std::string text(name(is.operation));
  for (const Field field : is.key_fields) append(text, cat(" ", word_of(field, call.get(field))));
  return cat(text, " ", join(std::span(call.extents).first(is.key_extents), "x"));
}

std::string size_text(const TuningKey& call) {
  std::span<const int64_t> extents(call.extents);
  while (extents.size() > 1 && extents.back() == 1) extents = extents.first(extents.size() - 1);
  return join(extents, "x");
}

bool read_call(std::string_view text, TuningKey& call) {
  const std::string_view whole = text, operation = take_word(text);
  call = {};
  for (const Description* is : descriptions()) {
    if (name(is->operation) != operation) continue;
    call.set(kOperation, static_cast<uint32_t>(is->operation));
    for (const Field field : is->key_fields) call.set(field, value_named(field, take_word(text)));
  }
  if (call.kind == 0) return false;
  for (int64_t& extent : call.extents) {
    std::from_chars(text.data(), text.data() + text.size(), extent);
    const auto next = text.find('x');
    if (next == std::string_view::npos) break;
    text.remove_prefix(next + 1);
  }
  for (const int64_t extent : call.extents)
    if (extent < 0) return false;
  // Any other mistake makes the text of the result differ.
  return text_of(call) == whole;
}

}  // namespace trine::detail
