// Idea: the exact sum for a CPU behind OpenCL: one work-item a group, vectors of 8 lanes, a few groups
// per core, each with one long piece of the data; a second launch adds the pieces.
// Why it beats exact there: no barriers and no local memory, which a CPU only pretends to have.
// Requires: a CPU with f64; sums of floats.
#include "exact_vector_sum.h"
