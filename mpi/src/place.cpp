#include "place.hpp"

#include <dlfcn.h>
#include <trine/elementwise.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

// Open MPI (mpi-ext.h) and libraries derived from it have this function; others don't say.
extern "C" [[gnu::weak]] int MPIX_Query_cuda_support();

namespace trine::mpi::detail {
namespace {

/// The value of TRINE_MPI_DEVICE_MEMORY: whether MPI is given CUDA's memory, or not even the cpu's
/// queues'. cuda/device.cpp reads it, too: with `direct` no memory comes from a pool. The code
/// between, the contract and the public API, doesn't know of MPI.
enum class Wanted { by_default, staged, direct, unknown };
constexpr const char* kWanted = "TRINE_MPI_DEVICE_MEMORY";
Wanted wanted() {
  static const Wanted wanted = [] {
    const char* const word = std::getenv(kWanted);
    const std::string_view is = word == nullptr ? "" : word;
    return is == "staged"   ? Wanted::staged
           : is == "direct" ? Wanted::direct
           : is.empty()     ? Wanted::by_default
                            : Wanted::unknown;
  }();
  return wanted;
}

/// The address with which MPI reads and writes a buffer; null where it can't. `is_taken`: it takes
/// the device's pointers.
std::byte* address_for_mpi(const Buffer& buffer, bool is_taken) {
  if (wanted() == Wanted::staged) return nullptr;
  if (void* const host = buffer.host()) return static_cast<std::byte*>(host);
  return is_taken ? static_cast<std::byte*>(buffer.native()) : nullptr;
}

/// Whether the address of a buffer's memory is known.
bool has_address(const Buffer& buffer) {
  return buffer.host() != nullptr || buffer.device().backend() == "cuda";
}

/// Whether rows, or columns, have unit stride on both sides; else one side has to be transposed.
template <class From, class To>
bool lie_alike(const From& from, const To& to) {
  return (is_unit_down(from) && is_unit_down(to)) ||
         (is_unit_down(transposed(from)) && is_unit_down(transposed(to)));
}

}  // namespace

bool takes_memory_of(const Device& device) {
  if (device.backend() != "cuda" || wanted() != Wanted::direct) return false;
  return MPIX_Query_cuda_support == nullptr || MPIX_Query_cuda_support() == 1;
}

namespace {
/// A function of CUDA's driver, which is loaded if a CUDA device is open; else null.
template <class Function>
Function* driver(const char* name) noexcept {
  static void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}
}  // namespace

Current::Current(void* context) noexcept {
  if (context == nullptr) return;
  if (auto* const push = driver<int(void*)>("cuCtxPushCurrent_v2")) is_pushed_ = push(context) == 0;
}
Current::~Current() {
  void* context = nullptr;
  if (is_pushed_) driver<int(void**)>("cuCtxPopCurrent_v2")(&context);
}

void Memory::of(int64_t bytes) {
  if (!device_ && !pinned_ && bytes <= size_) return;
  *this = {};
  own_ = std::make_unique_for_overwrite<std::byte[]>(size_t(bytes));
  data_ = own_.get(), size_ = bytes;
}

void Memory::of(int64_t bytes, const Device& device, Ends ends, bool is_taken) {
  const bool has_device = device_ && device_.device() == device;
  const bool has_pinned = pinned_ && pinned_.device() == device;
  const bool has_mpi = data_ != nullptr && is_taken == is_taken_ && (has_pinned || has_device);
  if (bytes <= size_ && (has_device || ends == Ends::mpi) && (has_mpi || ends == Ends::device))
    return;
  *this = {};
  is_taken_ = is_taken;
  if (ends != Ends::mpi) {
    device_ = Buffer(device, uint64_t(bytes));
    data_ = address_for_mpi(device_, is_taken);
  }
  if (data_ == nullptr && ends != Ends::device) {
    pinned_ = Buffer(device, uint64_t(bytes), trine::Memory::pinned);
    data_ = static_cast<std::byte*>(pinned_.host());
  }
  size_ = bytes;
}

View shape_of(const ConstHostView& v) {
  return {{}, v.dtype, 0, v.rows, v.cols, v.batch, v.row_stride, v.col_stride, v.batch_stride};
}

namespace {
/// Also if nothing is computed, so that an invalid promise is refused on all ranks alike.
void check_numerics(Numerics numerics) {
  if (numerics != Numerics::reproducible && numerics != Numerics::fast &&
      numerics != Numerics::exact)
    refuse("numerics can be asked for as 'reproducible', 'fast' or 'exact', not '", name(numerics),
           "'.");
}
}  // namespace

void OnHost::begin() {
  options_.device = device_ = options_.device;
  options_.rung = rung_ = options_.rung;
  if (options_.event != nullptr)
    refuse(
        "HostOptions::event goes with calls on one rank; iallreduce and ireduce return a Request.");
  check_numerics(options_.numerics);
}

template <class Operation>
void OnHost::plan(Channel& channel, const Operation& operation) const {
  if (const Device named = device(channel)) {
    choose(named, operation, rung_);
    return;
  }
  const Placement placement = place(operation, Where::host);
  if (rung_.empty()) return;
  Failure refusal;
  attempt(refusal, [&] { choose(placement.device, operation, rung_); });
  if (!refusal) return;
  for (const Facts& facts : devices()) {  // the call takes any that has the rung
    if (facts.kind == DeviceKind::cpu && facts.id != "cpu") continue;
    Failure other;
    attempt(other, [&] { choose(open(facts.id), operation, rung_); });
    if (!other) return;
  }
  std::rethrow_exception(refusal);
}
template void OnHost::plan(Channel&, const Reduce&) const;
template void OnHost::plan(Channel&, const Transpose&) const;
template void OnHost::plan(Channel&, const Gemm&) const;

bool OnHost::transposes(const ConstHostView& from, const HostView& to) {
  return from.rows != 0 && from.cols != 0 && (from.batch > 1 || !lie_alike(from, to));
}

void OnHost::copy(const ConstHostView& from, const HostView& to, bool as_asked) const {
  if (from.rows == 0 || from.cols == 0) return;
  if (transposes(from, to))
    return trine::transpose(from, transposed(to),
                            as_asked ? options_ : HostOptions{.device = options_.device});
  const bool down = is_unit_down(from) && is_unit_down(to);
  const bool across = is_unit_down(transposed(from)) && is_unit_down(transposed(to));
  if (!down || (across && from.cols > from.rows)) return copy(transposed(from), transposed(to));
  int64_t length = from.rows * size_of(from.dtype), cols = from.cols;
  if (from.col_stride == from.rows && to.col_stride == from.rows) length *= cols, cols = 1;
  for (int64_t j = 0; j < cols; ++j)
    std::memcpy(block(to, 0, j, 0, 0).data, block(from, 0, j, 0, 0).data, size_t(length));
}

void OnHost::gemm(double alpha, const ConstHostView& a, const ConstHostView& b, double beta,
                  const HostView& c, bool continues) const {
  HostOptions options = options_;
  options.continues = continues;
  trine::gemm(alpha, a, b, beta, c, options);
}

void OnHost::add(double alpha, const HostView& chains, double beta, const HostView& c) const {
  // The product of each column of chains and a 1 x 1 matrix that is 1, whose chains fma(chain, 1,
  // +0) change nothing, as they end with + (+0) already.
  if (!is_unit_down(c)) return add(alpha, transposed(chains), beta, transposed(c));
  const float one_f32 = 1;
  const double one_f64 = 1;
  const int32_t one_i32 = 1;
  const void* const one = c.dtype == Dtype::f32   ? static_cast<const void*>(&one_f32)
                          : c.dtype == Dtype::f64 ? static_cast<const void*>(&one_f64)
                                                  : &one_i32;
  const auto columns = [](const HostView& view) {
    HostView batch = view;
    batch.batch = view.cols, batch.batch_stride = view.col_stride;
    batch.cols = 1, batch.row_stride = 1, batch.col_stride = view.rows;
    return batch;
  };
  ConstHostView unit = host_vector(one, c.dtype, 1);
  unit.batch = c.cols;
  trine::gemm(alpha, columns(chains), unit, beta, columns(c), {.device = options_.device});
}

void OnHost::take(const ConstHostView& one, void* to) {
  std::memcpy(to, one.data, size_of(one.dtype));
}
void OnHost::put(const void* from, const HostView& one) {
  std::memcpy(one.data, from, size_of(one.dtype));
}

void OnDevice::begin() {
  rung_ = options_.rung, options_.rung = rung_;
  const Device device = queue_.device();  // refuses an empty handle
  check_numerics(options_.numerics);
  if (wanted() == Wanted::unknown)
    refuse(kWanted, " is '", std::getenv(kWanted), "'; it is direct or staged.");
  is_taken_ = does_block_ && takes_memory_of(device);
  if (is_taken_) context_ = device.native().context;
  if (does_block_) return;
  // The call doesn't wait for work that the program gives its queue meanwhile.
  Queue own(device);
  own.wait(queue_.record());
  queue_ = side_ = own;
}

ConstHostView OnDevice::as_host(const View& view) {
  alignas(4096) static constexpr std::byte somewhere[1] = {};
  uintptr_t memory = 0;
  if (view.buffer) {
    const void* const host = view.buffer.host();  // beside it, OpenCL's native handle is no address
    const void* const at = host != nullptr            ? host
                           : has_address(view.buffer) ? view.buffer.native()
                                                      : somewhere;
    memory = view.offset + reinterpret_cast<uintptr_t>(at);
  }
  return {reinterpret_cast<void*>(memory),
          view.dtype,
          view.rows,
          view.cols,
          view.batch,
          view.row_stride,
          view.col_stride,
          view.batch_stride};
}

bool OnDevice::may_share(const View& a, const View& b) {
  if (!a.buffer || !b.buffer) return false;
  return (has_address(a.buffer) && has_address(b.buffer)) || a.buffer.native() == b.buffer.native();
}

void OnDevice::check(const char* which, const View& view) const {
  if (view.rows <= 0 || view.cols <= 0) return;
  const Device device = view.buffer.device();
  if (device != queue_.device())
    refuse(which, " is in memory of ", device.id(), ", and the queue is of ", queue_.device().id(),
           ".");
  // The strides have been checked: no product overflows.
  const View last =
      block(view, view.rows == 1 ? 0 : view.rows - 1, view.cols == 1 ? 0 : view.cols - 1, 1, 1);
  const uint64_t bytes = view.buffer.bytes();
  if (last.offset < view.offset || last.offset > bytes || bytes - last.offset < size_of(view.dtype))
    refuse(which, " ends beyond its buffer of ", bytes, " bytes.");
}

void OnDevice::check(const char* which, const DeviceMatrix& matrix, const Channel& channel) const {
  check_matrix(which, {matrix.distribution, as_host(matrix.local)}, channel);
  check(cat("the local part of ", which).c_str(), matrix.local);
}

trine::View OnDevice::at(const Memory& memory, const HostView& message) noexcept {
  const auto offset = static_cast<std::byte*>(message.data) - memory.data();
  return {memory.buffer(),    message.dtype,      uint64_t(offset),
          message.rows,       message.cols,       message.batch,
          message.row_stride, message.col_stride, message.batch_stride};
}

void OnDevice::allocate_for(Memory& memory, const View& view, int64_t bytes) const {
  if (address_for_mpi(view.buffer, is_taken_) == nullptr)
    memory.of(bytes, queue_.device(), Memory::Ends::mpi, is_taken_);
}

std::byte* OnDevice::address(const Memory& memory, const View& part) const {
  std::byte* const direct = address_for_mpi(part.buffer, is_taken_);
  return direct == nullptr ? memory.data() : direct + part.offset;
}

bool OnDevice::transposes(const View& from, const View& to) {
  if (from.rows == 0 || from.cols == 0) return false;
  const auto is_run = [](const View& one, const View& other) {
    return one.rows > 1 && one.row_stride == 1 && other.row_stride == 1;
  };
  const int extents = (from.rows > 1 ? 1 : 0) + (from.cols > 1 ? 1 : 0) + (from.batch > 1 ? 1 : 0);
  return extents > 1 && !is_run(from, to) && !is_run(transposed(from), transposed(to));
}

void OnDevice::copy(const View& from, const View& to, bool as_asked) {
  if (!transposes(from, to)) return trine::copy(side_, from, to);
  trine::run(side_, Transpose{.input = from, .output = transposed(to)},
             as_asked ? std::string_view(rung_) : "");
}

void OnDevice::fetch(const View& from, const HostView& to) {
  if (address_for_mpi(from.buffer, is_taken_) == nullptr) trine::copy(side_, from, to);
}
void OnDevice::bring(const ConstHostView& from, const View& to) {
  if (address_for_mpi(to.buffer, is_taken_) == nullptr) trine::copy(side_, from, to);
}

void OnDevice::gemm(double alpha, const View& a, const View& b, double beta, const View& c,
                    bool continues) {
  trine::run(queue_,
             Gemm{.alpha = alpha,
                  .beta = beta,
                  .a = a,
                  .b = b,
                  .c = c,
                  .numerics = options_.numerics,
                  .continues = continues},
             rung_);
}

void OnDevice::add(double alpha, const View& chains, double beta, const View& c) {
  axpby(queue_, beta, c, alpha, chains);  // fma(beta, c, alpha * chain), as a product ends
  trine::copy(queue_, chains, c);
}

void OnDevice::reduce_columns(Function function, const View& from, const View& to) {
  trine::run(queue_,
             Reduce{.function = function,
                    .axis = Axis::each_column,
                    .input = from,
                    .output = to,
                    .numerics = options_.numerics},
             rung_);
}

void OnDevice::take(const View& one, void* to) {
  trine::copy(queue_, one, host_vector(to, one.dtype, 1));
  queue_.wait();
}
void OnDevice::put(const void* from, const View& one) {
  fill(queue_, one, from);
  queue_.wait();
}

void OnDevice::split() {
  side_ = Queue(queue_.device());
  side_.wait(queue_.record());
}
void OnDevice::join() { queue_.wait(side_.record()); }
void OnDevice::reuse(int slot) { side_.wait(used_[size_t(slot)]); }

void OnDevice::finish(Failure& failure) noexcept {
  for (Queue* queue : {&side_, &queue_}) {
    Failure late;
    attempt(late, [&] {
      if (*queue) queue->wait();
    });
    if (!failure) failure = late;
  }
}

}  // namespace trine::mpi::detail
