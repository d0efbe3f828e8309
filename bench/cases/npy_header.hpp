// The text of a .npy file's header: a Python dictionary, as NumPy and other programs write it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"

namespace trine::bench {

struct NpyHeader {
  Dtype dtype = Dtype::f32;
  std::string descr;  ///< NumPy's own word for the dtype: "<f4", also where `=f4` was written
  std::vector<int64_t> shape;  ///< 0 to 3 dimensions
  bool fortran_order = false;
};

/// Reads what NumPy and other programs write: each key once or more, strings in quotes of either kind
/// without escapes, decimal extents, which Python 2 wrote as 2L. Throws Refusal with a sentence that
/// doesn't name the file.
NpyHeader parse_npy_header(std::string_view text);

/// NumPy's word for a dtype: f32 is "<f4".
std::string npy_descr(Dtype dtype);

}  // namespace trine::bench
