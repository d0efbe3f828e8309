// The extension module trine._trine: arrays, the operations over them, and what there is to run on.
// The package trine (python/trine) is made of it; programs import that.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

#include "direct.hpp"
#include "plan.hpp"
#include "streams.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace trine::python {
namespace {

Numerics numerics_named(std::string_view word) {
  if (word == name(Numerics::reproducible)) return Numerics::reproducible;
  if (word == name(Numerics::fast)) return Numerics::fast;
  if (word == name(Numerics::exact)) return Numerics::exact;
  refuse("numerics can be 'reproducible', 'fast' or 'exact', not '", std::string(word), "'.");
}

Where where_named(std::string_view word) {
  if (word == "host") return Where::host;
  if (word == "host_pinned") return Where::host_pinned;
  if (word == "host_pipelined") return Where::host_pipelined;
  refuse("where can be 'host', 'host_pinned' or 'host_pipelined', not '", std::string(word), "'.");
}

nb::dict as_dict(const Facts& facts) {
  constexpr const char* kinds[] = {"", "cpu", "gpu", "other"};
  nb::dict d;
  d["id"] = facts.id;
  d["kind"] = kinds[uint32_t(facts.kind) & 3];
  d["name"] = facts.name;
  d["vendor"] = facts.vendor;
  d["driver"] = facts.driver;
  d["pci"] = facts.pci;
  d["memory_bytes"] = facts.memory_bytes;
  d["max_buffer_bytes"] = facts.max_buffer_bytes;
  d["compute_units"] = facts.compute_units;
  return d;
}

nb::list all_backends() {
  nb::list all;
  for (const BackendInfo& backend : backends()) {
    nb::dict d;
    d["name"] = backend.name;
    d["path"] = backend.path;
    d["build"] = backend.build;
    d["reason"] = backend.reason;
    d["extends"] = backend.extends;
    nb::list found;
    for (const Facts& facts : backend.devices) found.append(as_dict(facts));
    d["devices"] = found;
    all.append(d);
  }
  return all;
}

/// The placement as a dictionary, or None.
nb::object as_object(const Answer& answer) {
  if (!answer) return nb::none();
  nb::list candidates;
  for (const Candidate& c : answer->candidates) {
    nb::dict d;
    d["device"] = c.device.id();
    d["seconds"] = c.seconds;
    d["transfers"] = c.transfers;
    d["source"] = c.source;
    candidates.append(d);
  }
  nb::dict d;
  d["device"] = answer->device.id();
  d["rung"] = answer->choice.rung();
  d["seconds"] = answer->seconds;
  d["sentence"] = answer->sentence;
  d["choice"] = answer->choice.sentence();
  d["candidates"] = candidates;
  return d;
}

/// trine::Error becomes the class of trine/_errors.py that its status names.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const std::string_view status = name(error.status());
    const nb::object raised =
        nb::module_::import_("trine._errors")
            .attr("of_status")(nb::str(status.data(), status.size()), error.what());
    PyErr_SetObject(raised.type().ptr(), raised.ptr());
  }
}

void bind_arrays(nb::module_& m) {
  nb::class_<Array>(m, "Array", "An array of another library, read without a copy.")
      .def(nb::init<nb::object, nb::object, bool, std::optional<uint64_t>>(), "capsule"_a,
           "owner"_a, "writable"_a = false, "stream"_a = nb::none())
      .def_static("exchanged", &Array::exchanged, "owner"_a.none(), "writable"_a = false,
                  "Reads it by its library's functions in C; None where it has none.")
      .def_static(
          "foreign",
          [](nb::object owner, std::string backend, uint64_t address, uint64_t offset,
             uint64_t bytes, std::string dtype, int64_t itemsize, std::vector<int64_t> shape,
             std::vector<int64_t> strides, uint64_t device, uint64_t stream) {
            return Array({std::move(backend), address, offset, bytes, std::move(dtype), itemsize,
                          std::move(shape), std::move(strides), device, stream},
                         std::move(owner));
          },
          "owner"_a, nb::kw_only(), "backend"_a = "", "address"_a, "offset"_a = 0, "bytes"_a = 0,
          "dtype"_a, "itemsize"_a, "shape"_a, "strides"_a, "device"_a = 0, "stream"_a = 0)
      .def_prop_ro("owner", &Array::owner, "The object that it was made of.")
      .def_prop_ro("dtype", &Array::dtype_name, "The dtype as NumPy calls it.")
      .def_prop_ro(
          "shape", [](const Array& a) { return nb::tuple(nb::cast(a.shape())); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro(
          "strides", [](const Array& a) { return nb::tuple(nb::cast(a.strides())); },
          nb::sig("def strides(self) -> tuple[int, ...]"), "In elements.")
      .def_prop_ro("address", &Array::address, "Of the first element; an OpenCL array's cl_mem.")
      .def_prop_ro(
          "device",
          [](const Array& a) { return a.device() ? std::optional(a.device().id()) : std::nullopt; },
          "The device that it lies on; None is the host's memory.");
}

/// Whether an object has the buffer protocol. Refuses a buffer that memoryview() would follow to
/// nowhere.
bool has_buffer(nb::handle object) {
  if (!PyObject_CheckBuffer(object.ptr())) return false;
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> held(&view, &PyBuffer_Release);
  if (view.ndim < 0 || (view.ndim > 1 && !view.shape))
    refuse("the buffer has ", view.ndim, " axes and no shape.");
  if (view.itemsize < 1 || view.len < 0 || (view.len > 0 && !view.buf))
    refuse("the buffer has ", int64_t(view.len), " bytes in elements of ", int64_t(view.itemsize),
           view.buf ? "." : ", and no memory.");
  for (int d = 0; view.suboffsets && d < view.ndim; ++d)
    if (view.suboffsets[d] >= 0)
      refuse("the buffer's axis ", d,
             " leads by pointers (suboffsets); Trine reads one block of memory.");
  return true;
}

void bind_operations(nb::module_& m) {
  m.def("has_buffer", &has_buffer, "object"_a.none());
  nb::class_<Call>(m, "Call", "What a caller may say of any operation.")
      .def(
          "__init__",
          [](Call* self, std::string device, std::string rung, const std::string& numerics,
             bool asks, const std::string& where, int repeats, std::optional<uint64_t> stream) {
            new (self) Call{std::move(device),
                            std::move(rung),
                            numerics_named(numerics),
                            asks,
                            where_named(where),
                            repeats,
                            stream};
          },
          "device"_a, "rung"_a, "numerics"_a, "asks"_a, "where"_a, "repeats"_a, "stream"_a.none());
  m.def(
      "reduce",
      [](const std::string& function, const std::string& map, const Array& input,
         const Array* second, const Array& output, const std::vector<size_t>& axes, bool keepdims,
         const Call& call) {
        return as_object(reduce(parse_function(function), parse_map(map), input, second, output,
                                axes, keepdims, call));
      },
      "function"_a, "map"_a, "input"_a, "second"_a.none(), "output"_a, "axes"_a, "keepdims"_a,
      "call"_a);
  m.def("reduce_whole", &reduce_whole, "function"_a, "map"_a, "x"_a.none(), "out"_a.none(),
        "call"_a);
  m.def("multiply_two", &multiply_two, "alpha"_a, "a"_a.none(), "b"_a.none(), "beta"_a,
        "out"_a.none(), "call"_a);
  m.def(
      "transpose",
      [](const Array& input, const Array& output, const std::vector<size_t>& axes,
         const Call& call) { return as_object(transpose(input, output, axes, call)); },
      "input"_a, "output"_a, "axes"_a, "call"_a);
  m.def(
      "matmul",
      [](double alpha, const Array& a, const Array& b, double beta, const Array& output,
         const Call& call) { return as_object(matmul(alpha, a, b, beta, output, call)); },
      "alpha"_a, "a"_a, "b"_a, "beta"_a, "output"_a, "call"_a);
  m.def(
      "check_factors",
      [](const Array& a, const Array& b) {
        Plan("gemm", {{"a", &a}, {"b", &b}}).check_numbers("multiplied", kMultiplied);
      },
      "a"_a, "b"_a, "Refuses elements that have no product.");
  m.def(
      "result_dtype",
      [](const std::string& function, const std::string& map, const Array& input) {
        Plan("reduce", {{"input", &input}}).check_numbers("reduced", known_dtypes());
        return name_of(result_dtype(parse_function(function), parse_map(map), input.dtype()));
      },
      "function"_a, "map"_a, "input"_a, "NumPy's name of the dtype of a reduction's results.");
}

template <class Value>
nb::bytes bytes_of(const Value& value) {
  return nb::bytes(value.state().data(), sizeof(typename Value::State));
}

template <class Value>
Value of_bytes(const nb::bytes& bytes) {
  typename Value::State state;
  if (bytes.size() != sizeof state)
    refuse("A state has ", uint64_t(sizeof state), " bytes, not ", uint64_t(bytes.size()), ".");
  std::memcpy(state.data(), bytes.data(), sizeof state);
  return Value(state);
}

/// Binds a class that has a state: it merges, and travels as bytes.
template <class Value>
nb::class_<Value> bind_state(nb::module_& m, const char* name, const char* what) {
  return nb::class_<Value>(m, name, what)
      .def_static("of", &of_bytes<Value>, "bytes"_a)
      .def("bytes", &bytes_of<Value>)
      .def("merge", &Value::merge, "other"_a);
}

void bind_states(nb::module_& m) {
  bind_state<ExactSum>(m, "ExactSum", "The state of an exact sum.")
      .def(nb::init<>())
      .def(
          "add",
          [](ExactSum& self, const std::string& map, const Array& x, const Array* second,
             const Call& call) { add(self, parse_map(map), x, second, call); },
          "map"_a, "x"_a, "second"_a.none(), "call"_a)
      .def("to_f32", &ExactSum::round<float>)
      .def("to_f64", &ExactSum::round<double>);
  bind_state<Partial>(m, "Partial", "The state of a reduction.")
      .def(
          "__init__",
          [](Partial* self, const std::string& function, const std::string& dtype,
             const std::string& map) {
            new (self) Partial(parse_function(function), dtype_named(dtype), parse_map(map));
          },
          "function"_a, "dtype"_a, "map"_a)
      .def(
          "add",
          [](Partial& self, const Array& x, int64_t first, const Call& call) {
            add(self, x, first, call);
          },
          "x"_a, "first"_a, "call"_a)
      .def_prop_ro("function",
                   [](const Partial& self) { return std::string(name(self.function())); })
      .def_prop_ro("map", [](const Partial& self) { return std::string(name(self.map())); })
      .def_prop_ro("dtype", [](const Partial& self) { return name_of(self.dtype()); })
      .def_prop_ro("result_dtype",
                   [](const Partial& self) {
                     return name_of(result_dtype(self.function(), self.map(), self.dtype()));
                   })
      .def(
          "result",
          [](const Partial& self, const std::string& dtype) {
            const Dtype kind = dtype_named(dtype);
            uint64_t value = 0;
            self.result(kind, &value);
            return nb::bytes(&value, size_of(kind));
          },
          "dtype"_a);
}

}  // namespace
}  // namespace trine::python

NB_MODULE(_trine_in_main, m) {
  using namespace trine::python;
  nb::register_exception_translator(translate);
  bind_arrays(m);
  bind_operations(m);
  bind_states(m);
  m.attr("version") = trine::version();
  m.def("backends", &all_backends, nb::sig("def backends() -> list[dict[str, object]]"));
  m.def("search_path", &trine::search_path);
  m.def("release_idle", &trine::release_idle, nb::call_guard<nb::gil_scoped_release>());
  m.def("finish_calls", [] {
    finish_calls();
    forget_kept();
    forget_types();
  });
  m.def("forget_calls", &forget_calls);
}

namespace {

/// nanobind and the library keep one state for the process, which a second interpreter would share
/// and its end destroy; so nothing of them begins there.
bool is_main_interpreter() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return true;
  PyErr_SetString(
      PyExc_ImportError,
      "trine can't be imported in a subinterpreter: it keeps one state for the process. Run "
      "it in the main interpreter (mod_wsgi: WSGIApplicationGroup %{GLOBAL}) or in a "
      "process of its own.");
  return false;
}

int (*execute)(PyObject*) = nullptr;  ///< nanobind's, which makes the module's content

int execute_in_main(PyObject* module) { return is_main_interpreter() ? execute(module) : -1; }

}  // namespace

/// From 3.13 on, Python calls this in the main interpreter for all, so that it's the module's
/// execution that tells where it is.
extern "C" NB_EXPORT PyObject* PyInit__trine() {
  if (!is_main_interpreter()) return nullptr;
  PyObject* const definition = PyInit__trine_in_main();
  if (!definition || execute) return definition;
  for (PyModuleDef_Slot* slot = reinterpret_cast<PyModuleDef*>(definition)->m_slots;
       slot->slot != 0; ++slot) {
    if (slot->slot != Py_mod_exec) continue;
    execute = reinterpret_cast<int (*)(PyObject*)>(slot->value);
    slot->value = reinterpret_cast<void*>(&execute_in_main);
  }
  return definition;
}
