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

/// Begins to send a column-major matrix of `root` to all, in messages of `most` bytes. All have the same extents.
inline void broadcast(const HostView& matrix, int64_t most, int root, MPI_Comm comm,
                      std::vector<MPI_Request>& requests) {
  auto* const data = static_cast<std::byte*>(matrix.data);
  const auto begin = [&](std::byte* at, int64_t count, MPI_Datatype type) {
    MPI_Request* const request = &requests.emplace_back(MPI_REQUEST_NULL);
    check(MPI_Ibcast(at, int(count), type, root, comm, request), "MPI_Ibcast");
  };
  const auto send = [&](std::byte* from, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += most)
      begin(from + at, std::min(most, bytes - at), MPI_BYTE);
  };
  const int64_t size = size_of(matrix.dtype), column = matrix.rows * size;
  const int64_t step = matrix.col_stride * size;
  if (matrix.cols <= 1 || step == column) return send(data, matrix.cols * column);
  if (column > most) {
    for (int64_t at = 0; at < matrix.cols; ++at) send(data + at * step, column);
    return;
  }
  Owned<MPI_Datatype, &MPI_Type_free> dense(MPI_DATATYPE_NULL), strided(MPI_DATATYPE_NULL);
  check(MPI_Type_contiguous(int(column), MPI_BYTE, dense.get()), "MPI_Type_contiguous");
  check(MPI_Type_create_resized(*dense, 0, step, strided.get()), "MPI_Type_create_resized");
  check(MPI_Type_commit(strided.get()), "MPI_Type_commit");
  const int64_t columns = most / column;
  for (int64_t at = 0; at < matrix.cols; at += columns)
    begin(data + at * step, std::min(columns, matrix.cols - at), *strided);
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
