// MPI's collectives, blocking or not: with a request each begins, without one each ends before it returns.
#pragma once

#include "check.hpp"

namespace trine::mpi::detail {

/// In place: `data` is what this rank brings, and then the result.
inline void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request* request) {
  if (request != nullptr)
    check(MPI_Iallreduce(MPI_IN_PLACE, data, count, type, op, comm, request), "MPI_Iallreduce");
  else
    check(MPI_Allreduce(MPI_IN_PLACE, data, count, type, op, comm), "MPI_Allreduce");
}

/// In place: `data` has a block of `bytes` for each rank, and this rank's is there.
inline void allgather(void* data, int bytes, MPI_Comm comm, MPI_Request* request) {
  if (request != nullptr)
    check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, bytes, MPI_BYTE, comm, request),
          "MPI_Iallgather");
  else
    check(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, bytes, MPI_BYTE, comm),
          "MPI_Allgather");
}

}  // namespace trine::mpi::detail
