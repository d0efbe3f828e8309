// The library's use of MPI, seen at MPI's profiling interface: what it has made and not freed, the
// messages that it begins; and the calls that shall fail.
#pragma once

#include <cstdint>

namespace ledger {

/// The tests make their own objects by PMPI_…, which isn't counted.
/// Communicators, operations, datatypes and keyvals made, less those freed.
int open();
/// The next call of this process fails and does nothing, so that it leaves messages under way: one
/// of MPI_Allreduce and MPI_Iallreduce, of MPI_Type_commit, or of MPI_Wait and MPI_Waitall.
enum class Fails { none, allreduce, commit, wait };
void fail_next(Fails call);

/// Messages and collectives that have begun in this process.
struct Messages {
  int64_t count, bytes, longest;  ///< bytes: what this rank brings; of the longest, to one rank
  int64_t wrong;      ///< with a count or a place below 0: one that MPI's integers don't hold
  int64_t elsewhere;  ///< begun by another thread than the one that asked before
};
/// Those since the last call of this function.
Messages messages();

/// Whether a hint is "true" on the communicator that this process has duplicated last.
bool last_duplicate_has(const char* hint);

/// The memory that the last MPI_Alltoallv or MPI_Ialltoallv of this process read.
const void* last_sent();

/// The n-th MPI_Test of this thread from here waits until release(), 10 s at the most.
void hold_test(int n);
bool is_held();
void release();

/// The process is killed in its n-th message from here.
void die_at(int n);

}  // namespace ledger
