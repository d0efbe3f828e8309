// One pass of an operation over host data, in one of the ways to get it to a device and back: all at
// once from pageable or pinned memory, in chunks over three queues, or in place.
#pragma once

#include "bench/timing/expectation.hpp"
#include "chunks.hpp"

namespace trine::bench {

struct Way {
  std::string memory;    ///< "pageable", "pinned", "pipelined" (pinned, too), "shared" (in place)
  int chunks = 1;        ///< pipelined: how many
  int64_t cpu_rows = 0;  ///< pipelined: rows that the cpu computes meanwhile, the last ones
};

struct Pass {
  double alloc = 0,
         seconds = 0;       ///< seconds: from the first copy to the result, by the host's clock
  bool again = false;       ///< the parts didn't tell the rounding: the whole was computed again
  std::vector<Span> spans;  ///< by the device's clock; those of the cpu by its own
  double total() const { return alloc + seconds; }
};

/// A CPU that computes in the host's memory. Integrated GPUs share it, but their drivers pin no page twice, as
/// the operands of ordinary vectors would need.
bool in_place(const Device& device);

/// The ways of a device: where it computes in the host's memory anyway, there is but one.
std::vector<Way> ways_of(const Device& device);

/// Throws Refusal where the cpu can't take a part of the rows.
void check_overlap(const Problem& problem);

class Pipeline {
 public:
  Pipeline(const Device& device, const Problem& problem, const Expectation& expectation, Way way);

  /// On window `w` of the inputs; the output is poisoned before the clock starts.
  Pass once(int w);
  const void* output() const { return host_.back(); }

 private:
  HostData host(int w) const;
  Pass in_place(const HostData& host);
  Pass in_chunks(const HostData& host);
  struct Moments {
    Event begin, end;
  };
  Moments on_cpu(const HostData& host);

  Problem problem_;
  Way way_;
  std::vector<Queue> queues_;  ///< in, kernel, out; or one for all
  Queue cpu_;
  std::vector<Strip> strips_;
  std::vector<Buffer> pinned_;
  std::vector<std::vector<std::byte>> pageable_;
  HostData host_;
  double elsewhere_ = 0;  ///< the cpu's part of a reduction, of any dtype
};

}  // namespace trine::bench
