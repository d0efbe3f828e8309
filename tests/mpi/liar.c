/* An MPI that changes a bit of what it moves, by its profiling interface, for `trine ranks` to
 * find: preloaded. */
#include <mpi.h>

/* The numbers are the last 96 bytes of a call's first message: nothing else that is sent has its
 * size. */
static void change_first_message(char* message, int size) {
  for (int at = 32; size == 128 && at < 128; at += 2) message[at] ^= 1;
}

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  const int failed = PMPI_Allreduce(from, to, count, type, op, comm);
  int size = 0;
  MPI_Type_size(type, &size);
  change_first_message(to, size);
  return failed;
}

/* Few ranks merge it in pairs. */
int MPI_Sendrecv(const void* from, int count, MPI_Datatype type, int to_rank, int tag, void* to,
                 int to_count, MPI_Datatype to_type, int from_rank, int to_tag, MPI_Comm comm,
                 MPI_Status* status) {
  const int failed = PMPI_Sendrecv(from, count, type, to_rank, tag, to, to_count, to_type,
                                   from_rank, to_tag, comm, status);
  change_first_message(to, to_count);
  return failed;
}

/* An element of what a rank receives in a vector's sum. */
int MPI_Allgatherv(const void* from, int count, MPI_Datatype type, void* to, const int* counts,
                   const int* begins, MPI_Datatype to_type, MPI_Comm comm) {
  const int failed = PMPI_Allgatherv(from, count, type, to, counts, begins, to_type, comm);
  ((char*)to)[0] ^= 1;
  return failed;
}

/* Changes the parts of a matrix that a rank sends to others: each gets a value that isn't there. */
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
