// Errors, results and structs of the C API.
#include "layer.hpp"

#include <cstring>

namespace trine::detail {
namespace {

// The address stands for a sentence for which there was no memory.
thread_local std::string kept;
thread_local const char* last = "";

trine_status keep(Status status, const char* sentence) noexcept {
  try {
    kept = sentence;
    last = kept.c_str();
  } catch (...) { last = "Host memory is exhausted."; }
  return static_cast<trine_status>(status);
}

}  // namespace

const char* last_sentence() noexcept { return last; }

void* Result::allocate(size_t bytes) {
  void* const memory = memory_.allocate(sizeof(Owner) + bytes, alignof(Owner));
  return std::memset(new (memory) Owner{this} + 1, 0, bytes);
}

const char* Result::text(std::string_view text) {
  char* const copy = array<char>(text.size() + 1);
  text.copy(copy, text.size());
  return copy;
}

void Result::free(const void* given) {
  if (!given) return;
  Result* const result = (static_cast<const Owner*>(given) - 1)->result;  // which lies in itself
  delete result;
}

Reduce value_of(const trine_reduce_t* given) {
  const trine_reduce_t r = read(given, "reduction");
  const bool has_second = r.second.buffer || r.second.dtype != 0 || r.map == TRINE_PRODUCT;
  return {.function = value_or(r.function, Function::sum),
          .map = value_or(r.map, Map::identity),
          .axis = value_or(r.axis, Axis::all),
          .input = view_of(r.input),
          .output = view_of(r.output),
          .numerics = value_or(r.numerics, Numerics::reproducible),
          .second = has_second ? view_of(r.second) : View{}};
}

Transpose value_of(const trine_transpose_t* given) {
  const trine_transpose_t t = read(given, "transposition");
  return {.input = view_of(t.input), .output = view_of(t.output)};
}

Scalar scalar_of(double number, const trine_view_t& element) {
  return element.buffer ? Scalar(view_of(element)) : Scalar(number);
}

Gemm value_of(const trine_gemm_t* given) {
  const trine_gemm_t g = read(given, "product");
  return {.alpha = scalar_of(g.alpha, g.alpha_element),
          .beta = scalar_of(g.beta, g.beta_element),
          .a = view_of(g.a),
          .b = view_of(g.b),
          .c = view_of(g.c),
          .numerics = value_or(g.numerics, Numerics::reproducible),
          .continues = g.continues != 0};
}

std::vector<Device> values_of(const trine_device_t* const* devices, size_t count) {
  if (!devices && count != 0) refuse("The list of ", count, " devices is null.");
  std::vector<Device> values;
  for (size_t i = 0; i < count; ++i) values.push_back(value_of(devices[i]));
  return values;
}

}  // namespace trine::detail

namespace trine::c_api {

Queue value_of(const trine_queue_t* handle) { return handle ? handle->value : Queue(); }

View view_of(const trine_view_t& v) {
  return {detail::value_of(v.buffer),
          Dtype(v.dtype),
          v.offset,
          v.rows,
          v.cols,
          v.batch,
          v.row_stride,
          v.col_stride,
          v.batch_stride};
}

HostView view_of(const trine_host_view_t& v) {
  return {v.data,  Dtype(v.dtype), v.rows,       v.cols,
          v.batch, v.row_stride,   v.col_stride, v.batch_stride};
}

trine_status failed() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return detail::keep(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return detail::keep(Status::out_of_memory, "Host memory is exhausted.");
  } catch (const std::exception& error) {
    return detail::keep(Status::internal, error.what());
  } catch (...) { return detail::keep(Status::internal, "An exception of an unknown type."); }
}

}  // namespace trine::c_api
