// What the library has made of MPI's and not freed, counted at MPI's profiling interface; and the one call
// that shall fail.
#pragma once

namespace ledger {

/// What the tests make for themselves, they make by PMPI_…, which isn't counted.
/// Communicators, operations, datatypes and keyvals made, less those freed.
int open();
/// The next MPI_Allreduce of this process does nothing and fails.
void fail_next_allreduce();

}  // namespace ledger
