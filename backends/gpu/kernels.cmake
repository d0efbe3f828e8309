# The kernel files of the GPU ladders, one line each. reduce/sequential stands for
# cuda/reduce/sequential.cu and opencl/reduce/sequential.cl, whichever of the two exist; a language
# without one takes backends/gpu/kernels/reduce/sequential.cl, which is for both.
set(TRINE_GPU_KERNELS
  service/probe
  service/fill
  service/stamp
  reduce/interleaved_divergent
  reduce/interleaved_strided
  reduce/sequential
  reduce/first_add
  reduce/unroll_last_warp
  reduce/unroll_all
  reduce/cascade
  reduce/shuffle
  reduce/vector_loads
  reduce/exact_lines
  reduce/exact
  reduce/exact_vector
  transpose/naive
  transpose/shared
  transpose/shared_padded
  transpose/multi_row
  transpose/shifted
  transpose/pile
  transpose/vector
  transpose/work_item_tile
  gemm/naive
  gemm/shared
  gemm/read_only
  gemm/ilp4
  gemm/ilp16
  gemm/volkov2008
  gemm/register_tile
  gemm/warp_specialized
  gemm/tensor
  gemm/private_tile
)
