// The descriptions of the operations.
#include "operation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "bits.hpp"

namespace trine::oracle {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // what clang 14 doesn't deduce by itself

int64_t elements(const trine_view& v) { return v.batch * v.rows * v.cols; }

/// Elements of a view that are different memory, along strides of 0 counted once.
double distinct(const trine_view& v) {
  const auto along = [](int64_t extent, int64_t stride) {
    return double(stride == 0 ? std::min<int64_t>(extent, 1) : extent);
  };
  return along(v.batch, v.batch > 1 ? v.batch_stride : 1) *
         along(v.rows, v.rows > 1 ? v.row_stride : 1) *
         along(v.cols, v.cols > 1 ? v.col_stride : 1);
}

constexpr const char* kFunctions[] = {TRINE_FUNCTIONS(TRINE_WORD)};
constexpr const char* kMaps[] = {TRINE_MAPS(TRINE_WORD)};
constexpr const char* kAxes[] = {TRINE_AXES(TRINE_WORD)};

std::string extent_text(std::initializer_list<int64_t> extents) {
  std::string text;
  for (int64_t e : extents) {
    if (!text.empty()) text += 'x';
    text += std::to_string(e);
  }
  return text;
}

}  // namespace

trine_view dense_rows(int64_t rows, int64_t cols, int64_t batch) {
  return {nullptr, 0, rows, cols, batch, cols, 1, rows * cols};
}
trine_view dense_columns(int64_t rows, int64_t cols, int64_t batch) {
  return {nullptr, 0, rows, cols, batch, 1, rows, rows * cols};
}

trine_scalar scalar_of(uint32_t dtype, double value) {
  trine_scalar s;
  s.bits = 0;
  if (dtype == TRINE_F64)
    s.f64 = value;
  else if (dtype == TRINE_I32)
    s.i32 = int32_t(value);
  else
    s.f32 = float(value);
  return s;
}
double scalar_value(uint32_t dtype, const trine_scalar& s) {
  return dtype == TRINE_F64 ? s.f64 : dtype == TRINE_I32 ? double(s.i32) : double(s.f32);
}

Operation plan_reduce(uint32_t function, uint32_t map, uint32_t axis, uint32_t dtype, int64_t rows,
                      int64_t cols) {
  trine_reduce op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.function = function;
  op.map = map;
  op.axis = axis;
  op.dtype = dtype;
  op.result_dtype = result_dtype(function, map, dtype);
  op.input = dense_rows(rows, cols);
  if (map == TRINE_PRODUCT) op.second = op.input;
  op.output = dense_rows(result_count(axis, rows, cols), 1);
  return op;
}

void write_states(trine_reduce& op) {
  op.result_dtype = TRINE_U64;
  op.output = dense_rows(op.output.rows, TRINE_EXACT_WORDS);
}

Operation plan_transpose(uint32_t element_size, int64_t rows, int64_t cols, int64_t batch) {
  trine_transpose op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.element_size = element_size;
  op.input = dense_rows(rows, cols, batch);
  op.output = dense_rows(cols, rows, batch);
  return op;
}

Operation plan_gemm(uint32_t dtype, int64_t m, int64_t n, int64_t k, double alpha, double beta,
                    int64_t batch) {
  trine_gemm op{};
  op.size = sizeof op;
  op.numerics = TRINE_REPRODUCIBLE;
  op.dtype = dtype;
  op.alpha = scalar_of(dtype, alpha);
  op.beta = scalar_of(dtype, beta);
  op.a = dense_rows(m, k, batch);
  op.b = dense_rows(k, n, batch);
  op.c = dense_rows(m, n, batch);
  return op;
}

std::vector<Operand> operands(Operation& op) {
  return std::visit(
      Overloaded{[](trine_reduce& r) {
                   std::vector<Operand> all{{"input", r.dtype, &r.input, true, false}};
                   if (r.map == TRINE_PRODUCT)
                     all.push_back({"second", r.dtype, &r.second, true, false});
                   all.push_back({"output", r.result_dtype, &r.output, false, true});
                   return all;
                 },
                 [](trine_transpose& t) {
                   const uint32_t dtype = bits_dtype(t.element_size);
                   return std::vector<Operand>{{"input", dtype, &t.input, true, false},
                                               {"output", dtype, &t.output, false, true}};
                 },
                 [](trine_gemm& g) {
                   const bool read_c = scalar_value(g.dtype, g.beta) != 0 ||
                                       (trine_continues(&g) && scalar_value(g.dtype, g.alpha) != 0);
                   return std::vector<Operand>{{"a", g.dtype, &g.a, true, false},
                                               {"b", g.dtype, &g.b, true, false},
                                               {"c", g.dtype, &g.c, read_c, true}};
                 }},
      op);
}

Operand output_of(Operation& op) { return operands(op).back(); }

const char* axis_name(uint32_t axis) { return word_of(kAxes, axis); }

uint32_t kind_of(const Operation& op) {
  constexpr uint32_t kKinds[] = {TRINE_OPERATIONS(TRINE_VALUE)};
  return kKinds[op.index()];
}

double bytes_moved(const Operation& op) {
  Operation copy = op;
  double bytes = 0;
  for (const Operand& o : operands(copy)) {
    const double size = trine_dtype_size(o.dtype);
    if (o.read) bytes += distinct(*o.view) * size;
    if (o.written) bytes += double(elements(*o.view)) * size;
  }
  return bytes;
}

double flops(const Operation& op) {
  const auto* g = std::get_if<trine_gemm>(&op);
  return g != nullptr ? 2.0 * double(elements(g->c)) * double(g->a.cols) : 0;
}

uint64_t extent_bytes(const trine_view& v, uint32_t dtype) {
  if (v.batch < 1 || v.rows < 1 || v.cols < 1) return 0;
  const uint64_t size = trine_dtype_size(dtype);
  const auto last = (v.batch - 1) * (v.batch > 1 ? v.batch_stride : 0) +
                    (v.rows - 1) * (v.rows > 1 ? v.row_stride : 0) +
                    (v.cols - 1) * (v.cols > 1 ? v.col_stride : 0);
  return (uint64_t(last) + 1) * size;
}

std::string title(const Operation& op) {
  return std::visit(
      Overloaded{[](const trine_reduce& r) {
                   std::string text = word_of(kFunctions, r.function);
                   if (r.map != TRINE_IDENTITY) text += std::string(" ") + word_of(kMaps, r.map);
                   text += std::string(" ") + axis_name(r.axis) + " " + dtype_name(r.dtype);
                   if (r.dtype == TRINE_F32 && r.result_dtype == TRINE_F64) text += "->f64";
                   if (trine_writes_states(&r)) text += "->state";
                   return text + " " + extent_text({r.input.rows, r.input.cols});
                 },
                 [](const trine_transpose& t) {
                   std::string text = std::string("transpose ") +
                                      dtype_name(bits_dtype(t.element_size)) + " " +
                                      extent_text({t.input.rows, t.input.cols});
                   return t.input.batch == 1 ? text
                                             : text + " batch " + std::to_string(t.input.batch);
                 },
                 [](const trine_gemm& g) {
                   std::string text = std::string("gemm ") + dtype_name(g.dtype) + " " +
                                      extent_text({g.c.rows, g.c.cols, g.a.cols});
                   if (g.c.batch != 1) text += " batch " + std::to_string(g.c.batch);
                   if (trine_continues(&g)) text += " continued";
                   if (trine_is_exact(&g)) text += " exact";
                   const double alpha = scalar_value(g.dtype, g.alpha);
                   const double beta = scalar_value(g.dtype, g.beta);
                   if (alpha == 1 && beta == 0 && !std::signbit(beta)) return text;
                   return text + " alpha " + digits(alpha, 6) + " beta " + digits(beta, 6);
                 }},
      op);
}

void fill(Operation& op, Values values, uint64_t seed) {
  uint32_t axis = TRINE_EACH_ROW;
  if (const auto* r = std::get_if<trine_reduce>(&op)) axis = r->axis;
  const bool gemm = std::holds_alternative<trine_gemm>(op);
  uint64_t stream = 0;
  for (const Operand& o : operands(op)) {
    ++stream;
    if (!o.read && !gemm) continue;
    const bool is_right = gemm && stream == 2 && is_for_products(values);
    const uint32_t lines = is_right ? uint32_t{TRINE_EACH_COLUMN} : axis;
    fill(Fill{values, seed * 0x9e3779b97f4a7c15 + stream, lines}, o.dtype, *o.view);
  }
}

void reference(const Operation& op) {
  std::visit([](const auto& o) { reference(o); }, op);
}

Exactness exactness_of(uint32_t dtype, uint32_t numerics) {
  if (dtype == TRINE_F64) return {std::numeric_limits<double>::epsilon() / 2};
  const double f32 = double(std::numeric_limits<float>::epsilon()) / 2;
  // fast f32 may multiply two TF32 parts of each operand: docs/numerics.md has the derivation.
  // TF32's numbers are multiples of 2^-136.
  if (numerics == TRINE_FAST) return {8 * f32, 0x1p-136};
  return {f32};
}

std::vector<double> error_bounds(const Operation& op, uint32_t numerics, const Operation* before) {
  Operation copy = op;
  const uint32_t dtype = output_of(copy).dtype;
  if (numerics == TRINE_REPRODUCIBLE || (dtype != TRINE_F32 && dtype != TRINE_F64)) return {};
  if (const auto* g = std::get_if<trine_gemm>(before != nullptr ? before : &op))
    return error_bounds(*g, exactness_of(g->dtype, numerics));
  const auto* r = std::get_if<trine_reduce>(&op);
  // An extreme is one of the inputs, whatever the order.
  const bool rounds = r != nullptr && (r->function == TRINE_SUM || r->function == TRINE_PROD);
  return rounds ? error_bounds(*r) : std::vector<double>{};
}

Difference check(const Operation& op, const trine_view& got, std::span<const double> bounds) {
  Operation copy = op;
  const Operand output = output_of(copy);
  return bounds.empty() ? compare(output.dtype, *output.view, got)
                        : compare_within(output.dtype, *output.view, got, bounds);
}

Difference check(const Operation& op, const trine_view& got, uint32_t numerics,
                 const Operation* before) {
  return check(op, got, error_bounds(op, numerics, before));
}

HostOperation::HostOperation(const Operation& plan) : op(plan) {
  for (const Operand& o : operands(op)) {
    const uint64_t bytes = o.view->offset + extent_bytes(*o.view, o.dtype);
    void* memory = ::operator new[](std::max<uint64_t>(bytes, 64), std::align_val_t{64});
    memory_.emplace_back(memory);
    bytes_.push_back(bytes);
    o.view->memory = memory;
  }
}

}  // namespace trine::oracle
