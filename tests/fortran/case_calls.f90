! The calls that a conformance case is made of, in Fortran.
module case_calls
  use, intrinsic :: iso_c_binding
  use trine
  implicit none

contains

  integer(c_int) function reduce_case(operation, map, dim, x, results) bind(c)
    character(kind=c_char), intent(in) :: operation(6), map(8)
    integer(c_int), value :: dim
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: results(..)
    integer :: stat
    if (dim == 0) then
      call trine_reduce(word(operation), x, results, map=word(map), device='cpu', stat=stat)
    else
      call trine_reduce(word(operation), x, results, dim, word(map), 'cpu', stat)
    end if
    reduce_case = stat
  end function

  integer(c_int) function exact_case(map, x, y, words) bind(c)
    character(kind=c_char), intent(in) :: map(8)
    type(*), intent(in) :: x(..)
    type(*), intent(in), optional :: y(..)
    integer(c_int64_t), intent(inout) :: words(69)
    type(trine_exact_sum) :: sum
    integer :: stat
    if (present(y)) then
      call sum%add_dot(x, y, 'cpu', stat)
    else
      call sum%add(x, word(map), 'cpu', stat)
    end if
    words = sum%words
    exact_case = stat
  end function

  integer(c_int) function dot_real32(x, y, value) bind(c)
    real(c_float), intent(in) :: x(..), y(..)
    real(c_float), intent(inout) :: value
    integer :: stat
    value = trine_dot(x, y, 'cpu', stat)
    dot_real32 = stat
  end function

  integer(c_int) function dot_real64(x, y, value) bind(c)
    real(c_double), intent(in) :: x(..), y(..)
    real(c_double), intent(inout) :: value
    integer :: stat
    value = trine_dot(x, y, 'cpu', stat)
    dot_real64 = stat
  end function

  integer(c_int) function transpose_case(x, y) bind(c)
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
    integer :: stat
    call trine_transpose(x, y, 'cpu', stat)
    transpose_case = stat
  end function

  integer(c_int) function gemm_real32(alpha, a, b, beta, c, numerics) bind(c)
    real(c_float), value :: alpha, beta
    real(c_float), intent(in) :: a(..), b(..)
    real(c_float), intent(inout) :: c(..)
    character(kind=c_char), intent(in) :: numerics(12)
    integer :: stat
    call trine_gemm(a, b, c, alpha, beta, device='cpu', stat=stat, numerics=word(numerics))
    gemm_real32 = stat
  end function

  integer(c_int) function gemm_real64(alpha, a, b, beta, c, numerics) bind(c)
    real(c_double), value :: alpha, beta
    real(c_double), intent(in) :: a(..), b(..)
    real(c_double), intent(inout) :: c(..)
    character(kind=c_char), intent(in) :: numerics(12)
    integer :: stat
    call trine_gemm(a, b, c, alpha, beta, device='cpu', stat=stat, numerics=word(numerics))
    gemm_real64 = stat
  end function

  integer(c_int) function gemm_int32(alpha, a, b, beta, c, numerics) bind(c)
    integer(c_int32_t), value :: alpha, beta
    integer(c_int32_t), intent(in) :: a(..), b(..)
    integer(c_int32_t), intent(inout) :: c(..)
    character(kind=c_char), intent(in) :: numerics(12)
    integer :: stat
    call trine_gemm(a, b, c, alpha, beta, device='cpu', stat=stat, numerics=word(numerics))
    gemm_int32 = stat
  end function

  function word(letters)
    character(kind=c_char), intent(in) :: letters(:)
    character(size(letters)) :: word
    integer :: i
    do i = 1, size(letters)
      word(i:i) = letters(i)
    end do
  end function

end module
