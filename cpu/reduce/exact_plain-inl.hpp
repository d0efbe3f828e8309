// Exact sums by plain additions of doubles: a block is added first, and the processor's
// flag tells afterwards whether any addition was rounded (inexact.hpp). Nothing else is spent on an
// element. A double has 29 bits more than an f32. A double itself, and a product of two f32, is cut
// in two by a mask, and the halves are summed apart:
//
//   x = 1.0110100111…01 * 2^e     high: 27 bits, 26 to spare     low: what is left, 27 to spare
//
// A flag that is up costs a second pass, through bins (exact_bins-inl.hpp). Sums begin with -0,
// which changes nothing, not even the sign of a zero. Infinities and NaNs come out as IEEE adds
// them, but from a half: there they are a NaN.

HWY_BEFORE_NAMESPACE();
namespace trine::cpu::HWY_NAMESPACE {
namespace {

// The product of two doubles doesn't fit one: its rounding would raise the flag.
template <class T, trine_map M>
constexpr bool kIsPlain = !(is_product<M> && std::is_same_v<T, double>);

template <class T, trine_map M>
constexpr int kHalves = is_product<M> || std::is_same_v<T, double> ? 2 : 1;

template <class T, trine_map M>
struct PlainSum {
  static constexpr int kCount = kHalves<T, M>;
  V half[kCount];

  HWY_INLINE PlainSum() {
    for (V& sum : half) sum = hn::Set(D(), -0.0);
  }
  HWY_INLINE void add(V x) {
    if constexpr (kCount == 1) {
      half[0] = hn::Add(half[0], x);
    } else {
      const D d;
      const hn::RebindToUnsigned<D> du;
      const V high = hn::And(x, hn::BitCast(d, hn::Set(du, ~std::uint64_t(0) << 26)));
      half[0] = hn::Add(half[0], high);
      half[1] = hn::Add(half[1], hn::Sub(x, high));
    }
  }
  HWY_INLINE void add(const PlainSum& other) {
    for (int h = 0; h < kCount; ++h) half[h] = hn::Add(half[h], other.half[h]);
  }
};

// load() makes doubles of what lies there; y: of products alone.
template <class T, trine_map M, class Load>
HWY_INLINE V term_of(const T* x, const T* y, const Load& load) {
  const V a = load(x);
  if constexpr (M == TRINE_SQUARE) return hn::Mul(a, a);
  if constexpr (M == TRINE_PRODUCT) return hn::Mul(a, load(y));
  return mapped_lanes<M>(a);
}

// The terms of a vector of neighbours.
template <class T, trine_map M>
HWY_INLINE V term(const T* x, const T* y) {
  return term_of<T, M>(x, y, [](const T* from) HWY_ATTR {
    return as_doubles<T>(hn::LoadU(hn::Rebind<T, D>(), from));
  });
}

// The terms of the first `count` of them, and -0.
template <class T, trine_map M>
HWY_INLINE V term(const T* x, const T* y, std::int64_t count) {
  const D d;
  const hn::Rebind<T, D> dt;
  const auto some = hn::FirstN(dt, static_cast<size_t>(count));
  const V value = term_of<T, M>(
      x, y, [&](const T* from) HWY_ATTR { return as_doubles<T>(load_lanes(dt, some, from)); });
  return hn::IfThenElse(hn::FirstN(d, static_cast<size_t>(count)), value, hn::Set(d, -0.0));
}

// The sums of `count` neighbours, spread over lanes.
template <class T, trine_map M>
HWY_INLINE PlainSum<T, M> add_neighbours(const T* x, const T* y, std::int64_t count) {
  constexpr int kChains = 4;
  PlainSum<T, M> sum[kChains];
  std::int64_t i = 0;
  for (; i + kChains * kVector <= count; i += kChains * kVector) {
    prefetch(x + i, kChains * kVector);
    for (int c = 0; c < kChains; ++c)
      sum[c].add(term<T, M>(x + i + c * kVector, y + i + c * kVector));
  }
  prefetch(x + i, count - i);
  for (; i + kVector <= count; i += kVector) sum[0].add(term<T, M>(x + i, y + i));
  if (i < count) sum[1].add(term<T, M>(x + i, y + i, count - i));
  sum[0].add(sum[1]);
  sum[2].add(sum[3]);
  sum[0].add(sum[2]);
  return sum[0];
}

// --- Lanes that meet ---------------------------------------------------------------------------

// Neighbours of `low` and `high` added: kVector of them.
HWY_INLINE V add_pairs(V low, V high) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Add(low, high);
#else
  const D d;
  return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
#endif
}

// Element kAt of each group in kCount vectors of groups of kCount lanes. As kCount is odd, it
// stands in another lane for each group.
template <int kCount, int kAt>
HWY_INLINE V element_of_groups(const V* group) {
  const D d;
  const hn::RebindToSigned<D> di;
  struct Lanes {
    alignas(64) std::int64_t element[kVector], group[kVector];
  };
  static constexpr Lanes kLanes = [] {
    Lanes of{};
    for (int lane = 0; lane < kVector; ++lane) {
      of.element[lane] = lane % kCount;  // in the first vector
      of.group[lane] = (lane * kCount + kAt) % kVector;
    }
    return of;
  }();
  V element = group[0];
  for (int i = 1; i < kCount; ++i) {
    const int in_first = (kAt + i * kVector * (kCount - 1)) % kCount;
    const auto is_it = hn::Eq(hn::Load(di, kLanes.element), hn::Set(di, in_first));
    element = hn::IfThenElse(hn::RebindMask(d, is_it), group[i], element);
  }
  return hn::TableLookupLanes(element, hn::IndicesFromVec(d, hn::Load(di, kLanes.group)));
}

// kCount vectors of groups of kCount lanes become one vector of the groups' sums.
template <int kCount>
HWY_INLINE V add_groups(const V* group) {
  if constexpr (kCount == 1) {
    return group[0];
  } else if constexpr (kCount % 2 == 0) {
    return add_pairs(add_groups<kCount / 2>(group), add_groups<kCount / 2>(group + kCount / 2));
  } else {
    return [group]<int... kRest>(std::integer_sequence<int, kRest...>) HWY_ATTR {
      V sum = element_of_groups<kCount, 0>(group);
      ((sum = hn::Add(sum, element_of_groups<kCount, kRest + 1>(group))), ...);
      return sum;
    }
    (std::make_integer_sequence<int, kCount - 1>());
  }
}

// --- Blocks ------------------------------------------------------------------------------------

// Halves of neighbouring results' sums: half h of result r is data[h * step + r]. There is room for
// whole vectors of results.
struct Sums {
  double* data;
  std::ptrdiff_t step;
};

// The sum of `count` neighbours, in halves. Lanes of f32 are cut in two as well before they have
// grown.
template <class T, trine_map M>
HWY_NOINLINE void sum_neighbours(const T* x, const T* y, std::int64_t count, double (&halves)[2]) {
  PlainSum<double, TRINE_IDENTITY> total;
  if constexpr (kHalves<T, M> == 2) {
    std::copy_n(add_neighbours<T, M>(x, y, count).half, 2, total.half);
  } else {
    constexpr std::int64_t kBlock = 1024;
    for (std::int64_t i = 0; i < count; i += kBlock)
      total.add(add_neighbours<T, M>(x + i, y + i, std::min(kBlock, count - i)).half[0]);
  }
  for (int h = 0; h < 2; ++h) halves[h] = hn::GetLane(hn::SumOfLanes(D(), total.half[h]));
}

// The sums of rows: a vector of lanes of each, which sum_row(x, y) gives, and these meet.
template <class T, trine_map M, class SumRow>
HWY_INLINE void sum_rows_by(Strided<T> x, Strided<T> y, std::int64_t rows, Sums sums,
                            SumRow sum_row) {
  using Sum = PlainSum<T, M>;
  for (std::int64_t r = 0; r < rows; r += kVector) {
    V lanes[Sum::kCount][kVector];
    for (int i = 0; i < kVector; ++i) {
      Sum sum;
      if (r + i < rows) sum = sum_row(x.data + (r + i) * x.step, y.data + (r + i) * y.step);
      for (int h = 0; h < Sum::kCount; ++h) lanes[h][i] = sum.half[h];
    }
    for (int h = 0; h < Sum::kCount; ++h)
      hn::StoreU(add_groups<kVector>(lanes[h]), D(), sums.data + h * sums.step + r);
  }
}

template <class T, trine_map M>
HWY_NOINLINE void sum_any_rows(Strided<T> x, Strided<T> y, std::int64_t length, std::int64_t rows,
                               Sums sums) {
  sum_rows_by<T, M>(x, y, rows, sums, [=](const T* row, const T* other) HWY_ATTR {
    return add_neighbours<T, M>(row, other, length);
  });
}

// Rows that fill kVectors vectors, but for some of the last one: that is loaded as the row's end,
// and the lanes that the one before it has are left out. No masked loads, and nothing is asked row
// by row.
template <class T, trine_map M, int kVectors>
HWY_NOINLINE void sum_rows_of_vectors(Strided<T> x, Strided<T> y, std::int64_t length,
                                      std::int64_t rows, Sums sums) {
  const D d;
  const auto again =
      hn::FirstN(d, static_cast<std::size_t>(kVectors * std::int64_t(kVector) - length));
  sum_rows_by<T, M>(x, y, rows, sums, [=](const T* row, const T* other) HWY_ATTR {
    prefetch(row, kVectors * kVector);
    PlainSum<T, M> sum;
    for (int i = 0; i < kVectors - 1; ++i)
      sum.add(term<T, M>(row + i * kVector, other + i * kVector));
    const V last = term<T, M>(row + length - kVector, other + length - kVector);
    sum.add(hn::IfThenElse(again, hn::Set(d, -0.0), last));
    return sum;
  });
}

template <class T, trine_map M>
void sum_rows(Strided<T> x, Strided<T> y, std::int64_t length, std::int64_t rows, Sums sums) {
  switch (length < kVector ? 0 : divide_up(length, std::int64_t(kVector))) {
    case 2: return sum_rows_of_vectors<T, M, 2>(x, y, length, rows, sums);
    case 3: return sum_rows_of_vectors<T, M, 3>(x, y, length, rows, sums);
    case 4: return sum_rows_of_vectors<T, M, 4>(x, y, length, rows, sums);
    default: return sum_any_rows<T, M>(x, y, length, rows, sums);
  }
}

// Rows of kLength elements, no more than a vector has, one behind the other: kVector of them in
// kLength vectors. Rows of 7 in a vector each, since seven elements in other lanes for each row
// take 56 instructions to meet, and eight vectors 29.
template <class T, trine_map M, int kLength>
HWY_NOINLINE void sum_short_rows(const T* x, const T* y, std::int64_t rows, Sums sums) {
  using Sum = PlainSum<T, M>;
  constexpr bool kRowByRow = kLength == 7;
  constexpr int kCount = kRowByRow ? kVector : kLength, kStep = kRowByRow ? kLength : kVector;
  for (std::int64_t r = 0; r < rows; r += kVector) {
    V lanes[Sum::kCount][kCount];
    prefetch(x + r * kLength, kLength * kVector);
    for (int i = 0; i < kCount; ++i) {
      const std::int64_t at = r * kLength + i * kStep;
      Sum sum;
      if constexpr (kRowByRow) {
        sum.add(term<T, M>(x + at, y + at, kLength));
      } else {
        sum.add(term<T, M>(x + at, y + at));
      }
      for (int h = 0; h < Sum::kCount; ++h) lanes[h][i] = sum.half[h];
    }
    for (int h = 0; h < Sum::kCount; ++h)
      hn::StoreU(add_groups<kCount>(lanes[h]), D(), sums.data + h * sums.step + r);
  }
}

template <class T, trine_map M>
void sum_short_rows(const T* x, const T* y, std::int64_t length, std::int64_t rows, Sums sums) {
  static constexpr auto kByLength = []<int... kBefore>(std::integer_sequence<int, kBefore...>) {
    return std::array{&sum_short_rows<T, M, kBefore + 1>...};
  }
  (std::make_integer_sequence<int, kVector>());
  const std::int64_t whole = rows / kVector * kVector, at = whole * length;
  kByLength[static_cast<std::size_t>(length) - 1](x, y, whole, sums);
  sum_rows<T, M>({x + at, length}, {y + at, length}, length, rows - whole,
                 {sums.data + whole, sums.step});
}

// kRows rows to the sums of `width` columns, which are neighbours, or to new ones. `ahead`: where
// what comes later lies.
template <class T, trine_map M, int kRows>
HWY_INLINE void add_some_rows(Strided<T> x, Strided<T> y, std::int64_t width, std::ptrdiff_t ahead,
                              bool are_new, Sums sums) {
  const D d;
  using Sum = PlainSum<T, M>;
  constexpr int kLine = std::max<int>(64 / sizeof(T), kVector);
  const auto add_vector = [&](std::int64_t j, auto term_at) HWY_ATTR {
    Sum sum;
    double* const at = sums.data + j;
    for (int h = 0; h < Sum::kCount && !are_new; ++h)
      sum.half[h] = hn::LoadU(d, at + h * sums.step);
    for (int i = 0; i < kRows; ++i) sum.add(term_at(i * x.step + j, i * y.step + j));
    for (int h = 0; h < Sum::kCount; ++h) hn::StoreU(sum.half[h], d, at + h * sums.step);
  };
  const auto whole = [&](std::ptrdiff_t i, std::ptrdiff_t k)
                         HWY_ATTR { return term<T, M>(x.data + i, y.data + k); };
  std::int64_t j = 0;
  for (; j + kLine <= width; j += kLine) {
    for (int i = 0; i < kRows; ++i) {
      const T* const row = x.data + i * x.step + j;
      __builtin_prefetch(row + ahead, 0, 2);
      if (kRows == 1 && x.step == width) __builtin_prefetch(row + kNear<T>, 0, 3);
    }
    for (int v = 0; v < kLine; v += kVector) add_vector(j + v, whole);
  }
  for (; j + kVector <= width; j += kVector) add_vector(j, whole);
  if (j < width)
    add_vector(j, [&](std::ptrdiff_t i, std::ptrdiff_t k)
                      HWY_ATTR { return term<T, M>(x.data + i, y.data + k, width - j); });
}

template <class T, trine_map M>
HWY_NOINLINE void add_rows_to_columns(Strided<T> x, Strided<T> y, std::int64_t rows,
                                      std::int64_t width, bool are_new, bool is_large, Sums sums) {
  constexpr int kRows = 4;
  // Four rows at a time load and store sums a fourth as often: 1.6 times as fast from the second
  // cache (1024×256 f32). From memory rows without gaps are as fast one by one, as they lie, on 2
  // cores, and 1.1 times as fast on 16; with gaps f32 1.17 times on 16 (256×65536), as fast on 2,
  // where f64 has 0.92.
  const std::int64_t most = is_large && (x.step == width || sizeof(T) == 4) ? 1 : kRows;
  // The hardware doesn't follow steps of a row. Behind the last row come the first ones of the next
  // columns.
  std::int64_t far = most * divide_up(kFar<T>, most * width);
  if (rows < far + most) far = rows;
  for (std::int64_t r = 0, some; r < rows; are_new = false) {
    const std::ptrdiff_t ahead = r + far < rows ? far * x.step : (far - rows) * x.step + width;
    some = r + most <= rows ? most : 1;
    if (some == kRows) {
      add_some_rows<T, M, kRows>(x, y, width, ahead, are_new, sums);
    } else {
      add_some_rows<T, M, 1>(x, y, width, ahead, are_new, sums);
    }
    x.data += some * x.step, y.data += some * y.step, r += some;
  }
}

// --- Results -----------------------------------------------------------------------------------

// Rounds `count` sums. False where a half isn't finite: an element wasn't.
template <class T, trine_map M, class R>
HWY_NOINLINE bool round_sums(Sums sums, std::int64_t count, R* results) {
  const D d;
  if constexpr (kHalves<T, M> == 1) {
    for (std::int64_t j = 0; j < count; ++j) results[j] = static_cast<R>(sums.data[j]);
    return true;
  } else {
    auto finite = hn::Eq(hn::Zero(d), hn::Zero(d));
    for (std::int64_t j = 0; j < count; j += kVector) {
      const V high = hn::LoadU(d, sums.data + j);
      const V low = hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(count - j)),
                                       hn::LoadU(d, sums.data + sums.step + j));
      finite = hn::And(finite, hn::Eq(hn::Sub(low, low), hn::Zero(d)));
      // A high half alone may be -0.
      const V sum = hn::IfThenElse(hn::Eq(low, hn::Zero(d)), high, hn::Add(high, low));
      const V less = hn::Sub(sum, low);
      const V error = hn::Add(hn::Sub(high, less), hn::Sub(low, hn::Sub(sum, less)));
      store_lanes(std::is_same_v<R, double> ? sum : to_odd({sum, error, hn::Zero(d)}), count - j,
                  results + j);
    }
    return hn::AllTrue(d, finite);
  }
}

}  // namespace
}  // namespace trine::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
