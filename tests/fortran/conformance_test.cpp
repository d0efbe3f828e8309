// The conformance cases through the Fortran module: each operand becomes an array of Fortran.
#include <ISO_Fortran_binding.h>

#include "oracle/bits.hpp"
#include "tests/c/each_case.hpp"

extern "C" {
int reduce_case(const char* function, const char* map, int dim, CFI_cdesc_t* x,
                CFI_cdesc_t* results);
int dot_real32(CFI_cdesc_t* x, CFI_cdesc_t* y, void* value);
int dot_real64(CFI_cdesc_t* x, CFI_cdesc_t* y, void* value);
int transpose_case(CFI_cdesc_t* x, CFI_cdesc_t* y);
int gemm_real32(float alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, float beta, CFI_cdesc_t* c);
int gemm_real64(double alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, double beta, CFI_cdesc_t* c);
int gemm_int32(int32_t alpha, CFI_cdesc_t* a, CFI_cdesc_t* b, int32_t beta, CFI_cdesc_t* c);
}

namespace trine::conformance {
namespace {

/// A subscript: its extent, and the distance of its neighbours in elements.
struct Subscript {
  int64_t extent, stride;
};

/// An array as Fortran passes it, with any distances.
class Array {
 public:
  Array(const trine_view& v, CFI_type_t type, size_t size, std::initializer_list<Subscript> shape) {
    const CFI_index_t extents[3] = {1, 1, 1};
    const auto rank = CFI_rank_t(shape.size());
    EXPECT_EQ(
        CFI_establish(get(), oracle::origin(v), CFI_attribute_other, type, size, rank, extents),
        CFI_SUCCESS);
    CFI_dim_t* dim = get()->dim;
    for (const Subscript& s : shape) *dim++ = {0, s.extent, s.stride * CFI_index_t(size)};
  }
  CFI_cdesc_t* get() { return reinterpret_cast<CFI_cdesc_t*>(&memory_); }

 private:
  CFI_CDESC_T(3) memory_;
};

CFI_type_t type_of(uint32_t dtype) {
  switch (dtype) {
    case TRINE_F32: return CFI_type_float;
    case TRINE_F64: return CFI_type_double;
    case TRINE_I32:
    case TRINE_U32: return CFI_type_int32_t;
    default: return CFI_type_int64_t;
  }
}

/// The element's index counts along the rows of a view, along the first subscript of an array.
Array vectors(const trine_view& v, uint32_t dtype) {
  return {
      v, type_of(dtype), trine_dtype_size(dtype), {{v.cols, v.col_stride}, {v.rows, v.row_stride}}};
}

Array matrices(const trine_view& v, CFI_type_t type, size_t size) {
  const Subscript i = {v.rows, v.row_stride}, j = {v.cols, v.col_stride};
  if (v.batch == 1) return {v, type, size, {i, j}};
  return {v, type, size, {i, j, {v.batch, v.batch_stride}}};
}

struct Fortran {
  int operator()(const trine_reduce& r) const {
    if (r.dtype == TRINE_U32 || r.dtype == TRINE_U64) return kLeftOut;  // no such type
    Array x = vectors(r.input, r.dtype);
    if (r.map == TRINE_PRODUCT) {
      if (r.axis != TRINE_ALL) return kLeftOut;
      Array y = vectors(r.second, r.dtype);
      void* const value = oracle::origin(r.output);
      if (r.result_dtype != r.dtype) return kLeftOut;
      return (r.dtype == TRINE_F32 ? dot_real32 : dot_real64)(x.get(), y.get(), value);
    }
    std::string function(trine_function_name(r.function)), map(trine_map_name(r.map));
    function.resize(6, ' ');
    map.resize(8, ' ');
    Array results(r.output, type_of(r.result_dtype), trine_dtype_size(r.result_dtype),
                  {{r.output.rows, r.output.row_stride}});
    const int dim = int(r.axis - TRINE_ALL);
    const int status = reduce_case(function.data(), map.data(), dim, x.get(), results.get());
    if (status != 0 || (r.function != TRINE_ARGMIN && r.function != TRINE_ARGMAX)) return status;
    for (int64_t i = 0; i < r.output.rows; ++i)  // Fortran counts from 1
      --reinterpret_cast<int64_t*>(oracle::origin(r.output))[i * r.output.row_stride];
    return status;
  }
  int operator()(const trine_transpose& t) const {
    const size_t size = t.element_size;
    const CFI_type_t type = size == 16  ? CFI_type_double_Complex
                            : size == 8 ? CFI_type_double
                            : size == 4 ? CFI_type_float
                            : size == 2 ? CFI_type_int16_t
                                        : CFI_type_int8_t;
    return transpose_case(matrices(t.input, type, size).get(),
                          matrices(t.output, type, size).get());
  }
  int operator()(const trine_gemm& g) const {
    const CFI_type_t type = type_of(g.dtype);
    const size_t size = trine_dtype_size(g.dtype);
    Array a = matrices(g.a, type, size), b = matrices(g.b, type, size),
          c = matrices(g.c, type, size);
    switch (g.dtype) {
      case TRINE_F32: return gemm_real32(g.alpha.f32, a.get(), b.get(), g.beta.f32, c.get());
      case TRINE_F64: return gemm_real64(g.alpha.f64, a.get(), b.get(), g.beta.f64, c.get());
      default: return gemm_int32(g.alpha.i32, a.get(), b.get(), g.beta.i32, c.get());
    }
  }
};

TEST(conformance, through_fortran) {
  each_case({{"Fortran", [](const oracle::Operation& op, const std::vector<Image>&) {
                return trine_status(std::visit(Fortran{}, op));
              }}});
}

}  // namespace
}  // namespace trine::conformance
