// A tile of A or B on its way into shared memory, by all `threads` threads of a block, of which
// this is `t`: element (i, j) goes to tile[i * pitch + j]. Neighbours run along whichever index has
// unit stride. Zeros stand for what lies beyond the matrix, of which `rows` and `cols` are left
// from here on. A kernel that never gets there defines INSIDE.
#ifndef INSIDE
#define INSIDE(condition) (condition)
#endif

static __device__ void load_tile(T* tile, const int height, const int width, const int pitch,
                                 const T* from, long row, long col, long rows, long cols, int t,
                                 const int threads) {
  const bool down = row == 1;
#pragma unroll 4
  for (int s = 0; s < height * width / threads; ++s) {
    const int e = t + s * threads;
    const int i = down ? e % height : e / width, j = down ? e / height : e % width;
    tile[i * pitch + j] = INSIDE(i < rows && j < cols) ? from[i * row + j * col] : (T)0;
  }
}
