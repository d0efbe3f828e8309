#include "direct.hpp"

#include <bit>
#include <map>
#include <numeric>

namespace trine::python {
namespace {

/// NumPy's own names, looked up once and kept for the process.
struct Numpy {
  nb::module_ module = nb::module_::import_("numpy");
  nb::object ndarray = module.attr("ndarray"), empty = module.attr("empty");
  std::map<Dtype, nb::object> scalars;

  static Numpy& get() {
    static Numpy& all = *new Numpy;
    return all;
  }
  /// The type of its scalars of a dtype.
  const nb::object& scalar(Dtype dtype) {
    nb::object& known = scalars[dtype];
    if (!known) known = module.attr(name_of(dtype).c_str());
    return known;
  }
};

bool is_numpys(nb::handle x) { return x.type().is(Numpy::get().ndarray); }

/// A writable array of NumPy, or one of a library with functions in C; none of others, and where
/// the general way has a question or a refusal.
std::optional<Array> directly(nb::handle x, bool writable) {
  try {
    if (is_numpys(x)) return Array(x.attr("__dlpack__")(), nb::borrow(x), writable, {});
    if (nb::getattr(x, "requires_grad", nb::none()).is(Py_True)) return {};
    return Array::exchanged(nb::borrow(x), writable);
  } catch (const nb::python_error&) {
  } catch (const Error&) {}
  return {};
}

/// A new array of torch beside `like`, of its dtype; none of other libraries.
nb::object beside(nb::handle like, const Array& read, const nb::tuple& shape) {
  if (!read.device() || !nb::hasattr(like, "new_empty")) return nb::none();
  return like.attr("new_empty")(shape);
}

/// A scalar of NumPy's with these bits, of a dtype that is no larger.
nb::object scalar_of(Dtype dtype, uint64_t bits) {
  const nb::object& type = Numpy::get().scalar(dtype);
  switch (dtype) {
    case Dtype::f32: return type(std::bit_cast<float>(uint32_t(bits)));
    case Dtype::f64: return type(std::bit_cast<double>(bits));
    case Dtype::i32: return type(int32_t(bits));
    case Dtype::i64: return type(int64_t(bits));
    default: return type(bits);
  }
}

}  // namespace

nb::object reduce_whole(const std::string& function, const std::string& map, nb::handle x,
                        nb::object out, const Call& call) {
  if (call.asks) return nb::none();
  const std::optional<Array> input = directly(x, false);
  if (!input || !input->is_number() || input->size() == 0) return nb::none();
  const Function asked = parse_function(function);
  const Map mapped = parse_map(map);
  std::vector<size_t> axes(input->rank());
  std::iota(axes.begin(), axes.end(), size_t{0});
  const Dtype dtype = result_dtype(asked, mapped, input->dtype());
  if (out.is_none() && is_numpys(x)) {
    uint64_t value = 0;
    reduce(asked, mapped, *input, nullptr, Array::scalar(&value, dtype), axes, false, call);
    return scalar_of(dtype, value);
  }
  if (out.is_none() && dtype == input->dtype()) out = beside(x, *input, nb::make_tuple());
  if (out.is_none()) return out;
  const std::optional<Array> output = directly(out, true);
  if (!output || output->rank() != 0) return nb::none();
  reduce(asked, mapped, *input, nullptr, *output, axes, false, call);
  return out;
}

nb::object multiply_two(double alpha, nb::handle a, nb::handle b, double beta, nb::object out,
                        const Call& call) {
  if (call.asks || (beta != 0 && out.is_none())) return nb::none();
  const std::optional<Array> left = directly(a, false), right = directly(b, false);
  if (!left || !right || left->rank() != 2 || right->rank() != 2) return nb::none();
  const int64_t m = left->shape()[0], n = right->shape()[1];
  if (left->shape()[1] != right->shape()[0] || left->dtype() != right->dtype() ||
      !left->is_number())
    return nb::none();
  if (out.is_none()) {
    const nb::tuple shape = nb::make_tuple(m, n);
    out = is_numpys(a) && is_numpys(b)
              ? Numpy::get().empty(shape, Numpy::get().scalar(left->dtype()))
              : beside(a, *left, shape);
    if (out.is_none()) return out;
  }
  const std::optional<Array> output = directly(out, true);
  if (!output || output->shape() != std::vector<int64_t>{m, n}) return nb::none();
  matmul(alpha, *left, *right, beta, *output, call);
  return out;
}

}  // namespace trine::python
