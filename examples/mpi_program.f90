! The sum of an array that is distributed over ranks. MPI_SUM rounds in each step, so its bits depend on the number of
! ranks. Exact sums don't: MPI gathers their states, and each rank merges them.
!   mpirun -n 3 mpi_program_fortran
program mpi_program
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi
  use trine
  implicit none
  integer :: rank, ranks, i, error
  real(real64) :: plain
  real(real64), allocatable :: part(:)
  type(trine_exact_sum) :: mine, total
  integer(int64), allocatable :: words(:, :)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  part = [(1 / real(i, real64), i = 1 + rank, 100000, ranks)]  ! every ranks-th of 1, 1/2, 1/3, …

  call MPI_Allreduce(sum(part), plain, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)

  call mine%add(part)
  allocate (words(size(mine%words), ranks))
  call MPI_Allgather(mine%words, size(mine%words), MPI_INTEGER8, words, size(mine%words), MPI_INTEGER8, &
                     MPI_COMM_WORLD, error)
  do i = 1, ranks
    call total%merge(trine_exact_sum(words(:, i)))
  end do

  if (rank == 0) print '(i0, a, f0.14, a, f0.14)', ranks, ' ranks: MPI_SUM ', plain, ', exact ', total%value()
  call MPI_Finalize(error)
end program
