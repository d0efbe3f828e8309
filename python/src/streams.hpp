// The streams of other libraries: queues over them, and a call's order among the libraries' work.
#pragma once

#include "plan.hpp"

namespace trine::python {

/// A call on the arrays of one device. It runs on the stream that the caller names, else on that of
/// the output, and has its place in the order of the other arrays' streams, without a wait of the
/// host. Only where the output's library works on no stream that it tells, the host waits.
class Ordered {
 public:
  /// With the interpreter's lock. Arrays in the host's memory need no queue.
  Ordered(const Plan& plan, const Call& call);
  /// With the interpreter's lock, too: keeps the arrays alive while their work is in flight.
  ~Ordered();
  Ordered(const Ordered&) = delete;

  Queue& queue() { return queue_; }
  /// Without the lock: work() enqueues what has its place in that order. Where it fails midway, the
  /// parts that it has enqueued keep theirs.
  template <class Work>
  void run(Work&& work) {
    try {
      begin();
      work();
    } catch (...) {
      try {
        end();
      } catch (const Error&) {}  // the caller is told of the failure before it
      throw;
    }
    end();
  }

 private:
  void begin();
  void end();

  const Plan& plan_;
  Queue queue_;
  std::vector<Queue> others_;  ///< of the arrays that are ready on other streams
  bool is_named_, waits_ = false, keeps_ = false;
  Event end_;
};

/// Lets go of arrays whose work may still be in flight: the interpreter ends.
void forget_kept();

}  // namespace trine::python
