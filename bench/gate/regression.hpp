// Two runs held against each other, case by case: what is faster, slower, the same, or not to be told.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "rank_tests.hpp"

namespace trine::bench {

enum class Verdict { same, faster, slower, ambiguous, failed, missing };
std::string_view name(Verdict verdict);

/// One case as both files have it.
struct Comparison {
  std::string name;                          ///< "gemm f32 256x256x256 on cpu, resident, single"
  std::string device;                        ///< "cpu"
  std::vector<double> base, next;            ///< seconds, a round each; empty: no figure
  std::vector<double> base_roof, next_roof;  ///< the roof beside them, in the same rounds
  bool paired = false;                       ///< base[i] was measured beside next[i], interleaved
  double drift = 0;      ///< of its device, which cases in pairs share; see drift_of()
  bool drifted = false;  ///< by more than the margin
  Verdict verdict = Verdict::same;
  Shift shift;
  std::string note;  ///< why it failed, is missing or ambiguous; another rung than before

  bool has_shift() const { return verdict != Verdict::failed && verdict != Verdict::missing; }
};

/// The cases of two documents of `trine … --json`. Throws Refusal where they can't be compared: not such
/// documents, no rounds, no case in both, or another host, device or driver unless `across`.
std::vector<Comparison> compared(const nlohmann::ordered_json& base,
                                 const nlohmann::ordered_json& next, bool across);

/// By how much a device itself was slower, on a logarithmic scale: the median over all its roofs. In turns
/// both runs had the same device, whatever it did: cases in pairs don't count.
double drift_of(const std::vector<Comparison>& all, const std::string& device);

/// Sets shift and verdict of every case. Slower is what is slower by more than `margin` (a logarithm) with
/// a probability of chance, corrected for the number of cases, below 5 %, and by more than the device
/// itself was; faster likewise; the same, what lies within the margin with its interval. Of a device that
/// itself changed by more than the margin all is ambiguous, equal times too.
void judge(std::vector<Comparison>& all, double margin);

/// 1 with a case slower or failed; 3 where an ambiguous one may be slower (of a drifted device, any), or
/// one is missing whose baseline has a figure, unless `allow_missing`; else 0.
int gate_code(const std::vector<Comparison>& all, double margin, bool allow_missing = false);

/// Rounds with which a judged case that hasn't changed would be called the same nine times in ten, if they
/// vary as these did: as many as make its interval, which narrows with the root of their number, no wider
/// than the margin (its half to each side, and as much again for where it lies). 0 with too few to tell.
double rounds_for_same(const Comparison& pair, double margin);

}  // namespace trine::bench
