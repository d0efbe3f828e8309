#include "ledger.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

namespace {
std::atomic<int> count = 0;
std::atomic<ledger::Fails> failing = ledger::Fails::none;
bool fails(ledger::Fails call) {
  return failing.compare_exchange_strong(call, ledger::Fails::none);
}

int made(int code) {
  if (code == MPI_SUCCESS) ++count;
  return code;
}
int freed(int code) {
  if (code == MPI_SUCCESS) --count;
  return code;
}

std::mutex mutex;
ledger::Messages seen = {};
std::thread::id asker;
std::atomic<const void*> sent = nullptr;
MPI_Comm duplicate = MPI_COMM_NULL;
int left_to_live = 0;
thread_local int left_to_hold = 0;
std::atomic<bool> held = false;

/// A message begins, with blocks of so many elements for one rank or for several.
void begins(const int* counts, const int* places, int ranks, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  const std::lock_guard lock(mutex);
  if (left_to_live > 0 && --left_to_live == 0) std::raise(SIGKILL);
  ++seen.count;
  if (std::this_thread::get_id() != asker) ++seen.elsewhere;
  for (int i = 0; i < ranks; ++i) {
    const int64_t bytes = int64_t{counts[i]} * size;
    seen.bytes += bytes;
    seen.longest = std::max(seen.longest, bytes);
    if (counts[i] < 0 || (places != nullptr && places[i] < 0)) ++seen.wrong;
  }
}
void begins(int length, MPI_Datatype type) { begins(&length, nullptr, 1, type); }
int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  return ranks;
}
}  // namespace

int ledger::open() { return count; }
void ledger::fail_next(Fails call) { failing = call; }
ledger::Messages ledger::messages() {
  const std::lock_guard lock(mutex);
  asker = std::this_thread::get_id();
  return std::exchange(seen, {});
}
const void* ledger::last_sent() { return sent; }
bool ledger::last_duplicate_has(const char* hint) {
  MPI_Info hints = MPI_INFO_NULL;
  PMPI_Comm_get_info(duplicate, &hints);
  char value[8] = "";
  int is_there = 0;
  PMPI_Info_get(hints, hint, sizeof value - 1, value, &is_there);
  PMPI_Info_free(&hints);
  return is_there != 0 && std::string_view(value) == "true";
}
void ledger::hold_test(int n) { left_to_hold = n; }
bool ledger::is_held() { return held; }
void ledger::release() { held = false; }
void ledger::die_at(int n) { left_to_live = n; }

#pragma GCC visibility push(default)  // MPICH's header doesn't say so
extern "C" {
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made_one) {
  const int code = made(PMPI_Comm_dup(comm, made_one));
  if (code != MPI_SUCCESS) return code;
  MPI_Info hints = MPI_INFO_NULL;  // which go along by MPI 3.1; Open MPI 4.1 leaves them
  PMPI_Comm_get_info(comm, &hints);
  PMPI_Comm_set_info(*made_one, hints);
  PMPI_Info_free(&hints);
  duplicate = *made_one;
  return code;
}
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info hints, MPI_Comm* made_one) {
  const int code = made(PMPI_Comm_dup_with_info(comm, hints, made_one));
  duplicate = *made_one;
  return code;
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made_one) {
  const int code = PMPI_Comm_split(comm, color, key, made_one);
  return *made_one == MPI_COMM_NULL ? code : made(code);
}
int MPI_Comm_free(MPI_Comm* comm) { return freed(PMPI_Comm_free(comm)); }
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op) {
  return made(PMPI_Op_create(function, commutes, op));
}
int MPI_Op_free(MPI_Op* op) { return freed(PMPI_Op_free(op)); }
int MPI_Type_contiguous(int length, MPI_Datatype of, MPI_Datatype* type) {
  return made(PMPI_Type_contiguous(length, of, type));
}
int MPI_Type_create_resized(MPI_Datatype of, MPI_Aint begin, MPI_Aint extent, MPI_Datatype* type) {
  return made(PMPI_Type_create_resized(of, begin, extent, type));
}
int MPI_Type_commit(MPI_Datatype* type) {
  return fails(ledger::Fails::commit) ? MPI_ERR_OTHER : PMPI_Type_commit(type);
}
int MPI_Type_free(MPI_Datatype* type) { return freed(PMPI_Type_free(type)); }
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop,
                           int* key, void* extra) {
  return made(PMPI_Comm_create_keyval(copy, drop, key, extra));
}
int MPI_Comm_free_keyval(int* key) { return freed(PMPI_Comm_free_keyval(key)); }

int MPI_Allreduce(const void* send, void* receive, int length, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  if (fails(ledger::Fails::allreduce)) return MPI_ERR_OTHER;
  begins(length, type);
  return PMPI_Allreduce(send, receive, length, type, op, comm);
}
int MPI_Iallreduce(const void* send, void* receive, int length, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  if (fails(ledger::Fails::allreduce)) return MPI_ERR_OTHER;
  begins(length, type);
  return PMPI_Iallreduce(send, receive, length, type, op, comm, request);
}
int MPI_Allgather(const void* send, int sends, MPI_Datatype of, void* receive, int length,
                  MPI_Datatype type, MPI_Comm comm) {
  begins(length, type);
  return PMPI_Allgather(send, sends, of, receive, length, type, comm);
}
int MPI_Iallgather(const void* send, int sends, MPI_Datatype of, void* receive, int length,
                   MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {
  begins(length, type);
  return PMPI_Iallgather(send, sends, of, receive, length, type, comm, request);
}
int MPI_Ibcast(void* data, int length, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  begins(length, type);
  return PMPI_Ibcast(data, length, type, root, comm, request);
}
int MPI_Alltoallv(const void* send, const int* sends, const int* from, MPI_Datatype type,
                  void* receive, const int* receives, const int* to, MPI_Datatype as,
                  MPI_Comm comm) {
  sent = send;
  begins(sends, from, ranks_of(comm), type);
  return PMPI_Alltoallv(send, sends, from, type, receive, receives, to, as, comm);
}
int MPI_Ialltoallv(const void* send, const int* sends, const int* from, MPI_Datatype type,
                   void* receive, const int* receives, const int* to, MPI_Datatype as,
                   MPI_Comm comm, MPI_Request* request) {
  sent = send;
  begins(sends, from, ranks_of(comm), type);
  return PMPI_Ialltoallv(send, sends, from, type, receive, receives, to, as, comm, request);
}
int MPI_Allgatherv(const void* send, int length, MPI_Datatype type, void* receive,
                   const int* receives, const int* to, MPI_Datatype as, MPI_Comm comm) {
  begins(length, type);
  return PMPI_Allgatherv(send, length, type, receive, receives, to, as, comm);
}
int MPI_Iallgatherv(const void* send, int length, MPI_Datatype type, void* receive,
                    const int* receives, const int* to, MPI_Datatype as, MPI_Comm comm,
                    MPI_Request* request) {
  begins(length, type);
  return PMPI_Iallgatherv(send, length, type, receive, receives, to, as, comm, request);
}
int MPI_Gatherv(const void* send, int length, MPI_Datatype type, void* receive, const int* receives,
                const int* to, MPI_Datatype as, int root, MPI_Comm comm) {
  begins(length, type);
  return PMPI_Gatherv(send, length, type, receive, receives, to, as, root, comm);
}
int MPI_Igatherv(const void* send, int length, MPI_Datatype type, void* receive,
                 const int* receives, const int* to, MPI_Datatype as, int root, MPI_Comm comm,
                 MPI_Request* request) {
  begins(length, type);
  return PMPI_Igatherv(send, length, type, receive, receives, to, as, root, comm, request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return fails(ledger::Fails::wait) ? MPI_ERR_OTHER : PMPI_Wait(request, status);
}
int MPI_Test(MPI_Request* request, int* has_passed, MPI_Status* status) {
  if (left_to_hold > 0 && --left_to_hold == 0) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    for (held = true; held && std::chrono::steady_clock::now() < limit;) std::this_thread::yield();
    held = false;
  }
  return PMPI_Test(request, has_passed, status);
}
int MPI_Waitall(int length, MPI_Request* requests, MPI_Status* statuses) {
  return fails(ledger::Fails::wait) ? MPI_ERR_OTHER : PMPI_Waitall(length, requests, statuses);
}
int MPI_Send(const void* data, int length, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  begins(length, type);
  return PMPI_Send(data, length, type, to, tag, comm);
}
int MPI_Sendrecv(const void* data, int length, MPI_Datatype type, int to, int tag, void* receive,
                 int receives, MPI_Datatype as, int from, int other_tag, MPI_Comm comm,
                 MPI_Status* status) {
  begins(length, type);
  return PMPI_Sendrecv(data, length, type, to, tag, receive, receives, as, from, other_tag, comm,
                       status);
}
}
#pragma GCC visibility pop
