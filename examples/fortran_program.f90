! A Fortran program: a transpose, a product, and the exact sum of a section, which isn't copied.
program fortran_program
  use trine
  implicit none
  real :: a(4, 6) = 1, b(6, 4), c(4, 4)
  call trine_transpose(a, b)
  call trine_gemm(a, b, c, device='cpu')
  print '(f0.1, a, f0.1)', c(1, 1), ' and ', trine_sum(c(1:4:2, :))
end program
