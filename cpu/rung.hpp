// A rung of the CPU backend: one row of data with the functions behind it.
//
// Each operation's folder hands out its ladder as a table of rows (cpu/reduce/rungs.cpp and so on).
// A rung never throws, prints or allocates: memory comes from its workspace, threads from
// `Parallel`. The executor has set the floating-point environment (round to nearest, no FTZ, no
// DAZ) on every thread before a body runs. Rungs written in Kokkos (kokkos.hpp) have Kokkos's
// threads and scratch memory instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>

#include "backends/abi.h"
#include "backends/kit/words.hpp"
#include "backends/ops.h"

namespace trine::cpu {

using kit::number_of;

// The threads that one launch may use. The work is cut into `count` chunks, which idle threads take
// one after the other; body(index, thread) runs once for each index, and
// `thread` < threads() names scratch that no other running body uses. Returns when all are done.
// Calls don't nest. Which thread takes which chunk varies from run to run: bits may not depend on
// it.
class Parallel {
 public:
  using RunChunk = void (*)(void* body, std::int64_t index, int thread);
  // The chunks that a thread takes: the next one of all, or first those of its own part. That part
  // is the same in each loop with this number of chunks, so that its data is still in the thread's
  // caches.
  enum class Order { ascending, own };

  int threads() const { return threads_; }
  // Null, or the witness that is shown the memory that the launch reads, in chunks that fit a
  // cache, each before it is read.
  const trine_witness* witness = nullptr;

  template <class Body>
  void parallel_for(std::int64_t count, Body&& body, Order order = Order::ascending) {
    using Plain = std::remove_reference_t<Body>;
    run(
        count,
        [](void* self, std::int64_t index, int thread) {
          (*static_cast<Plain*>(self))(index, thread);
        },
        const_cast<void*>(static_cast<const void*>(std::addressof(body))), order);
  }

 protected:
  explicit Parallel(int threads) : threads_(threads) {}
  ~Parallel() = default;
  virtual void run(std::int64_t count, RunChunk run_chunk, void* body, Order order) = 0;

 private:
  int threads_;
};

// One thread, the caller's: small work, and unit tests.
class Serial final : public Parallel {
 public:
  Serial() : Parallel(1) {}

 private:
  void run(std::int64_t count, RunChunk run_chunk, void* body, Order) override {
    for (std::int64_t index = 0; index < count; ++index) run_chunk(body, index, 0);
  }
};

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

constexpr double kNeverSmall = std::numeric_limits<double>::infinity();

// Whether the caller's thread does `nanoseconds` of work no later than `threads` would that take
// `hand_over` to begin.
inline bool is_small(double nanoseconds, double hand_over, int threads) {
  return nanoseconds - nanoseconds / threads <= hand_over && nanoseconds <= 2 * hand_over;
}

// A row of a ladder: the contract's, and the functions behind it. `parameters` are the chosen
// values as numbers, in the row's order; `threads` is an upper bound of Parallel::threads().
// Operations arrive validated by core: rungs check no arguments.
template <class Operation>
struct Rung {
  using Run = void(const Operation& op, const std::int64_t* parameters, void* workspace,
                   Parallel& parallel);
  using Nanoseconds = double(const Operation& op, int threads);
  using WorkspaceBytes = std::size_t(const Operation& op, const std::int64_t* parameters,
                                     int threads);
  using Refuses = const char*(const Operation& op, const std::int64_t* parameters);
  using Pays = bool(const Operation& op, int threads);

  trine_rung row;
  Run* run;
  // A rough estimate of the time of one thread for data in the caches; a longer time if `threads`
  // should share the work all the same. Work that would gain less than the hand-over costs runs on
  // the caller's thread. Null: the rung runs on Kokkos, on all threads of the device, and is called
  // by the executor's thread alone.
  Nanoseconds* nanoseconds;
  // Null: it needs none. Workspaces are aligned to 64 bytes and hold what the last user left there.
  WorkspaceBytes* workspace_bytes = nullptr;
  // Null, or the reason (static storage) why this rung can't do `op`. A null function: it can do
  // all.
  Refuses* refuses = nullptr;
  // Null, or whether it is faster than the rungs before it; else it must be named.
  Pays* pays = nullptr;

  bool needs_kokkos() const { return !nanoseconds; }
  std::span<const trine_parameter> parameters() const {
    return {row.parameters, static_cast<std::size_t>(row.parameter_count)};
  }
};

// `summary` is one line: the idea.
constexpr trine_rung row(const char* name, const char* summary, trine_numerics numerics,
                         std::span<const trine_parameter> parameters = {},
                         std::uint64_t takes = 0) {
  return {sizeof(trine_rung),
          static_cast<std::uint32_t>(numerics),
          name,
          summary,
          nullptr,
          parameters.data(),
          static_cast<std::int32_t>(parameters.size()),
          sizeof(trine_parameter),
          takes};
}

// A tunable number, its legal values in words; the first is the default.
constexpr trine_parameter parameter(const char* name, std::span<const char* const> values) {
  return {sizeof(trine_parameter), static_cast<std::int32_t>(values.size()), 0, name,
          values.data()};
}
using ReduceRung = Rung<trine_reduce>;
using TransposeRung = Rung<trine_transpose>;
using GemmRung = Rung<trine_gemm>;

// The ladders, naive first; the last row that doesn't refuse an operation is its default.
std::span<const ReduceRung> reduce_rungs();
std::span<const TransposeRung> transpose_rungs();
std::span<const GemmRung> gemm_rungs();

void run_elementwise(void* command, Parallel& parallel);  // a trine_elementwise (elementwise.cpp)

}  // namespace trine::cpu
