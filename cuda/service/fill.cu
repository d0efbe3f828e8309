// Repeats four words over memory: the fills of 8 and 16 bytes, which CUDA's driver lacks. No sister: OpenCL
// has them.
KERNEL_OF(fill, 256, 1)
(GLOBAL uchar* memory, long offset, long count, uint w0, uint w1, uint w2, uint w3) {
  GLOBAL uint* out = (GLOBAL uint*)(memory + offset);
  for (long i = (long)group_x() * 256 + local_x(); i < count; i += (long)groups_x() * 256) {
    const int w = i & 3;
    out[i] = w < 2 ? (w == 0 ? w0 : w1) : (w == 2 ? w2 : w3);
  }
}
