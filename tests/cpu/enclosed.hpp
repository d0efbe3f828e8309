// The tests of the rungs share these: memory between pages that nobody may touch, and threads that
// take turns.
#pragma once

#include "conformance/guarded.hpp"
#include "rung.hpp"
#include "with_kokkos.hpp"

namespace trine::cpu {

/// Flush with the first of the pages or with the last.
struct Enclosed : conformance::Guarded {
  Enclosed(std::size_t bytes, bool at_end) : Guarded(bytes, at_end ? At::end : At::begin) {}
};

/// Every piece on one of some threads, in turn, so that each gets another scratch.
class TakingTurns final : public Parallel {
 public:
  explicit TakingTurns(int threads = 3) : Parallel(threads) {}

 private:
  void run(std::int64_t count, RunChunk run_chunk, void* body, Order) override {
    for (std::int64_t i = 0; i < count; ++i) run_chunk(body, i, static_cast<int>(i % threads()));
  }
};

}  // namespace trine::cpu
