// One element all over a view of any strides. A work-item takes a word of 4 bytes, or a smaller
// element.
KERNEL_OF(fill, 256, 1)
(GLOBAL uchar* memory, long offset, long units, int bytes, int unit_shift, long cols, long rows,
 long col_step, long row_step, long batch_step, uint w0, uint w1, uint w2, uint w3) {
  for (long u = (long)group_x() * 256 + local_x(); u < units; u += (long)groups_x() * 256) {
    const long element = u >> unit_shift, line = element / cols;
    const int word = (int)(u - (element << unit_shift));
    GLOBAL uchar* out = memory + offset + (element - line * cols) * col_step +
                        line % rows * row_step + line / rows * batch_step + 4 * word;
    const uint value = word < 2 ? (word == 0 ? w0 : w1) : (word == 2 ? w2 : w3);
    if (bytes == 1) {
      *out = (uchar)value;
    } else if (bytes == 2) {
      *(GLOBAL ushort*)out = (ushort)value;
    } else {
      *(GLOBAL uint*)out = value;
    }
  }
}
