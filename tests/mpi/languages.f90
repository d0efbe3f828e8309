! The calls over ranks in Fortran, behind the functions of languages.h. Communicators are integers
! in half of them, and of type(MPI_Comm) in the others.
module languages
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08
  use trine, only: trine_exact_sum, trine_partial, trine_sum
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

  integer(c_int) function fortran_reduce(function_, dtype, count, x, results, root, begins) &
      bind(c) result(stat)
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

  integer(c_int) function fortran_fields(function_, dtype, length, count, leading_dimension, &
      values, weights, mask, results) bind(c) result(stat)
    character(kind=c_char), intent(in) :: function_(*)
    integer(c_int32_t), value :: dtype
    integer(c_int64_t), value :: length, count, leading_dimension
    type(c_ptr), value :: values, weights, mask, results
    real(real32), pointer :: s(:, :), s_weights(:, :), s_results(:)
    real(real64), pointer :: d(:, :), d_weights(:, :), d_results(:)
    integer(int32), pointer :: i(:, :), i_results(:)
    integer(int64), pointer :: l_results(:)
    integer(int32), pointer :: counts(:)
    logical(int32), allocatable :: counts_here(:)
    integer(int64) :: shape(2)
    shape = [leading_dimension, count]
    if (c_associated(mask)) then  ! else it is absent below
      call c_f_pointer(mask, counts, [length])
      counts_here = counts /= 0
    end if
    select case (dtype)
    case (1)
      call c_f_pointer(values, s, shape)
      call c_f_pointer(results, s_results, [count])
      if (c_associated(weights)) then
        call c_f_pointer(weights, s_weights, shape)
        call trine_mpi_sums(s(:length, :), s_results, MPI_COMM_WORLD, s_weights(:length, :), &
          counts_here, 'cpu', stat)
      else
        call of(s(:length, :), s_results)
      end if
    case (2)
      call c_f_pointer(values, d, shape)
      call c_f_pointer(results, d_results, [count])
      if (c_associated(weights)) then
        call c_f_pointer(weights, d_weights, shape)
        call trine_mpi_sums(d(:length, :), d_results, MPI_COMM_WORLD%mpi_val, &
          d_weights(:length, :), counts_here, 'cpu', stat)
      else
        call of(d(:length, :), d_results)
      end if
    case default
      call c_f_pointer(values, i, shape)
      call c_f_pointer(results, i_results, [count])
      call c_f_pointer(results, l_results, [count])
      if (text(function_) == 'sum') then
        call of(i(:length, :), l_results)
      else
        call of(i(:length, :), i_results)
      end if
    end select
  contains
    subroutine of(from, to)
      type(*), intent(in) :: from(..)
      type(*), intent(inout) :: to(..)
      if (allocated(counts_here)) then
        call trine_mpi_reduce_fields(text(function_), from, to, MPI_COMM_WORLD, mask=counts_here, &
          device='cpu', stat=stat)
      else
        call trine_mpi_reduce_fields(text(function_), from, to, MPI_COMM_WORLD, device='cpu', &
          stat=stat)
      end if
    end subroutine
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

  integer(c_int) function fortran_gemm(dtype, alpha, a, b, beta, c, numerics) bind(c) result(stat)
    integer(c_int32_t), value :: dtype
    real(c_double), value :: alpha, beta
    type(piece), intent(in) :: a, b, c
    character(kind=c_char), intent(in) :: numerics(*)
    real(real32), pointer :: s(:, :), t(:, :), u(:, :)
    real(real64), pointer :: x(:, :), y(:, :), z(:, :)
    if (dtype == 1) then
      call c_f_pointer(a%data, s, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, t, [b%leading_dimension, b%cols])
      call c_f_pointer(c%data, u, [c%leading_dimension, c%cols])
      call trine_mpi_gemm(s(:a%rows, :), a%distribution, t(:b%rows, :), b%distribution, &
        u(:c%rows, :), c%distribution, MPI_COMM_WORLD, alpha, beta, 'cpu', stat, &
        numerics=text(numerics))
    else
      call c_f_pointer(a%data, x, [a%leading_dimension, a%cols])
      call c_f_pointer(b%data, y, [b%leading_dimension, b%cols])
      call c_f_pointer(c%data, z, [c%leading_dimension, c%cols])
      call trine_mpi_gemm(x(:a%rows, :), a%distribution, y(:b%rows, :), b%distribution, &
        z(:c%rows, :), c%distribution, MPI_COMM_WORLD%mpi_val, alpha, beta, 'cpu', stat, &
        numerics=text(numerics))
    end if
  end function

  integer(c_int) function fortran_local_shape(distribution, rows, cols) bind(c) result(stat)
    type(trine_mpi_distribution), intent(in) :: distribution
    integer(c_int64_t), intent(inout) :: rows, cols
    call trine_mpi_local_shape(distribution, rows, cols, MPI_COMM_WORLD, stat)
  end function

  ! Communicators that are none; arrays of Fortran alone.
  integer(c_int) function fortran_details() bind(c) result(wrong)
    type(MPI_Comm) :: copy
    integer :: freed, stat, rank, ranks
    character(200) :: errmsg
    real(real64), allocatable :: none(:)
    real(real64) :: total, deep(4, 4, 4, 3), sums(3), areas(2, 2, 4), gone
    real(real64), asynchronous :: step(6)
    logical :: is_sea(2, 2, 4)
    logical :: is_last
    type(piece) :: wide(2, 2, 4)
    type(trine_mpi_request) :: request
    integer :: i
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    is_last = rank == ranks - 1
    deep = reshape([(i*0.125_real64, i=1, size(deep))], shape(deep))
    areas = 0.5_real64
    is_sea = .true.
    is_sea(1, 2, 3) = .false.
    total = -7

    wrong = 1
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    freed = copy%mpi_val
    if (trine_mpi_sum([1.0_real64], copy) /= ranks) return
    call MPI_Comm_free(copy)
    gone = trine_mpi_sum([1.0_real64], freed, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'MPI_COMM_NULL') == 0) return
    wrong = 2
    gone = trine_mpi_sum([1.0_real64], MPI_COMM_NULL, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'MPI_COMM_NULL') == 0) return
    wrong = 3
    gone = trine_mpi_sum([1.0_real64], 1.0_real64, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'comm must be an integer') == 0) return
    wrong = 4  ! an array that was freed
    allocate (none(5), source=1.0_real64)
    if (is_last) deallocate (none)
    call trine_mpi_result('sum', none, total, MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'On rank') /= 1 .or. total /= -7) return
    wrong = 5
    step = 1
    if (is_last) then
      call trine_mpi_result('sum', step(6:1:-1), total, MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    else
      call trine_mpi_result('sum', step, total, MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    end if
    if (stat /= 1 .or. index(errmsg, 'step below zero') == 0 .or. total /= -7) return
    wrong = 6
    if (trine_mpi_sum(deep(::2, :3, ::3, :), MPI_COMM_WORLD, stat=stat) /= &
      ranks*trine_sum(deep(::2, :3, ::3, :))) return
    wrong = 7
    call trine_mpi_sums(deep(:2, :2, :, :), sums, MPI_COMM_WORLD, areas, is_sea, stat=stat, &
      errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'gaps') == 0) return
    wrong = 8
    call trine_mpi_sums(deep(:2, ::2, :, :), sums, MPI_COMM_WORLD, areas, is_sea, stat=stat, &
      errmsg=errmsg)
    if (stat /= 0) return
    do i = 1, 3
      total = ranks*sum(pack(deep(:2, ::2, :, i), is_sea))/2
      if (abs(sums(i) - total) > 1e-12_real64*total) return
    end do
    wrong = 9
    call trine_mpi_sums(deep(1, 1, 1, :), sums, MPI_COMM_WORLD)
    if (any(sums /= [(ranks*deep(1, 1, 1, i), i=1, 3)])) return
    wrong = 10  ! another number of fields on one rank
    sums = -7
    if (is_last) then
      call trine_mpi_sums(deep(1, 1, :, :2), sums(:2), MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    else
      call trine_mpi_sums(deep(1, 1, :, :), sums, MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    end if
    if (ranks > 1 .and. (stat /= 1 .or. any(sums /= -7))) return
    wrong = 11
    call trine_mpi_sums(deep(1, :, :, :), sums, MPI_COMM_WORLD, weights=areas(1, :, :), stat=stat, &
      errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'weights must have the shape of a field') == 0) return
    wrong = 12  ! a mask in the place of weights; other types that weights don't have
    sums = -7
    call trine_mpi_sums(deep(:2, ::2, :, :), sums, MPI_COMM_WORLD, is_sea, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'weights must have the type of values') == 0) return
    call trine_mpi_sums(deep(:2, ::2, :, :), sums, MPI_COMM_WORLD, cmplx(areas, kind=real64), &
      stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'weights must have the type of values') == 0) return
    wrong = 13
    call trine_mpi_sums(deep(:2, ::2, :, :), sums, MPI_COMM_WORLD, mask=wide, stat=stat, &
      errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'mask must have elements of') == 0) return
    wrong = 14
    call trine_mpi_sums(total, sums(:1), MPI_COMM_WORLD, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'results have more subscripts') == 0) return
    if (any(sums /= -7)) return
    wrong = 15
    gone = trine_mpi_sum([1.0_real64], 1.0_real32, stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'comm must be an integer') == 0) return
    gone = trine_mpi_sum([1.0_real64], .true., stat=stat, errmsg=errmsg)
    if (stat /= 1 .or. index(errmsg, 'comm must be an integer') == 0) return
    wrong = 16  ! a request has the error of a call that can't begin; no rank waits before
    if (is_last) then
      call trine_mpi_iallreduce('sum', step(6:1:-1), step, MPI_COMM_WORLD, request, stat=stat)
    else
      call trine_mpi_iallreduce('sum', step, step, MPI_COMM_WORLD, request, stat=stat)
    end if
    if (stat /= 0) return
    call MPI_Barrier(MPI_COMM_WORLD)
    call request%wait(stat, errmsg)
    if (stat /= 1 .or. index(errmsg, 'step below zero') == 0 .or. any(step /= 1)) return
    wrong = 0
  end function

end module
