// The kernel of a historic sum rung, called `sum` in all of them: the file tells them apart. How the
// groups' sums become one is the parameter `finish`:
// `recursive` launches the same kernel on them until one is left, `atomic` adds them to the result as
// they come, `last_block` lets the group that finishes last add them up.
#pragma once

#define RECURSIVE 0
#define ATOMIC 1
#define LAST_BLOCK 2
#define CONTROL_BYTES 4096
#define LARGEST_GROUP 1024

KERNEL(clear)(GLOBAL uchar* output, long output_offset) {
  *(GLOBAL ACC*)(output + output_offset) = (ACC)0;
}

// Level n reads its sums at `from` and leaves its groups' at `to`, in elements of the workspace.
KERNEL(sum)
(GLOBAL const T* RESTRICT input, long input_offset, long stride, long count,
 GLOBAL uchar* workspace, long workspace_offset, long from, long to, GLOBAL uchar* output,
 long output_offset, int level, int finish) {
  LOCAL ACC values[LARGEST_GROUP];
  LOCAL uint is_last[1];
  const int me = local_x();
  GLOBAL ACC* sums = (GLOBAL ACC*)(workspace + workspace_offset + CONTROL_BYTES);
  GLOBAL ACC* result = (GLOBAL ACC*)(output + output_offset);

  Sequence s;
  s.input = input + input_offset;
  s.stride = stride;
  s.count = count;
  s.sums = sums + from;
  s.level = level;
  ACC total = group_sum(values, share_of(&s));

  if (groups_x() == 1) {
    if (me == 0) *result = total;
  } else if (finish == ATOMIC) {
    if (me == 0) accumulate(result, total);
  } else {
    if (me == 0) sums[to + group_x()] = total;
#if HAVE_PTX  // elsewhere no group sees what another of its launch wrote, and the rows refuse
    if (finish == LAST_BLOCK) {
      sync();
      if (me == 0) {
        GLOBAL uint* counter = (GLOBAL uint*)(workspace + workspace_offset);
        is_last[0] = take_ticket(counter) == (uint)groups_x() - 1u;
        if (is_last[0]) *counter = 0u;
      }
      sync();
      if (is_last[0]) {
        ACC mine = (ACC)0;
        for (int g = me; g < groups_x(); g += size_x()) mine += sums[to + g];
        total = group_sum(values, mine);
        if (me == 0) *result = total;
      }
    }
#endif
  }
}
