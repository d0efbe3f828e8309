// The road of a fold: a class with a State, start(), along(data, count, first, state),
// across(rows, step, count, width, first, states), partial(state) and store(problem, r, state).

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

template <class T, class Fold>
void run_piece(const FoldPiece& piece, std::int64_t index) {
  using State = typename Fold::State;
  const Problem& p = *piece.problem;
  T* buffer = reinterpret_cast<T*>(piece.scratch->buffer);
  const auto finish = [&](std::int64_t r, std::int64_t part, State state) {
    if (piece.partials) {
      piece.partials[r * piece.plan->parts + part] = Fold::partial(state);
    } else {
      Fold::store(p, r, state);
    }
  };
  const auto end_of = [&](std::int64_t part) {
    return std::min(p.length(), (part + 1) * piece.plan->part_length);
  };
  each_part(
      piece, index,
      [&](std::int64_t r, std::int64_t part) {
        State state = Fold::start();
        each_chunk<T>(p, r, part * piece.plan->part_length, end_of(part), buffer, false,
                      [&](const T* data, std::int64_t count, std::int64_t first) {
                        Fold::along(data, count, first, state);
                      });
        finish(r, part, state);
      },
      [&](std::int64_t r, std::int64_t width, std::int64_t part) {
        State state[kStrip];
        std::fill(state, state + width, Fold::start());
        each_tile<T>(p, r, width, part * piece.plan->part_length, end_of(part), buffer,
                     [&](const T* rows, std::int64_t step, std::int64_t count, std::int64_t first) {
                       Fold::across(rows, step, count, width, first, state);
                     });
        for (std::int64_t j = 0; j < width; ++j) finish(r + j, part, state[j]);
      });
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
