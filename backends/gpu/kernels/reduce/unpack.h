// A vector's elements. T, Vector and VECTOR, how many of them are in its 16 bytes, are the
// including file's.
#pragma once

DEVICE void unpack(Vector v, T* x) {
  x[0] = v.x;
  x[1] = v.y;
#if VECTOR == 4
  x[2] = v.z;
  x[3] = v.w;
#endif
}
