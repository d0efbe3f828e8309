! The sum of an array that is distributed over ranks. MPI_SUM rounds in each step, so its bits
! depend on the number of ranks. Exact sums don't.
!   mpirun -n 3 mpi_program_fortran
program mpi_program
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi
  use trine_mpi
  implicit none
  integer :: rank, ranks, i, error
  real(real64) :: plain, total
  real(real64), allocatable :: part(:)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  part = [(1 / real(i, real64), i = 1 + rank, 100000, ranks)]  ! every ranks-th of 1, 1/2, 1/3, …

  call MPI_Allreduce(sum(part), plain, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  total = trine_mpi_sum(part, MPI_COMM_WORLD)

  if (rank == 0) print '(i0, 2(a, f0.14))', ranks, ' ranks: MPI_SUM ', plain, ', exact ', total
  call MPI_Finalize(error)
end program
