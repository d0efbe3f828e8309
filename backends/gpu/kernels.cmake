# The kernel files of the GPU ladders, one line each: reduce/sequential stands for
# cuda/reduce/sequential.cu and opencl/reduce/sequential.cl, whichever of the two exist.
set(TRINE_GPU_KERNELS
  service/probe
  service/fill
  service/stamp
  reduce/interleaved_divergent
  reduce/sequential
  reduce/exact
  reduce/exact_vector
  transpose/naive
  transpose/shared_padded
  transpose/vector
  transpose/work_item_tile
  gemm/naive
  gemm/shared
  gemm/register_tile
  gemm/warp_specialized
  gemm/tensor
  gemm/private_tile
)
