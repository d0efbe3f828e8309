// The public functions that take an operation; all operations have the same bodies.
#include <trine/host.hpp>
#include <trine/tuning.hpp>

#include "core/src/auto/placement.hpp"
#include "core/src/call/run.hpp"
#include "core/src/receipts/receipt.hpp"
#include "host_call.hpp"

namespace trine {

#define TRINE_FUNCTIONS_OF(VALUE, word, Struct)                                                  \
  Choice run(Queue& queue, const Struct& operation, std::string_view rung) {                     \
    return detail::run_with_receipt(queue, operation, rung);                                     \
  }                                                                                              \
  Choice choose(const Device& device, const Struct& operation, std::string_view rung) {          \
    return detail::choose(device, operation, rung);                                              \
  }                                                                                              \
  Placement place(const Struct& operation, Where where, int repeats,                             \
                  std::span<const Device> among) {                                               \
    return detail::place(operation, where, repeats, among);                                      \
  }                                                                                              \
  std::string tuning_key(const Struct& operation) {                                              \
    return detail::entry([&] { return detail::tuning_key(operation); });                         \
  }                                                                                              \
  Candidate SavedCalibration::predict(const Struct& operation, Where where, int repeats) const { \
    return detail::predict(*this, *measured_, operation, where, repeats);                        \
  }
TRINE_OPERATIONS(TRINE_FUNCTIONS_OF)

void reduce(Function function, Map map, Axis axis, const ConstHostView& input,
            const HostView& output, const HostOptions& options) {
  detail::run_on_host(Reduce{function, map, axis, {}, {}, options.numerics},
                      std::array<ConstHostView, 2>{input, output}, options);
}
void dot(const ConstHostView& x, const ConstHostView& y, const HostView& output, Axis axis,
         const HostOptions& options) {
  detail::run_on_host(Reduce{.map = Map::product, .axis = axis, .numerics = options.numerics},
                      std::array<ConstHostView, 3>{x, y, output}, options);
}
void transpose(const ConstHostView& input, const HostView& output, const HostOptions& options) {
  detail::run_on_host(Transpose{}, std::array<ConstHostView, 2>{input, output}, options);
}
void gemm(double alpha, const ConstHostView& a, const ConstHostView& b, double beta,
          const HostView& c, const HostOptions& options) {
  detail::run_on_host(Gemm{alpha, beta, {}, {}, {}, options.numerics, options.continues},
                      std::array<ConstHostView, 3>{a, b, c}, options);
}

}  // namespace trine
