// The text of a .npy file's header.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "bench/ui/error.hpp"
#include "npy.hpp"

namespace trine::bench {
namespace {

constexpr size_t kMostDimensions = 3;
constexpr std::string_view kBlanks = " \t\f\r\n";

[[noreturn]] void malformed(const std::string& why) {
  throw Refusal(
      fmt::format("malformed .npy header: {}; numpy.save writes one that can be read", why));
}

/// Takes the text's words from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), size_(text.size()) {}

  bool ends() { return next() == '\0' && text_.empty(); }
  bool takes(std::string_view word) {
    next();
    if (!text_.starts_with(word)) return false;
    text_.remove_prefix(word.size());
    return true;
  }
  void expect(std::string_view word, std::string_view where) {
    if (!takes(word)) malformed(fmt::format("{}, where '{}' should be {}", here(), word, where));
  }
  /// In quotes of either kind.
  std::string string(std::string_view what) {
    const char quote = next();
    if (quote != '\'' && quote != '"')
      malformed(fmt::format("{}, where {} should be", here(), what));
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) malformed("a string doesn't end");
    const std::string inside(text_.substr(1, end - 1));
    if (inside.find_first_of("\\\r\n") != std::string::npos)
      malformed("a string has an escape (\\) or a line's end, which Trine doesn't read");
    text_.remove_prefix(end + 1);
    return inside;
  }
  /// A whole number, which Python 2 may have written as 2L.
  int64_t number() {
    if (next() == '-') malformed("an extent in 'shape' is negative");
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const size_t length = size_t(end - text_.data());
    if (error == std::errc::result_out_of_range)
      malformed(fmt::format("{} is more than 63 bits hold",
                            text_.substr(0, std::min<size_t>(length, 30))));
    if (error != std::errc{} || (length > 1 && text_[0] == '0'))
      malformed(fmt::format("{}, where a whole number should be", here()));
    text_.remove_prefix(length);
    takes("L");
    return value;
  }

 private:
  /// The first character behind blanks; 0 at the end.
  char next() {
    text_.remove_prefix(std::min(text_.find_first_not_of(kBlanks), text_.size()));
    return text_.empty() ? '\0' : text_[0];
  }
  /// The next character, for a sentence.
  std::string here() {
    const char c = next();
    const size_t at = size_ - text_.size();
    if (text_.empty()) return "it ends";
    return c < ' ' || c > '~' ? fmt::format("byte {} is 0x{:02x}", at, uint8_t(c))
                              : fmt::format("byte {} is '{}'", at, c);
  }

  std::string_view text_;
  size_t size_;
};

/// A kind of element with its bytes, as Trine takes it.
struct Known {
  char kind;
  uint64_t bytes;
  Dtype dtype;
};
constexpr std::array kKnown{Known{'f', 4, Dtype::f32}, Known{'f', 8, Dtype::f64},
                            Known{'i', 4, Dtype::i32}, Known{'i', 8, Dtype::i64},
                            Known{'u', 4, Dtype::u32}, Known{'u', 8, Dtype::u64}};

/// Other kinds and sizes become b8 ... b128: they can only be transposed.
std::optional<Dtype> dtype_of(char kind, uint64_t bytes) {
  for (const Known& known : kKnown)
    if (known.kind == kind && known.bytes == bytes) return known.dtype;
  const bool has = kind == 'f'                  ? bytes == 2 || bytes == 16
                   : kind == 'i' || kind == 'u' ? bytes <= 2
                   : kind == 'b'                ? bytes == 1
                   : kind == 'c'                ? bytes == 8 || bytes == 16
                   : kind == 'M' || kind == 'm' ? bytes == 8
                                                : kind == 'S' || kind == 'V' || kind == 'U';
  for (const Dtype dtype : {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b64, Dtype::b128})
    if (has && size_of(dtype) == bytes) return dtype;
  return std::nullopt;
}

/// Whether a time's dtype ends so: "[ns]", "[25s]", or not at all.
bool is_unit(std::string_view text) {
  return text.empty() || (text.size() > 2 && text.front() == '[' && text.back() == ']' &&
                          text.find_first_of("[]", 1) == text.size() - 1);
}

/// Sets the dtype of "<f4": its order, its kind, its bytes and a time's unit.
void take_dtype(const std::string& given, NpyHeader& header) {
  std::string_view word = given;
  const char order = word.find_first_of("<>=|") == 0 ? word[0] : '=';
  word.remove_prefix(word.find_first_of("<>=|") == 0 ? 1 : 0);
  const char kind = word.empty() ? '\0' : word[0];
  word.remove_prefix(std::min<size_t>(1, word.size()));
  uint64_t count = 0;
  const char* const end = std::from_chars(word.data(), word.data() + word.size(), count).ptr;
  const std::string_view unit = word.substr(size_t(end - word.data()));
  const bool is_time = kind == 'M' || kind == 'm';
  const uint64_t bytes = kind == 'U' ? 4 * count : count;
  const std::optional<Dtype> dtype = count <= 16 && (is_time ? is_unit(unit) : unit.empty())
                                         ? dtype_of(kind, bytes)
                                         : std::nullopt;
  if (!dtype)
    throw Refusal(fmt::format(
        "dtype '{}' is none that Trine reads: f4 f8 i4 i8 u4 u8 are its numbers, and transpose "
        "takes the other simple ones of 1, 2, 4, 8 or 16 bytes; convert it: "
        "numpy.save(FILE, array.astype('f8'))",
        given.substr(0, 60)));
  const bool has_no_order = bytes == 1 || kind == 'S' || kind == 'V';
  const std::string rest = fmt::format("{}{}{}", kind, count, unit);
  if (order == '>' && !has_no_order)
    throw Refusal(
        fmt::format("dtype {} is big-endian, and Trine reads little-endian ones; convert it: "
                    "numpy.save(FILE, array.astype('<{}'))",
                    given, rest));
  header.dtype = *dtype;
  header.descr = (has_no_order ? "|" : "<") + rest;
}

std::vector<int64_t> shape_of(Reader& reader) {
  std::vector<int64_t> shape;
  size_t count = 0;
  bool has_comma = true;
  reader.expect("(", "behind 'shape'");
  for (; !reader.takes(")"); ++count) {
    if (!has_comma) reader.expect(",", "between extents");
    const int64_t extent = reader.number();
    if (count < kMostDimensions) shape.push_back(extent);
    has_comma = reader.takes(",");
  }
  if (count == 1 && !has_comma) malformed("the value of 'shape' is no tuple");
  if (count > kMostDimensions)
    throw Refusal(
        fmt::format("it has {} dimensions, and Trine takes up to {}; reshape it: "
                    "numpy.save(FILE, array.reshape(rows, columns))",
                    count, kMostDimensions));
  return shape;
}

void take_value(const std::string& key, Reader& reader, NpyHeader& header) {
  if (key == "descr" && reader.takes("["))
    throw Refusal(
        "its dtype is a structure; Trine reads arrays of one dtype: save a field of it, "
        "numpy.save(FILE, array['field'])");
  if (key == "descr") return take_dtype(reader.string("the string of 'descr'"), header);
  if (key == "shape") return void(header.shape = shape_of(reader));
  if (key != "fortran_order")
    malformed(fmt::format("it has a key '{}' that .npy doesn't know", key.substr(0, 60)));
  header.fortran_order = reader.takes("True");
  if (!header.fortran_order) reader.expect("False", "or True, behind 'fortran_order'");
}

}  // namespace

NpyHeader parse_npy_header(std::string_view text) {
  NpyHeader header;
  Reader reader(text);
  std::set<std::string> keys;
  if (!reader.takes("{")) malformed("it isn't a Python dictionary");
  for (bool has_comma = true; !reader.takes("}"); has_comma = reader.takes(",")) {
    if (!has_comma) reader.expect(",", "between keys");
    const std::string key = reader.string("a key or the end");
    reader.expect(":", "behind a key");
    take_value(key, reader, header);
    keys.insert(key);
  }
  if (!reader.ends()) malformed("something stands behind the dictionary");
  for (const char* key : {"descr", "fortran_order", "shape"})
    if (!keys.contains(key)) malformed(fmt::format("it has no '{}'", key));
  return header;
}

std::string npy_descr(Dtype dtype) {
  for (const Known& known : kKnown)
    if (known.dtype == dtype) return fmt::format("<{}{}", known.kind, known.bytes);
  return fmt::format("|V{}", size_of(dtype));
}

}  // namespace trine::bench
