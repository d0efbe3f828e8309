/// <mpi.h> without the C++ bindings that MPI 3 took away, which bring a library of their own.
/// Trine's headers include it.
#pragma once

#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>
