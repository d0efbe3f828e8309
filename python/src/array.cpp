// Reading what other libraries say of their arrays.
#include "array.hpp"

#include <trine/fitting.hpp>

#include <algorithm>
#include <map>

namespace trine::python {
namespace {

using Count = detail::Fitting<int64_t>;

/// NumPy's name of a DLPack dtype; its code and bits for what NumPy has no name for.
std::string name_of(nb::dlpack::dtype dtype) {
  using Code = nb::dlpack::dtype_code;
  const std::string bits = std::to_string(dtype.bits);
  switch (Code(dtype.code)) {
    case Code::Int: return "int" + bits;
    case Code::UInt: return "uint" + bits;
    case Code::Float: return "float" + bits;
    case Code::Bfloat: return "bfloat" + bits;
    case Code::Complex: return "complex" + bits;
    case Code::Bool: return "bool";
    default: return "dlpack" + std::to_string(dtype.code) + ":" + bits;
  }
}

struct Known {
  const char* name;
  Dtype dtype;
};
/// All others are only moved: bits.
constexpr Known kKnown[] = {{"float32", Dtype::f32}, {"float64", Dtype::f64},
                            {"int32", Dtype::i32},   {"int64", Dtype::i64},
                            {"uint32", Dtype::u32},  {"uint64", Dtype::u64}};
constexpr Dtype kBits[] = {Dtype::b8, Dtype::b16, Dtype::b32, Dtype::b64, Dtype::b128};

Device look_for(const std::string& backend, uint64_t native) {
  std::string looked_at;
  constexpr int kMost = 4096;                    // devices that core believes a backend
  for (int index = 0; index < kMost; ++index) {  // not by devices(), which wakes every driver
    try {
      Device device = open(backend + ":" + std::to_string(index));
      if (reinterpret_cast<uint64_t>(device.native().device) == native) return device;
      looked_at += " " + device.id();
    } catch (const Error& error) {
      if (error.status() == Status::not_found && index > 0) break;
      // The words say why the backend is absent, or lost in a forked child.
      if (error.status() == Status::not_found || error.status() == Status::device_lost) throw;
    }
  }
  refuse("the array lies on a device that isn't among Trine's:", looked_at, ".");
}

/// The CUDA or OpenCL device of a driver's own handle; CUDA's is the device's number. Devices that
/// were found stay open, since opening one takes a millisecond.
Device device_of(const std::string& backend, uint64_t native) {
  static auto& found = *new std::map<std::pair<std::string, uint64_t>, Device>;  // ends with nobody
  Device& known = found[{backend, native}];
  if (!known) known = look_for(backend, native);
  return known;
}

}  // namespace

struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  uint64_t flags;
  nb::dlpack::dltensor tensor;
};

namespace {

/// Refuses what isn't of DLPack 1, whose first fields alone are where they were, and an output that
/// can't be one.
const nb::dlpack::dltensor& checked(const Versioned& all, bool writable) {
  if (all.major != 1)
    refuse("the array comes as DLPack ", all.major, ".", all.minor,
           "; Trine reads versions 0 and 1. Ask its library for max_version=(1, 0).");
  enum : uint64_t { kReadOnly = 1, kCopied = 2 };
  if (writable && (all.flags & kReadOnly) != 0) refuse("out: the array is read-only.");
  if (writable && (all.flags & kCopied) != 0)
    refuse("out: DLPack has handed out a copy of the array, which would be lost.");
  return all.tensor;
}

const nb::dlpack::dltensor& tensor_of(nb::handle capsule, bool writable) {
  constexpr const char *kOlder = "dltensor", *kVersioned = "dltensor_versioned";
  if (PyCapsule_IsValid(capsule.ptr(), kOlder))
    return *static_cast<nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), kOlder));
  if (!PyCapsule_IsValid(capsule.ptr(), kVersioned))
    refuse("the object isn't a DLPack capsule that is still to be read.");
  return checked(*static_cast<Versioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersioned)),
                 writable);
}

/// The functions of a type's library (DLPackExchangeAPI of DLPack 1.3).
struct Exchange {
  uint32_t major, minor;
  Exchange* earlier;
  void* allocate;
  int (*hand_out)(PyObject*, Versioned**);
  void* take;
  void* hand_out_briefly;
  int (*stream)(int32_t device_type, int32_t device, void** stream);
};

using KnownTypes = std::vector<std::pair<nb::object, const Exchange*>>;
KnownTypes& known_types() {
  static auto& all = *new KnownTypes;
  return all;
}

/// Those of an object's type; null where it has none of version 1.
const Exchange* exchange_of(nb::handle object) {
  auto& known = known_types();
  const nb::handle type = object.type();
  for (const auto& [its, functions] : known)
    if (its.is(type)) return functions;
  const nb::object capsule = nb::getattr(type, "__dlpack_c_exchange_api__", nb::none());
  constexpr const char* kName = "dlpack_exchange_api";
  const Exchange* functions = nullptr;
  if (PyCapsule_IsValid(capsule.ptr(), kName))
    functions = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), kName));
  if (functions && functions->major != 1) functions = nullptr;
  constexpr size_t kMost = 64;  // a program may make types without end
  if (known.size() < kMost) known.emplace_back(nb::borrow(type), functions);
  return functions;
}

/// Refuses elements that don't begin at bytes of their own.
void check_elements(nb::dlpack::dtype dtype) {
  if (dtype.lanes != 1)
    refuse("the array's elements are vectors of ", dtype.lanes, " ", name_of(dtype),
           "; Trine reads single numbers. An array with one more axis has them.");
  if (dtype.bits == 0 || dtype.bits % 8 != 0)
    refuse("the array's elements have ", uint32_t(dtype.bits), " bits (", name_of(dtype),
           "); Trine reads elements of whole bytes.");
}

}  // namespace

void forget_types() { known_types().clear(); }

void* stream_named(uint64_t handle) {
  constexpr uint64_t kDefault = 1;  // which CUDA also calls 0
  return reinterpret_cast<void*>(handle == kDefault ? 0 : handle);
}

Dtype dtype_named(const std::string& name) {
  const auto* const known = std::ranges::find(kKnown, name, &Known::name);
  if (known == std::end(kKnown))
    refuse("Trine doesn't compute with elements of ", name, ", but with ", known_dtypes(), ".");
  return known->dtype;
}

std::string name_of(Dtype dtype) {
  const auto* const known = std::ranges::find(kKnown, dtype, &Known::dtype);
  return known == std::end(kKnown) ? "" : std::string(known->name);
}

const std::string& known_dtypes() {
  static const std::string& words = *new std::string([] {
    std::string all;
    for (const Known& known : kKnown) all += (all.empty() ? "" : ", ") + std::string(known.name);
    return all;
  }());
  return words;
}

void Array::set_dtype(std::string name, int64_t bytes) {
  dtype_name_ = std::move(name);
  const auto* const known = std::ranges::find(kKnown, dtype_name_, &Known::name);
  if (known != std::end(kKnown)) {
    dtype_ = known->dtype;
    return;
  }
  const auto* const bits = std::ranges::find(kBits, bytes, [](Dtype d) { return size_of(d); });
  if (bits == std::end(kBits))
    refuse("Trine reads elements of 1, 2, 4, 8 or 16 bytes; ", dtype_name_, " has ", bytes, ".");
  dtype_ = *bits;
}

Array::Array(nb::object capsule, nb::object owner, bool writable, std::optional<uint64_t> stream)
    : owner_(std::move(owner)), capsule_(std::move(capsule)) {
  read(tensor_of(capsule_, writable));
  if (stream) set_stream(*stream, true);
}

std::optional<Array> Array::exchanged(nb::object owner, bool writable) {
  const Exchange* const library = exchange_of(owner);
  if (!library) return {};
  Array made(std::move(owner));
  Versioned* tensor = nullptr;
  if (library->hand_out(made.owner_.ptr(), &tensor) != 0) throw nb::python_error();
  made.tensor_.reset(tensor);
  made.read(checked(*tensor, writable));
  const auto& [type, index] = tensor->tensor.device;
  if (!made.device_) return made;
  void* stream = nullptr;
  if (library->stream(type, index, &stream) != 0) throw nb::python_error();
  made.set_stream(reinterpret_cast<uint64_t>(stream), true);
  return made;
}

Array Array::scalar(void* memory, Dtype dtype) {
  Array made{nb::object(nb::none())};
  made.memory_ = memory;
  made.dtype_ = dtype;
  made.dtype_name_ = name_of(dtype);
  return made;
}

void Array::GiveBack::operator()(Versioned* tensor) const {
  if (tensor->deleter) tensor->deleter(tensor);
}

void Array::set_stream(uint64_t stream, bool is_ordered) {
  stream_ = stream_named(stream);
  is_ordered_ = is_ordered;
}

void Array::read(const nb::dlpack::dltensor& tensor) {
  enum : int { kHost = 1, kCuda = 2, kCudaPinned = 3, kCudaManaged = 13 };
  check_elements(tensor.dtype);
  set_dtype(name_of(tensor.dtype), tensor.dtype.bits / 8);
  constexpr int kMostAxes = 128;  // twice NumPy's
  if (tensor.ndim < 0 || tensor.ndim > kMostAxes || (tensor.ndim > 0 && !tensor.shape))
    refuse("the array has ", tensor.ndim, " axes; Trine reads 0 to ", kMostAxes, " with a shape.");
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides) {
    strides_.assign(tensor.strides, tensor.strides + tensor.ndim);
  } else {  // in C's order
    strides_.assign(shape_.size(), 1);
    Count stride = 1;
    for (size_t d = shape_.size(); d-- > 0; stride = stride * shape_[d])
      strides_[d] =
          stride.value_or(0);  // 0 where there is no element, or check_extents() refuses it
  }
  check_extents();
  const int type = tensor.device.device_type;
  if (type == kCuda || type == kCudaManaged)
    device_ = device_of("cuda", uint64_t(tensor.device.device_id));
  else if (type != kHost && type != kCudaPinned)
    refuse("the array lies on a device of DLPack's type ", type,
           ", which Trine has no backend for.");
  pinned_ = type == kCudaPinned;
  memory_ = static_cast<char*>(tensor.data) + tensor.byte_offset;
}

Array::Array(const Foreign& foreign, nb::object owner)
    : owner_(std::move(owner)),
      memory_(reinterpret_cast<void*>(foreign.address)),
      offset_(foreign.offset),
      bytes_(foreign.bytes),
      shape_(foreign.shape) {
  set_stream(foreign.stream, false);
  set_dtype(foreign.dtype, foreign.itemsize);
  if (foreign.strides.size() != shape_.size())
    refuse("the array has ", shape_.size(), " extents and ", foreign.strides.size(), " strides.");
  for (const int64_t stride : foreign.strides) {
    if (stride % int64_t(size_of(dtype_)) != 0)
      refuse("strides must be multiples of the elements' size: ", stride, " bytes.");
    strides_.push_back(stride / int64_t(size_of(dtype_)));
  }
  check_extents();
  if (!foreign.backend.empty()) device_ = device_of(foreign.backend, foreign.device);
}

void Array::check_extents() const {
  Count elements = 1, last = 0;
  for (size_t d = 0; d < rank(); ++d) {
    if (shape_[d] < 0) refuse("axis ", d, " of the array has an extent of ", shape_[d], ".");
    elements = elements * shape_[d];
    if (shape_[d] > 1) last = last + Count(shape_[d] - 1) * std::max<int64_t>(strides_[d], 0);
  }
  if (!elements.fits()) refuse("the array has more than 2^63 - 1 elements.");
  if (size() != 0 && !((last + 1) * int64_t(size_of(dtype_))).fits())
    refuse("the array's extents and strides reach beyond 2^63 bytes.");
}

int64_t Array::size() const {
  Count elements = 1;
  for (const int64_t extent : shape_) elements = elements * extent;
  return elements.value_or(INT64_MAX);
}

std::string Array::place() const { return device_ ? device_.id() : "the host's memory"; }

Buffer Array::buffer() const {
  return Buffer::adopt(device_, memory_, bytes_ != 0 ? bytes_ : offset_ + reach());
}

uint64_t Array::offset_of(int64_t index) const {
  return offset_ + uint64_t(index) * size_of(dtype_);
}

void* Array::host(int64_t index) const {
  return static_cast<char*>(memory_) + index * int64_t(size_of(dtype_));
}

uint64_t Array::reach() const {
  if (size() == 0) return 0;
  uint64_t last = 0;
  for (size_t d = 0; d < rank(); ++d)
    last += uint64_t(shape_[d] - 1) * uint64_t(std::max<int64_t>(strides_[d], 0));
  return (last + 1) * size_of(dtype_);
}

bool Array::meets(const Array& other) const {
  const bool one_memory =
      device_ == other.device_ && (!device_ || bytes_ == 0 || memory_ == other.memory_);
  const uint64_t begin = address() + offset_, others = other.address() + other.offset_;
  return one_memory && begin < others + other.reach() && others < begin + reach();
}

bool Array::elements_apart() const {
  std::vector<std::pair<int64_t, int64_t>> steps;  // stride, extent
  for (size_t d = 0; d < rank(); ++d)
    if (shape_[d] > 1) steps.emplace_back(strides_[d], shape_[d]);
  std::ranges::sort(steps);
  int64_t span = 1;
  for (const auto& [stride, extent] : steps) {
    if (stride < span) return false;
    span += stride * (extent - 1);
  }
  return true;
}

}  // namespace trine::python
