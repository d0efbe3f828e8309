#include "npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

constexpr size_t kMostDimensions = 3;
constexpr int kDeepest = 32;  ///< brackets within brackets

[[noreturn]] void malformed(const std::string& why) {
  throw Refusal(
      fmt::format("malformed .npy header: {}; numpy.save writes one that can be read", why));
}

// --- Python's literals -------------------------------------------------------------------------

/// What stands behind a key.
struct Value {
  enum class Kind { text, number, truth, tuple, list, none } kind = Kind::none;
  std::string text;
  int64_t number = 0;             ///< 0 or 1 of a truth
  std::vector<int64_t> extents;   ///< of a tuple: the first ones
  size_t count = 0;               ///< of a tuple: how many values it has
  bool has_numbers_alone = true;  ///< of a tuple
};

class Reader {
 public:
  Reader(std::string_view text, bool long_integers) : text_(text), long_integers_(long_integers) {}

  /// Calls `entry(key)` where the value of a key begins.
  template <class Entry>
  void dictionary(Entry entry) {
    int around = 0;
    while (takes('(')) ++around;
    if (!takes('{')) malformed("it isn't a Python dictionary");
    while (!takes('}')) {
      if (!at_string()) malformed(fmt::format("{}, where a key or the end should be", here()));
      const std::string key = string();
      if (!takes(':')) malformed(fmt::format("no ':' behind '{}'", key));
      entry(key);
      if (!takes(',') && next() != '}')
        malformed(fmt::format("{} behind the value of '{}'", here(), key));
    }
    for (; around > 0; --around)
      if (!takes(')')) malformed("a bracket around it isn't closed");
    if (next() != '\0' || at_ < text_.size())
      malformed(fmt::format("{} behind the dictionary", here()));
  }

  Value value(int depth = 0) {
    Value found;
    if (depth > kDeepest) malformed("its brackets are too deep");
    if (at_string()) {
      found.kind = Value::Kind::text;
      found.text = string();
    } else if (takes('(')) {
      return sequence(Value::Kind::tuple, ')', depth);
    } else if (takes('[')) {
      return sequence(Value::Kind::list, ']', depth);
    } else if (const char c = next(); is_digit(c) || c == '+' || c == '-') {
      found.kind = Value::Kind::number;
      found.number = number();
    } else if (const bool is_true = takes_word("True"); is_true || takes_word("False")) {
      found.kind = Value::Kind::truth;
      found.number = is_true ? 1 : 0;
    } else if (!takes_word("None")) {
      malformed(fmt::format("{}, where a value should be", here()));
    }
    return found;
  }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_inside_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0;
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  /// The first character behind blanks and comments; 0 at the end.
  char next() {
    for (; at_ < text_.size(); ++at_) {
      if (peek() == '#') at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
      if (std::string_view(" \t\f\r\n").find(peek()) == std::string_view::npos) break;
    }
    return peek();
  }
  /// What stands there, for a sentence.
  std::string here() {
    const char c = next();
    if (at_ >= text_.size()) return "it ends";
    if (c < ' ' || c > '~') return fmt::format("byte {} is 0x{:02x}", at_, uint8_t(c));
    return fmt::format("byte {} is '{}'", at_, c);
  }
  bool takes(char wanted) {
    if (next() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  bool takes_word(std::string_view word) {
    next();
    if (!text_.substr(at_).starts_with(word) || is_inside_word(peek(word.size()))) return false;
    at_ += word.size();
    return true;
  }

  /// A prefix u or r says nothing of what a string without escapes holds.
  bool at_string() {
    const auto is_quote = [](char c) { return c == '\'' || c == '"'; };
    const char c = next();
    return is_quote(c) ||
           (std::string_view("uUrR").find(c) != std::string_view::npos && is_quote(peek(1)));
  }

  /// Strings side by side are one.
  std::string string() {
    std::string all;
    while (at_string()) {
      if (peek() != '\'' && peek() != '"') ++at_;
      const std::string one(1, peek()), three(3, peek());
      const bool is_long = text_.substr(at_).starts_with(three);
      const std::string& quote = is_long ? three : one;
      at_ += quote.size();
      const size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos) malformed("a string doesn't end");
      const std::string_view inside = text_.substr(at_, end - at_);
      if (inside.find('\\') != std::string_view::npos)
        malformed("a string has an escape (\\), which Trine doesn't read");
      if (!is_long && inside.find_first_of("\r\n") != std::string_view::npos)
        malformed("a string doesn't end in its line");
      all += inside;
      at_ = end + quote.size();
    }
    return all;
  }

  int64_t number() {
    const bool negative = takes('-');
    if (!negative) takes('+');
    next();
    const size_t begin = at_;
    while (is_inside_word(peek()) || peek() == '.') ++at_;
    std::string digits(text_.substr(begin, at_ - begin));
    const std::string shown = digits.substr(0, 30);
    if (long_integers_ && digits.ends_with('L')) digits.pop_back();
    while (long_integers_ && takes_word("L"))
      ;
    const int base = base_of(digits);
    bool was_digit = base != 10;  // 0x_10 is one, 1_0 is one, 1__0 and 1_ are none
    std::string plain;
    for (const char c : digits.substr(base == 10 ? 0 : 2)) {
      if (c == '_' ? !was_digit : false) malformed(fmt::format("'{}' is no whole number", shown));
      was_digit = c != '_';
      if (was_digit) plain += c;
    }
    const bool has_zeros =
        base == 10 && plain.starts_with('0') && plain.find_first_not_of('0') != std::string::npos;
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(plain.data(), plain.data() + plain.size(), value, base);
    if (error == std::errc::result_out_of_range)
      malformed(fmt::format("{} is more than 63 bits hold", shown));
    if (error != std::errc{} || end != plain.data() + plain.size() || !was_digit || has_zeros ||
        plain.starts_with('-'))
      malformed(fmt::format("'{}' is no whole number", shown));
    return negative ? -value : value;
  }
  static int base_of(std::string_view digits) {
    const std::string_view prefix = digits.substr(0, 2);
    return prefix == "0x" || prefix == "0X"   ? 16
           : prefix == "0o" || prefix == "0O" ? 8
           : prefix == "0b" || prefix == "0B" ? 2
                                              : 10;
  }

  /// A value in round brackets without a comma is that value.
  Value sequence(Value::Kind kind, char close, int depth) {
    Value found;
    found.kind = kind;
    while (!takes(close)) {
      const Value one = value(depth + 1);
      if (kind == Value::Kind::tuple && found.count == 0 && takes(close)) return one;
      const bool is_number = one.kind == Value::Kind::number || one.kind == Value::Kind::truth;
      found.has_numbers_alone &= is_number;
      if (is_number && found.extents.size() < kMostDimensions) found.extents.push_back(one.number);
      ++found.count;
      if (!takes(',') && next() != close) malformed(fmt::format("{} within brackets", here()));
    }
    return found;
  }

  std::string_view text_;
  bool long_integers_;
  size_t at_ = 0;
};

// --- Dtypes ------------------------------------------------------------------------------------

/// Words that aren't a kind and its bytes.
struct Alias {
  std::string_view word, meant;
};
/// With or without an order.
constexpr std::array kLetters{
    Alias{"?", "b1"},  Alias{"b", "i1"}, Alias{"B", "u1"},          Alias{"h", "i2"},
    Alias{"H", "u2"},  Alias{"i", "i4"}, Alias{"I", "u4"},          Alias{"l", "i8"},
    Alias{"L", "u8"},  Alias{"q", "i8"}, Alias{"Q", "u8"},          Alias{"p", "i8"},
    Alias{"P", "u8"},  Alias{"e", "f2"}, Alias{"f", "f4"},          Alias{"d", "f8"},
    Alias{"g", "f16"}, Alias{"F", "c8"}, Alias{"D", "c16"},         Alias{"c", "S1"},
    Alias{"M", "M8"},  Alias{"m", "m8"}, Alias{"datetime64", "M8"}, Alias{"timedelta64", "m8"}};
/// Without one.
constexpr std::array kNames{
    Alias{"bool", "b1"},       Alias{"int8", "i1"},         Alias{"int16", "i2"},
    Alias{"int32", "i4"},      Alias{"int64", "i8"},        Alias{"uint8", "u1"},
    Alias{"uint16", "u2"},     Alias{"uint32", "u4"},       Alias{"uint64", "u8"},
    Alias{"float16", "f2"},    Alias{"float32", "f4"},      Alias{"float64", "f8"},
    Alias{"float128", "f16"},  Alias{"complex64", "c8"},    Alias{"complex128", "c16"},
    Alias{"half", "f2"},       Alias{"single", "f4"},       Alias{"double", "f8"},
    Alias{"float", "f8"},      Alias{"longdouble", "f16"},  Alias{"csingle", "c8"},
    Alias{"cdouble", "c16"},   Alias{"complex", "c16"},     Alias{"byte", "i1"},
    Alias{"ubyte", "u1"},      Alias{"short", "i2"},        Alias{"ushort", "u2"},
    Alias{"intc", "i4"},       Alias{"uintc", "u4"},        Alias{"int", "i8"},
    Alias{"uint", "u8"},       Alias{"long", "i8"},         Alias{"longlong", "i8"},
    Alias{"ulonglong", "u8"},  Alias{"intp", "i8"},         Alias{"uintp", "u8"},
    Alias{"ulong", "u8"},      Alias{"bool_", "b1"},        Alias{"int_", "i8"},
    Alias{"bool8", "b1"},      Alias{"int0", "i8"},         Alias{"uint0", "u8"},
    Alias{"float_", "f8"},     Alias{"complex_", "c16"},    Alias{"cfloat", "c16"},
    Alias{"longfloat", "f16"}, Alias{"singlecomplex", "c8"}};

/// A kind of element with its bytes, as Trine takes it.
struct Known {
  char kind;
  uint64_t bytes;
  Dtype dtype;
};
constexpr std::array kKnown{Known{'f', 4, Dtype::f32}, Known{'f', 8, Dtype::f64},
                            Known{'i', 4, Dtype::i32}, Known{'i', 8, Dtype::i64},
                            Known{'u', 4, Dtype::u32}, Known{'u', 8, Dtype::u64}};

/// Kinds without arithmetic here, and sizes without it: they transpose as bits.
std::optional<Dtype> bits_of(char kind, uint64_t bytes) {
  const bool has = kind == 'f'                  ? bytes == 2 || bytes == 16
                   : kind == 'i' || kind == 'u' ? bytes <= 2
                   : kind == 'b'                ? bytes == 1
                   : kind == 'c'                ? bytes == 8 || bytes == 16
                   : kind == 'M' || kind == 'm' ? bytes == 8
                                                : kind == 'S' || kind == 'V' || kind == 'U';
  if (!has) return std::nullopt;
  for (const Dtype dtype : {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b64, Dtype::b128})
    if (size_of(dtype) == bytes) return dtype;
  return std::nullopt;
}

std::optional<Dtype> dtype_of(char kind, uint64_t bytes) {
  for (const Known& known : kKnown)
    if (known.kind == kind && known.bytes == bytes) return known.dtype;
  return bits_of(kind, bytes);
}

std::string_view meant_by(std::string_view word, bool has_order) {
  for (const Alias& alias : kLetters)
    if (alias.word == word) return alias.meant;
  for (const Alias& alias : kNames)
    if (alias.word == word && !has_order) return alias.meant;
  return word;
}

/// "[ns]" or "[25s]", as a time's dtype ends.
std::string_view unit_of(std::string_view word) {
  constexpr std::array<std::string_view, 14> kUnits{"Y",  "M",  "W",  "D",  "h",  "m",  "s",
                                                    "ms", "us", "ns", "ps", "fs", "as", "generic"};
  const std::string_view unit = word.substr(std::min(word.find('['), word.size()));
  std::string_view name = unit.substr(std::min(unit.find_first_not_of("[0123456789"), unit.size()));
  if (!name.ends_with(']') || unit.rfind('[') != 0) return {};
  name.remove_suffix(1);
  return std::ranges::find(kUnits, name) == kUnits.end() ? std::string_view() : unit;
}

/// Sets the dtype that NumPy understands by a word.
void name_dtype(const std::string& given, NpyHeader& header) {
  const bool has_order =
      !given.empty() && std::string_view("<>=|").find(given[0]) != std::string_view::npos;
  std::string_view word = meant_by(std::string_view(given).substr(has_order ? 1 : 0), has_order);
  char kind = word.empty() ? '\0' : word[0];
  if (kind == 'a') kind = 'S';
  word.remove_prefix(std::min<size_t>(1, word.size()));
  const std::string_view unit = kind == 'M' || kind == 'm' ? unit_of(word) : std::string_view();
  const std::string_view digits = word.substr(0, word.size() - unit.size());
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool is_whole = error == std::errc{} && end == digits.data() + digits.size();
  const bool is_known = is_whole && count <= 16;
  const uint64_t bytes = kind == 'U' ? 4 * count : count;
  const std::optional<Dtype> dtype = is_known ? dtype_of(kind, bytes) : std::nullopt;
  if (!dtype)
    throw Refusal(fmt::format(
        "dtype '{}' is none that Trine reads: f4 f8 i4 i8 u4 u8 are its numbers, and transpose "
        "takes the other simple ones of 1, 2, 4, 8 or 16 bytes; convert it: "
        "numpy.save(FILE, array.astype('f8'))",
        given.substr(0, 60)));
  const bool has_no_order = bytes == 1 || kind == 'S' || kind == 'V';
  const std::string rest = fmt::format("{}{}{}", kind, count, unit);
  if (given[0] == '>' && !has_no_order)
    throw Refusal(
        fmt::format("dtype {} is big-endian, and Trine reads little-endian ones; convert it: "
                    "numpy.save(FILE, array.astype('<{}'))",
                    given, rest));
  header.dtype = *dtype;
  header.descr = (has_no_order ? "|" : "<") + rest;
}

// --- The three keys ----------------------------------------------------------------------------

void take_dtype(const Value& value, NpyHeader& header) {
  if (value.kind == Value::Kind::list)
    throw Refusal(
        "its dtype is a structure; Trine reads arrays of one dtype: save a field of it, "
        "numpy.save(FILE, array['field'])");
  if (value.kind != Value::Kind::text) malformed("the value of 'descr' is no string");
  name_dtype(value.text, header);
}

void take_order(const Value& value, NpyHeader& header) {
  if (value.kind != Value::Kind::truth)
    malformed("the value of 'fortran_order' is neither True nor False");
  header.fortran_order = value.number != 0;
}

void take_shape(const Value& value, NpyHeader& header) {
  if (value.kind != Value::Kind::tuple) malformed("the value of 'shape' is no tuple");
  if (!value.has_numbers_alone) malformed("an extent in 'shape' is no whole number");
  if (value.count > kMostDimensions)
    throw Refusal(
        fmt::format("it has {} dimensions, and Trine takes up to {}; reshape it: "
                    "numpy.save(FILE, array.reshape(rows, columns))",
                    value.count, kMostDimensions));
  if (std::ranges::any_of(value.extents, [](int64_t extent) { return extent < 0; }))
    malformed("an extent in 'shape' is negative");
  header.shape = value.extents;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text, bool long_integers) {
  constexpr std::pair<std::string_view, void (*)(const Value&, NpyHeader&)> kKeys[] = {
      {"descr", take_dtype}, {"fortran_order", take_order}, {"shape", take_shape}};
  std::array<std::optional<Value>, std::size(kKeys)> values;
  Reader reader(text, long_integers);
  reader.dictionary([&](const std::string& key) {
    const auto* const known = std::ranges::find(kKeys, key, [](const auto& k) { return k.first; });
    if (known == std::end(kKeys))
      malformed(fmt::format("it has a key '{}' that .npy doesn't know", key.substr(0, 60)));
    values[size_t(known - kKeys)] = reader.value();  // a key's last value counts
  });
  NpyHeader header;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i]) malformed(fmt::format("it has no '{}'", kKeys[i].first));
    kKeys[i].second(*values[i], header);
  }
  return header;
}

std::string npy_descr(Dtype dtype) {
  for (const Known& known : kKnown)
    if (known.dtype == dtype) return fmt::format("<{}{}", known.kind, known.bytes);
  return fmt::format("|V{}", size_of(dtype));
}

}  // namespace trine::bench
