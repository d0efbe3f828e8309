// An array of another library, as Trine sees it: where its memory is, its shape and its strides. It
// refers to that memory and never copies it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <trine/trine.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trine::python {

namespace nb = nanobind;

/// Python's description of an array without DLPack: NumPy's of a dtype that DLPack has no word for,
/// pyopencl's, or one with __cuda_array_interface__.
struct Foreign {
  std::string backend;           ///< "opencl", "cuda"; "" for the host's memory
  uint64_t address = 0;          ///< of the first element; OpenCL: the cl_mem
  uint64_t offset = 0;           ///< of the first element in the cl_mem, in bytes
  uint64_t bytes = 0;            ///< of the cl_mem; 0: as far as the strides reach
  std::string dtype;             ///< as NumPy calls it: "float32"
  int64_t itemsize = 0;          ///< bytes of an element
  std::vector<int64_t> shape;    ///< in elements
  std::vector<int64_t> strides;  ///< in bytes
  uint64_t device = 0;           ///< OpenCL: the cl_device_id; CUDA: the device's number
  uint64_t stream = 0;           ///< the cl_command_queue or cudaStream_t that the data is ready on
};

/// A tensor as DLPack hands it out from version 1 on; older versions hold the tensor alone.
struct Versioned;

/// Lets go of the types whose libraries are known: the interpreter ends.
void forget_types();

/// A stream of CUDA or a queue of OpenCL by its handle; each has one name alone.
void* stream_named(uint64_t handle);

/// The dtype that NumPy calls so, of those that Trine computes with; throws Error where there is
/// none.
Dtype dtype_named(const std::string& name);
/// The reverse; "" for another dtype.
std::string name_of(Dtype dtype);

class Array {
 public:
  /// Made of a capsule of DLPack, which stays as it is: its own destructor gives the memory back.
  /// An output must be writable. `stream` is the one that its library works on; without it, what
  /// the default stream has is done first.
  Array(nb::object capsule, nb::object owner, bool writable, std::optional<uint64_t> stream);
  /// Made by the functions in C that the type of `owner` hands out for it (DLPack 1.3); none where
  /// it has no such functions.
  static std::optional<Array> exchanged(nb::object owner, bool writable);
  /// One element of the host's memory, without axes.
  static Array scalar(void* memory, Dtype dtype);
  /// Made of memory that `owner` keeps.
  Array(const Foreign& foreign, nb::object owner);

  /// The object that it was made of.
  const nb::object& owner() const { return owner_; }
  const std::string& dtype_name() const { return dtype_name_; }
  Dtype dtype() const { return dtype_; }
  /// Whether Trine computes with the elements; it moves all.
  bool is_number() const { return name_of(dtype_) == dtype_name_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  /// In elements.
  const std::vector<int64_t>& strides() const { return strides_; }
  size_t rank() const { return shape_.size(); }
  int64_t size() const;
  /// The address of the first element, or its cl_mem.
  uint64_t address() const { return reinterpret_cast<uint64_t>(memory_); }

  /// The device of its memory; empty for the host's.
  const Device& device() const { return device_; }
  bool pinned() const { return pinned_; }
  /// The stream or queue on its device that its elements are ready on.
  void* stream() const { return stream_; }
  /// Whether its library does its own work on that stream, so that nobody need wait.
  bool is_ordered() const { return is_ordered_; }
  /// "the host's memory", "opencl:0"
  std::string place() const;

  /// Its memory for one operation on its device; for the host's, the address of element `index`.
  Buffer buffer() const;
  uint64_t offset_of(int64_t index) const;
  void* host(int64_t index) const;
  /// Bytes from the first element to the end of the last.
  uint64_t reach() const;
  /// Whether elements of both may share memory; not sure where they lie interleaved.
  bool meets(const Array& other) const;
  /// Whether no two of its elements may share memory.
  bool elements_apart() const;

 private:
  struct GiveBack {
    void operator()(Versioned* tensor) const;
  };

  explicit Array(nb::object owner) : owner_(std::move(owner)) {}
  /// Reads what DLPack says.
  void read(const nb::dlpack::dltensor& tensor);
  void set_stream(uint64_t stream, bool is_ordered);
  void set_dtype(std::string name, int64_t bytes);
  /// Refuses extents and strides that no array in memory has, so that sums and products of them
  /// fit.
  void check_extents() const;

  nb::object owner_, capsule_;
  std::unique_ptr<Versioned, GiveBack> tensor_;
  void* memory_ = nullptr;
  uint64_t offset_ = 0, bytes_ = 0;
  std::string dtype_name_;
  Dtype dtype_ = Dtype::f32;
  std::vector<int64_t> shape_, strides_;
  Device device_;
  void* stream_ = nullptr;
  bool is_ordered_ = false;
  bool pinned_ = false;
};

/// "float32, float64, …": the dtypes that Trine computes with.
const std::string& known_dtypes();

/// Throws Error (invalid_argument) with the parts of a sentence.
template <class... Parts>
[[noreturn]] void refuse(const Parts&... parts) {
  std::string sentence;
  const auto text = [](const auto& part) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(part)>>)
      return std::to_string(part);
    else
      return std::string(part);
  };
  ((sentence += text(parts)), ...);
  throw Error(Status::invalid_argument, sentence);
}

}  // namespace trine::python
