// Which part of a product each pair of groups computes; the pairs stay until all is done.
//
// First, each pair computes whole tiles, those behind the first `shared`; then all read the same
// panels at the same time. At last it computes its part of the shared tiles. The parts are equal,
// and cut tiles where they end, so all are done at once.
typedef struct Part {
  int from, to;  // blocks of shared tiles
  int whole;     // the next whole tile
} Part;
typedef struct Piece {
  int tile, first, end;  // blocks of the tile
} Piece;

DEVICE int pairs() { return groups_x() / 2; }
DEVICE int part_begin(int pair, int shared, int blocks) {
  return (int)((long)shared * blocks * pair / pairs());
}
DEVICE Part part_of(int pair, int shared, int blocks) {
  Part part;
  part.from = part_begin(pair, shared, blocks);
  part.to = part_begin(pair + 1, shared, blocks);
  part.whole = shared + pair;
  return part;
}
// A part goes from its end to its beginning. So a later pair, which has the last tile's end, gets
// its sums early; the first tile's sums come from earlier pairs, which have begun before, as groups
// begin in order, as on every GPU so far; CUDA doesn't promise it, but CUB's scans rely on it, too.
DEVICE bool next_piece(Part* part, int blocks, int tiles, Piece* piece) {
  if (part->whole < tiles) {
    piece->tile = part->whole;
    piece->first = 0;
    piece->end = blocks;
    part->whole = part->whole < tiles - pairs() ? part->whole + pairs() : tiles;
    return true;
  }
  if (part->from >= part->to) return false;
  const int tile = (part->to - 1) / blocks, begin = tile * blocks;
  const int first = part->from > begin ? part->from : begin;
  piece->tile = tile;
  piece->first = first - begin;
  piece->end = part->to - begin;
  part->to = first;
  return true;
}
