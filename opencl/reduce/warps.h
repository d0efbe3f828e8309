// A group's sum by its warps: each adds what its registers hold, then the first adds what the warps have.
#pragma once
#include "warp_sum.h"

DEVICE ACC group_sum(LOCAL_POINTER ACC* values, ACC mine) {
  ACC sum = warp_sum(mine);
  if (lane() == 0) values[warp()] = sum;
  sync();
  if (warp() > 0) return sum;
  sum = (ACC)0;
  for (int w = lane(); w < warps(); w += lanes()) sum += values[w];
  return warp_sum(sum);
}
