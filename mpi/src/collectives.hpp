// MPI's collectives, blocking or not: with a request each begins, without one each ends before it
// returns.
#pragma once

#include <algorithm>
#include <vector>

#include "check.hpp"

namespace trine::mpi::detail {

/// A function of MPI with its name, for the sentence of an error.
template <class Function>
struct Named {
  const char* name;
  Function* function;
};

/// Calls `begins`, which takes a request, or without one `ends`.
template <class Ends, class Begins, class... Arguments>
void collective(Named<Ends> ends, Named<Begins> begins, MPI_Request* request,
                Arguments... arguments) {
  if (request != nullptr)
    check(begins.function(arguments..., request), begins.name);
  else
    check(ends.function(arguments...), ends.name);
}

/// In place: `data` is what this rank brings, and then the result.
inline void allreduce(void* data, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                      MPI_Request* request) {
  collective(Named{"MPI_Allreduce", MPI_Allreduce}, Named{"MPI_Iallreduce", MPI_Iallreduce},
             request, MPI_IN_PLACE, data, count, type, op, comm);
}

/// In place: `data` has a block of `bytes` for each rank, and this rank's is there.
inline void allgather(void* data, int bytes, MPI_Comm comm, MPI_Request* request) {
  collective(Named{"MPI_Allgather", MPI_Allgather}, Named{"MPI_Iallgather", MPI_Iallgather},
             request, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, bytes, MPI_BYTE, comm);
}

/// Begins to send a column-major matrix of `root` to all, in messages of `most` bytes. All have the
/// same extents.
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
  collective(Named{"MPI_Alltoallv", MPI_Alltoallv}, Named{"MPI_Ialltoallv", MPI_Ialltoallv},
             request, from.data, from.counts, from.begins, type, to.data, to.counts, to.begins,
             type, comm);
}

/// `count` elements of each rank, on all ranks.
inline void allgather(const std::byte* from, int count, const Blocks<std::byte>& to,
                      MPI_Datatype type, MPI_Comm comm, MPI_Request* request) {
  collective(Named{"MPI_Allgatherv", MPI_Allgatherv}, Named{"MPI_Iallgatherv", MPI_Iallgatherv},
             request, from, count, type, to.data, to.counts, to.begins, type, comm);
}
/// The same on `root` alone.
inline void gather(const std::byte* from, int count, const Blocks<std::byte>& to, MPI_Datatype type,
                   int root, MPI_Comm comm, MPI_Request* request) {
  collective(Named{"MPI_Gatherv", MPI_Gatherv}, Named{"MPI_Igatherv", MPI_Igatherv}, request, from,
             count, type, to.data, to.counts, to.begins, type, root, comm);
}

}  // namespace trine::mpi::detail
