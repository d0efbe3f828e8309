// Copies in, kernels and copies out of the chunks of one call, each in a queue of its own: while one
// chunk is computed, the next is on its way in and the one before on its way out.
#pragma once

#include <functional>

#include "core/src/runtime/transfer.hpp"

namespace trine::detail {

/// What is to be done for chunk i, by its number; each is called once a chunk, in order.
struct Stages {
  int chunks = 0;
  std::function<void(Lane&, int)> bring;     ///< may block while it moves bytes
  std::function<void(Queue&, int)> compute;  ///< enqueues
  std::function<void(Lane&, int)> take;      ///< returns when the bytes have arrived
};

/// Returns when all is done; throws what failed first. Then work may still be in flight in the lanes,
/// but take() isn't running any more. False: no thread was to be had, and nothing has been done.
bool run_overlapped(Lane& in, Lane& kernel, Lane& out, const Stages& stages);

}  // namespace trine::detail
