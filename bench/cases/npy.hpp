// Arrays in NumPy's .npy format, version 1 to 3: read in C or Fortran order, written in C order.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "npy_header.hpp"
#include "problem.hpp"

namespace trine::bench {

/// `descr` is what transpose keeps, and may be empty where an array is written.
struct Array : NpyHeader {
  std::vector<std::byte> data;
};

/// Throws Refusal on a file that can't be read, is no .npy, or holds what Trine doesn't take.
Array read_npy(const std::string& path);

/// The problem that they pose, operand by operand: a vector is n x 1, a third dimension in front is the batch
/// (reduce: more rows). Throws Refusal where they don't go together; `paths` say which.
Problem problem_of(Operation operation, const std::vector<std::string>& paths,
                   const std::vector<Array>& arrays);

/// Writes to a temporary beside `path` and renames it: there is never half a file.
void write_npy(const std::string& path, const Array& array);

}  // namespace trine::bench
