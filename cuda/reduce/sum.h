// The kernel of the historic sums, and what it reads. A rung defines share_of(), what one thread
// adds up by itself, and group_sum(), how a block adds what each of its threads has, by way of
// `values`, in shared memory, one a thread: the sum counts in thread 0 alone. `finish` says how the
// blocks' sums become one: `recursive` launches the same kernel on them until one is left, `atomic`
// adds them as they come to the result, which a launch of one block over no elements has made zero,
// `last_block` lets the block that finishes last add them up.
#if T_float
#define ACC float
#else
#define ACC long
#endif
#define RECURSIVE 0
#define ATOMIC 1
#define LAST_BLOCK 2
#define CONTROL_BYTES 4096
#define LARGEST_GROUP 1024

// `count` elements of the input; or, once a level of blocks has run, their sums.
typedef struct Sequence {
  const T* input;
  long stride, count;
  const ACC* sums;
  int level;
} Sequence;

static __device__ ACC share_of(const Sequence* s);
static __device__ ACC group_sum(ACC* values, ACC mine);

static __device__ ACC element(const Sequence* s, long i) {
  if (i >= s->count) return (ACC)0;
  return s->level == 0 ? (ACC)s->input[i * s->stride] : s->sums[i];
}

// Adds a block's sum to the result. Hardware that adds floats takes f32's denormals for zero, so
// small values are swapped in until it holds; beside others what is lost lies below their rounding.
static __device__ void accumulate(ACC* result, ACC value) {
#if T_float
  if (fabs(value) >= 0x1p-100f) {
    atomicAdd(result, value);
    return;
  }
  volatile int* bits = (volatile int*)result;
  for (int seen = *bits, old;
       (old = atomicCAS((int*)bits, seen, __float_as_int(__int_as_float(seen) + value))) != seen;)
    seen = old;
#else
  atomicAdd((unsigned long long*)result, (unsigned long long)value);
#endif
}

// Level n reads its sums at `from` and leaves its blocks' at `to`, in elements of the workspace.
extern "C" __global__ void sum(const T* __restrict__ input, long input_offset, long stride,
                               long count, uchar* workspace, long workspace_offset, long from,
                               long to, uchar* output, long output_offset, int level, int finish) {
  __shared__ ACC values[LARGEST_GROUP];
  __shared__ uint is_last[1];
  const int me = threadIdx.x;
  ACC* sums = (ACC*)(workspace + workspace_offset + CONTROL_BYTES);
  ACC* result = (ACC*)(output + output_offset);

  const Sequence s = {input + input_offset, stride, count, sums + from, level};
  ACC total = group_sum(values, share_of(&s));
  const int group = blockIdx.x, groups = gridDim.x;
  if (groups == 1) {
    if (me == 0) *result = total;
  } else if (finish == ATOMIC) {
    if (me == 0) accumulate(result, total);
  } else {
    if (me == 0) sums[to + group] = total;
    if (finish == LAST_BLOCK) {
      __syncthreads();
      if (me == 0) {
        uint* counter = (uint*)(workspace + workspace_offset);
        is_last[0] = take_ticket(counter) == (uint)groups - 1u;
        if (is_last[0]) *counter = 0u;
      }
      __syncthreads();
      if (is_last[0]) {
        ACC mine = (ACC)0;
        for (int g = me; g < groups; g += (int)blockDim.x) mine += sums[to + g];
        total = group_sum(values, mine);
        if (me == 0) *result = total;
      }
    }
  }
}
