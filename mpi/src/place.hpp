// A place holds a rank's parts and works on them: host memory with calls on host data, or a
// device's memory with its queue. The algorithms are written once, for both; MPI's messages are the
// same, so ranks of both kinds meet in one call.
//
//   part ── copy ──► message, on the device ── fetch ──► message, for MPI   and back: bring, copy
//
// In host memory a message is one thing. So it is on the cpu's queues, and where MPI takes pointers
// of the device; elsewhere fetch and bring copy it to and from pinned memory.
#pragma once

#include <array>
#include <string>

#include "call.hpp"
#include "matrix.hpp"

namespace trine::mpi::detail {

/// The shape of a view, as choose() takes it.
inline const View& shape_of(const View& view) noexcept { return view; }
View shape_of(const ConstHostView& view);

/// Whether MPI is to be given the memory of this device, and takes it.
TRINE_API bool takes_memory_of(const Device& device);

class OnHost {
 public:
  using ConstView = ConstHostView;
  using View = HostView;
  using ConstMatrix = mpi::ConstMatrix;
  using Matrix = mpi::Matrix;
  using Options = HostOptions;
  /// Whether work has only begun when a function returns.
  static constexpr bool is_queue = false;

  explicit OnHost(const HostOptions& options) noexcept : options_(options) {}
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;

  /// Takes what the options point to as the call's own, and refuses what a call over ranks doesn't
  /// have.
  void begin();
  /// Refuses a part that isn't what the distribution says.
  void check(const char* which, const ConstMatrix& matrix, const Channel& channel) const {
    check_matrix(which, matrix, channel);
  }
  static ConstHostView as_host(const ConstHostView& view) noexcept { return view; }
  void check(const char*, const ConstHostView&) const noexcept {}
  static bool may_share(const ConstHostView&, const ConstHostView&) noexcept { return true; }

  const HostOptions& options() const noexcept { return options_; }
  bool names_rung() const noexcept { return !rung_.empty(); }
  /// Whether the options ask a device for more than the result.
  bool tells_more() const noexcept {
    const HostOptions& o = options_;
    return o.choice || o.placement || o.trace || o.receipt || !o.rung.empty();
  }
  /// The device that is named; an empty handle where Trine chooses.
  Device device(Channel& channel) const {
    return device_ == "auto" ? Device() : channel.open_named(device_);
  }
  /// Refuses what the device or the rung doesn't do, as the work would; nothing runs.
  template <class Operation>
  void plan(Channel& channel, const Operation& operation) const;
  bool continues() const noexcept { return options_.continues; }
  Numerics numerics() const noexcept { return options_.numerics; }

  /// Memory for a message, and a part of it as the work sees it; what MPI sees is `message`.
  void allocate(Memory& memory, int64_t bytes, bool = true) const { memory.of(bytes); }
  static HostView at(const Memory&, const HostView& message) noexcept { return message; }
  /// Memory for a vector's part that has to be fetched or brought: none.
  void allocate_for(Memory&, const ConstHostView&, int64_t) const noexcept {}
  static std::byte* address(const Memory&, const HostView& part) noexcept {
    return static_cast<std::byte*>(part.data);
  }
  static const std::byte* address(const Memory&, const ConstHostView& part) noexcept {
    return static_cast<const std::byte*>(part.data);
  }

  /// Whether copy() asks for a transposition.
  static bool transposes(const ConstHostView& from, const HostView& to);
  /// Copies a matrix, or a batch; where the sides lie differently, by a transposition, `as_asked`
  /// of the options.
  void copy(const ConstHostView& from, const HostView& to, bool as_asked = false) const;
  void fetch(const ConstHostView&, const HostView&) const noexcept {}
  void bring(const ConstHostView&, const HostView&) const noexcept {}
  void transpose(const ConstHostView& from, const HostView& to) const {
    trine::transpose(from, to, options_);
  }
  void gemm(double alpha, const ConstHostView& a, const ConstHostView& b, double beta,
            const HostView& c, bool continues) const;
  /// c = fma(beta, c, alpha * chain), where both lie alike.
  void add(double alpha, const HostView& chains, double beta, const HostView& c) const;
  void reduce_columns(Function function, const ConstHostView& from, const HostView& to) const {
    trine::reduce(function, Map::identity, Axis::each_column, from, to, options_);
  }
  static void take(const ConstHostView& one, void* to);
  static void put(const void* from, const HostView& one);

  /// Nothing has to be ordered, because there are no queues.
  void split() const noexcept {}
  void join() const noexcept {}
  void reuse(int) const noexcept {}
  void used(int) const noexcept {}
  void mark() const noexcept {}
  bool is_done() const noexcept { return true; }
  void finish(Failure&) const noexcept {}
  void* context() const noexcept { return nullptr; }

 private:
  HostOptions options_;
  std::string device_, rung_;  ///< what the options name
};

class OnDevice {
 public:
  using ConstView = trine::View;
  using View = trine::View;
  using ConstMatrix = DeviceMatrix;
  using Matrix = DeviceMatrix;
  struct Options {
    Queue queue;
    QueueOptions options;
    bool does_block = true;
  };
  static constexpr bool is_queue = true;

  explicit OnDevice(const Options& options) noexcept
      : queue_(options.queue),
        side_(queue_),
        options_(options.options),
        does_block_(options.does_block) {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  void begin();
  void check(const char* which, const DeviceMatrix& matrix, const Channel& channel) const;
  /// Refuses a view that its buffer doesn't hold.
  void check(const char* which, const View& view) const;
  bool names_rung() const noexcept { return !rung_.empty(); }
  static bool tells_more() noexcept { return false; }
  Device device(Channel&) const { return queue_.device(); }
  /// Refuses what the device or the rung doesn't do, as the work would; nothing runs.
  template <class Operation>
  void plan(Channel&, const Operation& operation) const {
    choose(queue_.device(), operation, rung_);
  }
  /// The same shape at an address: the device's, or a made-up one where buffers are handles.
  static ConstHostView as_host(const View& view);
  /// Whether as_host() may tell if two views share memory.
  static bool may_share(const View& a, const View& b);

  bool continues() const noexcept { return options_.continues; }
  Numerics numerics() const noexcept { return options_.numerics; }

  void allocate(Memory& memory, int64_t bytes, bool for_mpi = true) const {
    memory.of(bytes, queue_.device(), for_mpi ? Memory::Ends::both : Memory::Ends::device,
              is_taken_);
  }
  static View at(const Memory& memory, const HostView& message) noexcept;
  void allocate_for(Memory& memory, const View& view, int64_t bytes) const;
  std::byte* address(const Memory& memory, const View& part) const;

  static bool transposes(const View& from, const View& to);
  void copy(const View& from, const View& to, bool as_asked = false);
  void fetch(const View& from, const HostView& to);
  void bring(const ConstHostView& from, const View& to);
  void transpose(const View& from, const View& to) {
    trine::run(queue_, Transpose{.input = from, .output = to}, rung_);
  }
  void gemm(double alpha, const View& a, const View& b, double beta, const View& c, bool continues);
  void add(double alpha, const View& chains, double beta, const View& c);
  void reduce_columns(Function function, const View& from, const View& to);
  void take(const View& one, void* to);
  void put(const void* from, const View& one);

  /// From here on copies have a queue of their own, behind what the program's has now.
  void split();
  /// The next work of the program's queue comes after the copies so far.
  void join();
  /// The copies that come next go where the work before used(slot) was.
  void reuse(int slot);
  void used(int slot) { used_[size_t(slot)] = queue_.record(); }
  /// is_done() tells of what was asked for up to here.
  void mark() { done_ = side_.record(); }
  bool is_done() const { return done_.done(); }
  /// Waits for all of it, of a call that has failed too.
  void finish(Failure& failure) noexcept;
  /// The CUDA context in which MPI works on the device's memory; null where it is given none.
  void* context() const noexcept { return context_; }

 private:
  Queue queue_, side_;  ///< the program's, or the call's own, and the copies'
  QueueOptions options_;
  std::string rung_;
  /// Whether MPI is given the device's memory. Only calls that block give it: the others may go on
  /// within MPI calls of the program, which has another CUDA context, or none.
  bool does_block_, is_taken_ = false;
  void* context_ = nullptr;
  Event done_;
  std::array<Event, 2> used_;
};

/// A call on a place.
template <class Place>
class PlacedCall : public Call {
  using ConstView = typename Place::ConstView;
  using View = typename Place::View;

 public:
  PlacedCall(MPI_Comm comm, const typename Place::Options& options)
      : Call(channel_of(comm)), place_(options) {}

 protected:
  /// Every destructor calls it first: if MPI has failed, the device may still work on memory that
  /// is about to be freed or used again.
  void end_work() noexcept {
    Failure none;
    place_.finish(none);
  }

  /// Asks whether this rank's device, or its rung, refuses the work, before any rank's data moves.
  void plan_reduce(Function function, const trine::View& from, const trine::View& to) {
    place_.plan(channel(), Reduce{.function = function,
                                  .axis = Axis::each_column,
                                  .input = from,
                                  .output = to,
                                  .numerics = place_.numerics()});
  }
  void plan_copy(const ConstView& from, const View& to) {
    if (Place::transposes(from, to))
      place_.plan(channel(),
                  Transpose{.input = shape_of(from), .output = transposed(shape_of(to))});
  }
  void plan_gemm(double alpha, const ConstView& a, const ConstView& b, double beta, const View& c,
                 bool continues) {
    place_.plan(channel(), Gemm{.alpha = alpha,
                                .beta = beta,
                                .a = shape_of(a),
                                .b = shape_of(b),
                                .c = shape_of(c),
                                .numerics = place_.numerics(),
                                .continues = continues});
  }

  Place place_;

 private:
  void* context() const noexcept override { return place_.context(); }
  bool is_ready() noexcept override {
    bool is_ready = true;
    attempt(failure_, [&] { is_ready = place_.is_done(); });
    return is_ready;
  }
};

/// Throws if the parts share memory.
template <class Place>
void check_apart(const Place&, const char* input_is, const typename Place::ConstView& input,
                 const char* output_is, const typename Place::View& output) {
  if (Place::may_share(input, output))
    check_apart(input_is, Place::as_host(input), output_is, Place::as_host(output));
}

}  // namespace trine::mpi::detail
