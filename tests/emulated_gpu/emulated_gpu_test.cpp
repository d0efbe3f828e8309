// CUDA's kernels, as far as both languages share their text, on this host: random calls of all
// shapes on every rung and tile, in memory that ends or begins at a page which may not be touched.
// Each vector must lie within its operand to the byte, as a GPU's checker of memory has it (a
// page's border doesn't see 16 bytes that begin in the last 8), and results must be the oracle's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "backends/gpu/specialization.hpp"
#include "conformance/case.hpp"
#include "conformance/dice.hpp"
#include "conformance/guarded.hpp"
#include "emulated.hpp"
#include "oracle/operation.hpp"

namespace {

using namespace trine::gpu;
namespace oracle = trine::oracle;
using trine::conformance::Dice;
using trine::conformance::Guarded;

const trine_device_facts& facts() {
  static const trine_device_facts one = [] {
    trine_device_facts f{};
    f.size = sizeof f;
    f.kind = TRINE_DEVICE_GPU;
    f.capabilities = ~uint64_t{0};
    f.compute_units = 3;  // so that small calls fill it, too
    f.max_group_threads = 1024;
    f.local_memory_bytes = emulated::kArena;
    f.max_buffer_bytes = uint64_t{1} << 40;
    return f;
  }();
  return one;
}

/// Memory that just holds an operand, known to the checker of vectors.
class Memory {
 public:
  Memory(const void* image, size_t bytes, Dice& dice)
      : pages_(bytes, dice.once_in(2) ? Guarded::At::end : Guarded::At::begin), bytes_(bytes) {
    if (image) std::memcpy(pages_.data(), image, bytes);
  }
  char* data() const { return pages_.data(); }
  emulated::Extent extent() const {
    const auto at = reinterpret_cast<uintptr_t>(data()), end = at + bytes_;
    const auto pointer = [](uintptr_t p) { return reinterpret_cast<const char*>(p); };
    return {pointer(at & ~uintptr_t{4095}), pointer((end + 4095) & ~uintptr_t{4095}), pointer(at),
            pointer(end)};
  }

 private:
  Guarded pages_;
  size_t bytes_;
};

uint64_t bits_of(const Argument& argument) {
  uint64_t bits = 0;
  std::memcpy(&bits, &argument.i64,
              argument.kind == Argument::kI32 || argument.kind == Argument::kF32 ? 4 : 8);
  return bits;
}

class EmulatedGpu : public testing::Test {
 protected:
  /// The call by a rung with its first parameter's value; false where that refuses it or isn't
  /// compiled here.
  bool run_by(const Variant& variant, int32_t value, const oracle::Operation& plan,
              oracle::Values values, uint64_t seed) {
    Dice dice(~seed);
    oracle::HostOperation host(plan);
    const Target target{kCuda, &facts()};
    trine_selection selection{};
    selection.size = sizeof selection;
    for (size_t p = 0; p < variant.parameters.size(); ++p)
      selection.values[p] = variant.parameters[p].default_value;
    if (!variant.parameters.empty()) selection.values[0] = value;
    const auto call_of = [](oracle::Operation& op) {
      return std::visit(
          [&](auto& one) {
            return trine_call{sizeof(trine_call), oracle::kind_of(op), &one};
          },
          op);
    };
    oracle::Operation op = host.op;
    const trine_call call = call_of(op);
    if (reason_against(variant, {target, selection, call, nullptr})) return false;
    oracle::fill(host.op, values, seed);
    std::vector<std::unique_ptr<Memory>> memory;
    size_t index = 0;
    for (const oracle::Operand& o : oracle::operands(op)) {
      memory.push_back(std::make_unique<Memory>(o.view->memory, host.bytes(index++), dice));
      o.view->memory = memory.back()->data();
    }
    const uint64_t bytes =
        variant.workspace_bytes ? variant.workspace_bytes({target, selection, call, nullptr}) : 0;
    const Memory space(nullptr, (bytes + 4095) / 4096 * 4096, dice);
    const trine_workspace workspace{sizeof workspace, space.data(), 0, bytes};
    Plan launches;
    variant.plan({target, selection, call, &workspace}, launches);
    for (int l = 0; l < launches.launch_count; ++l) {
      const Launch& launch = launches.launches[l];
      const Specialization one(variant, launches, launch);
      const std::string name = one.variant.kernels()[size_t(launch.entry)] +
                               suffix_of<std::string>(one.variant, one.macro);
      const emulated::Call kernel = emulated::kernel(name);
      if (!kernel) return false;
      emulated::extents.clear();
      for (const auto& part : memory) emulated::extents.push_back(part->extent());
      std::vector<uint64_t> arguments;
      arguments.reserve(size_t(launch.argument_count));
      for (int a = 0; a < launch.argument_count; ++a)
        arguments.push_back(bits_of(launch.arguments[a]));
      emulated::run(kernel, arguments, int(launch.grid[0]), int(launch.block[0]));
      for (const std::string& what : emulated::outside)
        ADD_FAILURE() << name << ", " << oracle::title(plan) << ": " << what;
      emulated::outside.clear();
      ran_.insert(name.substr(0, name.find("__")));
    }
    for (uint64_t byte = 0; byte < std::min<uint64_t>(bytes, TRINE_CONTROL_BYTES); ++byte)
      EXPECT_EQ(space.data()[byte], 0)
          << variant.name << " leaves tickets, " << oracle::title(plan);
    oracle::reference(host.op);
    const oracle::Operand got = oracle::output_of(op);
    const oracle::Difference difference = oracle::check(host.op, *got.view, variant.numerics);
    EXPECT_TRUE(difference.none()) << variant.name << " " << value << ", " << oracle::title(plan)
                                   << ", seed " << seed << ": " << difference.sentence();
    return true;
  }

  /// By each rung of the operation's ladder, one value of its parameter after the other.
  void run_by_all(const oracle::Operation& plan, oracle::Values values, uint64_t seed) {
    for (int r = 0; const Variant* variant = variant_at(r); ++r) {
      if (variant->operation != oracle::kind_of(plan) || !(variant->backends & kCuda) ||
          variant->numerics != TRINE_REPRODUCIBLE)
        continue;
      const int32_t count = variant->parameters.empty() ? 1 : variant->parameters[0].value_count;
      for (int32_t v = 0; v < count; ++v)
        if (run_by(*variant, (v + int32_t(seed)) % count, plan, values, seed)) break;
      if (HasFailure()) return;
    }
  }

  std::set<std::string> ran_;  ///< kernels, without their specializations' names
};

/// Calls that random ones hardly make: columns without gaps, long products, dense rows of an odd
/// number of elements, a large C by short k, exact products of so many steps that a group computes
/// an element, or that groups share a row.
std::vector<oracle::Operation> rare_calls(uint64_t seed) {
  const auto odd = int64_t(seed % 20 * 2 + 1);
  const uint32_t bytes = seed % 3 == 0 ? 2 : 1;
  const auto thin = int64_t(2 + seed % (bytes == 2 ? 7 : 15)), count = int64_t(12000 / thin + seed);
  oracle::Operation deep =
      oracle::plan_gemm(seed % 2 ? TRINE_F32 : TRINE_F64, 3, odd, int64_t(1025 + seed));
  oracle::Operation deeper =
      oracle::plan_gemm(seed % 2 ? TRINE_F64 : TRINE_F32, 3, 5, int64_t(4090 + 23 * seed));
  oracle::Operation small = oracle::plan_gemm(TRINE_F32, odd, odd + 2, odd);
  for (oracle::Operation* op : {&deep, &deeper, &small})
    std::get<trine_gemm>(*op).numerics = TRINE_EXACT;
  return {deep,
          deeper,
          small,
          oracle::plan_reduce(TRINE_SUM, TRINE_IDENTITY, TRINE_EACH_COLUMN, TRINE_F32,
                              int64_t(100 + seed), int64_t(3 + seed * seed)),
          oracle::plan_reduce(TRINE_PROD, TRINE_IDENTITY, TRINE_ALL,
                              seed % 2 ? TRINE_F32 : TRINE_F64, 1, int64_t(3000 + 97 * seed)),
          oracle::plan_gemm(TRINE_F64, odd, odd + 2, odd, 1, 0, 3),
          oracle::plan_gemm(seed % 2 ? TRINE_F32 : TRINE_F64, int64_t(60 + 13 * seed), odd + 30,
                            int64_t(1 + seed), 2),
          oracle::plan_transpose(1u << seed % 4, odd, odd + 4, 40),
          seed % 2 ? oracle::plan_transpose(bytes, thin, count)
                   : oracle::plan_transpose(bytes, count, thin)};
}

TEST_F(EmulatedGpu, touches_nothing_but_operands_and_computes_what_the_oracle_does) {
  constexpr uint64_t kSeeds = 1000;
  constexpr double kMostBytes = 60000, kMostFlops = 400000;  // a call's
  for (uint64_t seed = 0; seed < kSeeds && !HasFailure(); ++seed) {
    const trine::conformance::Case c = trine::conformance::random_case(seed);
    oracle::Operation plan = c.plan;
    if (auto* gemm = std::get_if<trine_gemm>(&plan); gemm && seed % 3 == 0)
      gemm->numerics = TRINE_EXACT;
    const oracle::Operand first = oracle::operands(plan).front();
    const bool empty = oracle::extent_bytes(*first.view, first.dtype) == 0;  // core answers these
    if (empty || oracle::bytes_moved(plan) > kMostBytes || oracle::flops(plan) > kMostFlops)
      continue;
    run_by_all(plan, c.values, seed);
  }
  for (uint64_t seed = 0; seed < 18; ++seed)
    for (const oracle::Operation& plan : rare_calls(seed))
      run_by_all(plan, oracle::Values::kUniform, seed);
  for (const oracle::Values values : oracle::product_values())
    for (uint64_t seed = 0; seed < 6; ++seed)
      for (size_t exact = 0; exact < 3; ++exact) run_by_all(rare_calls(seed)[exact], values, seed);
  // The bound of a chain of 32 steps is reached, and no chain behind it makes it larger.
  oracle::Operation drift = oracle::plan_gemm(TRINE_F32, 20, 21, 65);
  std::get<trine_gemm>(drift).numerics = TRINE_EXACT;
  for (uint64_t seed = 0; seed < 14; ++seed) run_by_all(drift, oracle::Values::kDrift, seed);
  for (const std::string& kernel : emulated::kernels())
    EXPECT_TRUE(ran_.contains(kernel.substr(0, kernel.find("__")))) << kernel << " never ran";
}

// The case that a GPU's checker found: lines of B 14 elements apart, of which 5 are there, in the 8
// last bytes of B.
TEST_F(EmulatedGpu, copies_no_more_than_is_left_of_the_last_line) {
  oracle::Operation plan = oracle::plan_gemm(TRINE_F64, 64, 5, 23);
  auto& gemm = std::get<trine_gemm>(plan);
  gemm.b.row_stride = 14;
  gemm.c = oracle::dense_columns(64, 5);
  run_by_all(plan, oracle::Values::kUniform, 0);
  for (const uint64_t tile : {1, 2, 3}) run_by_all(plan, oracle::Values::kUniform, tile);
}

}  // namespace
