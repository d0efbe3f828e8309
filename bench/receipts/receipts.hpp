// The files of TRINE_RECEIPTS: read, compared, and run again.
#pragma once

#include <trine/trine.hpp>

#include <optional>
#include <string>
#include <vector>

namespace trine::bench {

struct ReadOperand {
  std::string name, digest, before;
  bool is_output = false;
  ConstHostView shape;  ///< without memory
};

struct ReadCall {
  int64_t line = 0;
  uint64_t call = 0;
  int64_t process = 0, thread = 0;
  std::string operation, function, map, axis, numerics, alpha, beta, device, rung, promise, why;
  bool continues = false;             ///< gemm: the chains began at c
  std::vector<ReadOperand> operands;  ///< the output last

  /// "gemm f32 128x64 64x32 128x32": what two programs must have in common here.
  std::string text() const;
  /// Scalars and the digests of all that is read.
  std::string inputs() const;
  const std::string& output() const { return operands.back().digest; }
};

struct Receipts {
  std::string path, program;
  std::vector<ReadCall> calls;  ///< by process, then by number
  int processes = 0;            ///< those with calls
  int threads = 1;              ///< the most in a process
  bool is_torn = false;         ///< a line isn't whole: where a program, or the disk, ended
};
/// Throws Refusal for a file that can't be read or has lines of something else.
Receipts read_receipts(const std::string& path);

/// Two programs' calls side by side.
struct Alignment {
  bool by_inputs = false;  ///< threads take turns: calls are paired by what they were given
  struct Pair {
    const ReadCall *a, *b;
  };
  std::vector<Pair> pairs;  ///< in a's order
  std::vector<const ReadCall*> only_a, only_b;
  std::optional<Pair> output;  ///< the first that was given the same and gave something else
  std::optional<Pair> input;   ///< the first that was given something else
  int64_t without_digests = 0;
  bool equal() const { return !output && !input && only_a.empty() && only_b.empty(); }
};
Alignment compare_receipts(const Receipts& a, const Receipts& b);
/// The operands that differ, in words: "`a`, `c` differ".
std::string differing_inputs(const Alignment::Pair& pair);

/// A call that ran again.
struct Again {
  enum class Outcome { equal, differs, not_run } outcome = Outcome::not_run;
  std::string rung;
  std::string sentence;  ///< the first element that differs, or why it didn't run
};
/// `folder` has what TRINE_RECEIPTS_KEEP kept.
Again run_again(const ReadCall& call, const std::string& folder, const std::string& device,
                const std::string& rung);

}  // namespace trine::bench
