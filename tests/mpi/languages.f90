! The calls over ranks in Fortran, behind the functions of languages.h. Communicators are integers in
! half of them, and of type(MPI_Comm) in the others.
module languages
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08
  use trine, only: trine_exact_sum, trine_partial
  use trine_mpi
  implicit none
  type, bind(c) :: piece
    type(trine_mpi_distribution) :: distribution
    type(c_ptr) :: data
    integer(c_int64_t) :: rows, cols, leading_dimension
  end type
  integer(c_int), parameter :: all_ranks = -huge(1_c_int) - 1
contains

  function text(given)
    character(kind=c_char), intent(in) :: given(*)
    character(:), allocatable :: text
    integer :: i
    text = ''
    i = 1
    do while (given(i) /= c_null_char)
      text = text // given(i)
      i = i + 1
    end do
  end function

  integer(c_int) function fortran_result(function_, map, dtype, count, step, x, y, first, result) &
      bind(c) result(stat)
    character(kind=c_char), intent(in) :: function_(*), map(*)
    integer(c_int32_t), value :: dtype
    integer(c_int64_t), value :: count, step, first
    type(c_ptr), value :: x, y, result
    real(real32), pointer :: s(:), s_other(:), s_value
    real(real64), pointer :: d(:), d_other(:), d_value
    integer(int32), pointer :: i(:)
    integer(int64), pointer :: l(:), l_value
    integer(int64) :: last
    last = count*step
    call c_f_pointer(result, l_value)
    select case (dtype)
    case (1)
      call c_f_pointer(x, s, [last])
      call c_f_pointer(result, s_value)
      if (c_associated(y)) then
        call c_f_pointer(y, s_other, [last])
        s_value = trine_mpi_dot(s(::step), s_other(::step), MPI_COMM_WORLD, 'cpu', stat=stat)
      else
        call of(s(::step), s_value)
      end if
    case (2)
      call c_f_pointer(x, d, [last])
      call c_f_pointer(result, d_value)
      if (c_associated(y)) then
        call c_f_pointer(y, d_other, [last])
        d_value = trine_mpi_dot(d(::step), d_other(::step), MPI_COMM_WORLD, 'cpu', stat=stat)
      else
        call of(d(::step), d_value)
      end if
    case (3)
      call c_f_pointer(x, i, [last])
      call of(i(::step), l_value)
    case default
      call c_f_pointer(x, l, [last])
      call of(l(::step), l_value)
    end select
  contains
    subroutine of(values, natural)
      type(*), intent(in) :: values(..)
      type(*), intent(inout) :: natural(..)
      integer(int32), pointer :: narrow
      if (index(text(function_), 'arg') == 1) then
        call trine_mpi_result(text(function_), values, l_value, MPI_COMM_WORLD, first + 1, &
          text(map), 'cpu', stat)
        l_value = l_value - 1
      else if (dtype == 3 .and. index(text(function_), 'm') == 1) then
        call c_f_pointer(result, narrow)
        call trine_mpi_result(text(function_), values, narrow, MPI_COMM_WORLD, first + 1, &
          text(map), 'cpu', stat)
      else
        call trine_mpi_result(text(function_), values, natural, MPI_COMM_WORLD%mpi_val, &
          first + 1, text(map), 'cpu', stat)
      end if
    end subroutine
  end function

  integer(c_int) function fortran_reduce(function_, dtype, count, x, results, root, begins) bind(c) &
      result(stat)
    character(kind=c_char), intent(in) :: function_(*)
    integer(c_int32_t), value :: dtype
    integer(c_int64_t), value :: count
    type(c_ptr), value :: x, results
    integer(c_int), value :: root, begins
    real(real32), pointer, asynchronous :: s(:), s_results(:)
    real(real64), pointer, asynchronous :: d(:), d_results(:)
    integer(int32), pointer, asynchronous :: i(:), i_results(:)
    integer(int64), pointer, asynchronous :: l(:), l_results(:)
    call c_f_pointer(x, s, [count])
    call c_f_pointer(x, d, [count])
    call c_f_pointer(x, i, [count])
    call c_f_pointer(x, l, [count])
    call c_f_pointer(results, s_results, [count])
    call c_f_pointer(results, d_results, [count])
    call c_f_pointer(results, i_results, [count])
    call c_f_pointer(results, l_results, [count])
    select case (dtype)
    case (1)
      if (index(text(function_), 'arg') == 1) then
        call of(s, l_results)
      else
        call of(s, s_results)
      end if
    case (2)
      if (index(text(function_), 'arg') == 1) then
        call of(d, l_results)
      else
        call of(d, d_results)
      end if
    case (3)
      if (index(text(function_), 'm') == 1) then
        call of(i, i_results)
      else
        call of(i, l_results)
      end if
    case default
      call of(l, l_results)
    end select
  contains
    subroutine of(from, to)
      type(*), intent(in), asynchronous :: from(..)
      type(*), intent(inout), asynchronous :: to(..)
      type(trine_mpi_request) :: request
      if (begins /= 0) then
        if (root == all_ranks) then
          call trine_mpi_iallreduce(text(function_), from, to, MPI_COMM_WORLD, request, 'cpu', stat)
        else
          call trine_mpi_ireduce(text(function_), from, to, root, MPI_COMM_WORLD, request, 'cpu', &
            stat)
        end if
        do while (stat == 0)
          if (request%test(stat)) exit
        end do
      else if (root == all_ranks) then
        call trine_mpi_allreduce(text(function_), from, to, MPI_COMM_WORLD%mpi_val, 'cpu', stat)
      else
        call trine_mpi_reduce(text(function_), from, to, root, MPI_COMM_WORLD%mpi_val, 'cpu', stat)
      end if
    end subroutine
  end function

  integer(c_int) function fortran_merge(words, is_partial, root) bind(c) result(stat)
    integer(c_int64_t), intent(inout) :: words(*)
    integer(c_int), value :: is_partial, root
    type(trine_exact_sum) :: sum
    type(trine_partial) :: partial
    if (is_partial /= 0) then
      partial%words = words(:size(partial%words))
      if (root == all_ranks) then
        call trine_mpi_merge(partial, MPI_COMM_WORLD, stat=stat)
      else
        call trine_mpi_merge(partial, MPI_COMM_WORLD%mpi_val, root, stat)
      end if
      words(:size(partial%words)) = partial%words
    else
      sum%words = words(:size(sum%words))
      if (root == all_ranks) then
        call trine_mpi_merge(sum, MPI_COMM_WORLD%mpi_val, stat=stat)
      else
        call trine_mpi_merge(sum, MPI_COMM_WORLD, root, stat)
      end if
      words(:size(sum%words)) = sum%words
    end if
  end function

  integer(c_int) function fortran_transpose(dtype, a, b) bind(c) result(stat)
    integer(c_int32_t), value :: dtype
    type(piece), intent(in) :: a, b
    real(real64), pointer :: from(:, :), to(:, :)
    real(real32), pointer :: narrow_from(:, :), narrow_to(:, :)
    if (mod(dtype, 2) == 0) then
      call c_f_pointer(a%data, from, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, to, [b%leading_dimension, b%cols])
      call trine_mpi_transpose(from(:a%rows, :), a%distribution, to(:b%rows, :), b%distribution, &
        MPI_COMM_WORLD, 'cpu', stat)
    else
      call c_f_pointer(a%data, narrow_from, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, narrow_to, [b%leading_dimension, b%cols])
      call trine_mpi_transpose(narrow_from(:a%rows, :), a%distribution, narrow_to(:b%rows, :), &
        b%distribution, MPI_COMM_WORLD%mpi_val, 'cpu', stat)
    end if
  end function

  integer(c_int) function fortran_gemm(dtype, alpha, a, b, beta, c) bind(c) result(stat)
    integer(c_int32_t), value :: dtype
    real(c_double), value :: alpha, beta
    type(piece), intent(in) :: a, b, c
    real(real32), pointer :: s(:, :), t(:, :), u(:, :)
    real(real64), pointer :: x(:, :), y(:, :), z(:, :)
    if (dtype == 1) then
      call c_f_pointer(a%data, s, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, t, [b%leading_dimension, b%cols])
      call c_f_pointer(c%data, u, [c%leading_dimension, c%cols])
      call trine_mpi_gemm(s(:a%rows, :), a%distribution, t(:b%rows, :), b%distribution, &
        u(:c%rows, :), c%distribution, MPI_COMM_WORLD, alpha, beta, 'cpu', stat)
    else
      call c_f_pointer(a%data, x, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, y, [b%leading_dimension, b%cols])
      call c_f_pointer(c%data, z, [c%leading_dimension, c%cols])
      call trine_mpi_gemm(x(:a%rows, :), a%distribution, y(:b%rows, :), b%distribution, &
        z(:c%rows, :), c%distribution, MPI_COMM_WORLD%mpi_val, alpha, beta, 'cpu', stat)
    end if
  end function

  integer(c_int) function fortran_local_shape(distribution, rows, cols) bind(c) result(stat)
    type(trine_mpi_distribution), intent(in) :: distribution
    integer(c_int64_t), intent(inout) :: rows, cols
    call trine_mpi_local_shape(distribution, rows, cols, MPI_COMM_WORLD, stat)
  end function

end module
