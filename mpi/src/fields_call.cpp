#include "fields_call.hpp"

#include <cstring>

#include "matrix.hpp"

namespace trine::mpi::detail {

void FieldsCall::ask(const FieldsAsked& fields) {
  fields_ = fields;
  asked_ = {.call = Asked::fields,
            .function = uint8_t(fields.function),
            .map = uint8_t(Map::identity),
            .dtype = uint8_t(fields.dtype),
            .count = int64_t(digest({fields.count, int64_t(fields.digest)}))};
}

void FieldsCall::take(const HostView& results) {
  results_ = as_vector(results);
  const Dtype is = results.dtype,
              natural = result_dtype(fields_.function, Map::identity, fields_.dtype);
  if (results_.rows != fields_.count)
    refuse("there are ", fields_.count, " fields, and room for ", results_.rows, " results.");
  if (is != natural && !(fields_.has_states() && is == Dtype::f64))
    refuse("the results are of ", name(is), ", and ", name(fields_.function), " of ",
           name(fields_.dtype), " gives ", name(natural), ".");
  if (results_.rows > 1 && results_.row_stride < 1)
    refuse("the results have a stride of ", results_.row_stride, ".");
  if (results_.rows != 0 && results_.data == nullptr) refuse("the results have no memory.");
}

Slots FieldsCall::allocate() {
  const auto count = size_t(fields_.count);
  many_.resize(2 * count);
  if (!fields_.has_states()) {
    values_.resize(count);
    return {values_.data(), fields_.count, 1,
            result_dtype(fields_.function, Map::identity, fields_.dtype)};
  }
  states_.resize(count);
  return {count == 0 ? nullptr : states_[0].data(), fields_.count, ExactSum::words, Dtype::u64};
}

void FieldsCall::bring() {
  const std::span<Head> heads = this->heads();
  for (size_t i = 0; i < states_.size(); ++i) heads[i].sum = Window(states_[i]);
  for (size_t i = 0; i < values_.size(); ++i) heads[i].words = {values_[i], 0};
  // Without fields, too, ranks merge a head.
  if (values_.empty() && !fields_.has_states())
    bring({Partial(fields_.function, fields_.dtype).state()[1], 0});
}

std::span<ExactSum::State> FieldsCall::wholes() {
  size_t count = 0;
  for (size_t i = 0; i < states_.size(); ++i)
    if (many_[i].is_too_wide()) states_[count++] = states_[i];
  return std::span(states_).first(count);
}

std::string FieldsCall::asks_for() const {
  const auto& [function, dtype, count, weighted, digest] = fields_;
  const std::string text = cat(name(function), " of ", count, " fields of ", name(dtype));
  return weighted == 0 ? text : cat(text, ", ", weighted, " of them with weights");
}

void FieldsCall::finish() {
  auto* at = static_cast<std::byte*>(results_.data);
  const auto write = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  size_t wide = 0;
  for (int64_t i = 0; i < fields_.count; ++i) {
    const Head& head = many_[size_t(i)];
    const size_t bytes = size_of(results_.dtype);
    if (!fields_.has_states()) {
      std::memcpy(at, head.words.data(), bytes);
    } else {
      const ExactSum sum(head.is_too_wide() ? states_[wide++] : head.sum.state());
      results_.dtype == Dtype::f32 ? write(sum.round<float>()) : write(sum.round<double>());
    }
    at += results_.row_stride * int64_t(bytes);
  }
}

}  // namespace trine::mpi::detail
