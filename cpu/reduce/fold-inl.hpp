// The form of a fold: a class made of the thread's scratch and a width of results side by side,
// with along(data, count, first) for one result, across(rows, step, count, first), finish() when
// all is in, and for each result partial(j) or store(problem, r, j); join(partial) takes the parts
// of one result, in their order. kAligned: see each_chunk().

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T, class Fold>
void run_piece(const FoldPiece& piece, std::int64_t index) {
  const Problem& p = *piece.problem;
  T* buffer = reinterpret_cast<T*>(piece.scratch->buffer);
  const auto finish = [&](Fold& fold, std::int64_t r, std::int64_t width, std::int64_t part) {
    fold.finish();
    for (std::int64_t j = 0; j < width; ++j) {
      if (piece.partials) {
        piece.partial(r + j, part) = fold.partial(j);
      } else {
        fold.store(p, r + j, j);
      }
    }
  };
  piece.each_part(
      piece.block(index),
      [&](std::int64_t r, std::int64_t part, std::int64_t begin, std::int64_t end) {
        Fold fold(*piece.scratch, 1);
        each_chunk<T>(p, r, begin, end, buffer, Fold::kAligned,
                      [&](auto... chunk) { fold.along(chunk...); });
        finish(fold, r, 1, part);
      },
      [&](std::int64_t r, std::int64_t width, std::int64_t part, std::int64_t begin,
          std::int64_t end) {
        Fold fold(*piece.scratch, width);
        each_tile<T>(p, r, width, begin, end, buffer, [&](auto... rows) { fold.across(rows...); });
        finish(fold, r, width, part);
      });
}

template <class Fold>
void join_parts(const FoldPiece& piece, std::int64_t r) {
  Fold fold(*piece.scratch, 1);
  for (std::int64_t part = 0; part < piece.plan->parts; ++part) fold.join(piece.partial(r, part));
  fold.finish();
  fold.store(*piece.problem, r, 0);
}

template <class T, class Fold>
constexpr FoldWork kWork{run_piece<T, Fold>, join_parts<Fold>};

// A fold with a state for each result.
template <class State>
struct States {
  static constexpr bool kAligned = false;
  State state[kStrip];
  std::int64_t width;

  States(std::int64_t count, State start) : width(count) { std::fill(state, state + count, start); }
  void finish() {}
};

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
