#include "tuned_call.hpp"

#include <trine/types.hpp>

#include <charconv>

#include "core/src/runtime/error.hpp"

namespace trine::detail {
namespace {

enum Field { kOperation, kFunction, kMap, kAxis, kDtype, kResult, kLayout, kNumerics };

uint64_t packed(Field field, uint64_t value) { return value << (8 * field); }
uint32_t value_of(const TunedCall& call, Field field) { return call.kind >> (8 * field) & 0xff; }

enum Letter : uint32_t { kNone, kRows, kColumns, kStrided };
constexpr char kLetters[] = {'-', 'r', 'c', 's'};

Letter letter_of(const trine_view& view) {
  if (view.cols > 1 ? view.col_stride == 1 : view.rows <= 1 || view.row_stride == 1) return kRows;
  return view.rows > 1 && view.row_stride == 1 ? kColumns : kStrided;
}

uint64_t layout_of(Letter a, Letter b = kNone, Letter c = kNone) {
  return packed(kLayout, a | b << 2 | c << 4);
}

uint32_t bits_of(uint32_t element_size) {
  switch (element_size) {
    case 1: return TRINE_B8;
    case 2: return TRINE_B16;
    case 4: return TRINE_B32;
    case 8: return TRINE_B64;
    default: return TRINE_B128;
  }
}

int extent_count(const TunedCall& call) { return static_cast<int>(call.operation()) + 1; }

/// The fields after the operation, in the order of the text.
constexpr Field kOfReduce[] = {kFunction, kMap, kAxis, kDtype, kResult, kLayout, kNumerics};
constexpr Field kOfOthers[] = {kDtype, kLayout, kNumerics};

template <class Visit>
void each_field(uint32_t operation, Visit&& visit) {
  if (operation == TRINE_REDUCE) {
    for (const Field field : kOfReduce) visit(field);
  } else {
    for (const Field field : kOfOthers) visit(field);
  }
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

TunedCall tuned_call_of(const trine_call& call) {
  TunedCall tuned;
  tuned.kind = packed(kOperation, call.operation);
  int64_t* const extents = tuned.extents;
  if (call.operation == TRINE_REDUCE) {
    const auto& op = *static_cast<const trine_reduce*>(call.descriptor);
    tuned.kind |= packed(kFunction, op.function) | packed(kMap, op.map) | packed(kAxis, op.axis) |
                  packed(kDtype, op.dtype) | packed(kResult, op.result_dtype) |
                  packed(kNumerics, op.numerics) | layout_of(letter_of(op.input));
    extents[0] = op.axis == TRINE_ALL ? op.input.rows * op.input.cols : op.input.rows;
    extents[1] = op.axis == TRINE_ALL ? 1 : op.input.cols;
  } else if (call.operation == TRINE_TRANSPOSE) {
    const auto& op = *static_cast<const trine_transpose*>(call.descriptor);
    tuned.kind |= packed(kDtype, bits_of(op.element_size)) | packed(kNumerics, op.numerics) |
                  layout_of(letter_of(op.input), letter_of(op.output));
    extents[0] = op.input.rows, extents[1] = op.input.cols, extents[2] = op.input.batch;
  } else {
    const auto& op = *static_cast<const trine_gemm*>(call.descriptor);
    tuned.kind |= packed(kDtype, op.dtype) | packed(kNumerics, op.numerics) |
                  layout_of(letter_of(op.a), letter_of(op.b), letter_of(op.c));
    extents[0] = op.c.rows, extents[1] = op.c.cols, extents[2] = op.a.cols, extents[3] = op.c.batch;
  }
  return tuned;
}

std::string text_of(const TunedCall& call) {
  std::string text(name(static_cast<Operation>(call.operation())));
  each_field(call.operation(),
             [&](Field field) { append(text, cat(" ", word_of(field, value_of(call, field)))); });
  for (int i = 0; i < extent_count(call); ++i)
    append(text, cat(i == 0 ? " " : "x", call.extents[i]));
  return text;
}

std::string size_text(const TunedCall& call) {
  int count = extent_count(call);
  while (count > 1 && call.extents[count - 1] == 1) --count;
  std::string text;
  for (int i = 0; i < count; ++i) append(text, cat(i == 0 ? "" : "x", call.extents[i]));
  return text;
}

bool read_call(std::string_view text, TunedCall& call) {
  const std::string_view whole = text, operation = take_word(text);
  call = {};
  for (const uint32_t known : {TRINE_REDUCE, TRINE_TRANSPOSE, TRINE_GEMM})
    if (name(static_cast<Operation>(known)) == operation) call.kind = known;
  if (call.kind == 0) return false;
  each_field(call.operation(),
             [&](Field field) { call.kind |= packed(field, value_named(field, take_word(text))); });
  for (int64_t& extent : call.extents) {
    std::from_chars(text.data(), text.data() + text.size(), extent);
    const auto next = text.find('x');
    if (next == std::string_view::npos) break;
    text.remove_prefix(next + 1);
  }
  for (const int64_t extent : call.extents)
    if (extent < 0) return false;
  // Whatever else was wrong in it reads otherwise now.
  return text_of(call) == whole;
}

}  // namespace trine::detail
