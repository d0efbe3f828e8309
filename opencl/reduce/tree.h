// The tree that a group folds from `sequential` on: the upper half of the values onto the lower half, until
// 2 * `last` of them are left (all of the sum for 0). Every step waits for the whole group.
#pragma once

DEVICE void fold_halves(LOCAL_POINTER ACC* values, ACC mine, int last) {
  const int me = local_x();
  values[me] = mine;
  for (int s = size_x() / 2; s > last; s /= 2) {
    sync();
    if (me < s) values[me] += values[me + s];
  }
}
