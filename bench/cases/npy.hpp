// Arrays in NumPy's .npy format, version 1 to 3: read in C or Fortran order, written in C order.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "problem.hpp"

namespace trine::bench {

struct NpyHeader {
  Dtype dtype = Dtype::f32;
  std::string descr;  ///< NumPy's own word for the dtype: "<f4", also where `=f4` was written
  std::vector<int64_t> shape;  ///< 0 to 3 dimensions
  bool fortran_order = false;
};

/// Reads a header's text, a Python dictionary, as NumPy and other programs write it: each key once
/// or more, strings in quotes of either kind without escapes, decimal extents, which Python 2 wrote
/// as 2L. Throws Refusal with a sentence that doesn't name the file.
NpyHeader parse_npy_header(std::string_view text);
/// NumPy's word for a dtype: f32 is "<f4".
std::string npy_descr(Dtype dtype);

/// Transposes keep `descr`, which may be empty where an array is written.
struct Array : NpyHeader {
  std::vector<std::byte> data;
};

/// Throws Refusal on a file that can't be read, is no .npy, or holds what Trine doesn't take.
Array read_npy(const std::string& path);

/// The problem that they pose, operand by operand: a vector is n x 1, a third dimension in front is
/// the batch (reduce: more rows). Throws Refusal where they don't go together; `paths` say which.
Problem problem_of(Operation operation, const std::vector<std::string>& paths,
                   const std::vector<Array>& arrays);

/// Writes to a temporary beside `path` and renames it: there is never half a file.
void write_npy(const std::string& path, const Array& array);

}  // namespace trine::bench
