// A value of A or B through the read-only path: memory that nobody writes while the kernel runs.
DEVICE T load_read_only(const GLOBAL T* from) { return __ldg(from); }
