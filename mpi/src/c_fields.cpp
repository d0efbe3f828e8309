// <trine/mpi.h>: many fields at once.
#include <trine/mpi_sums.hpp>

#include "c.hpp"

using namespace trine;
using namespace trine::mpi::detail;
using c_api::value_of, c_api::view_of;

namespace {

const void* memory_of(const trine_host_view_t& view) { return view.data; }
const void* memory_of(const trine_view_t& view) { return view.buffer; }

/// Weights or a mask; a view of zeros stands for none.
auto if_there(const char* these_have, const auto& view) {
  if (view.dtype == 0 && memory_of(view))
    refuse("the ", these_have, " memory and no dtype; 0 stands for none.");
  return view.dtype == 0 ? std::nullopt : std::optional(view_of(view));
}

/// A list of C's fields, of host or of device memory.
template <class Fields>
std::vector<Fields> values_of(const auto* fields, size_t count) {
  if (!fields && count != 0) refuse("the list of fields is null.");
  std::vector<Fields> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i)
    values.push_back({view_of(fields[i].values), if_there("weights have", fields[i].weights),
                      if_there("mask has", fields[i].mask)});
  return values;
}

Function function_of(uint32_t function) {
  return function == 0 ? Function::sum : Function(function);
}

}  // namespace

trine_host_view_t trine_mpi_field_view(const void* data, uint32_t dtype, int64_t length,
                                       int64_t count, int64_t leading_dimension) {
  trine_host_view_t view = trine_host_vector(data, dtype, length);
  view.batch = count;
  view.batch_stride = leading_dimension == 0 ? length : leading_dimension;
  return view;
}

trine_status trine_mpi_reduce_fields(uint32_t function, const trine_mpi_fields_t* fields,
                                     size_t count, trine_host_view_t results, MPI_Comm comm,
                                     const trine_options_t* options) {
  return collective(
      comm, nullptr,
      [&] {
        return std::pair(values_of<mpi::Fields>(fields, count),
                         std::make_unique<c_api::Options>(options));
      },
      [&](const auto& read) {
        mpi::reduce_fields(function_of(function), read.first, view_of(results), comm,
                           read.second->host());
        read.second->deliver();
      });
}
trine_status trine_mpi_reduce_fields_on_queue(uint32_t function, trine_queue_t* queue,
                                              const trine_mpi_device_fields_t* fields, size_t count,
                                              trine_host_view_t results, MPI_Comm comm) {
  return collective(
      comm, nullptr,
      [&] { return std::pair(value_of(queue), values_of<mpi::DeviceFields>(fields, count)); },
      [&](auto& read) {
        mpi::reduce_fields(function_of(function), read.first, read.second, view_of(results), comm);
      });
}
