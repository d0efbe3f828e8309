// Is k along the lines that lie in memory? LAYOUT has a letter for A and one for B: n, as its rows
// lie, or t, its columns.
#pragma once
#if LAYOUT_nn
enum { A_BY_LANES = 1, B_BY_LANES = 0 };
#elif LAYOUT_nt
enum { A_BY_LANES = 1, B_BY_LANES = 1 };
#elif LAYOUT_tn
enum { A_BY_LANES = 0, B_BY_LANES = 0 };
#else
enum { A_BY_LANES = 0, B_BY_LANES = 1 };
#endif
