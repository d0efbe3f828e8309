// The roofs that a figure stands beside, measured in the same run: how fast the device reads and
// copies memory of that size, and how many fused multiply-adds it does.
#pragma once

#include <trine/trine.hpp>

#include <string>
#include <string_view>

#include "bench/cases/problem.hpp"

namespace trine::bench {

struct Roof {
  double value = 0;  ///< bytes/s or flop/s; 0 when unknown
  std::string unit;  ///< "B/s", "flop/s"
  std::string what;  ///< "read", "copy", "fma", "tensor"
};

/// Whether a device computes on the host's own cores: the cpu, and OpenCL on CPUs.
bool on_host(const Device& device);

/// The roof of a problem on a device. The CPU's memory roofs are measured over the memory that the
/// timed launches walk, the operands and all of `written` bytes that take the results in turn, so
/// that caches help both sides alike. Figures are kept for the run; `again` measures once more and
/// keeps the higher: a machine that was busy the first time has a higher roof than it showed.
/// Cores' arithmetic is then that of one core alone, times the cores: on a busy machine threads
/// that start together don't run together. Exact and fast products have none: they may go over
/// units that are faster than multiply-adds of their dtype.
Roof roof_of(const Device& device, const Problem& problem, uint64_t written = 0,
             bool again = false);

/// "read" or "copy" of a device's memory in bytes/s: `read` bytes, or both. A GPU's copy is the
/// driver's own.
double memory_rate(const Device& device, std::string_view what, uint64_t read, uint64_t written);

/// flop/s of independent chains of multiply-adds on one kind of unit, "fma" or "tensor"; 0 where
/// there is none, and for integers: their products may go over units that are faster than
/// multiply-adds.
double arithmetic_rate(const Device& device, Dtype dtype, std::string_view unit);

/// A new round measures its own.
void forget_roofs();

}  // namespace trine::bench
