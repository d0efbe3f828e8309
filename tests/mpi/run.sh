#!/usr/bin/env bash
# Runs a program on RANKS ranks, more than there are cores if need be: run.sh RANKS PROGRAM [ARGS…]
# Exit 77: not run, because there is no mpirun. The settings are Open MPI's; others don't read them.
set -euo pipefail
command -v mpirun > /dev/null || { echo "not run: no mpirun here (Debian: openmpi-bin)"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_plm=isolated OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl=self,vader OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive POCL_MAX_PTHREAD_COUNT=1
exec mpirun -n "$@"
