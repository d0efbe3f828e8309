// Only NVIDIA's compilers take this text.
// A warp's f64 tensor core step: acc(16 x 8) += a(16 x 8) b(8 x 8), each element a chain of fused
// multiply-adds over ascending k. That order is measured, not promised: the rung that uses it has
// a self-check. With group = lane / 4 and t = lane % 4, a lane holds
//   a[0..3]: rows group, group + 8 at k = t, then the same rows at k = t + 4
//   b[0..1]: column group at k = t, t + 4
//   acc[0..3]: row group, columns 2t and 2t + 1, then row group + 8
// Not volatile: the compiler may move it between the reads of the next step.
DEVICE void multiply_add_16x8x8(double* acc, const double* a, const double* b) {
  __asm__(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(acc[0]), "+d"(acc[1]), "+d"(acc[2]), "+d"(acc[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}

// The same over 16 steps of k: a[4..7] and b[2..3] are those of k = t + 8 and t + 12.
DEVICE void multiply_add_16x8x16(double* acc, const double* a, const double* b) {
  __asm__(
      "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, "
      "%3};"
      : "+d"(acc[0]), "+d"(acc[1]), "+d"(acc[2]), "+d"(acc[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]),
        "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}
