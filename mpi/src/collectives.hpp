// MPI's collectives, blocking or not: with a request each begins, without one each ends before it returns.
#pragma once

#include <algorithm>
#include <vector>

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

/// Begins to send bytes of `root` to all, in messages of `most`.
inline void broadcast(std::byte* data, int64_t bytes, int64_t most, int root, MPI_Comm comm,
                      std::vector<MPI_Request>& requests) {
  for (int64_t at = 0; at < bytes; at += most) {
    const int length = int(std::min(most, bytes - at));
    MPI_Request* const request = &requests.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Ibcast(data + at, length, MPI_BYTE, root, comm, request), "MPI_Ibcast");
  }
}

/// A block of memory for each rank: elements, and where they begin.
template <class Data>
struct Blocks {
  Data* data;
  const int* counts;
  const int* begins;
};

inline void alltoall(const Blocks<const std::byte>& from, const Blocks<std::byte>& to,
                     MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {
  if (request != nullptr)
    check(MPI_Ialltoallv(from.data, from.counts, from.begins, type, to.data, to.counts, to.begins,
                         type, comm, request),
          "MPI_Ialltoallv");
  else
    check(MPI_Alltoallv(from.data, from.counts, from.begins, type, to.data, to.counts, to.begins,
                        type, comm),
          "MPI_Alltoallv");
}

/// `count` elements of each rank, on all ranks.
inline void allgather(const std::byte* from, int count, const Blocks<std::byte>& to,
                      MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {
  if (request != nullptr)
    check(MPI_Iallgatherv(from, count, type, to.data, to.counts, to.begins, type, comm, request),
          "MPI_Iallgatherv");
  else
    check(MPI_Allgatherv(from, count, type, to.data, to.counts, to.begins, type, comm),
          "MPI_Allgatherv");
}
/// The same on `root` alone.
inline void gather(const std::byte* from, int count, const Blocks<std::byte>& to, MPI_Datatype type,
                   int root, MPI_Comm comm, MPI_Request* request) {
  if (request != nullptr)
    check(MPI_Igatherv(from, count, type, to.data, to.counts, to.begins, type, root, comm, request),
          "MPI_Igatherv");
  else
    check(MPI_Gatherv(from, count, type, to.data, to.counts, to.begins, type, root, comm),
          "MPI_Gatherv");
}

}  // namespace trine::mpi::detail
