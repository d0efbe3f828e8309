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

/// Reads what NumPy reads (numpy.lib.format), strings with escapes excepted. `long_integers`: extents may be written as
/// Python 2 does, 2L, which versions 1 and 2 of the format allow. Throws Refusal with a sentence that doesn't name the
/// file.
NpyHeader parse_npy_header(std::string_view text, bool long_integers);

/// NumPy's word for a dtype: f32 is "<f4".
std::string npy_descr(Dtype dtype);

}  // namespace trine::bench
