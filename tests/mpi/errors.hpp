// Tests of errors share these functions: an error as a text, the same on all ranks.
#pragma once

#include <gtest/gtest.h>

#include "ranks.hpp"

namespace ranks {

/// The error that `call` throws, as one text; "nothing" if it throws none.
template <class Call>
std::string error_of(Call&& call) {
  try {
    call();
  } catch (const trine::Error& error) {
    return std::string(name(error.status())) + ": " + error.what();
  }
  return "nothing";
}

/// The error of a call on all ranks: it must be the same on each, and a call after it must work.
template <class Call>
std::string error_of_all(Call&& call) {
  std::string text = error_of(call);
  EXPECT_TRUE(same_on_all(text)) << text;
  EXPECT_EQ(trine::mpi::sum(std::vector<double>{1}, MPI_COMM_WORLD), size());
  return text;
}

}  // namespace ranks
