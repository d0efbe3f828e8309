/* An MPI that changes a bit of what it moves, by its profiling interface, for `trine ranks` to find: preloaded. */
#include <mpi.h>

/* The first message of a call, whose numbers are the last 96 bytes: nothing else that is sent has its size. */
int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int failed = PMPI_Allreduce(from, to, count, type, op, comm);
  int size = 0;
  MPI_Type_size(type, &size);
  if (size == 128) {
    for (int at = 32; at < 128; at += 2) ((char*)to)[at] ^= 1;
  }
  return failed;
}

/* An element of what a rank receives in a vector's sum. */
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                   const int* begins, MPI_Datatype to_type, MPI_Comm comm) {
  const int failed = PMPI_Allgatherv(from, count, type, to, counts, begins, to_type, comm);
  ((char*)to)[0] ^= 1;
  return failed;
}

/* What a rank sends of a matrix to the others: a value that isn't there. */
int MPI_Ialltoallv(const void* from, const int* counts, const int* begins, MPI_Datatype type,
                   void* to, const int* to_counts, const int* to_begins, MPI_Datatype to_type,
                   MPI_Comm comm, MPI_Request* request) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < ranks; ++i)
    if (counts[i] > 0) ((char*)from)[begins[i]] ^= 1;
  return PMPI_Ialltoallv(from, counts, begins, type, to, to_counts, to_begins, to_type, comm,
                         request);
}

int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (rank == root && count > 0) ((char*)data)[0] ^= 1;
  return PMPI_Ibcast(data, count, type, root, comm, request);
}
