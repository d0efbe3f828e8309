! The Fortran module: every procedure and type, sections by address, and what is refused. With an
! argument, an error without stat, which must stop the program.
program module_test
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use trine
  implicit none
  interface
    subroutine seen(of_last, address, rows, cols) bind(c)
      import
      integer(c_int), value :: of_last
      type(c_ptr), intent(out) :: address
      integer(c_int64_t), intent(out) :: rows, cols
    end subroutine
  end interface

  if (command_argument_count() > 0) print *, trine_sum([1.0, 2.0], device='abacus')
  call reals()
  call integers()
  call along_a_subscript()
  call products()
  call exact_sums()
  call partials()
  call transposes()
  call sections()
  call refusals()
  call names()
  print *, 'all well'

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) error stop 'not so: ' // what
  end subroutine

  subroutine reals()
    real(real32) :: x(4) = [1e30_real32, 1.0_real32, -1e30_real32, 2.0_real32], none(0)
    real(real64) :: y(2, 3) = reshape([1, 5, 2, 5, 3, 1], [2, 3]), exact
    real(real32) :: deep(3, 3, 3, 3) = 1
    call check(trine_sum(x) == 3, 'a sum of real32')
    call check(trine_prod(x(2:4:2)) == 2, 'a product of real32')
    call check(trine_min(x) == -1e30_real32 .and. trine_max(x) == 1e30_real32, 'extrema of real32')
    call check(trine_argmin(x) == 3 .and. trine_argmax(x) == 1, 'places in real32')
    call check(trine_sum(y) == 17 .and. trine_prod(y) == 150, 'results of real64')
    call check(trine_min(y) == 1 .and. trine_max(y) == 5, 'extrema of real64')
    call check(trine_argmin(y) == 1 .and. trine_argmax(y) == 2, 'the first of equals')
    call check(trine_sum(none) == 0 .and. trine_argmax(none) == 0, 'no elements')
    call check(trine_dot(none, none) == 0 .and. trine_dot(y(:0, :), y(:0, :)) == 0 .and. &
      trine_dot(y(:, :0), y(:, :0)) == 0 .and. trine_dot(y(:0, :0), y(:0, :0)) == 0, &
      'dots of nothing')
    call check(trine_sum(deep(2:3, 2:3, 2:3, 1)) == 8 .and. &
      trine_prod(deep(2:3, ::2, 2:3, :)) == 1 .and. &
      trine_dot(deep(:2, :2, :2, :2), deep(2:, :2, :2, 2:)) == 16, 'sections of many subscripts')
    call check(trine_sum(deep(:0, ::2, ::2, :)) == 0, 'no elements of many subscripts')
    call check(trine_sum(deep(:0, 3:1:-1, :, :)) == 0, 'no elements, with a step below zero')
    call trine_reduce('sum', [1.0_real32, 2.0_real32**(-40)], exact)
    call check(exact == 1 + 2.0_real64**(-40), 'a sum of real32 as real64')
  end subroutine

  subroutine integers()
    integer(int32) :: x(3, 2, 2) = reshape([3, -1, 4, 1, -5, 9, 2, 6, 5, 3, 5, 9], [3, 2, 2])
    integer(int64) :: y(3) = [4000000000_int64, -7_int64, 4000000000_int64]
    call check(trine_sum(x) == sum(x), 'a sum of int32')
    call check(trine_prod(x) == product(int(x, int64)), 'a product of int32')
    call check(trine_min(x) == -5 .and. trine_max(x) == 9, 'extrema of int32')
    call check(trine_argmin(x) == 5 .and. trine_argmax(x) == 6, 'places in int32')
    call check(trine_sum(y) == sum(y) .and. trine_prod(y(1:2)) == product(y(1:2)), 'int64')
    call check(trine_min(y) == -7 .and. trine_max(y) == y(1), 'extrema of int64')
    call check(trine_argmin(y) == 2 .and. trine_argmax(y) == 1, 'places in int64')
    call check(trine_sum(x(::2, 1, :)) == sum(x(::2, 1, :)), 'a section of int32')
    call check(trine_sum(x(::2, 2:2, :)) == sum(x(::2, 2:2, :)), 'a subscript of one value')
    call check(trine_argmin(x(2:2, :, 1:1)) == 2, 'the second of two')
  end subroutine

  subroutine along_a_subscript()
    integer(int32) :: x(2, 3) = reshape([3, -1, 4, 1, -5, 9], [2, 3])
    integer(int64) :: first(3), second(2), total
    integer(int32) :: largest(2)
    call trine_reduce('sum', x, first, dim=1)
    call trine_reduce('sum', x, second, dim=2)
    call check(all(first == sum(x, 1)) .and. all(second == sum(x, 2)), 'sums along a subscript')
    call trine_reduce('sum', x, total, map='abs')
    call check(total == sum(abs(x)), 'a sum of magnitudes')
    call trine_reduce('max', x, largest, 2, 'abs')
    call check(all(largest == [5, 9]), 'largest magnitudes')
    call trine_reduce('argmax', x, second, dim=2)
    call check(all(second == maxloc(x, 2)), 'places count from 1')
  end subroutine

  subroutine products()
    real(real64) :: a(4, 3), b(3, 5), c(4, 5), turned(3, 4), batch(4, 3, 2), many(4, 5, 2)
    real(real32) :: s(2, 2) = reshape([1, 2, 3, 4], [2, 2]), t(2, 2) = 1, row(1, 3), one(1, 1)
    integer(int32) :: i(2, 2) = reshape([1, 2, 3, 4], [2, 2]), j(2, 2) = 0
    integer :: n
    a = reshape([(n, n=1, 12)], [4, 3])
    b = reshape([(n, n=1, 15)], [3, 5])
    turned = transpose(a)
    call trine_gemm(a, b, c)
    call check(all(c == matmul(a, b)), 'a product of real64')
    call trine_gemm(turned, b, c, alpha=2.0_real64, beta=1.0_real64, transa='T')
    call check(all(c == 3 * matmul(a, b)), 'alpha, beta, transa')
    batch(:, :, 1) = a
    batch(:, :, 2) = -a
    call trine_gemm(batch, spread(b, 3, 2), many)
    call check(all(many(:, :, 2) == -matmul(a, b)), 'a batch of products')
    call trine_gemm(s, s, t, beta=1.0_real32, transb='t', device='cpu')
    call check(all(t == matmul(s, transpose(s)) + 1), 'a product of real32')
    ! Two halves of an ulp: lost one by one, an ulp together.
    row(1, :) = [1.0_real32, 2.0_real32**(-12), 2.0_real32**(-12)]
    call trine_gemm(row, row, one, transb='t', device='cpu')
    call check(one(1, 1) == 1, 'a product that is rounded at every step')
    call trine_gemm(row, row, one, transb='t', device='cpu', numerics='exact')
    call check(one(1, 1) == 1 + 2.0_real32**(-23), 'a product that is rounded once')
    call trine_gemm(i, i, j, numerics='exact')
    call check(all(j == matmul(i, i)), 'a product of int32')
    call check(trine_dot(a, a) == sum(a * a), 'a dot product of real64')
    call check(trine_dot(s(1, :), s(2, :)) == 14, 'a dot product of sections')
  end subroutine

  subroutine exact_sums()
    real(real64) :: x(4) = [1e100_real64, 1.0_real64, -1e100_real64, 2.0_real64], a(3, 4)
    type(trine_exact_sum) :: whole, first, rest
    integer :: stat, n
    character(200) :: errmsg
    call check(whole%value() == 0, 'the sum of nothing')
    call whole%add(x, device='cpu')
    call first%add(x(1:1))
    call rest%add(x(2:4))
    call first%merge(rest)
    call check(all(first%words == whole%words), 'parts of a sum')
    call check(whole%value() == 3 .and. whole%value32() == 3, 'the value of a sum')
    a = reshape([(real(n, real64), n=1, 12)], [3, 4])
    call rest%add_dot(a(::2, :), a(::2, :))
    call rest%add(a, map='abs')
    call check(rest%value() == -1e100_real64, 'one that is far larger')
    call rest%add(x(1:1))
    call check(rest%value() == 3 + sum(a(::2, :)**2) + sum(a), 'dot and sum in one')
    whole%words(1) = -1
    call whole%merge(rest, stat, errmsg)
    call check(stat /= 0 .and. index(errmsg, 'ExactSum') == 1, 'words that are no state')
  end subroutine

  subroutine partials()
    real(real64) :: x(3, 5), value
    real(real32) :: single
    integer(int32) :: k(6) = [3, -9, 4, -9, 2, 1], least
    integer(int64) :: place
    type(trine_partial) :: whole, left, right
    character(6) :: functions(6) = [character(6) :: 'sum', 'prod', 'min', 'max', 'argmin', 'argmax']
    integer :: f, n, stat
    character(200) :: errmsg
    x = reshape([(1 + 0.1_real64*mod(n*7, 11), n=1, 15)], [3, 5])
    do f = 1, 6
      call whole%init(functions(f), x)
      left = whole
      right = whole
      call whole%add(x, 1_int64, device='cpu')
      call right%add(x(:, 3:), 7_int64)
      call left%add(x(:, :2), 1_int64)
      call right%merge(left)
      call check(all(right%words == whole%words), 'parts of ' // functions(f))
    end do
    call whole%result(place)
    call check(place == trine_argmax(x), 'a position, from 1')
    call whole%init('prod', x)
    call whole%add(x, 1_int64)
    call whole%result(value)
    call check(value == trine_prod(x), 'a product')
    call whole%init('min', k, map='abs')
    call whole%add(k, 1_int64)
    call whole%result(least)
    call check(least == 1, 'an unsigned result')
    call whole%init('sum', single)
    call whole%result(value)
    call check(value == 0, 'a sum of real32 as real64')
    call whole%init('sum', 'letters', stat=stat, errmsg=errmsg)
    call check(stat /= 0, 'no dtype')
    call whole%add(x, 1_int64, stat=stat, errmsg=errmsg)
    call check(stat /= 0 .and. index(errmsg, 'made for f32') > 0, 'elements of another type')
    call whole%add([single], 0_int64, stat=stat, errmsg=errmsg)
    call check(stat /= 0 .and. index(errmsg, 'counts from 1') > 0, 'a position of 0')
    call whole%result(x, stat, errmsg)
    call check(stat /= 0 .and. index(errmsg, 'scalar') > 0, 'results that are no scalar')
    call whole%merge(left, stat, errmsg)
    call check(stat /= 0 .and. index(errmsg, 'Partial: merge') == 1, 'another function')
    whole%words = 0
    call left%merge(whole, stat, errmsg)
    call check(stat /= 0, 'one without init')
  end subroutine

  subroutine transposes()
    complex(real64) :: z(2, 3, 2), y(3, 2, 2)
    character :: letters(2, 2) = reshape(['a', 'b', 'c', 'd'], [2, 2]), other(2, 2)
    character(2) :: pairs(2, 2) = reshape(['ab', 'cd', 'ef', 'gh'], [2, 2]), turned(2, 2)
    character(4) :: message
    integer :: n, stat
    z = reshape([(cmplx(n, -n, real64), n=1, 12)], [2, 3, 2])
    call trine_transpose(z, y)
    call check(all(y(:, :, 1) == transpose(z(:, :, 1))), 'a transpose of complex')
    call check(all(y(:, :, 2) == transpose(z(:, :, 2))), 'a transpose of a batch')
    call trine_transpose(letters, other)
    call check(all(other == transpose(letters)), 'a transpose of letters')
    call trine_transpose(pairs, turned, device='cpu')
    call check(all(turned == transpose(pairs)), 'a transpose of pairs of letters')
    call trine_transpose(pairs, turned(:1, :), stat=stat, errmsg=message)
    call check(stat == 1 .and. message == 'tran', 'a sentence: ' // message)
  end subroutine

  ! The library was given the address where the section is.
  subroutine expect(of_last, address, rows, cols, what)
    integer, intent(in) :: of_last, rows, cols
    type(c_ptr), intent(in) :: address
    character(*), intent(in) :: what
    type(c_ptr) :: seen_address
    integer(c_int64_t) :: seen_rows, seen_cols
    call seen(int(of_last, c_int), seen_address, seen_rows, seen_cols)
    call check(c_associated(seen_address, address), what // ': the address')
    call check(seen_rows == rows .and. seen_cols == cols, what // ': the strides')
  end subroutine

  subroutine sections()
    real(real64), target :: a(10, 8), b(8, 20), c(30, 30), total
    a = 1
    b = 2
    total = trine_sum(a(2:10:3, 1:8:2))
    call check(total == 12, 'the sum of a section')
    call expect(0, c_loc(a(2, 1)), 20, 3, 'the sum of a section')
    total = trine_sum(a(3, :))
    call expect(0, c_loc(a(3, 1)), 1, 10, 'the sum of a row')
    total = trine_sum(a)
    call expect(0, c_loc(a), 10, 1, 'the sum of an array')
    call trine_transpose(a(2:5, 1:8:3), b(2:4, 1:20:5))
    call check(all(b(2:4, 1:20:5) == 1) .and. all(b(:, 2:5) == 2), 'the transpose of a section')
    call expect(0, c_loc(a(2, 1)), 1, 30, 'the transpose of a section')
    call expect(1, c_loc(b(2, 1)), 1, 40, 'the transpose into a section')
    c = 0
    call trine_gemm(a(:, 1:8:2), b(1:4, 2:20:8), c(11:20, 1:30:10), device='cpu')
    call check(all(c(11:20, 1) == 8) .and. all(c(:10, :) == 0), 'the product of sections')
    call expect(0, c_loc(a(1, 1)), 1, 20, 'the product of sections')
    call expect(1, c_loc(c(11, 1)), 1, 300, 'the product into a section')
  end subroutine

  subroutine refusals()
    real(real64) :: a(3, 2) = 1, b(1, 3) = -7, c(3, 3) = -7, total = -7
    real(real64) :: deep(3, 3, 3, 3)
    character(0) :: blank(2, 2)
    integer :: stat
    character(60) :: message
    stat = -1
    total = trine_sum(a, stat=stat)
    call check(stat == 0 .and. total == 6, 'stat of a good call')
    call trine_reduce('sum', a(3:3:-1, :), total, stat=stat, errmsg=message)
    call check(stat == 0 .and. total == 2, 'the step of one element is none')
    call trine_gemm(a(2:2:-1, :), a, b, transb='t', stat=stat, errmsg=message)
    call check(stat == 0 .and. all(b == 2), message)
    call trine_gemm(a, a, c, stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'gemm: a 3 x 2 times b 3 x 2') == 1, message)
    call trine_gemm(a, a, c, transb='x', stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'transb') > 0, message)
    call trine_gemm(a, a, c, transb='t', stat=stat, errmsg=message, numerics='precise')
    call check(stat == 3 .and. index(message, "No numerics is called 'precise'") == 1, message)
    call trine_gemm(a, a, c, transb='t', stat=stat, errmsg=message, numerics='vendor')
    call check(stat == 1 .and. index(message, 'gemm: numerics can be asked for as') == 1, message)
    call trine_reduce('average', a, total, stat=stat, errmsg=message)
    call check(stat == 3 .and. index(message, "No function is called 'average'") == 1, message)
    call trine_reduce('sum', a, total, dim=3, stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'dim') > 0, message)
    call trine_reduce('sum', a, c, stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'results') > 0, message)
    deep = 1
    total = -7
    call trine_reduce('sum', deep(:2, :2, :2, :), b, stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'results') > 0, message)
    total = trine_dot(deep(:2, :, :, 1), deep(:, :2, :, 1), stat=stat, errmsg=message)
    call check(stat == 1 .and. index(message, 'y must have the shape of x') > 0, message)
    total = -7
    call trine_reduce('sum', a(3:1:-1, 1), total, stat=stat, errmsg=message)
    call check(stat == 1 .and. len_trim(message) > 0, message)
    call trine_reduce('sum', blank, total, stat=stat)
    call check(stat == 1, 'elements without bytes')
    call trine_transpose(a, a, stat=stat)
    call check(stat == 1, 'a transpose in place')
    call check(all(c == -7) .and. all(a == 1) .and. total == -7, 'a refused call writes nothing')
  end subroutine

  subroutine names()
    character(:), allocatable :: list(:)
    list = trine_devices()
    call check(size(list) >= 1, 'there are devices')
    call check(trine_sum([1.0, 2.0], device=list(1)) == 3, 'each has a name to call')
  end subroutine

end program
