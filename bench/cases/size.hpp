// Sizes as they are written on the command line: N, RxC or MxNxK; one number is square for
// transpose and gemm and a vector for reduce. Each factor takes a suffix k, M, G (powers of 1024)
// or is 2^k.
#pragma once

#include <trine/trine.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace trine::bench {

/// reduce: rows x cols (a vector is n x 1); transpose: rows x cols; gemm: rows = m, cols = n, depth = k.
struct Size {
  int64_t rows = 0, cols = 0, depth = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

/// Throws Refusal on anything that is no size, or whose element count overflows 64 bits.
Size parse_size(Operation operation, std::string_view text);

/// "2^24", "4096x4096", "512x512x512": the way parse_size reads it back.
std::string to_string(Operation operation, const Size& size);

}  // namespace trine::bench
