// A tile whose lines of the output begin anywhere. The elements of a column beyond its last whole
// line are kept for the next block; a line that begins in a tile is written by it:
//
//   a column's window    | kept line | new line |
//   goes out                  |-- a line --|
//                                          |-kept-|
#pragma once

DEVICE void move_sheared(const GLOBAL Word* from, long in_row, GLOBAL Word* to, long out_col,
                         long rows, int height, int width, bool is_first, bool is_last) {
  Line kept[ROW_BYTES / BYTES], window[SIDE][2];
  const int end = is_last ? height : height + LINE;
  for (int p = 0; p < end; p += LINE) {
    const int count = min(LINE, end - p);
    const bool first = p == 0, last = is_last && p + LINE >= end;
    for (int index = 0; index < width; index += SIDE) {
      const int q = min(index, width - SIDE);
      const GLOBAL Word* const source = from + p * in_row + q;
#pragma unroll
      for (int part = 0; part < LINE; part += SIDE) {
        Words r[SIDE];
        if (last)
          load_turned(source + part * in_row, in_row, count - part, r);
        else
          load_turned(source + part * in_row, in_row, SIDE, r);
#pragma unroll
        for (int c = 0; c < SIDE; ++c) ((Words*)&window[c][1])[part / SIDE] = r[c];
      }
#pragma unroll
      for (int c = 0; c < SIDE; ++c) {
        window[c][0] = kept[index + c];
        kept[index + c] = window[c][1];
      }
      for (int c = 0; c < SIDE; ++c) {
        GLOBAL Word* const column = to + (q + c) * out_col + p;
        const Word* const fresh = (const Word*)&window[c][1];
        const int over = (int)((ulong)column % 64 / BYTES);
        const Line line = *(const UnalignedLine*)(fresh - over);  // its type says how it is stored
        if (!first && !last)
          store_past_cache(line, (GLOBAL Line*)(column - over));
        else if (!first || is_first)
          for (int i = first ? 0 : -over; i < (last ? count : LINE - over); ++i)
            column[i] = fresh[i];
      }
    }
  }
}
