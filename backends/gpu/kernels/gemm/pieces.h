// Who computes what of a product by pairs of groups that stay until all is done.
//
// Of the first `shared` tiles all pairs compute even parts, cut where they end, so that all are done at once; of the others
// each takes whole ones, before, while all read the same panels at the same time.
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
// Of the shared ones first what a later pair awaits, the beginning of a tile whose end that one has; last what may wait for
// earlier pairs, which have begun before, as groups begin in order (docs/decisions/tiles-in-two-parts.md).
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
