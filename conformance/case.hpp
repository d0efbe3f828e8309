// The list of conformance cases: every operation × dtype × axis or layout × value class, with the
// sizes, strides and offsets where kernels go wrong.
//
// A case is one input. It runs on every device, there on one rung or on all of the ladder. Its name
// says everything about it, seeds its values, and addresses its golden digest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/operation.hpp"

namespace trine::conformance {

/// Which rungs run a case. The whole ladder runs cases that each rung may get wrong by itself. On a
/// GPU each new combination of dtype, function and map of a rung costs a compilation.
enum class Rungs { kDefault, kLadder };

/// How a case runs.
struct CaseOptions {
  Rungs rungs = Rungs::kDefault;
  bool quick = false;                ///< part of `--quick`
  bool hostile_environment = false;  ///< the caller has set FTZ, DAZ and upward rounding
  bool fast = false;                 ///< runs once more asking for fast numerics
  bool parameters = false;           ///< every rung with every combination of its parameters
  bool far = false;         ///< memory too wide for guard zones: elements are copied row by row
  std::string detail = {};  ///< further words of the name
};

struct Case : CaseOptions {
  std::string name;
  oracle::Operation plan;  ///< views without memory; offsets count from a 256-byte border
  oracle::Values values = oracle::Values::kUniform;
  uint64_t seed = 0;
  bool tight = false;   ///< random: each operand in memory of a random kind that just holds it
  bool beside = false;  ///< the first operand's memory begins a byte early: it is refused
  std::string dtype, layout;  ///< classes that are counted; layout is the axis for reduce
};

/// All cases in a fixed order, names unique.
const std::vector<Case>& all_cases();
/// A case that the seed makes up. It has no golden digest.
Case random_case(uint64_t seed);

class Dice;

namespace detail {

/// An operation of any kind: random_reduce and its sisters.
#define TRINE_RANDOM(VALUE, word, ...) oracle::Operation random_##word(Dice& dice);
TRINE_OPERATIONS(TRINE_RANDOM)
#undef TRINE_RANDOM

/// Collects cases; names them and derives their seeds.
class List {
 public:
  using Options = CaseOptions;
  Case& add(const oracle::Operation& plan, const std::string& layout, oracle::Values values,
            const Options& options);
  std::vector<Case> take() { return std::move(cases_); }

 private:
  std::vector<Case> cases_;
};

#define TRINE_CASES(VALUE, word, ...) void add_##word##_cases(List& list);
TRINE_OPERATIONS(TRINE_CASES)
#undef TRINE_CASES
void add_state_cases(List& list);  ///< by add_reduce_cases()
void add_exact_cases(List& list);  ///< by add_gemm_cases()

/// Lays out a, b and c: by columns where the mask has a bit, else by rows. Rows or columns, and
/// matrices of a batch, are `pad` elements farther apart than they need to be. Returns the layout's
/// name: "ntn".
std::string lay_out(trine_gemm& op, int mask, int64_t pad = 0);

}  // namespace detail
}  // namespace trine::conformance
