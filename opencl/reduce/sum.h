// The kernel of the historic sums, and what it reads. A rung defines share_of(), what one work-item
// adds up by itself, and group_sum(), how a group adds what each of its work-items has, by way of
// `values`, in local memory, one a work-item: the sum counts in work-item 0 alone. `finish` says
// how the groups' sums become one: `recursive` launches the same kernel on them until one is left,
// `atomic` adds them as they come to the result, which a launch of one group over no elements has
// made zero, `last_block` lets the group that finishes last add them up.
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

// `count` elements of the input; or, once a level of groups has run, their sums.
typedef struct Sequence {
  __global const T* input;
  long stride, count;
  __global const ACC* sums;
  int level;
} Sequence;

static ACC share_of(const Sequence* s);
static ACC group_sum(__local ACC* values, ACC mine);

static ACC element(const Sequence* s, long i) {
  if (i >= s->count) return (ACC)0;
  return s->level == 0 ? (ACC)s->input[i * s->stride] : s->sums[i];
}

// Adds a group's sum to the result. OpenCL C 1.2 adds no floats atomically, so a float is swapped
// in until nobody came between.
static void accumulate(__global ACC* result, ACC value) {
#if T_float
  __global volatile int* bits = (__global volatile int*)result;
  for (int seen = *bits, old;
       (old = atomic_cmpxchg(bits, seen, as_int(as_float(seen) + value))) != seen;)
    seen = old;
#elif !HAVE_ATOMIC_64
  *result += value;  // not reached: the row refuses
#else
  atom_add((__global ulong*)result, (ulong)value);
#endif
}

// Level n reads its sums at `from` and leaves its groups' at `to`, in elements of the workspace.
__kernel void sum(__global const T* restrict input, long input_offset, long stride, long count,
                  __global uchar* workspace, long workspace_offset, long from, long to,
                  __global uchar* output, long output_offset, int level, int finish) {
  __local ACC values[LARGEST_GROUP];
  __local uint is_last[1];
  const int me = get_local_id(0);
  __global ACC* sums = (__global ACC*)(workspace + workspace_offset + CONTROL_BYTES);
  __global ACC* result = (__global ACC*)(output + output_offset);

  const Sequence s = {input + input_offset, stride, count, sums + from, level};
  ACC total = group_sum(values, share_of(&s));
  const int group = get_group_id(0), groups = get_num_groups(0);
  if (groups == 1) {
    if (me == 0) *result = total;
  } else if (finish == ATOMIC) {
    if (me == 0) accumulate(result, total);
  } else {
    if (me == 0) sums[to + group] = total;
#if HAVE_PTX  // elsewhere no group sees what another of its launch wrote, and the rows refuse
    if (finish == LAST_BLOCK) {
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (me == 0) {
        __global uint* counter = (__global uint*)(workspace + workspace_offset);
        is_last[0] = take_ticket(counter) == (uint)groups - 1u;
        if (is_last[0]) *counter = 0u;
      }
      barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
      if (is_last[0]) {
        ACC mine = (ACC)0;
        for (int g = me; g < groups; g += (int)get_local_size(0)) mine += sums[to + g];
        total = group_sum(values, mine);
        if (me == 0) *result = total;
      }
    }
#endif
  }
}
