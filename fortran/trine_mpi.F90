! Trine over the ranks of an MPI program, for Fortran: the same bits on any number of ranks.
! docs/mpi.md has examples; <trine/mpi.h> says what each call does to the bit.
!
! comm: the ranks that take part: an integer, as of mpif.h and `use mpi`, or an object of
! type(MPI_Comm), as of `use mpi_f08`. Any other intrinsic type is refused when the call is made.
! All procedures that have it are collective, but for trine_mpi_local_shape.
! Arrays, device, stat, errmsg: as in module trine. An error on one rank is one on all ranks, with
! one stat and one errmsg; a refused call has written nothing. One rank alone fails where comm is
! none.
! first: where this rank's first element is in the whole array (int64, from 1); its others follow,
! in array element order.
! Ranks count from 0, as MPI's do.
module trine_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use trine, only: trine_exact_sum, trine_partial
  implicit none
  private
  public :: trine_mpi_sum, trine_mpi_prod, trine_mpi_min, trine_mpi_max, trine_mpi_argmin
  public :: trine_mpi_argmax, trine_mpi_dot, trine_mpi_result, trine_mpi_merge
  public :: trine_mpi_allreduce, trine_mpi_reduce, trine_mpi_iallreduce, trine_mpi_ireduce
  public :: trine_mpi_request, trine_mpi_distribution, trine_mpi_local_shape
  public :: trine_mpi_sums, trine_mpi_reduce_fields, trine_mpi_transpose, trine_mpi_gemm

  ! total = trine_mpi_sum(x, comm), and so on: the result of the whole array, on all ranks, as
  ! trine_sum and its sisters give it on one.
  interface trine_mpi_sum
    procedure sum_real32, sum_real64, sum_int32, sum_int64
  end interface
  interface trine_mpi_min
    procedure min_real32, min_real64, min_int32, min_int64
  end interface
  interface trine_mpi_max
    procedure max_real32, max_real64, max_int32, max_int64
  end interface
  ! product = trine_mpi_prod(x, first, comm); place = trine_mpi_argmin(x, first, comm)
  interface trine_mpi_prod
    procedure prod_real32, prod_real64, prod_int32, prod_int64
  end interface
  interface trine_mpi_argmin
    procedure argmin_real32, argmin_real64, argmin_int32, argmin_int64
  end interface
  interface trine_mpi_argmax
    procedure argmax_real32, argmax_real64, argmax_int32, argmax_int64
  end interface
  ! value = trine_mpi_dot(x, y, comm): exact, rounded once; x and y have one shape on each rank.
  interface trine_mpi_dot
    procedure dot_real32, dot_real64
  end interface

  ! call trine_mpi_merge(s, comm [, root, stat, errmsg]): what all ranks have added to their
  ! trine_exact_sum or trine_partial becomes the whole, on all ranks or on `root` alone.
  interface trine_mpi_merge
    procedure merge_exact_sum, merge_partial
  end interface

  ! A call that goes on while the program does something else, but only inside of test and wait.
  ! Until it has ended, the program leaves its arrays alone, which are variables with the attribute
  ! asynchronous (or target).
  !   call request%wait([stat, errmsg])         to the end; its error
  !   done = request%test([stat, errmsg])       whether it has ended; its error, once
  ! Each call is waited for, or tested until it has ended, before MPI_Finalize. After an
  ! assignment both objects name one call: the program uses one of them from then on, because the
  ! end of the call frees it.
  type trine_mpi_request
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: wait => request_wait
    procedure :: test => request_test
  end type

  ! Which rank has which elements of a matrix: 2-D block-cyclic, as ScaLAPACK has it
  ! (trine_mpi_distribution_t in <trine/mpi.h>).
  type, bind(c) :: trine_mpi_distribution
    integer(c_int64_t) :: rows = 0, cols = 0, block_rows = 1, block_cols = 1
    integer(c_int32_t) :: grid_rows = 1, grid_cols = 1, first_row = 0, first_col = 0
    integer(c_int32_t) :: ranks_by_columns = 0, reserved = 0
  end type

  ! The procedures of mpi_descriptors.c. Each returns a status, and where it isn't 0 a sentence.
  interface
    integer(c_int) function c_result(function_, map, x, y, first, result, comm, device, sentence) &
        bind(c, name="trine_fortran_mpi_result")
      import
      character(kind=c_char), intent(in) :: function_(*), map(*), device(*)
      type(*), intent(in) :: x(..), comm(..)
      type(*), intent(in), optional :: y(..)
      integer(c_int64_t), value :: first
      type(*), intent(inout) :: result(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_reduce(function_, x, results, root, comm, device, request, sentence) &
        bind(c, name="trine_fortran_mpi_reduce")
      import
      character(kind=c_char), intent(in) :: function_(*), device(*)
      type(*), intent(in) :: x(..), comm(..)
      type(*), intent(inout) :: results(..)
      integer(c_int), intent(in), optional :: root
      type(c_ptr), intent(inout), optional :: request
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_merge(words, is_partial, root, comm, sentence) &
        bind(c, name="trine_fortran_mpi_merge")
      import
      integer(c_int64_t), intent(inout) :: words(*)
      integer(c_int), value :: is_partial
      integer(c_int), intent(in), optional :: root
      type(*), intent(in) :: comm(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_local_shape(distribution, rows, cols, comm, sentence) &
        bind(c, name="trine_fortran_mpi_local_shape")
      import
      type(trine_mpi_distribution), intent(in) :: distribution
      integer(c_int64_t), intent(inout) :: rows, cols
      type(*), intent(in) :: comm(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_transpose(a, of_a, b, of_b, comm, device, sentence) &
        bind(c, name="trine_fortran_mpi_transpose")
      import
      type(*), intent(in) :: a(..), comm(..)
      type(*), intent(inout) :: b(..)
      type(trine_mpi_distribution), intent(in) :: of_a, of_b
      character(kind=c_char), intent(in) :: device(*)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_gemm(alpha, a, of_a, b, of_b, beta, c, of_c, comm, numerics, device, &
        sentence) bind(c, name="trine_fortran_mpi_gemm")
      import
      real(c_double), value :: alpha, beta
      type(*), intent(in) :: a(..), b(..), comm(..)
      type(*), intent(inout) :: c(..)
      type(trine_mpi_distribution), intent(in) :: of_a, of_b, of_c
      character(kind=c_char), intent(in) :: numerics(*), device(*)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_reduce_fields(function_, values, weights, mask, results, comm, &
        device, sentence) bind(c, name="trine_fortran_mpi_reduce_fields")
      import
      character(kind=c_char), intent(in) :: function_(*), device(*)
      type(*), intent(in) :: values(..), comm(..)
      type(*), intent(in), optional :: weights(..), mask(..)
      type(*), intent(inout) :: results(..)
      type(c_ptr), intent(out) :: sentence
    end function
    integer(c_int) function c_request_test(request, done) bind(c, name="trine_mpi_request_test")
      import
      type(c_ptr), value :: request
      integer(c_int32_t), intent(inout) :: done
    end function
    integer(c_int) function c_request_wait(request) bind(c, name="trine_mpi_request_wait")
      import
      type(c_ptr), value :: request
    end function
    subroutine c_request_release(request) bind(c, name="trine_mpi_request_release")
      import
      type(c_ptr), value :: request
    end subroutine
    type(c_ptr) function c_last_error() bind(c, name="trine_last_error")
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import
      type(c_ptr), value :: text
    end function
  end interface

contains

#define ELEMENT real(real32)
#define TOTAL real(real32)
#define NAME(f) f/**/_real32
#include "mpi_reductions.inc"
#include "mpi_dot.inc"
#undef ELEMENT
#undef TOTAL
#undef NAME
#define ELEMENT real(real64)
#define TOTAL real(real64)
#define NAME(f) f/**/_real64
#include "mpi_reductions.inc"
#include "mpi_dot.inc"
#undef ELEMENT
#undef TOTAL
#undef NAME
#define ELEMENT integer(int32)
#define TOTAL integer(int64)
#define NAME(f) f/**/_int32
#include "mpi_reductions.inc"
#undef ELEMENT
#undef NAME
#define ELEMENT integer(int64)
#define NAME(f) f/**/_int64
#include "mpi_reductions.inc"

  ! Any reduction of a distributed array: function_, map and the type of result, a scalar, as in
  ! trine_reduce. first is 1 where absent; it matters to 'prod', 'argmin' and 'argmax'.
  subroutine trine_mpi_result(function_, x, result, comm, first, map, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in) :: x(..), comm(..)
    type(*), intent(inout) :: result(..)
    integer(int64), intent(in), optional :: first
    character(*), intent(in), optional :: map
#include "options.inc"
    type(c_ptr) :: sentence
    integer(int64) :: begin
    begin = 1
    if (present(first)) begin = first
    call finish(c_result(text(function_, ''), text(map, 'identity'), x, first=begin, &
      result=result, comm=comm, device=text(device, 'auto'), sentence=sentence), sentence, stat, &
      errmsg)
  end subroutine

  ! Element for element, as MPI_Allreduce: results(i) is 'sum' … 'argmax' over x(i) of all ranks; of
  ! 'argmin' and 'argmax' the lowest rank (int64). Of int32, 'sum' and 'prod' are int64, too; else
  ! results have the type of x. Both are arrays without gaps, of one length on all ranks. They may
  ! be one array where their elements have one size.
  subroutine trine_mpi_allreduce(function_, x, results, comm, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in) :: x(..), comm(..)
    type(*), intent(inout) :: results(..)
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_reduce(text(function_, ''), x, results, comm=comm, device=text(device, 'auto'), &
      sentence=sentence), sentence, stat, errmsg)
  end subroutine

  ! The same to one rank; the others' results are left alone.
  subroutine trine_mpi_reduce(function_, x, results, root, comm, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in) :: x(..), comm(..)
    type(*), intent(inout) :: results(..)
    integer, intent(in) :: root
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_reduce(text(function_, ''), x, results, root, comm, text(device, 'auto'), &
      sentence=sentence), sentence, stat, errmsg)
  end subroutine

  ! The same two without blocking: request receives the call, which must have none that goes on.
  subroutine trine_mpi_iallreduce(function_, x, results, comm, request, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in), asynchronous :: x(..)
    type(*), intent(in) :: comm(..)
    type(*), intent(inout), asynchronous :: results(..)
    type(trine_mpi_request), intent(inout) :: request
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_reduce(text(function_, ''), x, results, comm=comm, device=text(device, 'auto'), &
      request=request%handle, sentence=sentence), sentence, stat, errmsg)
  end subroutine
  subroutine trine_mpi_ireduce(function_, x, results, root, comm, request, device, stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in), asynchronous :: x(..)
    type(*), intent(in) :: comm(..)
    type(*), intent(inout), asynchronous :: results(..)
    integer, intent(in) :: root
    type(trine_mpi_request), intent(inout) :: request
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_reduce(text(function_, ''), x, results, root, comm, text(device, 'auto'), &
      request%handle, sentence), sentence, stat, errmsg)
  end subroutine

  subroutine request_wait(request, stat, errmsg)
    class(trine_mpi_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = 0
    if (c_associated(request%handle)) status = c_request_wait(request%handle)
    call release(request)
    call finish(status, c_last_error(), stat, errmsg)
  end subroutine

  logical function request_test(request, stat, errmsg) result(has_ended)
    class(trine_mpi_request), intent(inout) :: request
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    integer(c_int32_t) :: done
    status = 0
    done = 1
    if (c_associated(request%handle)) status = c_request_test(request%handle, done)
    has_ended = done /= 0
    if (has_ended) call release(request)
    call finish(status, c_last_error(), stat, errmsg)
  end function

  subroutine release(request)
    class(trine_mpi_request), intent(inout) :: request
    call c_request_release(request%handle)
    request%handle = c_null_ptr
  end subroutine

  subroutine merge_exact_sum(sum, comm, root, stat, errmsg)
    class(trine_exact_sum), intent(inout) :: sum
    type(*), intent(in) :: comm(..)
    integer, intent(in), optional :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: sentence
    call finish(c_merge(sum%words, 0, root, comm, sentence), sentence, stat, errmsg)
  end subroutine
  subroutine merge_partial(partial, comm, root, stat, errmsg)
    class(trine_partial), intent(inout) :: partial
    type(*), intent(in) :: comm(..)
    integer, intent(in), optional :: root
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: sentence
    call finish(c_merge(partial%words, 1, root, comm, sentence), sentence, stat, errmsg)
  end subroutine

  ! The sums of many fields at once, in one message, on all ranks: sums(i) is that of
  ! values(:, …, i), real32 or real64 exact and rounded once, integers as int64. Or sums is a
  ! scalar, and values are one field. weights and mask may be absent. Their last subscript counts
  ! the fields, too, or they lack it and serve all fields.
  ! weights: of the type of values, real; each element is multiplied by its own, exactly.
  ! mask: logical of any kind; an element counts where it is true.
  ! The number of fields, and whether there are weights, are the same on all ranks; the other
  ! extents needn't be.
  subroutine trine_mpi_sums(values, sums, comm, weights, mask, device, stat, errmsg)
    type(*), intent(in) :: values(..), comm(..)
    type(*), intent(inout) :: sums(..)
    type(*), intent(in), optional :: weights(..), mask(..)
#include "options.inc"
    call trine_mpi_reduce_fields('sum', values, sums, comm, weights, mask, device, stat, errmsg)
  end subroutine

  ! The same for function_ 'sum', 'min' or 'max'; the latter two have no weights.
  subroutine trine_mpi_reduce_fields(function_, values, results, comm, weights, mask, device, &
      stat, errmsg)
    character(*), intent(in) :: function_
    type(*), intent(in) :: values(..), comm(..)
    type(*), intent(inout) :: results(..)
    type(*), intent(in), optional :: weights(..), mask(..)
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_reduce_fields(text(function_, ''), values, weights, mask, results, comm, &
      text(device, 'auto'), sentence), sentence, stat, errmsg)
  end subroutine

  ! The extents of this rank's part of a matrix. No other rank is asked.
  subroutine trine_mpi_local_shape(distribution, rows, cols, comm, stat, errmsg)
    type(trine_mpi_distribution), intent(in) :: distribution
    integer(int64), intent(inout) :: rows, cols
    type(*), intent(in) :: comm(..)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: sentence
    call finish(c_local_shape(distribution, rows, cols, comm, sentence), sentence, stat, errmsg)
  end subroutine

  ! b = transpose(a), from any distribution to any other. a and b are this rank's parts, of rank 2,
  ! of elements of 1, 2, 4, 8 or 16 bytes of any type but character.
  subroutine trine_mpi_transpose(a, of_a, b, of_b, comm, device, stat, errmsg)
    type(*), intent(in) :: a(..), comm(..)
    type(*), intent(inout) :: b(..)
    type(trine_mpi_distribution), intent(in) :: of_a, of_b
#include "options.inc"
    type(c_ptr) :: sentence
    call finish(c_transpose(a, of_a, b, of_b, comm, text(device, 'auto'), sentence), sentence, &
      stat, errmsg)
  end subroutine

  ! c = alpha * a * b + beta * c, of real32, real64 or int32, with the bits of trine_gemm of the
  ! whole. alpha is 1, beta is 0 and numerics is 'reproducible' where absent.
  subroutine trine_mpi_gemm(a, of_a, b, of_b, c, of_c, comm, alpha, beta, device, stat, errmsg, &
      numerics)
    type(*), intent(in) :: a(..), b(..), comm(..)
    type(*), intent(inout) :: c(..)
    type(trine_mpi_distribution), intent(in) :: of_a, of_b, of_c
    real(real64), intent(in), optional :: alpha, beta
    character(*), intent(in), optional :: numerics
#include "options.inc"
    type(c_ptr) :: sentence
    real(c_double) :: factor, addend
    factor = 1
    addend = 0
    if (present(alpha)) factor = alpha
    if (present(beta)) addend = beta
    call finish(c_gemm(factor, a, of_a, b, of_b, addend, c, of_c, comm, &
      text(numerics, 'reproducible'), text(device, 'auto'), sentence), sentence, stat, errmsg)
  end subroutine

#include "text.inc"

end module
