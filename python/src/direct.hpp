// The calls that programs make most often, without the package's general way: a whole NumPy array
// reduced, two matrices multiplied. None is the answer where that way must take the call: it knows
// all arrays, shapes and refusals.
#pragma once

#include "calls.hpp"

namespace trine::python {

/// The reduction of all elements, as a scalar of NumPy's or into `out`.
nb::object reduce_whole(const std::string& function, const std::string& map, nb::handle x,
                        nb::object out, const Call& call);
/// alpha * a @ b + beta * out of two matrices, as a new matrix of their library or into `out`.
nb::object multiply_two(double alpha, nb::handle a, nb::handle b, double beta, nb::object out,
                        const Call& call);

}  // namespace trine::python
