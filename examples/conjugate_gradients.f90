! Conjugate gradients in Fortran: the vectors are the program's, each product and sum a call. The
! residuals have the bits of conjugate_gradients.cpp and of every device.
!
!   conjugate_gradients_fortran [DEVICE]     'cpu' by default
!
! Compile with -ffp-contract=off: else a compiler may round x + step * p once on one processor and twice
! on another.
program conjugate_gradients
  use, intrinsic :: iso_fortran_env, only: real64
  use trine
  implicit none
  integer, parameter :: n = 500, steps = 12
  real(real64) :: a(n, n), x(n, 1), r(n, 1), p(n, 1), q(n, 1), step, rr(0:steps)
  character(32) :: device = 'cpu'
  integer :: i, j
  if (command_argument_count() > 0) call get_command_argument(1, device)

  do j = 1, n
    a(:, j) = [(1.0_real64 / (1 + abs(i - j)), i = 1, n)]
    a(j, j) = n
  end do
  x = 0
  r = 1  ! b - A x, for b of ones
  p = r
  rr(0) = trine_dot(r, r, device=trim(device))
  do i = 1, steps
    call trine_gemm(a, p, q, device=trim(device))
    step = rr(i - 1) / trine_dot(p, q, device=trim(device))
    x = x + step * p
    r = r - step * q
    rr(i) = trine_dot(r, r, device=trim(device))
    p = r + rr(i) / rr(i - 1) * p
  end do
  print '(a)', trim(device)
  print '(2x, es23.16)', rr
  if (.not. rr(steps) < 1e-20_real64 * rr(0)) error stop 1
end program
