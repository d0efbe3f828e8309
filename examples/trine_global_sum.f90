! In the place of mpas_global_sum_nfld of MPAS: the same arguments, exact sums. Here are fields of
! double precision that are numbers, vectors (nCells) and matrices (nVertLevels, nCells); others are
! written likewise.
!   use trine_global_sum_mod, only: mpas_global_sum_nfld => trine_global_sum_nfld
module trine_global_sum_mod
  use, intrinsic :: iso_fortran_env, only: R8 => real64
  use trine_mpi
  implicit none
  private
  public :: trine_global_sum_nfld

  ! sums = trine_global_sum_nfld(array, mpiComm [, indxRange])
  ! sums = trine_global_sum_nfld(array1, array2, mpiComm [, indxRange])   of products
  ! The last subscript counts the fields; indxRange has the first and the last index of each other.
  interface trine_global_sum_nfld
    procedure sums_0, sums_1, sums_2, products_1, products_2
  end interface

contains

  function sums_0(array, mpiComm) result(sums)
    real(R8), intent(in) :: array(:)
    integer, intent(in) :: mpiComm
    real(R8) :: sums(size(array))
    call trine_mpi_sums(array, sums, mpiComm)
  end function

  function sums_1(array, mpiComm, indxRange) result(sums)
    real(R8), intent(in) :: array(:, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(R8) :: sums(size(array, 2))
    associate (r => range_of(shape(array), indxRange))
      call trine_mpi_sums(array(r(1):r(2), :), sums, mpiComm)
    end associate
  end function

  function sums_2(array, mpiComm, indxRange) result(sums)
    real(R8), intent(in) :: array(:, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(R8) :: sums(size(array, 3))
    associate (r => range_of(shape(array), indxRange))
      call trine_mpi_sums(array(r(1):r(2), r(3):r(4), :), sums, mpiComm)
    end associate
  end function

  function products_1(array1, array2, mpiComm, indxRange) result(sums)
    real(R8), intent(in) :: array1(:, :), array2(:, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(R8) :: sums(size(array1, 2))
    associate (r => range_of(shape(array1), indxRange))
      call trine_mpi_sums(array1(r(1):r(2), :), sums, mpiComm, weights=array2(r(1):r(2), :))
    end associate
  end function

  function products_2(array1, array2, mpiComm, indxRange) result(sums)
    real(R8), intent(in) :: array1(:, :, :), array2(:, :, :)
    integer, intent(in) :: mpiComm
    integer, intent(in), optional :: indxRange(:)
    real(R8) :: sums(size(array1, 3))
    associate (r => range_of(shape(array1), indxRange))
      call trine_mpi_sums(array1(r(1):r(2), r(3):r(4), :), sums, mpiComm, &
        weights=array2(r(1):r(2), r(3):r(4), :))
    end associate
  end function

  ! The first and the last index of each subscript.
  pure function range_of(extents, indxRange) result(range)
    integer, intent(in) :: extents(:)
    integer, intent(in), optional :: indxRange(:)
    integer :: range(2*size(extents))
    range(1::2) = 1
    range(2::2) = extents
    if (present(indxRange)) range(:size(indxRange)) = indxRange
  end function

end module
