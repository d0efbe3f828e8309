// The contract's elementwise commands, over views of any strides whose columns are the narrow direction.
// T is float, double or int. A work-item takes 4 elements a round, 256 apart, so that their loads overlap.
#define AXPBY 1
#define ADD 2
#define SUBTRACT 3
#define MULTIPLY 4
#define DIVIDE 5

#ifdef T_int
#define WIDE int
DEVICE int multiply(int x, int y) { return (int)((uint)x * (uint)y); }
DEVICE int multiply_add(int x, int y, int z) { return (int)((uint)x * (uint)y + (uint)z); }
DEVICE int number_of(int function, int x, int y) {
  return x;
}  // not reached: AXPBY alone takes integers
#else
// OpenCL rounds quotients and roots of f64 only. A quotient of f32 is as good when it is rounded twice,
// for f64 has more than twice its bits (Figueroa, "When is double rounding innocuous?", 1995).
#if HAVE_F64
#define WIDE double
#else
#define WIDE float
#endif
DEVICE T multiply(T x, T y) { return x * y; }
DEVICE T multiply_add(T x, T y, T z) { return fma(x, y, z); }
DEVICE T number_of(int function, T x, T y) {
  if (function == ADD) return x + y;
  if (function == SUBTRACT) return x - y;
  if (function == MULTIPLY) return x * y;
  return (T)(function == DIVIDE ? (WIDE)x / (WIDE)y : sqrt((WIDE)x));
}
#endif

// A number of the host, or the element that lies at byte `offset`.
DEVICE T read_number(const GLOBAL uchar* memory, long offset, int in_memory, T value) {
  return in_memory ? *(const GLOBAL T*)(memory + offset) : value;
}

KERNEL_OF(elementwise, 256, 1)
(int function, const GLOBAL uchar* p_memory, long p_offset, int p_in_memory, T p_value,
 const GLOBAL uchar* q_memory, long q_offset, int q_in_memory, T q_value,
 const GLOBAL uchar* u_memory, long u_offset, long u_col, long u_row, long u_batch,
 const GLOBAL uchar* v_memory, long v_offset, long v_col, long v_row, long v_batch,
 GLOBAL uchar* out_memory, long out_offset, long out_col, long out_row, long out_batch, long cols,
 long rows, long count) {
  const T p = read_number(p_memory, p_offset, p_in_memory, p_value);
  const T q = read_number(q_memory, q_offset, q_in_memory, q_value);
  const GLOBAL T* u = (const GLOBAL T*)(u_memory + u_offset);
  const GLOBAL T* v = (const GLOBAL T*)(v_memory + v_offset);
  GLOBAL T* out = (GLOBAL T*)(out_memory + out_offset);
  if (function != AXPBY) {
    if (group_x() == 0 && local_x() == 0) *out = number_of(function, p, q);
    return;
  }
  for (long first = (long)group_x() * 1024 + local_x(); first < count;
       first += (long)groups_x() * 1024) {
    T x[4], y[4];
    long at[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const long e = first + i * 256;
      x[i] = y[i] = 0;
      at[i] = -1;
      if (e >= count) continue;
      const long line = cols == count ? 0 : e / cols, col = e - line * cols;
      const long row = line < rows ? line : line % rows, batch = line < rows ? 0 : line / rows;
      at[i] = col * out_col + row * out_row + batch * out_batch;
      if (p != 0) x[i] = u[col * u_col + row * u_row + batch * u_batch];
      if (q != 0) y[i] = v[col * v_col + row * v_row + batch * v_batch];
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const T t = q != 0 ? multiply(q, y[i]) : (T)0;
      if (at[i] >= 0) out[at[i]] = p != 0 ? multiply_add(p, x[i], t) : t;
    }
  }
}
