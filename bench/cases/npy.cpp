#include "npy.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <trine/fitting.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "operations.hpp"

namespace trine::bench {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kLargestHeader = 1 << 16;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Refusal(fmt::format("{}: {}", path, why));
}

/// The bytes that are left in the file.
uint64_t bytes_left(const std::string& path, std::ifstream& file) {
  std::error_code unknown;
  const uint64_t size = std::filesystem::file_size(path, unknown);
  if (unknown) refuse(path, "not a regular file");
  return size - std::min(size, uint64_t(file.tellg()));
}

NpyHeader read_header(const std::string& path, std::ifstream& file) {
  std::array<char, 8> start{};
  if (!file.read(start.data(), start.size()) || std::string_view(start.data(), 6) != kMagic)
    refuse(path, "not a .npy file");
  const int version = static_cast<unsigned char>(start[6]),
            minor = static_cast<unsigned char>(start[7]);
  if (version < 1 || version > 3 || minor != 0)
    refuse(path, fmt::format(".npy version {}.{} is unknown", version, minor));
  const size_t bytes = version == 1 ? 2 : 4;
  std::array<unsigned char, 4> length{};
  if (!file.read(reinterpret_cast<char*>(length.data()), std::streamsize(bytes)))
    refuse(path, "malformed .npy: it ends in its header");
  const size_t size =
      length[0] | size_t(length[1]) << 8 | size_t(length[2]) << 16 | size_t(length[3]) << 24;
  if (size > kLargestHeader)
    refuse(path, fmt::format("malformed .npy: a header of {} bytes is more than {}, which is more "
                             "than any array needs",
                             size, kLargestHeader));
  if (size > bytes_left(path, file)) refuse(path, "malformed .npy: it ends in its header");
  std::string header(size, '\0');
  if (!file.read(header.data(), std::streamsize(size))) refuse(path, "can't be read to its end");
  try {
    return parse_npy_header(header);
  } catch (const Refusal& refusal) { refuse(path, refusal.what()); }
}

uint64_t byte_count(const std::string& path, const Array& array) {
  detail::Fitting<uint64_t> bytes = size_of(array.dtype);
  for (int64_t extent : array.shape) bytes = bytes * uint64_t(extent);
  if (!bytes.fits()) refuse(path, "its shape overflows 64 bits");
  return bytes.value_or(0);
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
    if (array.fortran_order)
      refuse(path,
             "three dimensions in Fortran order; save it in C order: numpy.save(FILE, "
             "numpy.ascontiguousarray(array))");
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
  const Description& is = describe(operation);
  if (!is.is_batched) {
    p.size.rows *= a.batch;
    check_alike(arrays);
    return p;
  }
  p.batch = a.batch;
  if (is.factors == 3) pose_gemm(p, paths, arrays);
  return p;
}

Array read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(path, fmt::format("can't be read: {}", std::strerror(errno)));
  Array array{read_header(path, file), {}};
  const uint64_t bytes = byte_count(path, array);
  // The size on disk is asked first, so that a header's lie allocates nothing.
  if (const uint64_t on_disk = bytes_left(path, file); on_disk != bytes)
    refuse(path, fmt::format("has {} bytes of data, but its header says {}", on_disk, bytes));
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
