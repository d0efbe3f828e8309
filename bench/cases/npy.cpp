#include "npy.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"

namespace trine::bench {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLargestHeader = 1 << 16;

struct Known {
  std::string_view descr;
  Dtype dtype;
};
// Booleans, small integers and complex numbers have no arithmetic here: they transpose as bits.
constexpr std::array kKnown{
    Known{"<f4", Dtype::f32}, Known{"<f8", Dtype::f64},  Known{"<i4", Dtype::i32},
    Known{"<i8", Dtype::i64}, Known{"<u4", Dtype::u32},  Known{"<u8", Dtype::u64},
    Known{"|i1", Dtype::b8},  Known{"|u1", Dtype::b8},   Known{"|b1", Dtype::b8},
    Known{"<i2", Dtype::b16}, Known{"<u2", Dtype::b16},  Known{"<f2", Dtype::b16},
    Known{"<c8", Dtype::b64}, Known{"<c16", Dtype::b128}};

/// NumPy's word for a dtype: f32 is "<f4".
std::string npy_descr(Dtype dtype) {
  for (const Known& known : kKnown)
    if (known.dtype == dtype) return std::string(known.descr);
  return dtype == Dtype::b32 ? "<u4" : "|V1";
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Refusal(fmt::format("{}: {}", path, why));
}

/// The text after `'key':` in the header's Python dictionary.
std::string_view value_of(const std::string& path, std::string_view header, std::string_view key) {
  const std::string quoted = fmt::format("'{}':", key);
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos)
    refuse(path, fmt::format("malformed .npy: no '{}' in its header", key));
  header.remove_prefix(at + quoted.size());
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

/// The same between `open` and `close`.
std::string_view value_within(const std::string& path, std::string_view header,
                              std::string_view key, char open, char close) {
  const std::string_view text = value_of(path, header, key);
  const size_t end = text.find(close, 1);
  if (!text.starts_with(open) || end == std::string_view::npos)
    refuse(path, fmt::format("malformed .npy, or a structured dtype: its {} isn't within {}{}", key,
                             open, close));
  return text.substr(1, end - 1);
}

Dtype dtype_of_descr(const std::string& path, const std::string& descr) {
  for (const Known& known : kKnown)
    if (known.descr == descr) return known.dtype;
  if (descr.starts_with(">"))
    refuse(path, fmt::format("dtype {} is big-endian; save it as '<'", descr));
  refuse(path,
         fmt::format("dtype {} is not one of f4 f8 i4 i8 u4 u8 (transpose: any of 1 to 16 bytes)",
                     descr));
}

std::vector<int64_t> parse_shape(const std::string& path, std::string_view header) {
  std::string_view text = value_within(path, header, "shape", '(', ')');
  std::vector<int64_t> shape;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) break;
    int64_t extent = 0;
    const auto [next, error] = std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc{} || extent < 0)
      refuse(path, "malformed .npy: an extent is not a number");
    shape.push_back(extent);
    text.remove_prefix(size_t(next - text.data()));
  }
  if (shape.size() > 3)
    refuse(path, fmt::format("{} dimensions; Trine takes up to 3", shape.size()));
  return shape;
}

std::string read_header(const std::string& path, std::ifstream& file) {
  std::array<char, 8> start{};
  if (!file.read(start.data(), start.size()) || std::string_view(start.data(), 6) != kMagic)
    refuse(path, "not a .npy file");
  const int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3) refuse(path, fmt::format(".npy version {} is unknown", version));
  const size_t bytes = version == 1 ? 2 : 4;
  std::array<unsigned char, 4> length{};
  if (!file.read(reinterpret_cast<char*>(length.data()), std::streamsize(bytes)))
    refuse(path, "malformed .npy: it ends in its header");
  const size_t size =
      length[0] | size_t(length[1]) << 8 | size_t(length[2]) << 16 | size_t(length[3]) << 24;
  if (size > kLargestHeader) refuse(path, "malformed .npy: its header is too long");
  std::string header(size, '\0');
  if (!file.read(header.data(), std::streamsize(size)))
    refuse(path, "malformed .npy: it ends in its header");
  return header;
}

uint64_t byte_count(const std::string& path, const Array& array) {
  uint64_t bytes = size_of(array.dtype);
  for (int64_t extent : array.shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      refuse(path, "its shape overflows 64 bits");
  return bytes;
}

struct Extents {
  int64_t batch = 1, rows = 1, cols = 1;
};

Extents extents(const std::string& path, const Array& array) {
  Extents e;
  const std::vector<int64_t>& shape = array.shape;
  if (shape.size() == 1) e.rows = shape[0];
  if (shape.size() >= 2) {
    e.rows = shape[shape.size() - 2];
    e.cols = shape[shape.size() - 1];
  }
  if (shape.size() == 3) {
    e.batch = shape[0];
    if (array.fortran_order) refuse(path, "three dimensions in Fortran order; save it in C order");
  }
  return e;
}

/// Inputs that go element by element.
void check_alike(const std::vector<Array>& inputs) {
  for (const Array& array : inputs)
    if (array.dtype != inputs[0].dtype || array.shape != inputs[0].shape ||
        array.fortran_order != inputs[0].fortran_order)
      throw Refusal("the two inputs of a product have one shape, dtype and order");
}

void pose_gemm(Problem& p, const std::vector<std::string>& paths,
               const std::vector<Array>& arrays) {
  const Extents a = extents(paths[0], arrays[0]), b = extents(paths[1], arrays[1]);
  for (const Array& array : arrays)
    if (array.dtype != p.dtype) throw Refusal("the operands of gemm have one dtype");
  if (a.cols != b.rows)
    throw Refusal(fmt::format("A has {} columns but B has {} rows", a.cols, b.rows));
  if (b.batch != 1 && b.batch != a.batch)
    throw Refusal(fmt::format("A has {} matrices, B has {}", a.batch, b.batch));
  p.size = {a.rows, b.cols, a.cols};
  p.shared_b = b.batch == 1 && a.batch != 1;
  if (arrays.size() < 3) return;
  const Extents c = extents(paths[2], arrays[2]);
  if (c.batch != a.batch || c.rows != a.rows || c.cols != b.cols)
    throw Refusal(fmt::format("C is {} of {}x{}, but A B is {} of {}x{}", c.batch, c.rows, c.cols,
                              a.batch, a.rows, b.cols));
}

}  // namespace

Problem problem_of(Operation operation, const std::vector<std::string>& paths,
                   const std::vector<Array>& arrays) {
  const Extents a = extents(paths[0], arrays[0]);
  Problem p = problem_of(operation, arrays[0].dtype, {a.rows, a.cols, 0});
  for (size_t i = 0; i < std::min(arrays.size(), p.layout.size()); ++i)
    p.layout[i] = arrays[i].fortran_order ? 'c' : 'r';
  if (operation == Operation::reduce) {
    p.size.rows *= a.batch;
    check_alike(arrays);
    return p;
  }
  p.batch = a.batch;
  if (operation == Operation::gemm) pose_gemm(p, paths, arrays);
  return p;
}

Array read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, fmt::format("can't be read: {}", std::strerror(errno)));
  const std::string header = read_header(path, file);
  Array array;
  array.descr = value_within(path, header, "descr", '\'', '\'');
  array.dtype = dtype_of_descr(path, array.descr);
  array.shape = parse_shape(path, header);
  const std::string_view order = value_of(path, header, "fortran_order");
  if (!order.starts_with("True") && !order.starts_with("False"))
    refuse(path, "malformed .npy: fortran_order is neither True nor False");
  array.fortran_order = order.starts_with("True");
  const uint64_t bytes = byte_count(path, array);
  // The size on disk is asked first, so that a header's lie allocates nothing.
  const auto begin = uint64_t(file.tellg());
  const uint64_t on_disk = std::filesystem::file_size(path);
  if (on_disk - begin != bytes)
    refuse(path,
           fmt::format("has {} bytes of data, but its header says {}", on_disk - begin, bytes));
  array.data.resize(bytes);
  if (bytes != 0 && !file.read(reinterpret_cast<char*>(array.data.data()), std::streamsize(bytes)))
    refuse(path, "can't be read to its end");
  return array;
}

void write_npy(const std::string& path, const Array& array) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  array.descr.empty() ? npy_descr(array.dtype) : array.descr,
                  fmt::join(array.shape, ", "), array.shape.size() == 1 ? "," : "");
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11,
                ' ');  // data begins at a multiple of 64
  header += '\n';

  write_whole(path, [&](std::ostream& file) {
    const auto length = uint16_t(header.size());
    file.write("\x93NUMPY\x01\x00", 8);
    file.put(char(length & 0xff)).put(char(length >> 8));
    file << header;
    file.write(reinterpret_cast<const char*>(array.data.data()),
               std::streamsize(array.data.size()));
  });
}

}  // namespace trine::bench
