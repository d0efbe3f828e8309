// Results side by side, by plain additions: rows, whose lanes meet, and columns, whose sums lie in
// memory.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// Are the elements that lie next to each other of one result, or the results?
enum class Beside { elements, results };

bool lies_plainly(const Problem& p, Beside beside) {
  const auto lies = [&](const Elements& e) {
    return e.outer == 1 && (beside == Beside::elements ? e.inner_step : e.output_step) == 1;
  };
  return lies(p) && lies(p.factor()) && Inexact::is_told();
}

// More than a second cache holds?
template <class T>
bool is_large(const Problem& p) {
  constexpr std::int64_t kSecondCache = 2 << 20;
  return p.outputs * p.length() > kSecondCache / std::int64_t(sizeof(T));
}

template <class T, trine_map M>
bool store_sums(const Problem& p, std::int64_t first, std::int64_t count, Sums sums) {
  return with_float(p.result_dtype, [&]<class R>(R) {
    if (p.result_step == 1) return round_sums<T, M>(sums, count, &p.result<R>(first));
    R results[kWideStrip];
    const bool are_right = round_sums<T, M>(sums, count, results);
    store_results(p, first, count, results);
    return are_right;
  });
}

template <class T, trine_map M>
bool sum_results_plainly(const Problem& p, Beside beside, std::int64_t first, std::int64_t count,
                         Sums sums) {
  const Elements& second = p.factor();
  const T *x = p.begin<T>(first), *y = second.begin<T>(first);
  const std::int64_t length = p.length();
  const bool follow = p.output_step == length && second.output_step == length;
  Inexact::lower();
  if (beside == Beside::results) {
    add_rows_to_columns<T, M>({x, p.inner_step}, {y, second.inner_step}, length, count, true,
                              is_large<T>(p), sums);
  } else if (follow && length > 0 && length <= kVector) {
    sum_short_rows<T, M>(x, y, length, count, sums);
  } else {
    sum_rows<T, M>({x, p.output_step}, {y, second.output_step}, length, count, sums);
  }
  return !Inexact::is_raised() && store_sums<T, M>(p, first, count, sums);
}

// The results of a piece that has all of each, many at a time; `otherwise` takes those that were
// added in vain. False where they are long or lie otherwise.
template <class T, trine_map M, class Otherwise>
bool sum_block_plainly(const SumPiece& piece, SumPiece::Block block, Otherwise&& otherwise) {
  const Problem& p = *piece.problem;
  if (p.outputs == 1 || piece.partials || !rounds(p) || p.witness) return false;
  const bool are_rows = p.length() <= kChunk && lies_plainly(p, Beside::elements);
  if (!are_rows && (p.length() > 256 || !lies_plainly(p, Beside::results))) return false;
  // Much in vain would take long to add again.
  const std::int64_t most =
      are_rows ? std::clamp<std::int64_t>(65536 / p.length(), 1, kWideStrip) : kWideStrip;
  for (const std::int64_t end = block.last; block.first < end; block.first = block.last) {
    block.last = std::min(end, block.first + most);
    const auto sum = [&] {
      return sum_results_plainly<T, M>(p, are_rows ? Beside::elements : Beside::results,
                                       block.first, block.last - block.first,
                                       {piece.scratch->sums, kWideStrip});
    };
    if (!piece.scratch->caution.tries(sum)) otherwise(block);
  }
  return true;
}

HWY_NOINLINE bool add_parts(const SumPiece& piece, std::int64_t r, double* high, double* low) {
  *high = *low = -0.0;
  for (std::int64_t i = 0; i < piece.plan->parts; ++i) {
    const SumPart& part = piece.partial(r, i);
    if (!part.is_plain) return false;
    *high += part.high, *low += part.low;
  }
  return std::isfinite(*high);
}

// False, and nothing stored, where a part isn't plain or the sum of all is inexact.
bool join_plainly(const SumPiece& piece, std::int64_t r) {
  if (!rounds(*piece.problem)) return false;
  const Sums sum{piece.scratch->sums, kWideStrip};
  Inexact::lower();
  return add_parts(piece, r, sum.data, sum.data + sum.step) && !Inexact::is_raised() &&
         store_sums<double, TRINE_IDENTITY>(*piece.problem, r, 1, sum);
}

// A strip of columns. Narrow rows without gaps are taken as fewer, wider ones: the sum of column j
// is that of `folds` sums, j + f * width.
template <class T, trine_map M>
class PlainStrip {
 public:
  PlainStrip(const SumPiece& piece, std::int64_t first, std::int64_t width, std::int64_t rows)
      : piece_(piece),
        p_(*piece.problem),
        first_(first),
        width_(width),
        sums_{piece.scratch->sums, kStrip},
        saved_{piece.scratch->sums + 2 * kStrip, kStrip} {
    if (p_.inner_step == width && p_.factor().inner_step == width)
      folds_ = std::clamp<std::int64_t>(rows, 1, kStrip / width);
  }

  void sum(std::int64_t part, std::int64_t begin, std::int64_t end) {
    std::optional<Strip<T, M>> bins;
    const std::int64_t rows = std::max<std::int64_t>(1, kRowsElements / (folds_ * width_)) * folds_;
    clear();
    for (std::int64_t row = begin; row < end; row += rows) {
      const std::int64_t last = std::min(end, row + rows);
      if (piece_.scratch->caution.tries([&] { return add(row, last, row == begin); })) continue;
      if (!bins) bins.emplace(piece_, first_, width_, end - begin >= 64);
      bins->add(row, last);
    }
    if (!bins && store(part)) return;
    if (!bins) bins.emplace(piece_, first_, width_, false);
    bins->finish(part, this);
  }

  // Adds the sums that stand here to `total`, which has the rest of a result.
  void give(std::int64_t r, SuperAccumulator& total) const {
    for (std::int64_t j = r - first_; j < folds_ * width_; j += width_)
      for (int h = 0; h < kHalves<T, M>; ++h) total.add(sums_.data[h * sums_.step + j]);
  }

 private:
  static constexpr std::int64_t kRowsElements = 1 << 16;

  void clear() { std::fill(sums_.data, sums_.data + kHalves<T, M> * kStrip, -0.0); }
  static void copy(Sums from, Sums to) {
    std::copy(from.data, from.data + kHalves<T, M> * kStrip, to.data);
  }

  bool add(std::int64_t row, std::int64_t last, bool is_first) {
    if (!is_first) copy(sums_, saved_);
    Inexact::lower();
    const std::int64_t wide = (last - row) / folds_;
    add_rows(row, wide, folds_);
    if (const std::int64_t rest = (last - row) % folds_; rest > 0) add_rows(last - rest, 1, rest);
    if (!Inexact::is_raised() && is_finite()) return true;
    is_first ? clear() : copy(saved_, sums_);
    return false;
  }
  void add_rows(std::int64_t row, std::int64_t rows, std::int64_t folds) {
    const auto lie = [&](const Elements& e) {
      return Strided<T>{e.begin<T>(first_) + row * e.inner_step, e.inner_step * folds};
    };
    add_rows_to_columns<T, M>(lie(p_), lie(p_.factor()), rows, folds * width_, false,
                              is_large<T>(p_), sums_);
  }
  bool is_finite() const {
    double sum = 0;
    if (kHalves<T, M> == 2)
      for (int j = 0; j < kStrip; ++j) sum += sums_.data[kStrip + j] * 0;
    return sum == 0;
  }
  bool fold() {
    copy(sums_, saved_);
    Inexact::lower();
    add_folds(saved_.data);
    return !Inexact::is_raised();
  }
  HWY_NOINLINE void add_folds(double* sums) const {
    for (int h = 0; h < kHalves<T, M>; ++h, sums += kStrip)
      for (std::int64_t j = width_; j < folds_ * width_; ++j) sums[j % width_] += sums[j];
  }
  bool store(std::int64_t part) {
    if (!rounds(p_) || (folds_ > 1 && !fold())) return false;
    const Sums sums = folds_ > 1 ? saved_ : sums_;
    if (!piece_.partials) return store_sums<T, M>(p_, first_, width_, sums);
    for (std::int64_t j = 0; j < width_; ++j)
      piece_.partial(first_ + j, part) = {true, sums.data[j],
                                          kHalves<T, M> == 2 ? sums.data[sums.step + j] : 0.0};
    return true;
  }

  const SumPiece& piece_;
  const Problem& p_;
  std::int64_t first_, width_, folds_ = 1;
  Sums sums_, saved_;
};

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
