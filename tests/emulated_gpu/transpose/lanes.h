// The value that another work-item of the warp holds.
#pragma once
DEVICE uint shuffle_from(uint v, int lane) { return emulated::of_lane(v, lane); }
