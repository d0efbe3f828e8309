// What a GPU's memory does at best in one direction: every work-item reads or writes 16 bytes at a time, a
// grid's stride apart, four on their way at once. `count` is in such words; `term` is what is written.
// Compiled by OpenCL, and by nvcc through roofs.cu. The arguments are those of fma.kernel.h.
#ifndef KERNEL
#define KERNEL __kernel
#define GLOBAL __global
#define WORK_ITEM get_global_id(0)
#define WORK_ITEMS get_global_size(0)
#define WORD(v) ((uint4)(v, v, v, v))
#endif

KERNEL void read_words(int count, unsigned factor, unsigned term, GLOBAL unsigned* data) {
  const GLOBAL uint4* words = (const GLOBAL uint4*)data;
  const long step = (long)WORK_ITEMS;
  unsigned sum = factor;
  for (long i = (long)WORK_ITEM; i + 3 * step < count; i += 4 * step) {
    const uint4 a = words[i], b = words[i + step], c = words[i + 2 * step], d = words[i + 3 * step];
    sum ^= a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w;
    sum ^= c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  }
  if (sum == term) *data = sum;  // hardly ever, but the compiler can't know
}

KERNEL void write_words(int count, unsigned factor, unsigned term, GLOBAL unsigned* data) {
  GLOBAL uint4* words = (GLOBAL uint4*)data;
  const long step = (long)WORK_ITEMS;
  const uint4 value = WORD(term);
  for (long i = (long)WORK_ITEM; i + 3 * step < count; i += 4 * step) {
    words[i] = value;
    words[i + step] = value;
    words[i + 2 * step] = value;
    words[i + 3 * step] = value;
  }
}
