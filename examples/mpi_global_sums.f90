! Global sums as climate and ocean models write them, by the two modules beside this program: the
! same bits on any number of ranks.
!   mpirun -n 3 mpi_global_sums
program mpi_global_sums
  use, intrinsic :: iso_fortran_env, only: r8 => real64
  use mpi
  use trine_global_sum_mod, only: mpas_global_sum_nfld => trine_global_sum_nfld
  use trine_reprosum_mod, only: shr_reprosum_calc => trine_reprosum
  implicit none
  integer, parameter :: cells = 10000, fields = 3
  integer :: rank, ranks, owned, i, j, error
  real(r8) :: sums(fields)
  real(r8), allocatable :: state(:, :), areas(:, :)

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  owned = (cells - rank + ranks - 1)/ranks  ! every ranks-th cell; behind them room for a halo
  allocate (state(owned + 5, fields), areas(owned + 5, fields), source=huge(1.0_r8))
  do j = 1, fields
    state(:owned, j) = [(sin(real(i, r8))*10.0_r8**(6*j), i=1 + rank, cells, ranks)]
    areas(:owned, j) = [(1/real(i, r8), i=1 + rank, cells, ranks)]
  end do

  call shr_reprosum_calc(state, sums, owned, owned + 5, fields, commid=MPI_COMM_WORLD)
  if (rank == 0) print '(a, 3(1x, es23.16))', 'sums           ', sums
  sums = mpas_global_sum_nfld(state, areas, MPI_COMM_WORLD, [1, owned])
  if (rank == 0) print '(a, 3(1x, es23.16))', 'times the areas', sums
  call MPI_Finalize(error)
end program
