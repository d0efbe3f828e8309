// A value of A or B through the read-only path: memory that nobody writes while the kernel runs.
#if HAVE_PTX
#define LOAD_float "ld.global.nc.f32 %0, [%1];" : "=f"(value)
#define LOAD_double "ld.global.nc.f64 %0, [%1];" : "=d"(value)
#define LOAD_int "ld.global.nc.s32 %0, [%1];" : "=r"(value)
DEVICE T load_read_only(const GLOBAL T* from) {
  T value;
  __asm__(PASTE(LOAD_, T) : "l"(from));
  return value;
}
#else
DEVICE T load_read_only(const GLOBAL T* from) { return *from; }
#endif
