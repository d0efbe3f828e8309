// Which part of a product each pair of groups computes; the pairs stay until all is done.
//
// First, each pair computes whole tiles, those behind the first `shared`, so that all pairs read
// the same panels at the same time. At last it computes its part of the shared tiles. The parts are
// equal, whatever tiles they cut, so all pairs end at the same time.
typedef struct Part {
  int from, to;  // blocks of shared tiles
  int whole;     // the next whole tile
} Part;
typedef struct Chunk {
  int tile, first, end;  // blocks of the tile
} Chunk;

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
// A pair computes its part from the end to the beginning. So it doesn't wait long for the sums that
// it needs of earlier pairs. These have begun before, because groups begin in order on every GPU so
// far. CUDA doesn't promise that, but CUB's scans rely on it, too.
DEVICE bool next_chunk(Part* part, int blocks, int tiles, Chunk* chunk) {
  if (part->whole < tiles) {
    chunk->tile = part->whole;
    chunk->first = 0;
    chunk->end = blocks;
    part->whole = part->whole < tiles - pairs() ? part->whole + pairs() : tiles;
    return true;
  }
  if (part->from >= part->to) return false;
  const int tile = (part->to - 1) / blocks, begin = tile * blocks;
  const int first = part->from > begin ? part->from : begin;
  chunk->tile = tile;
  chunk->first = first - begin;
  chunk->end = part->to - begin;
  part->to = first;
  return true;
}
