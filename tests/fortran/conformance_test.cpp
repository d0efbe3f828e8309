// The conformance cases through the Fortran module.
#include "arrays.h"
#include "tests/c/each_case.hpp"

namespace trine::conformance {
namespace {

TEST(conformance, through_fortran) {
  const auto call = [](const oracle::Operation& op, const std::vector<Image>&) {
    const int status = call_fortran(oracle::kind_of(op), descriptor_of(op));
    return status == kNotInFortran ? kLeftOut : trine_status(status);
  };
  each_case({{"Fortran", call}});
}

}  // namespace
}  // namespace trine::conformance
