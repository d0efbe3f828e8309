// The values that another work-item of the warp holds.
#pragma once
DEVICE uint shuffle_from(uint v, int lane) { return __shfl_sync(~0u, v, lane); }
