// What is this device's arithmetic? Four answers for each triple (a, b, c): fma(a, b, c), a * b + c
// in two roundings, a * b and a + c, in f32 and, where there is f64, in f64. The host knows the
// bits.
//
// in: 64 triples of f32, then 64 of f64. out: 64 times four f32, then 64 times four f64.
#define TRIPLES 64

KERNEL_OF(probe, 1, 1)(GLOBAL const float* in, GLOBAL float* out) {
  for (int i = 0; i < TRIPLES; ++i) {
    const float a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
    out[4 * i] = fma(a, b, c);
    out[4 * i + 1] = a * b + c;
    out[4 * i + 2] = a * b;
    out[4 * i + 3] = a + c;
  }
#if HAVE_F64
  GLOBAL const double* in64 = (GLOBAL const double*)(in + 3 * TRIPLES);
  GLOBAL double* out64 = (GLOBAL double*)(out + 4 * TRIPLES);
  for (int i = 0; i < TRIPLES; ++i) {
    const double a = in64[3 * i], b = in64[3 * i + 1], c = in64[3 * i + 2];
    out64[4 * i] = fma(a, b, c);
    out64[4 * i + 1] = a * b + c;
    out64[4 * i + 2] = a * b;
    out64[4 * i + 3] = a + c;
  }
#endif
}
