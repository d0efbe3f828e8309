// Tensor cores: the warp's lanes show each other their parts of a and b, and each computes its four
// chains.
#pragma once
struct Shown {
  double a[8], b[4];
};
DEVICE void multiply_add_by(double* acc, const double* a, const double* b, const int steps) {
  static Shown shown[1024];
  const int lane = emulated::local % 32;
  Shown* const warp = shown + emulated::local / 32 * 32;
  for (int e = 0; e < steps / 2; ++e) warp[lane].a[e] = a[e];
  for (int e = 0; e < steps / 4; ++e) warp[lane].b[e] = b[e];
  emulated::sync_warp();
  for (int e = 0; e < 4; ++e) {
    const int row = lane / 4 + e / 2 * 8, col = lane % 4 * 2 + e % 2;
    for (int l = 0; l < steps; ++l)
      acc[e] = fma(warp[row % 8 * 4 + l % 4].a[l / 4 * 2 + row / 8], warp[col * 4 + l % 4].b[l / 4],
                   acc[e]);
  }
  emulated::sync_warp();
}
DEVICE void multiply_add_16x8x8(double* acc, const double* a, const double* b) {
  multiply_add_by(acc, a, b, 8);
}
DEVICE void multiply_add_16x8x16(double* acc, const double* a, const double* b) {
  multiply_add_by(acc, a, b, 16);
}
