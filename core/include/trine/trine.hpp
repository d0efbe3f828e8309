/// The whole API of Trine: reduce, transpose and gemm on CUDA, OpenCL and the CPU, with the same
/// bits on each. Apart are trine/kokkos.hpp, views of Kokkos::Views, and trine/c.hpp, C's values.
///
/// The headers, in the order in which they include each other:
/// - types.hpp: dtypes, options, Error
/// - device.hpp: the devices and their rungs
/// - queue.hpp: queues and events
/// - buffer.hpp: memory, views, copies; fitting.hpp: the arithmetic of their extents
/// - operations.hpp: Reduce, Transpose, Gemm, run()
/// - elementwise.hpp: axpby(), scalar()
/// - place.hpp: where to run, calibrate()
/// - host.hpp: one-line calls on host data; exact_sum.hpp, partial.hpp: sums, any reductions in
///   parts; tuning.hpp: the saved tuning table
#pragma once

#include <trine/version.h>
#include <trine/elementwise.hpp>
#include <trine/exact_sum.hpp>
#include <trine/host.hpp>
#include <trine/partial.hpp>
#include <trine/tuning.hpp>
