// Sizes as they are written on the command line: N, RxC or MxNxK; one number is square for
// transpose and gemm and a vector for reduce. Each factor takes a suffix k, M, G (powers of 1024)
// or is 2^k.
#pragma once

#include <string>
#include <string_view>

#include "case.hpp"

namespace trine::bench {

/// Throws Refusal on anything that is no size, or whose element count overflows 64 bits.
Size parse_size(Operation operation, std::string_view text);

/// "2^24", "4096x4096", "512x512x512": the way parse_size reads it back.
std::string to_string(Operation operation, const Size& size);

}  // namespace trine::bench
