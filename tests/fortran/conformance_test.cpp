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

TEST(conformance, a_new_operation_is_left_out_until_fortran_calls_it) {
  EXPECT_EQ(call_fortran(TRINE_OPERATION_COUNT + 1, nullptr), kNotInFortran);
}

}  // namespace
}  // namespace trine::conformance
