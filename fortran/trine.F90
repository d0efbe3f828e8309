! Trine for Fortran: reductions, transposes and matrix products of arrays, exact and with the same
! bits on every device. docs/c-and-fortran.md has examples.
!
! Arrays. Every argument may be a section, a(1:n:2, :): the library reads and writes it where it
! lies, without a temporary copy. Steps must be positive. An index counts in array element order
! (the first subscript fastest), from 1.
!
! device: 'cpu', 'cuda:0', …, as trine_devices() lists them; absent: the one that is predicted to be
! the fastest.
! stat, errmsg: as in allocate. Without stat, a failure is an error stop with the sentence. With it,
! stat becomes 0 or a trine_status of <trine/ops.h>, and after a failure errmsg becomes the
! sentence. A call that is refused has written nothing.
! Thread safety: all procedures may be called from several threads, as long as no output is shared.
module trine
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  private
  public :: trine_sum, trine_prod, trine_min, trine_max, trine_argmin, trine_argmax, trine_dot
  public :: trine_reduce, trine_transpose, trine_gemm, trine_devices, trine_exact_sum, trine_partial

  ! total = trine_sum(x), of x of any rank: reals exact, rounded once; integers modulo 2**64, as
  ! int64.
  interface trine_sum
    procedure sum_real32, sum_real64, sum_int32, sum_int64
  end interface
  ! The product: reals by one fixed tree in array element order; integers modulo 2**64, as int64.
  interface trine_prod
    procedure prod_real32, prod_real64, prod_int32, prod_int64
  end interface
  ! The smallest and the largest element; NaN if there is one.
  interface trine_min
    procedure min_real32, min_real64, min_int32, min_int64
  end interface
  interface trine_max
    procedure max_real32, max_real64, max_int32, max_int64
  end interface
  ! Where the smallest or largest element is (int64, from 1): the first of equals, or the first NaN;
  ! 0 if there are no elements.
  interface trine_argmin
    procedure argmin_real32, argmin_real64, argmin_int32, argmin_int64
  end interface
  interface trine_argmax
    procedure argmax_real32, argmax_real64, argmax_int32, argmax_int64
  end interface
  ! result = trine_dot(x, y): the exact dot product, rounded once, of two arrays of one shape.
  interface trine_dot
    procedure dot_real32, dot_real64
  end interface
  ! call trine_gemm(a, b, c [, alpha, beta, transa, transb, device, stat, errmsg, numerics])
  !   c = alpha * op(a) * op(b) + beta * c, of real32, real64 or int32. alpha is 1 and beta is 0
  !   where absent; with beta = 0, c is not read. op(a) is a, or its transpose with transa = 't'.
  !   Rank 2; or rank 3, whose third subscript counts the products. Along its first or second
  !   subscript, each matrix has neighbours side by side. numerics: 'reproducible' (where absent),
  !   'exact' (each element of reals is rounded once) or 'fast' (its bits may differ).
  interface trine_gemm
    procedure gemm_real32, gemm_real64, gemm_int32
  end interface

  ! An exact sum in parts: what images, files or machines have added becomes one sum with the bits
  ! of the whole. Its words may be stored and sent (<trine/ops.h> describes them); sums of equal
  ! value have equal words. One that nobody has added to is +0.
  !   call sum%add(x [, map, device, stat, errmsg])   real32 or real64; map: 'abs' or 'square'
  !   call sum%add_dot(x, y [, device, stat, errmsg]) x * y of all elements of one shape
  !   call sum%merge(other [, stat, errmsg])          what another sum has seen
  !   value = sum%value()                             real64, rounded once; value32(): real32
  type trine_exact_sum
    integer(int64) :: words(69) = 0
  contains
    procedure :: add => exact_add
    procedure :: add_dot => exact_add_dot
    procedure :: merge => exact_merge
    procedure :: value => exact_value
    procedure :: value32 => exact_value32
  end type

  ! Any reduction in parts: what images, files or machines have seen of one array becomes the result
  ! of the whole, to the bit. Its words may be stored and sent (<trine/partial.hpp> describes them).
  !   call p%init(function, mold [, map, stat, errmsg])   'sum' … 'argmax', as in trine_reduce, of
  !                                                       elements of mold's type: it comes first
  !   call p%add(x, first [, device, stat, errmsg])       the whole's elements first (int64),
  !                                                       first + 1, …, from 1, in array element
  !                                                       order
  !   call p%merge(other [, stat, errmsg])                what another one has seen
  !   call p%result(value [, stat, errmsg])               a scalar of the type that trine_reduce
  !                                                       has; of argmin and argmax from 1
  type trine_partial
    integer(int64) :: words(256) = 0
  contains
    procedure :: init => partial_init
    procedure :: add => partial_add
    procedure :: merge => partial_merge
    procedure :: result => partial_result
  end type

  ! The procedures of descriptors.c. Each returns a status, and where it isn't 0 a sentence.
  interface
    integer(c_int) function c_reduce(function_, map, dim, x, y, results, device, sentence) &
        bind(c, name="trine_fortran_reduce")
      import
      character(kind=c_char), intent(in) :: function_(*), map(*), device(*)
      integer(c_int), value :: dim
      type(*), intent(in) :: x(..)
      type(*), intent(in), optional :: y(..)
      type(*), intent(inout) :: results(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_transpose(x, y, device, sentence) &
        bind(c, name="trine_fortran_transpose")
      import
      type(*), intent(in) :: x(..)
      type(*), intent(inout) :: y(..)
      character(kind=c_char), intent(in) :: device(*)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_gemm(alpha, a, transa, b, transb, beta, c, numerics, device, &
        sentence) bind(c, name="trine_fortran_gemm")
      import
      real(c_double), value :: alpha, beta
      type(*), intent(in) :: a(..), b(..)
      character(kind=c_char), value :: transa, transb
      type(*), intent(inout) :: c(..)
      character(kind=c_char), intent(in) :: numerics(*), device(*)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_exact_add(words, map, x, y, device, sentence) &
        bind(c, name="trine_fortran_exact_add")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      character(kind=c_char), intent(in) :: map(*), device(*)
      type(*), intent(in) :: x(..)
      type(*), intent(in), optional :: y(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_exact_merge(words, other) bind(c, name="trine_exact_sum_merge")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      integer(c_int64_t), intent(in) :: other(*)
    end function
    integer(c_int) function c_exact_to_f32(words, value) bind(c, name="trine_exact_sum_to_f32")
      import
      integer(c_int64_t), intent(in) :: words(*)
      real(c_float), intent(inout) :: value
    end function
    integer(c_int) function c_exact_to_f64(words, value) bind(c, name="trine_exact_sum_to_f64")
      import
      integer(c_int64_t), intent(in) :: words(*)
      real(c_double), intent(inout) :: value
    end function
    integer(c_int) function c_partial_init(words, function_, map, mold, sentence) &
        bind(c, name="trine_fortran_partial_init")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      character(kind=c_char), intent(in) :: function_(*), map(*)
      type(*), intent(in) :: mold(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_partial_add(words, x, first, device, sentence) &
        bind(c, name="trine_fortran_partial_add")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      type(*), intent(in) :: x(..)
      integer(c_int64_t), value :: first
      character(kind=c_char), intent(in) :: device(*)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_partial_merge(words, other) bind(c, name="trine_partial_merge")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      integer(c_int64_t), intent(in) :: other(*)
    end function
    integer(c_int) function c_partial_result(words, value, sentence) &
        bind(c, name="trine_fortran_partial_result")
      import
      integer(c_int64_t), intent(in) :: words(*)
      type(*), intent(inout) :: value(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_devices(list, count) bind(c, name="trine_list_devices")
      import
      type(c_ptr), intent(inout) :: list
      integer(c_size_t), intent(inout) :: count
    end function
    type(c_ptr) function c_last_error() bind(c, name="trine_last_error")
      import
    end function
    subroutine c_free(list) bind(c, name="trine_free")
      import
      type(c_ptr), value :: list
    end subroutine
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

  ! How trine_facts_t begins.
  type, bind(c) :: facts
    integer(c_int32_t) :: size, kind
    type(c_ptr) :: id
  end type

contains

#define ELEMENT real(real32)
#define TOTAL real(real32)
#define NAME(f) f/**/_real32
#include "reductions.inc"
#include "products.inc"
#undef ELEMENT
#undef TOTAL
#undef NAME
#define ELEMENT real(real64)
#define TOTAL real(real64)
#define NAME(f) f/**/_real64
#include "reductions.inc"
#include "products.inc"
#undef ELEMENT
#undef TOTAL
#undef NAME
#define ELEMENT integer(int32)
#define TOTAL integer(int64)
#define NAME(f) f/**/_int32
#include "reductions.inc"
#include "gemm.inc"
#undef ELEMENT
#undef NAME
#define ELEMENT integer(int64)
#define NAME(f) f/**/_int64
#include "reductions.inc"

  ! Any reduction: function_ is 'sum', 'prod', 'min', 'max', 'argmin' or 'argmax'; map, what is
  ! applied to each element before: 'identity', 'abs', or for sums 'square'. Without dim, results is
  ! a scalar, or an array of one element, from x of any rank; with dim = 1 or 2, it is an array of
  ! rank 1, and x is of rank 2: results(j) is that of x(:, j), or of x(j, :). results has the type
  ! of x; for sum and prod of integers and for argmin and argmax it is int64; for a sum of real32 it
  ! may be real64. A section of rank 3 and more whose subscripts can't be counted as two is read
  ! part by part. An array of characters isn't refused here, nor by the other procedures that take
  ! any type, but for trine_transpose, which moves them: gfortran hands over its length, too, which
  ! is taken for map's or device's.
  ! (bind(c), as trine_transpose has, ends gfortran 12 itself where this module calls it.)
  subroutine trine_reduce(function_, x, results, dim, map, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: results(..)
    integer, intent(in), optional :: dim
    character(*), intent(in), optional :: map
#include "options.inc"
    type(c_ptr) :: sentence
    integer :: along
    along = 0
    if (present(dim)) along = dim
    call finish(c_reduce(text(function_, ''), text(map, 'identity'), along, x, results=results, &
      device=text(device, 'auto'), sentence=sentence), sentence, stat, errmsg)
  end subroutine

  subroutine exact_add(sum, x, map, device, stat, errmsg)
    class(trine_exact_sum), intent(inout) :: sum
    type(*), intent(in) :: x(..)
    character(*), intent(in), optional :: map
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_exact_add(sum%words, text(map, 'identity'), x, device=text(device, 'auto'), &
      sentence=sentence), sentence, stat, errmsg)
  end subroutine

  subroutine exact_add_dot(sum, x, y, device, stat, errmsg)
    class(trine_exact_sum), intent(inout) :: sum
    type(*), intent(in) :: x(..), y(..)
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_exact_add(sum%words, text('product', ''), x, y, text(device, 'auto'), sentence), &
      sentence, stat, errmsg)
  end subroutine

  subroutine exact_merge(sum, other, stat, errmsg)
    class(trine_exact_sum), intent(inout) :: sum
    class(trine_exact_sum), intent(in) :: other
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_exact_merge(sum%words, other%words)
    call finish(status, c_last_error(), stat, errmsg)
  end subroutine

  real(real64) function exact_value(sum) result(value)
    class(trine_exact_sum), intent(in) :: sum
    integer(c_int) :: status
    value = 0
    status = c_exact_to_f64(sum%words, value)
    call finish(status, c_last_error())
  end function

  real(real32) function exact_value32(sum) result(value)
    class(trine_exact_sum), intent(in) :: sum
    integer(c_int) :: status
    value = 0
    status = c_exact_to_f32(sum%words, value)
    call finish(status, c_last_error())
  end function

  subroutine partial_init(partial, function_, mold, map, stat, errmsg)
    class(trine_partial), intent(inout) :: partial
    character(*), intent(in) :: function_
    type(*), intent(in) :: mold(..)
    character(*), intent(in), optional :: map
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: sentence
    call finish(c_partial_init(partial%words, text(function_, ''), text(map, 'identity'), mold, &
      sentence), sentence, stat, errmsg)
  end subroutine

  subroutine partial_add(partial, x, first, device, stat, errmsg)
    class(trine_partial), intent(inout) :: partial
    type(*), intent(in) :: x(..)
    integer(int64), intent(in) :: first
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_partial_add(partial%words, x, first, text(device, 'auto'), sentence), sentence, &
      stat, errmsg)
  end subroutine

  subroutine partial_merge(partial, other, stat, errmsg)
    class(trine_partial), intent(inout) :: partial
    class(trine_partial), intent(in) :: other
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = c_partial_merge(partial%words, other%words)
    call finish(status, c_last_error(), stat, errmsg)
  end subroutine

  subroutine partial_result(partial, value, stat, errmsg)
    class(trine_partial), intent(in) :: partial
    type(*), intent(inout) :: value(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: sentence
    call finish(c_partial_result(partial%words, value, sentence), sentence, stat, errmsg)
  end subroutine

  ! y(j, i) = x(i, j), for elements of 1, 2, 4, 8 or 16 bytes of any type; of rank 3, for each third
  ! subscript. Along its first or second subscript, each array has neighbours side by side. x and y
  ! may not overlap.
  ! bind(c): else gfortran hands over the length of a character x, too, which is then taken for
  ! device's.
  subroutine trine_transpose(x, y, device, stat, errmsg) bind(c, name='')
    type(*), intent(in) :: x(..)
    type(*), intent(inout) :: y(..)
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_transpose(x, y, text(device, 'auto'), sentence), sentence, stat, errmsg)
  end subroutine

  ! The names of the devices that there are.
  function trine_devices(stat, errmsg) result(names)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: names(:)
    type(c_ptr) :: list
    type(c_ptr), pointer :: each(:)
    type(facts), pointer :: device
    integer(c_size_t) :: count, i
    integer :: length
    integer(c_int) :: status
    count = 0
    list = c_null_ptr
    status = c_devices(list, count)
    call finish(status, c_last_error(), stat, errmsg)
    call c_f_pointer(list, each, [count])
    length = 0
    do i = 1, count
      call c_f_pointer(each(i), device)
      length = max(length, int(c_strlen(device%id)))
    end do
    allocate (character(length) :: names(count))
    do i = 1, count
      call c_f_pointer(each(i), device)
      call read_text(device%id, names(i))
    end do
    call c_free(list)
  end function

#include "text.inc"

end module
