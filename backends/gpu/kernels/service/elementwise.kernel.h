// The contract's elementwise commands, over views of any strides whose columns are the narrow
// direction. T is float, double or int. A work-item takes 4 elements a round, 256 apart; where all
// lie next to each other, it loads them before it uses one.
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
// OpenCL rounds quotients and roots of f64 only. A quotient of f32 is as good when it is rounded
// twice, for f64 has more than twice its bits (Figueroa, "When is double rounding innocuous?",
// 1995).
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

DEVICE T axpby(T p, T x, T q, T y) {
  const T t = q != 0 ? multiply(q, y) : (T)0;
  return p != 0 ? multiply_add(p, x, t) : t;
}

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
  // All next to each other: no index but e.
  const bool dense = cols == count && u_col == 1 && v_col == 1 && out_col == 1;
  for (long first = (long)group_x() * 1024 + local_x(); first < count;
       first += (long)groups_x() * 1024) {
    if (dense && first + 768 < count) {
      T x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        x[i] = p != 0 ? u[first + i * 256] : (T)0;
        y[i] = q != 0 ? v[first + i * 256] : (T)0;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) out[first + i * 256] = axpby(p, x[i], q, y[i]);
      continue;
    }
    for (int i = 0; i < 4; ++i) {
      const long e = first + i * 256;
      if (e >= count) break;
      const long line = cols == count ? 0 : e / cols, col = e - line * cols;
      const long row = line < rows ? line : line % rows, batch = line < rows ? 0 : line / rows;
      const T x = p != 0 ? u[col * u_col + row * u_row + batch * u_batch] : (T)0;
      const T y = q != 0 ? v[col * v_col + row * v_row + batch * v_batch] : (T)0;
      out[col * out_col + row * out_row + batch * out_batch] = axpby(p, x, q, y);
    }
  }
}
