#include "channel.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <new>
#include <thread>
#include <tuple>
#include <utility>

#include "agreement.hpp"

namespace trine::mpi::detail {
namespace {

using Held = std::shared_ptr<Channel>;

/// A communicator of the program: the value of its attribute.
struct User {
  MPI_Comm comm;
  Held channel;
};

/// The state that a process has once. MPI_Finalize begins with the attributes of MPI_COMM_SELF:
/// ours frees all of it.
struct Process {
  std::mutex mutex;
  std::atomic<bool> is_made = false;
  Kinds kinds;
  int channel_key = MPI_KEYVAL_INVALID, end_key = MPI_KEYVAL_INVALID;
  std::list<User> users;  ///< the oldest first
};
Process& the_process() {
  alignas(Process) static std::byte memory[sizeof(Process)];
  static auto* const made = new (memory) Process;  // outlives all threads and handlers
  return *made;
}

/// MPI calls it when a communicator that has a channel is freed.
int free_channel(MPI_Comm, int, void* value, void*) {
  const Held channel = static_cast<User*>(value)->channel;
  channel->drain();
  Process& process = the_process();
  {
    const std::lock_guard lock(process.mutex);
    process.users.remove_if([value](const User& user) { return &user == value; });
  }
  channel->leave();
  return MPI_Comm_free(&channel->comm);
}

/// Frees what make() has made, which may have failed on the way.
void unmake(Process& process) {
  for (int* key : {&process.channel_key, &process.end_key})
    if (*key != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(key);
  for (Kind* kind : {&process.kinds.head, &process.kinds.state}) {
    if (kind->merge != MPI_OP_NULL) MPI_Op_free(&kind->merge);
    if (kind->datatype != MPI_DATATYPE_NULL) MPI_Type_free(&kind->datatype);
  }
}

int free_process(MPI_Comm, int, void*, void*) {
  Process& process = the_process();
  process.is_made = false;
  for (const User& user : process.users) user.channel->drain();
  const std::list<User> users = std::exchange(process.users, {});
  for (const User& user : users) MPI_Comm_delete_attr(user.comm, process.channel_key);
  unmake(process);
  return MPI_SUCCESS;
}

void make(Kind& kind, size_t bytes, MPI_User_function* merge) {
  check(MPI_Type_contiguous(int(bytes / sizeof(uint64_t)), MPI_UINT64_T, &kind.datatype),
        "MPI_Type_contiguous");
  check(MPI_Type_commit(&kind.datatype), "MPI_Type_commit");
  check(MPI_Op_create(merge, 1, &kind.merge), "MPI_Op_create");
}

void make(Process& process) {
  make(process.kinds.head, sizeof(Head), &trine_mpi_merge_heads);
  make(process.kinds.state, sizeof(ExactSum::State), &trine_mpi_merge_states);
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &free_channel, &process.channel_key, nullptr),
        "MPI_Comm_create_keyval");
  check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &free_process, &process.end_key, nullptr),
        "MPI_Comm_create_keyval");
  check(MPI_Comm_set_attr(MPI_COMM_SELF, process.end_key, nullptr), "MPI_Comm_set_attr");
}

Process& process() {
  Process& process = the_process();
  if (process.is_made) return process;
  const std::lock_guard lock(process.mutex);
  if (process.is_made) return process;
  try {
    make(process);
  } catch (...) {
    unmake(process);
    throw;
  }
  process.is_made = true;
  return process;
}

void check_initialized() {
  int flag = 0;
  MPI_Initialized(&flag);
  if (flag == 0) refuse("MPI isn't initialized; call MPI_Init or MPI_Init_thread first.");
  MPI_Finalized(&flag);
  if (flag != 0) refuse("MPI_Finalize has ended MPI in this process.");
}

Held make_channel(MPI_Comm user) {
  int is_inter = 0;
  check(MPI_Comm_test_inter(user, &is_inter), "MPI_Comm_test_inter");
  if (is_inter != 0)
    refuse("an intercommunicator has two groups; merge them by MPI_Intercomm_merge.");
  Owned<MPI_Comm, &MPI_Comm_free> comm(MPI_COMM_NULL);
  // Without the program's hints: their assertions (mpi_assert_allow_overtaking, …) aren't true for
  // Trine's messages.
  check(MPI_Comm_dup_with_info(user, MPI_INFO_NULL, comm.get()), "MPI_Comm_dup_with_info");
  check(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  // Memory may be missing on one rank alone: all must know.
  std::list<User> made;
  Failure failure;
  attempt(failure, [&] { made.push_back({user, std::make_shared<Channel>()}); });
  int has_failed = failure ? 1 : 0;
  check(MPI_Allreduce(MPI_IN_PLACE, &has_failed, 1, MPI_INT, MPI_MAX, *comm), "MPI_Allreduce");
  if (has_failed != 0) throw Error(Status::out_of_memory, kNoMemory);
  Held channel = made.front().channel;
  channel->comm = *comm;
  check(MPI_Comm_rank(*comm, &channel->rank), "MPI_Comm_rank");
  check(MPI_Comm_size(*comm, &channel->size), "MPI_Comm_size");
  Process& process = the_process();
  check(MPI_Comm_set_attr(user, process.channel_key, &made.front()), "MPI_Comm_set_attr");
  comm.release();
  const std::lock_guard lock(process.mutex);
  process.users.splice(process.users.end(), made);
  return channel;
}

}  // namespace

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Status::backend_error, cat(function, " failed: ", text, "."));
}

void Channel::advance() {
  const std::lock_guard lock(mutex);
  advance_locked();
}

void Channel::advance_locked() {
  while (!pending.empty() && pending.front()->advance()) {
    if (pending.front()->is_under_way()) detail::leave(pending.front());
    pending.pop_front();
  }
}

void Channel::drain() {
  const auto is_empty = [this] {
    const std::lock_guard lock(mutex);
    return pending.empty();
  };
  for (; !is_empty(); std::this_thread::yield()) {
    advance();
    advance_all();
  }
}

void advance_all() {
  Process& process = the_process();
  // Another thread that holds the lock does this work, here and below.
  const std::unique_lock lock(process.mutex, std::try_to_lock);
  if (!lock) return;
  for (const User& user : process.users) {
    const std::unique_lock held(user.channel->mutex, std::try_to_lock);
    if (held) user.channel->advance_locked();
  }
}

const Device& Channel::open_named(std::string_view name) {
  if (name != device_name) {
    device = open(name);
    device_name = name;
  }
  return device;
}

void Channel::join(const Distribution& d) {
  if (d.grid_rows == grid.grid_rows && d.grid_cols == grid.grid_cols &&
      d.ranks_by_columns == grid.ranks_by_columns)
    return;
  leave();
  const int down = d.grid_row(rank), across = d.grid_col(rank);
  for (const auto& [made, color, place] : {std::tuple(&row, down, across), {&col, across, down}}) {
    check(MPI_Comm_split(comm, color < 0 ? MPI_UNDEFINED : color, place, made), "MPI_Comm_split");
    if (*made != MPI_COMM_NULL)
      check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  grid = d;
}

void Channel::leave() {
  grid.grid_rows = 0;  // none, if the next can't be joined
  for (MPI_Comm* part : {&row, &col})
    if (*part != MPI_COMM_NULL) MPI_Comm_free(part);
}

std::shared_ptr<Channel> channel_of(MPI_Comm comm) {
  if (!the_process().is_made) check_initialized();  // what is made ends with MPI
  if (comm == MPI_COMM_NULL) refuse("the communicator is MPI_COMM_NULL.");
  void* value = nullptr;
  int is_there = 0;
  check(MPI_Comm_get_attr(comm, process().channel_key, static_cast<void*>(&value), &is_there),
        "MPI_Comm_get_attr");
  return is_there != 0 ? static_cast<User*>(value)->channel : make_channel(comm);
}

const Kinds& kinds() { return the_process().kinds; }

}  // namespace trine::mpi::detail
