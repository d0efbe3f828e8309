// Reading what other libraries say of their arrays.
#include "array.hpp"

#include <algorithm>

namespace trine::python {
namespace {

/// NumPy's name of a DLPack dtype; plain bits for what NumPy has no name for.
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
    default: return "bits" + bits;
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

/// The CUDA or OpenCL device of a driver's own handle; CUDA's is the device's number.
Device device_of(const char* backend, uint64_t native) {
  std::string looked_at;
  for (const Facts& facts : devices()) {
    if (!facts.id.starts_with(backend)) continue;
    Device device = open(facts.id);
    if (reinterpret_cast<uint64_t>(device.native().device) == native) return device;
    looked_at += " " + facts.id;
  }
  // The words of the library say why a backend is absent.
  if (looked_at.empty()) return open(backend);
  refuse("the array lies on a device that isn't among Trine's:", looked_at, ".");
}

nb::ndarray<nb::ro> import(nb::handle object, bool writable) {
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array)) {
    const std::string type = nb::type_name(object.type()).c_str();
    throw nb::type_error(
        (type + " is no array of numbers that Trine can read: it takes NumPy arrays, "
                "arrays with DLPack or __cuda_array_interface__, and pyopencl's, of this "
                "machine's byte order, with strides that are multiples of an element's size.")
            .c_str());
  }
  nb::ndarray<> to_write;
  if (writable && !nb::try_cast(object, to_write)) refuse("out: the array is read-only.");
  return array;
}

}  // namespace

Dtype dtype_named(const std::string& name) {
  const auto* const known = std::ranges::find(kKnown, name, &Known::name);
  if (known == std::end(kKnown)) refuse("Trine doesn't compute with elements of ", name, ".");
  return known->dtype;
}

std::string name_of(Dtype dtype) {
  const auto* const known = std::ranges::find(kKnown, dtype, &Known::dtype);
  return known == std::end(kKnown) ? "" : std::string(known->name);
}

void Array::set_dtype(std::string name, uint32_t bytes) {
  dtype_name_ = std::move(name);
  const auto* const known = std::ranges::find(kKnown, dtype_name_, &Known::name);
  if (known != std::end(kKnown)) {
    dtype_ = known->dtype;
    return;
  }
  const auto* const bits = std::ranges::find(kBits, bytes, [](Dtype d) { return size_of(d); });
  if (bits == std::end(kBits)) refuse("there is no dtype for elements of ", bytes, " bytes.");
  dtype_ = *bits;
}

Array::Array(nb::handle object, bool writable)
    : owner_(nb::borrow(object)), imported_(import(object, writable)) {
  enum : int { kHost = 1, kCuda = 2, kCudaPinned = 3, kCudaManaged = 13 };
  const int type = imported_.device_type();
  if (type == kCuda || type == kCudaManaged)
    device_ = device_of("cuda", uint64_t(imported_.device_id()));
  else if (type != kHost && type != kCudaPinned)
    refuse("the array lies on a device of DLPack's type ", type,
           ", which Trine has no backend for.");
  pinned_ = type == kCudaPinned;
  memory_ = const_cast<void*>(imported_.data());
  set_dtype(name_of(imported_.dtype()), uint32_t(imported_.itemsize()) * imported_.dtype().lanes);
  shape_.assign(imported_.shape_ptr(), imported_.shape_ptr() + imported_.ndim());
  strides_.assign(imported_.stride_ptr(), imported_.stride_ptr() + imported_.ndim());
}

Array::Array(const Foreign& foreign, nb::object owner)
    : owner_(std::move(owner)),
      memory_(reinterpret_cast<void*>(foreign.address)),
      offset_(foreign.offset),
      bytes_(foreign.bytes),
      shape_(foreign.shape),
      queue_(reinterpret_cast<void*>(foreign.queue)) {
  device_ = device_of(foreign.opencl ? "opencl" : "cuda", foreign.device);
  const size_t digits = foreign.dtype.find_first_of("0123456789");
  const uint32_t bits =
      digits == std::string::npos ? 8 : uint32_t(std::stoul(foreign.dtype.substr(digits)));
  set_dtype(foreign.dtype, bits / 8);
  for (const int64_t stride : foreign.strides) {
    if (stride % int64_t(size_of(dtype_)) != 0)
      refuse("strides must be multiples of the elements' size: ", stride, " bytes.");
    strides_.push_back(stride / int64_t(size_of(dtype_)));
  }
}

int64_t Array::size() const {
  int64_t elements = 1;
  for (const int64_t extent : shape_)
    if (__builtin_mul_overflow(elements, extent, &elements))
      refuse("an array of more than 2^63 - 1 elements.");
  return elements;
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
