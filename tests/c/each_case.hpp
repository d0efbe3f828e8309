// The conformance cases for a caller in another language: each operand lies on the host, the caller
// makes the call, and every byte is judged. The oracle's results must have the committed digests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iostream>

#include "case_calls.h"
#include "conformance/arena.hpp"
#include "conformance/goldens.hpp"

namespace trine::conformance {

/// A way to call a case: it takes the operation, whose views point into the images, and the images.
struct Binding {
  const char* name;
  std::function<trine_status(oracle::Operation&, const std::vector<Image>&)> call;
  int64_t run = 0, refused = 0, left_out = 0;
};

inline void take(Binding& binding, const Case& c, const Arenas& arenas) {
  std::vector<std::vector<char>> found;
  found.reserve(arenas.count());
  for (size_t a = 0; a < arenas.count(); ++a) found.push_back(arenas.before(a));
  std::vector<Image> images;
  images.reserve(found.size());
  for (std::vector<char>& image : found) images.push_back({image.data(), image.size()});
  oracle::Operation op = c.plan;
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(op)) {
    const Place at = arenas.place(index++);
    o.view->memory = images[at.arena].data;
    o.view->offset = at.offset;
  }
  const trine_status status = binding.call(op, images);
  if (status == kLeftOut) {
    ++binding.left_out;
  } else if (status == TRINE_UNSUPPORTED) {
    ++binding.refused;
  } else {
    ++binding.run;
    EXPECT_EQ(status, TRINE_OK) << binding.name << ", " << c.name << ": " << trine_last_error();
    EXPECT_EQ(arenas.judge(found, TRINE_REPRODUCIBLE), "") << binding.name << ", " << c.name;
  }
}

/// Takes every case along each binding, up to the first failure.
inline void each_case(std::vector<Binding> bindings) {
  for (const Case& c : all_cases()) {
    if (c.far) continue;  // its memory is too wide for images
    const Arenas arenas(c);
    ASSERT_EQ(golden(c.name), arenas.digest()) << c.name;
    for (Binding& binding : bindings) take(binding, c, arenas);
    if (testing::Test::HasFailure()) break;
  }
  for (const Binding& binding : bindings) {
    std::cout << binding.name << ": " << binding.run << " cases run, " << binding.refused
              << " refused, " << binding.left_out << " left out\n";
    EXPECT_GE(binding.run, 2000) << binding.name;
  }
}

inline const void* descriptor_of(const oracle::Operation& op) {
  return std::visit([](const auto& descriptor) -> const void* { return &descriptor; }, op);
}

}  // namespace trine::conformance
