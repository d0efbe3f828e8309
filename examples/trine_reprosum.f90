! In the place of shr_reprosum_calc of CESM and E3SM: the same arguments, exact sums.
!   use trine_reprosum_mod, only: shr_reprosum_calc => trine_reprosum
module trine_reprosum_mod
  use, intrinsic :: ieee_arithmetic, only: ieee_is_finite
  use, intrinsic :: iso_fortran_env, only: r8 => real64
  use mpi, only: MPI_COMM_WORLD
  use trine_mpi
  implicit none
  private
  public :: trine_reprosum

contains

  ! arr_gsum(i) is the sum of arr(:nsummands, i) of all ranks, exact and rounded once, in one
  ! message. Exact sums need no bounds and no levels, so arr_gbl_max, arr_max_levels,
  ! gbl_max_nsummands, gbl_count, repro_sum_validate and ddpdd_sum aren't read; arr_max_levels_out
  ! and rel_diff become 0. Maxima cost messages of their own.
  subroutine trine_reprosum(arr, arr_gsum, nsummands, dsummands, nflds, allow_infnan, ddpdd_sum, &
      arr_gbl_max, arr_gbl_max_out, arr_max_levels, arr_max_levels_out, gbl_max_nsummands, &
      gbl_max_nsummands_out, gbl_count, repro_sum_validate, repro_sum_stats, rel_diff, commid)
    integer, intent(in) :: nsummands, dsummands, nflds
    real(r8), intent(in) :: arr(dsummands, nflds)
    real(r8), intent(out) :: arr_gsum(nflds)
    logical, intent(in), optional :: allow_infnan, ddpdd_sum, repro_sum_validate
    real(r8), intent(in), optional :: arr_gbl_max(nflds)
    real(r8), intent(out), optional :: arr_gbl_max_out(nflds), rel_diff(2, nflds)
    integer, intent(in), optional :: arr_max_levels(nflds), gbl_max_nsummands, gbl_count, commid
    integer, intent(out), optional :: arr_max_levels_out(nflds), gbl_max_nsummands_out
    integer, intent(inout), optional :: repro_sum_stats(6)
    real(r8) :: smallest(nflds)
    integer :: comm
    logical :: may_be_infnan
    comm = MPI_COMM_WORLD
    if (present(commid)) comm = commid
    may_be_infnan = .false.
    if (present(allow_infnan)) may_be_infnan = allow_infnan

    call trine_mpi_sums(arr(:nsummands, :), arr_gsum, comm)
    if (.not. (may_be_infnan .or. all(ieee_is_finite(arr_gsum)))) &
      error stop 'trine_reprosum: NaNs or INFs in input, or a sum that overflows'

    if (present(arr_gbl_max_out)) then
      call trine_mpi_reduce_fields('max', arr(:nsummands, :), arr_gbl_max_out, comm)
      call trine_mpi_reduce_fields('min', arr(:nsummands, :), smallest, comm)
      where (arr_gbl_max_out < smallest)  ! without summands
        arr_gbl_max_out = 0
      elsewhere
        arr_gbl_max_out = max(abs(arr_gbl_max_out), abs(smallest))
      end where
    end if
    if (present(gbl_max_nsummands_out)) &
      call trine_mpi_allreduce('max', nsummands, gbl_max_nsummands_out, comm)
    if (present(arr_max_levels_out)) arr_max_levels_out = 0
    if (present(rel_diff)) rel_diff = 0
    if (present(repro_sum_stats)) repro_sum_stats(1) = repro_sum_stats(1) + 1
  end subroutine

end module
