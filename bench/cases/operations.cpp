#include "operations.hpp"

#include <algorithm>
#include <stdexcept>

namespace trine::bench {
namespace {

using Views = std::vector<View>;
using HostViews = std::vector<HostView>;

const std::vector<Description>& descriptions() {
  static const std::vector<Description> all{
      {.operation = Operation::reduce,
       .layout = "r",
       .is_vector = true,
       .has_function = true,
       .is_batched = false,
       .is_cut = false,
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64, Dtype::u32, Dtype::u64},
       .default_dtypes = {"f32", "f64"},
       .default_sizes = {"2^10", "2^16", "2^20", "2^24"},
       .gpu_roof_size = "2^26",
       .cpu_roof_size = "2^22",
       .memory_roof = "read",
       .calibrated_functions = {Function::sum, Function::prod, Function::max, Function::argmax},
       .calibrated_dtypes = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::i64},
       .calibrated_sizes = {{Axis::all, {1025, 1, 0}},
                            {Axis::all, {262145, 1, 0}},
                            {Axis::each_row, {129, 33, 0}},
                            {Axis::each_row, {513, 2049, 0}},
                            {Axis::each_column, {129, 33, 0}},
                            {Axis::each_column, {513, 2049, 0}}},
       .copies = 3,
       .flops =
           [](const Problem& p) {
             const bool multiplies = p.map == Map::square || p.map == Map::product;
             return (multiplies ? 2 : 1) * double(p.size.rows) * double(p.size.cols);
           },
       .plan =
           [](const Problem& p) {
             auto op = oracle::plan_reduce(uint32_t(p.function), uint32_t(p.map), uint32_t(p.axis),
                                           uint32_t(p.dtype), p.size.rows, p.size.cols);
             std::get<trine_reduce>(op).result_dtype = uint32_t(p.result);
             return op;
           },
       .call = [](const Problem& p, const Views& views) -> DeviceOperation {
         const bool product = p.map == Map::product;
         Reduce reduce{p.function, p.map, p.axis, views[0], views[product ? 2 : 1], p.numerics};
         if (product) reduce.second = views[1];
         return reduce;
       },
       .call_on_host =
           [](const Problem& p, const HostViews& views, const HostOptions& options) {
             if (p.map == Map::product) return dot(views[0], views[1], views[2], p.axis, options);
             reduce(p.function, p.map, p.axis, views[0], views[1], options);
           }},
      {.operation = Operation::transpose,
       .layout = "rr",
       .moves_bits = true,
       .turns = true,
       .default_dtypes = {"f32"},
       .default_sizes = {"256", "1024", "4096"},
       .gpu_roof_size = "8192",
       .cpu_roof_size = "2048",
       .calibrated_dtypes = {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b64, Dtype::b128},
       .calibrated_sizes = {{Axis::all, {129, 33, 0}}, {Axis::all, {513, 2049, 0}}},
       .flops = [](const Problem&) { return 0.0; },
       .plan =
           [](const Problem& p) {
             return oracle::plan_transpose(size_of(p.dtype), p.size.rows, p.size.cols, p.batch);
           },
       .call = [](const Problem&, const Views& views) -> DeviceOperation {
         return Transpose{views[0], views[1]};
       },
       .call_on_host = [](const Problem&, const HostViews& views,
                          const HostOptions& options) { transpose(views[0], views[1], options); }},
      {.operation = Operation::gemm,
       .layout = "rrr",
       .inputs = 2,
       .factors = 3,
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
       .default_dtypes = {"f32", "f64"},
       .default_sizes = {"64", "256", "1024"},
       .gpu_roof_size = "2048",
       .cpu_roof_size = "512",
       .calibrated_dtypes = {Dtype::f32, Dtype::f64, Dtype::i32},
       .calibrated_sizes = {{Axis::all, {33, 33, 33}}, {Axis::all, {513, 513, 129}}},
       .by_flops = true,
       .flops =
           [](const Problem& p) {
             return 2.0 * double(p.batch) * double(p.size.rows) * double(p.size.cols) *
                    double(p.size.depth);
           },
       .plan =
           [](const Problem& p) {
             return oracle::plan_gemm(uint32_t(p.dtype), p.size.rows, p.size.cols, p.size.depth,
                                      p.alpha, p.beta, p.batch);
           },
       .call = [](const Problem& p, const Views& views) -> DeviceOperation {
         return Gemm{p.alpha, p.beta, views[0], views[1], views[2], p.numerics};
       },
       .call_on_host =
           [](const Problem& p, const HostViews& views, const HostOptions& options) {
             gemm(p.alpha, views[0], views[1], p.beta, views[2], options);
           }},
  };
  return all;
}

}  // namespace

const Description& describe(Operation operation) {
  const auto found = std::ranges::find(descriptions(), operation, &Description::operation);
  if (found == descriptions().end())
    throw std::logic_error("bench/cases/operations.cpp describes no such operation");
  return *found;
}

size_t inputs_of(Operation operation, Map map) {
  const Description& is = describe(operation);
  return is.inputs + (is.has_function && map == Map::product ? 1 : 0);
}

}  // namespace trine::bench
