// Programs that call the rungs themselves start Kokkos for those that are written in it, on the
// thread of the tests.
#pragma once

#include <gtest/gtest.h>

#include "kokkos.hpp"

namespace trine::cpu {

class WithKokkos : public testing::Environment {
 public:
  void SetUp() override { start_kokkos(3); }
};

inline testing::Environment* const with_kokkos = testing::AddGlobalTestEnvironment(new WithKokkos);

}  // namespace trine::cpu
