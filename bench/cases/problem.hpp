// The two forms that a case takes: the oracle's description, which knows shapes, bytes and flops,
// and the API's operation over device memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "case.hpp"
#include "oracle/operation.hpp"

namespace trine::bench {

/// N, RxC or MxNxK; one number is square for transpose and gemm and a vector for reduce. Each
/// factor takes a suffix k, M, G (powers of 1024) or is 2^k. Throws Refusal on anything that is no
/// size, or whose element count overflows 64 bits.
Size parse_size(Operation operation, std::string_view text);

/// "2^24", "4096x4096", "512x512x512": the way parse_size reads it back.
std::string to_string(Operation operation, const Size& size);

/// The result's dtype where none was asked for.
Dtype default_result(const Problem& problem);
/// A problem of dense row-major operands.
Problem problem_of(Operation operation, Dtype dtype, const Size& size = {},
                   Function function = Function::sum, Axis axis = Axis::all);

/// The oracle's description: dense views in the problem's layout, without memory.
oracle::Operation plan(const Problem& problem);

/// Bytes of each operand, the output last.
std::vector<uint64_t> operand_bytes(const Problem& problem);

/// The description with host memory, one pointer an operand.
oracle::Operation host_operation(const Problem& problem, const std::vector<void*>& data);
/// The same as views for the one-line calls, and such a call, by the problem's function, map, axis
/// and scalars.
std::vector<HostView> host_views(const Problem& problem, const std::vector<void*>& data);
void call_on_host(const Problem& problem, const std::vector<HostView>& views,
                  const HostOptions& options);
/// The operation over device memory: one (buffer, byte offset) an operand.
struct Place {
  Buffer buffer;
  uint64_t offset = 0;
};
DeviceOperation device_operation(const Problem& problem, const std::vector<Place>& places);
/// Its shapes alone, without memory.
DeviceOperation planned(const Problem& problem);
/// The kernel that would run, by the device's own choice or by the rung named; throws Error where
/// the device or the rung takes no such call.
Choice choice_of(const Device& device, const Problem& problem, const std::string& rung = {});
/// The problem in the tuning table's words.
std::string tuning_key(const Problem& problem);
/// Enqueues it by the rung named, or by the device's own choice.
Choice launch(Queue& queue, const DeviceOperation& operation, const std::string& rung);

/// The amount that the rate counts: flops of a gemm, else the least bytes moved.
double work(const Problem& problem);
uint64_t footprint(const Problem& problem);  ///< bytes of all operands
/// Whether the rate is quoted in flop/s (gemm) or bytes/s.
bool rated_by_flops(const Problem& problem);
/// As people read it, "flop", or "op" of integers: one operation, and the unit of the problem's
/// rate: "B/s", "flop/s" or "op/s". In files it is flop/s for all dtypes.
const char* operation_word(Dtype dtype);
std::string rate_unit(const Problem& problem);

/// "reduce sum f32 2^24", "gemm f64 512x512x512 rcr".
std::string to_string(const Problem& problem);
/// The same without its size, and with the result's dtype.
std::string kind_text(const Problem& problem);
/// Throws Refusal on a layout, function, map or dtype that the operation doesn't have.
void check(const Problem& problem);
/// Refuses what the machine's memory doesn't hold, before anything is allocated: past that the
/// kernel kills the program without a word. `processes`: that do the same on it.
void check_memory(const Problem& problem, bool verifies, int processes = 1);

}  // namespace trine::bench
