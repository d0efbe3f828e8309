#include "plan.hpp"

namespace trine::python {

Plan::Plan(const char* word, std::initializer_list<Named> all) : operation(word) {
  arrays.reserve(all.size());
  for (const Named& one : all) {
    if (!one.array) continue;
    shapes[arrays.size()].array = one.array;
    arrays.push_back(one);
  }
  for (const auto& [name, array] : arrays) {
    for (size_t d = 0; d < array->rank(); ++d)
      if (array->strides()[d] < 0 && array->shape()[d] > 1)
        refuse(operation, ": ", name, ": strides are never negative: ", array->strides()[d],
               " along axis ", d, "; numpy.ascontiguousarray() makes a copy.");
    if (!(array->device() == output().device()))
      refuse(operation, ": ", name, " lies in ", array->place(), ", ", arrays.back().name, " in ",
             output().place(), "; Trine copies neither.");
  }
}

std::array<Buffer, kArrays> Plan::buffers(const Device& device) const {
  std::array<Buffer, kArrays> all;
  if (device)
    for (size_t a = 0; a < arrays.size(); ++a) all[a] = arrays[a].array->buffer();
  return all;
}

std::array<View, kArrays> Plan::on_device(const std::array<int64_t, kArrays>& first,
                                          const std::array<Buffer, kArrays>& buffers) const {
  std::array<View, kArrays> all;
  for (size_t a = 0; a < arrays.size(); ++a) all[a] = shapes[a].on_device(first[a], buffers[a]);
  return all;
}

std::array<HostView, kArrays> Plan::on_host(const std::array<int64_t, kArrays>& first) const {
  std::array<HostView, kArrays> all;
  for (size_t a = 0; a < arrays.size(); ++a) all[a] = shapes[a].on_host(first[a]);
  return all;
}

void Plan::check_output() const {
  const auto& [name, output] = arrays.back();
  if (output->size() == 0) return;
  if (!output->elements_apart())
    refuse(operation, ": ", name, ": an output's elements may not overlap or repeat.");
  for (const Named& input : arrays)
    if (input.array != output && output->meets(*input.array))
      refuse(operation, ": ", name, " overlaps ", input.name,
             "; an output may share no memory with an input.");
}

void Plan::check_numbers(const char* done, std::string_view can) const {
  for (const auto& [name, array] : arrays)
    if (!array->is_number())
      refuse(operation, ": ", name, ": ", array->dtype_name(), " can't be ", done, "; ", can,
             " can. Convert it first; transpose() moves elements of any dtype.");
}

const Device& Plan::device(const Call& call) const {
  const Device& device = output().device();
  if (device && call.device != "auto" && !(open(call.device) == device))
    refuse(operation, ": the data lies on ", device.id(), ", device='", call.device,
           "' was asked for; Trine doesn't copy it there.");
  return device;
}

}  // namespace trine::python
