// What OpenCL on a CPU can have of its memory: each work-group has one work-item, which reads or copies one contiguous share of
// `count` words of 64 bytes from word `factor` on. The arguments are those of fma.cl.
__kernel void read_shares(int count, unsigned factor, unsigned term, __global unsigned* data) {
  const __global uint16* words = (const __global uint16*)data;
  const long share = count / get_num_groups(0) & ~3L, begin = factor + get_group_id(0) * share;
  uint16 a = 0, b = 0, c = 0, d = 0;
  for (long i = begin; i < begin + share; i += 4) {
    a += words[i];
    b += words[i + 1];
    c += words[i + 2];
    d += words[i + 3];
  }
  a += b + c + d;
  const uint8 e = a.lo + a.hi;
  const uint4 f = e.lo + e.hi;
  if (f.x + f.y + f.z + f.w == term) *data = term;  // hardly ever, but the compiler can't know
}

__kernel void copy_shares(int count, unsigned factor, unsigned term, __global unsigned* data) {
  __global uint16* words = (__global uint16*)data;
  const long share = count / get_num_groups(0), begin = factor + get_group_id(0) * share;
  for (long i = begin; i < begin + share; ++i) words[count + i] = words[i];
}

#ifndef __has_builtin
#define __has_builtin(name) 0
#endif

// By stores past the caches, where the compiler has them.
__kernel void copy_shares_past(int count, unsigned factor, unsigned term, __global unsigned* data) {
  __global uint16* words = (__global uint16*)data;
  const long share = count / get_num_groups(0), begin = factor + get_group_id(0) * share;
  for (long i = begin; i < begin + share; ++i) {
#if __has_builtin(__builtin_nontemporal_store)
    __builtin_nontemporal_store(words[i], words + count + i);
#else
    words[count + i] = words[i];
#endif
  }
}
