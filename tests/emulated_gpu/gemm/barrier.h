// Barriers in local memory that count arrivals.
typedef struct Barrier {
  int expected, left, phase;
} Barrier;
DEVICE void start_barrier(Barrier* b, int arrivals) {
  b->expected = b->left = arrivals;
  b->phase = 0;
}
DEVICE void arrive(Barrier* b) {
  emulated::happened();
  if (--b->left > 0) return;
  b->left = b->expected;
  ++b->phase;
}
DEVICE void arrive_when_copied(Barrier* b) { arrive(b); }
DEVICE void wait_for(Barrier* b, uint parity) {
  while (b->phase % 2 == (int)parity) emulated::yield();
}
#define opaque_place(p) (p)
