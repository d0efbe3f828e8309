// Idea: 16 bytes a load: the elements from the first aligned address on are read as vectors.
// It can beat `shuffle` (docs/ladders.md: integers; floats are at the roof before) because the same
// bytes take a quarter of the load instructions, and more of them are in flight. Requires: sum of
// one evenly spaced sequence; warps or sub-groups whose registers can be shuffled. Elements before
// the first aligned address, behind the last whole vector, or not adjacent at all go one by one.
//
//   | 0 .. head | vector 0 | vector 1 | … | tail |
#include "sum.h"
#include "warps.h"

#define WIDTH 4
typedef PASTE(T, 4) Vector;
static ACC vector_sum(Vector v) { return ((ACC)v.x + (ACC)v.y) + ((ACC)v.z + (ACC)v.w); }

static ACC share_of(const Sequence* s) {
  const int size = get_local_size(0), group = get_group_id(0), groups = get_num_groups(0);
  const long me = (long)group * size + (int)get_local_id(0), step = (long)groups * size;
  long head = 0, vectors = 0;
  if (s->level == 0 && s->stride == 1) {
    head = (long)(-(ulong)s->input % 16 / sizeof(T));
    vectors = s->count > head ? (s->count - head) / WIDTH : 0;
  }
  ACC mine = (ACC)0;
  __global const Vector* from = (__global const Vector*)(s->input + head);
  for (long v = me; v < vectors; v += step) mine += vector_sum(from[v]);
  const long in_vectors = vectors * WIDTH;
  for (long i = me; i < s->count - in_vectors; i += step)
    mine += element(s, i < head ? i : i + in_vectors);
  return mine;
}
