! The interfaces of shr_reprosum_calc (CESM, E3SM) and mpas_global_sum_nfld (MPAS), as their
! documentation has them. What stands in their place must have these arguments, in this order: a
! procedure pointer sees to that when this is compiled.
program global_sums_stubs
  use, intrinsic :: iso_fortran_env, only: r8 => real64
  use mpi
  use trine_global_sum_mod, only: trine_global_sum_nfld
  use trine_reprosum_mod, only: trine_reprosum
  implicit none
  abstract interface
    subroutine shr_reprosum_calc(arr, arr_gsum, nsummands, dsummands, nflds, allow_infnan, &
        ddpdd_sum, arr_gbl_max, arr_gbl_max_out, arr_max_levels, arr_max_levels_out, &
        gbl_max_nsummands, gbl_max_nsummands_out, gbl_count, repro_sum_validate, repro_sum_stats, &
        rel_diff, commid)
      import :: r8
      integer, intent(in) :: nsummands, dsummands, nflds
      real(r8), intent(in) :: arr(dsummands, nflds)
      real(r8), intent(out) :: arr_gsum(nflds)
      logical, intent(in), optional :: allow_infnan, ddpdd_sum
      real(r8), intent(in), optional :: arr_gbl_max(nflds)
      real(r8), intent(out), optional :: arr_gbl_max_out(nflds)
      integer, intent(in), optional :: arr_max_levels(nflds)
      integer, intent(out), optional :: arr_max_levels_out(nflds)
      integer, intent(in), optional :: gbl_max_nsummands
      integer, intent(out), optional :: gbl_max_nsummands_out
      integer, intent(in), optional :: gbl_count
      logical, intent(in), optional :: repro_sum_validate
      integer, intent(inout), optional :: repro_sum_stats(6)
      real(r8), intent(out), optional :: rel_diff(2, nflds)
      integer, intent(in), optional :: commid
    end subroutine
  end interface
  procedure(shr_reprosum_calc), pointer :: calc => null()
  real(r8), parameter :: arr(4, 2) = reshape([1, 2, 3, 99, -4, 5, 6, 99], [4, 2])*1.0_r8
  real(r8) :: sums(2), largest(2), differences(2, 2), deep(2, 3, 2)
  integer :: levels(2), most, statistics(6), ranks, error

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  calc => trine_reprosum
  call calc(arr, sums, 3, 4, 2)
  call check(all(sums == [6, 7]*ranks), 'sums')
  statistics = 5
  call calc(arr, sums, 3, 4, 2, arr_gbl_max_out=largest, arr_max_levels_out=levels, &
    gbl_max_nsummands_out=most, repro_sum_stats=statistics, rel_diff=differences, &
    commid=MPI_COMM_SELF)
  call check(all(sums == [6, 7]) .and. all(largest == [3, 6]) .and. most == 3, 'what else is asked')
  call check(all(levels == 0) .and. all(differences == 0), 'exact sums have no levels')
  call check(all(statistics == [6, 5, 5, 5, 5, 5]), 'running totals')
  call calc(spread([huge(1.0_r8), huge(1.0_r8)], 1, 4), sums, 3, 4, 2, allow_infnan=.true.)
  call check(sums(1) > huge(1.0_r8), 'an infinite sum')
  call calc(arr, sums, 0, 4, 2, arr_gbl_max_out=largest)
  call check(all(largest == 0) .and. all(sums == 0), 'no summands')

  deep = reshape(arr(:3, :), [2, 3, 2], pad=[0.0_r8])
  deep(:, :, 2) = 1
  call check(all(trine_global_sum_nfld(arr(1, :), MPI_COMM_WORLD) == [1, -4]*ranks), 'numbers')
  call check(all(trine_global_sum_nfld(arr(:3, :), MPI_COMM_WORLD) == [6, 7]*ranks), 'vectors')
  call check(all(trine_global_sum_nfld(arr, MPI_COMM_WORLD, [2, 3]) == [5, 11]*ranks), 'a range')
  call check(all(trine_global_sum_nfld(arr, arr, MPI_COMM_WORLD, [2, 3]) == [13, 61]*ranks), &
    'products')
  call check(all(trine_global_sum_nfld(deep, MPI_COMM_WORLD, [2, 2, 1, 3]) == [4, 3]*ranks), &
    'matrices')
  call check(all(trine_global_sum_nfld(deep, deep, MPI_COMM_WORLD) == [91, 6]*ranks), &
    'products of matrices')
  call MPI_Finalize(error)

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) error stop 'not so: ' // what
  end subroutine

end program
