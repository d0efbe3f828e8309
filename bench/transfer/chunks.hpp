// An operation on host data cut into chunks of rows, each of which can be brought, computed and taken
// back by itself: row strips of a transpose, row panels of a gemm (B goes first), stretches of a
// reduction, whose results are combined to the same bits.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "bench/cases/problem.hpp"
#include "timeline.hpp"

namespace trine::bench {

/// Host memory of the operands, the output last.
using HostData = std::vector<void*>;

class Chunks {
 public:
  virtual ~Chunks() = default;
  /// Enqueue one chunk's part; the order between queues is the caller's business.
  virtual void bring(Queue& queue, int chunk) = 0;
  virtual void compute(Queue& queue, int chunk) = 0;
  virtual void take(Queue& queue, int chunk) = 0;
  virtual bool takes(int chunk) const = 0;  ///< whether there is anything to take
  /// After everything enqueued has passed: what is left to do on the host. `elsewhere`: a reduction's
  /// partial result of rows that aren't among the strips (`partial_dtype` says of what type), or null.
  /// Returns whether the whole had to be computed again.
  virtual bool finish(Queue& queue, const void* elsewhere) = 0;

  /// Allocates on the device and cuts `rows` of the operation's rows.
  static std::unique_ptr<Chunks> make(const Device& device, const Problem& problem,
                                      const HostData& host, const std::vector<Strip>& strips);
};

/// How many rows there are to cut: rows of the input, of C, or a reduction's elements; and at which
/// multiples it is best cut.
int64_t cuttable(const Problem& problem);
int64_t granule(const Problem& problem);

/// The dtype in which a part of a reduction leaves its result.
Dtype partial_dtype(const Problem& problem);

/// The operation on some of its rows, in place.
DeviceOperation strip_of(const Problem& problem, const std::vector<Place>& places, Strip strip);

/// The sum of `parts`, rounded once to `dtype` (f32 or f64), of which it is only known that it lies
/// within `error` of their exact sum: none where that leaves more than one answer (Ziv's test), and for
/// zero, infinite and NaN sums, whose sign and kind the parts don't tell.
std::optional<double> certain_sum(std::span<const double> parts, double error, Dtype dtype,
                                  const std::string& device = "cpu");

}  // namespace trine::bench
