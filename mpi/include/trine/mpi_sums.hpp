/// Global sums of many fields at once, as climate and ocean models need them: with weights (the
/// areas of cells) and masks, in one message, with bits that don't depend on the ranks. Errors,
/// thread safety and what is collective: as in <trine/mpi.hpp>.
/// ```cpp
/// // Each rank has some of the cells: 3 fields of 1000 values each, one behind the other.
/// std::vector<double> values(3 * 1000, 0.25), areas(1000, 2), sums(3);
/// std::vector<uint8_t> is_ocean(1000, 1);
/// is_ocean[7] = 0;
/// trine::mpi::Fields fields = {.values = trine::mpi::fields(values.data(), 1000, 3),
///                              .weights = trine::mpi::fields(areas.data(), 1000),
///                              .mask = trine::mpi::fields(is_ocean.data(), 1000)};
/// trine::mpi::sums(fields, sums, MPI_COMM_WORLD);  // each 499.5, times the number of ranks
/// ```
#pragma once

#include <trine/mpi.hpp>

#include <optional>
#include <span>

namespace trine::mpi {

/// Fields of one shape as one rank sees them: its part of each, of any length, which may differ
/// from rank to rank.
struct Fields {
  /// `batch` fields; each is a matrix (or a vector) of rows x cols elements, of any strides. An
  /// array [nfields][ld] of which each row has `length` elements in use is fields(data, length,
  /// nfields, ld); so is Fortran's array(ld, nfields).
  ConstHostView values;
  /// If there: each element is multiplied by its weight, exactly, before it is added. For sums of
  /// floats alone; of the values' dtype, rows and cols. A batch of 1 serves all fields; else there
  /// is one for each field. A rank without elements gives weights, too, if the others do.
  std::optional<ConstHostView> weights = {};
  /// If there: an element counts if any bit of its mask is set; the others' values and weights
  /// don't matter, NaNs included. Elements of 1, 2, 4 or 8 bytes of any dtype, Fortran's logicals
  /// too; rows, cols and batch as for weights. Ranks may have masks or none.
  std::optional<ConstHostView> mask = {};

  /// One is a list of one.
  operator std::span<const Fields>() const noexcept { return {this, 1}; }
};

/// The same in the memory of a device.
struct DeviceFields {
  View values;
  std::optional<View> weights = {}, mask = {};

  operator std::span<const DeviceFields>() const noexcept { return {this, 1}; }
};

/// A view of `count` vectors, for the members of Fields.
/// - data: the first element, of any type of 1, 2, 4 or 8 bytes: bool and its kind for masks.
/// - length: the elements of a field.
/// - count: the number of fields.
/// - leading_dimension: the distance of two fields' first elements; 0: `length`.
template <class T>
ConstHostView fields(const T* data, int64_t length, int64_t count = 1,
                     int64_t leading_dimension = 0) {
  constexpr Dtype dtype = [] {
    if constexpr (requires { DtypeOf<T>::value; }) return dtype_of<T>;
    static_assert(sizeof(T) <= 8 && (sizeof(T) & (sizeof(T) - 1)) == 0, "1, 2, 4 or 8 bytes");
    constexpr Dtype bits[] = {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b32, Dtype::b64};
    return bits[sizeof(T) / 2];
  }();
  return {.data = data,
          .dtype = dtype,
          .rows = length,
          .cols = 1,
          .batch = count,
          .row_stride = 1,
          .batch_stride = leading_dimension == 0 ? length : leading_dimension};
}

/// Reduces each field over all elements of all ranks' parts; every rank has all results. All fields
/// go in one message of 128 bytes each; where the exponents of a sum lie more than about 231
/// decades apart, those sums need a second one. The bits of a field's result depend neither on the
/// ranks and their order, nor on threads and devices, nor on the other fields of the call.
/// - function: sum (of floats exact, rounded once; of integers modulo 2^64), min or max, as Reduce
///   has them. Another one is refused.
/// - fields: one or several; their fields count one after another. Values of f32, f64, i32, i64,
///   u32 or u64, one dtype in a call. At most 2^20 fields in all.
/// - results: a vector of one element for each field, of result_dtype(function, Map::identity,
///   dtype); for sums of f32 also f64.
/// - comm: the ranks that take part.
/// - options: where and how this rank computes; they may differ from rank to rank. No event. The
///   results that options point to are those of the last reduction of this rank.
/// The same on all ranks: the function, the dtype, the number of fields, and which of them have
/// weights; and that the call is this one or sums(). An error leaves the results as they were.
/// Besides its parts, a rank needs memory for about 1 KiB for each field, and for 1 MiB of masked
/// values.
/// ```cpp
/// std::vector<float> heat(500, 1.5f), salt(700, 2.5f), largest(2);
/// std::vector<trine::mpi::Fields> both = {{.values = trine::mpi::fields(heat.data(), 500)},
///                                         {.values = trine::mpi::fields(salt.data(), 700)}};
/// trine::mpi::reduce_fields(trine::Function::max, both, largest, MPI_COMM_WORLD);  // 1.5 and 2.5
/// ```
TRINE_API void reduce_fields(Function function, std::span<const Fields> fields,
                             const HostView& results, MPI_Comm comm,
                             const HostOptions& options = {});
/// The same of device memory, after the earlier operations of this rank's `queue`. The call waits
/// for it. Some ranks of a call may have their parts there, and others in host memory. Fields with
/// a mask are copied to the host, one at a time, and reduced there.
TRINE_API void reduce_fields(Function function, Queue& queue, std::span<const DeviceFields> fields,
                             const HostView& results, MPI_Comm comm);

/// The sums of each field, weighted where it has weights: reduce_fields() with Function::sum.
inline void sums(std::span<const Fields> fields, const HostView& results, MPI_Comm comm,
                 const HostOptions& options = {}) {
  reduce_fields(Function::sum, fields, results, comm, options);
}
inline void sums(Queue& queue, std::span<const DeviceFields> fields, const HostView& results,
                 MPI_Comm comm) {
  reduce_fields(Function::sum, queue, fields, results, comm);
}

/// The same with the results in a range: std::vector, std::span, an array.
template <HostRange Results>
void reduce_fields(Function function, std::span<const Fields> fields, Results&& results,
                   MPI_Comm comm, const HostOptions& options = {}) {
  reduce_fields(function, fields, detail::view_of(results), comm, options);
}
template <HostRange Results>
void reduce_fields(Function function, Queue& queue, std::span<const DeviceFields> fields,
                   Results&& results, MPI_Comm comm) {
  reduce_fields(function, queue, fields, detail::view_of(results), comm);
}
template <HostRange Results>
void sums(std::span<const Fields> fields, Results&& results, MPI_Comm comm,
          const HostOptions& options = {}) {
  sums(fields, detail::view_of(results), comm, options);
}
template <HostRange Results>
void sums(Queue& queue, std::span<const DeviceFields> fields, Results&& results, MPI_Comm comm) {
  sums(queue, fields, detail::view_of(results), comm);
}

}  // namespace trine::mpi
