#include "ledger.hpp"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>

namespace {
std::atomic<int> count = 0;
std::atomic<bool> shall_fail = false;

int made(int code) {
  if (code == MPI_SUCCESS) ++count;
  return code;
}
int freed(int code) {
  if (code == MPI_SUCCESS) --count;
  return code;
}
}  // namespace

int ledger::open() { return count; }
void ledger::fail_next_allreduce() { shall_fail = true; }

extern "C" {
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made_one) { return made(PMPI_Comm_dup(comm, made_one)); }
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
int MPI_Type_free(MPI_Datatype* type) { return freed(PMPI_Type_free(type)); }
int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop,
                           int* key, void* extra) {
  return made(PMPI_Comm_create_keyval(copy, drop, key, extra));
}
int MPI_Comm_free_keyval(int* key) { return freed(PMPI_Comm_free_keyval(key)); }
int MPI_Allreduce(const void* send, void* receive, int length, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  if (shall_fail.exchange(false)) return MPI_ERR_OTHER;
  return PMPI_Allreduce(send, receive, length, type, op, comm);
}
}
