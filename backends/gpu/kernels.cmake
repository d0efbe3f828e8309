# The kernel files of the GPU ladders, one line each: reduce/sequential stands for
# cuda/reduce/sequential.cu and opencl/reduce/sequential.cl, whichever of the two exist.
set(TRINE_GPU_KERNELS
)
