// The channel that trine_mpi keeps of a communicator: a duplicate, so that its messages never meet
// the program's. It is an attribute of the program's communicator, made by the first call on that
// and freed with it.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <trine/mpi_matrix.hpp>

#include "check.hpp"

namespace trine::mpi::detail {

/// A call that has begun, as the channel sees it.
struct Pending {
  virtual ~Pending() = default;
  /// Goes on as far as that needs no wait; true when the call has ended.
  virtual bool advance() = 0;
  /// Whether MPI still uses its memory: of a call that has ended, because MPI failed.
  virtual bool is_under_way() const noexcept = 0;
};

/// Memory for messages, which grows when needed and then loses its content. It may have two ends,
/// the device's and MPI's; they are one memory if MPI takes the device's.
class TRINE_API Memory {
 public:
  Memory() = default;
  Memory(Memory&& other) noexcept { swap(other); }
  Memory& operator=(Memory&& other) noexcept {
    Memory before(std::move(*this));
    swap(other);
    return *this;
  }

  enum class Ends { device, mpi, both };
  /// Host memory.
  void of(int64_t bytes);
  /// A device's, and what MPI needs in the host's, where the device's memory isn't taken.
  void of(int64_t bytes, const Device& device, Ends ends, bool is_taken);

  /// The address for MPI, and the place for the device.
  std::byte* data() const noexcept { return data_; }
  const Buffer& buffer() const noexcept { return device_; }
  /// Never frees the memory: MPI may still read or write it.
  void leave() noexcept {
    detail::leave(own_), detail::leave(device_), detail::leave(pinned_);
    *this = {};
  }

 private:
  void swap(Memory& other) noexcept {
    std::swap(own_, other.own_), std::swap(device_, other.device_);
    std::swap(pinned_, other.pinned_);
    std::swap(data_, other.data_), std::swap(size_, other.size_);
    std::swap(is_taken_, other.is_taken_);
  }

  std::unique_ptr<std::byte[]> own_;
  Buffer device_, pinned_;
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  bool is_taken_ = false;
};

struct Channel {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  /// The device that a call named last: it stays open.
  const Device& open_named(std::string_view name);
  std::string device_name;
  Device device;
  /// The functions and dtypes, a bit each, that this device is known to reduce by its own choice;
  /// an empty handle stands for "auto".
  Device able;
  uint64_t able_to = 0;

  /// The grid of a product, and communicators of this rank's row and column in it: those of the
  /// last call stay. A rank that has no place there has none.
  Distribution grid = {.grid_rows = 0};
  MPI_Comm row = MPI_COMM_NULL, col = MPI_COMM_NULL;
  /// Makes them, on all ranks together.
  void join(const Distribution& distribution);
  void leave();

  /// The memory that matrices are packed into. It stays, as the first touch of a page takes as long
  /// as the copy.
  Memory messages[5];
  /// The same of vectors: a call takes it, and gives it back; of several that have begun, one has
  /// it.
  std::vector<Memory> vectors;
  std::mutex vectors_mutex;

  /// Calls that have begun and not ended. Collectives must begin in one order on all ranks, so the
  /// oldest alone goes on. The lock is held for moments, never while a rank waits for another.
  std::deque<std::shared_ptr<Pending>> pending;
  std::mutex mutex;

  /// Goes on with what is pending, as far as that needs no wait.
  void advance();
  void advance_locked();  ///< by one that has the lock
  /// Ends what is pending; other channels go on meanwhile, as other ranks may end those first.
  void drain();
};

/// Goes on with what is pending on all communicators, which may wait for each other: ranks may wait
/// for calls on two of them in different orders, as for MPI's requests.
void advance_all();

/// The channel of `comm`; the first call makes it, on all ranks together. Throws Error where MPI
/// isn't initialized, is finalized already, or `comm` isn't a communicator of one group.
std::shared_ptr<Channel> channel_of(MPI_Comm comm);

/// A datatype of 64-bit words, and the operation over it.
struct Kind {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op merge = MPI_OP_NULL;
};
/// The kinds of a Head and of a state: made before the first channel, gone with MPI_Finalize after
/// the last.
struct Kinds {
  Kind head, state;
};
const Kinds& kinds();

}  // namespace trine::mpi::detail
