// Random elementwise commands, and products with scalars of device memory.
#include <trine/abi.h>

#include <cmath>

#include "layout.hpp"
#include "moves.hpp"

namespace trine::conformance {
namespace {

template <class T>
T times(T x, T y) {
  if constexpr (std::is_integral_v<T>) return T(uint32_t(x) * uint32_t(y));
  return x * y;
}
template <class T>
T multiply_add(T x, T y, T z) {
  if constexpr (std::is_integral_v<T>) return T(uint32_t(x) * uint32_t(y) + uint32_t(z));
  return std::fma(x, y, z);
}
template <class T>
T axpby_of(T alpha, T x, T beta, T y) {
  const T t = beta != 0 ? times(beta, y) : T(0);
  return alpha != 0 ? multiply_add(alpha, x, t) : t;
}
template <class T>
T result_of(Arithmetic function, T x, T y) {
  switch (function) {
    case Arithmetic::add: return x + y;
    case Arithmetic::subtract: return x - y;
    case Arithmetic::multiply: return x * y;
    case Arithmetic::divide: return x / y;
    default: return std::sqrt(x);
  }
}

/// Values that matter often, else any bits at all: NaN, infinities, denormals among them.
template <class T>
T random_value(Dice& dice) {
  const uint64_t bits = dice.bits();
  const T value = oracle::load<T>(reinterpret_cast<const char*>(&bits));
  return dice.once_in(2) ? dice.pick<T>({T(0), T(1), T(-1), T(2), T(-7)}) : value;
}

/// The bits of a NaN are not promised.
template <class T>
void forget_nans(Image& image, const Layout& layout) {
  layout.for_each([&](uint64_t at) {
    const T value = oracle::load<T>(image.data() + at);
    if (value != value) std::memset(image.data() + at, 0xff, sizeof value);
  });
}

/// Returns the image in `buffer` after `enqueue`.
template <class T, class Enqueue>
Image after(Queue& queue, const Buffer& buffer, Image image, const Layout& layout,
            const Enqueue& enqueue) {
  trine::copy(queue, all_of(image), all_of(buffer));
  enqueue();
  queue.wait();
  trine::copy(queue, all_of(buffer), all_of(image));
  queue.wait();
  forget_nans<T>(image, layout);
  return image;
}

/// A scalar: a number of the host, or an element of device memory that is written late on `queue`.
template <class T>
struct RandomScalar {
  T value;
  Buffer memory;
  Scalar scalar = 0;

  RandomScalar(const Device& device, Dice& dice)
      : value(random_value<T>(dice)), scalar(double(value)) {
    if (dice.once_in(2)) return;
    const auto place = uint64_t(dice.below(3)) * sizeof(T);
    memory = Buffer(device, 3 * sizeof(T));
    scalar = vector(memory, dtype_of<T>, 1, place);
  }
  void write(Queue& queue) const {
    if (memory) trine::fill(queue, scalar.element(), &value);
  }
  const char* place() const { return memory ? "device" : "host"; }
};

}  // namespace

template <class T>
Moves::Outcome Moves::axpby(uint64_t seed, Dice& dice) {
  Layout x, y;
  x.dtype = y.dtype = uint32_t(dtype_of<T>);
  y.view = random_shape(dice);
  x.view = y.view;
  dice.lay_input(x.view, int(dice.below(3)), dice.once_in(3) ? 1 + dice.below(3) : 1);
  dice.lay_apart(y.view, int(dice.below(3)), dice.once_in(3) ? 1 + dice.below(3) : 1);
  place(x, dice, sizeof(T)), place(y, dice, sizeof(T));
  const bool in_place = dice.once_in(4);
  if (in_place) x = y;
  const RandomScalar<T> alpha(device_, dice), beta(device_, dice);
  Outcome outcome{name_of("elementwise axpby", y) + " alpha " + alpha.place() + " beta " +
                      beta.place() + (in_place ? " in place" : "") + " --seed " +
                      std::to_string(seed),
                  ""};

  Queue& queue = queue_of(device_);
  RandomBuffer from(device_, x.bytes, dice), to(device_, y.bytes, dice);
  Image before = random_bytes(y.bytes, dice),
        source = in_place ? before : random_bytes(x.bytes, dice);
  Image want = before;
  std::vector<T> values;
  x.for_each([&](uint64_t at) { values.push_back(oracle::load<T>(source.data() + at)); });
  size_t next = 0;
  y.for_each([&](uint64_t at) {
    const T y_is = oracle::load<T>(want.data() + at);
    oracle::store(want.data() + at, axpby_of(alpha.value, values[next++], beta.value, y_is));
  });
  trine::copy(queue, all_of(source), all_of(from.buffer));
  const Image image = after<T>(queue, to.buffer, before, y, [&] {
    alpha.write(queue), beta.write(queue);
    trine::axpby(queue, alpha.scalar, x.in(in_place ? to.buffer : from.buffer), beta.scalar,
                 y.in(to.buffer));
  });
  forget_nans<T>(want, y);
  outcome.wrong = difference(image, want, y);
  return outcome;
}

template <class T>
Moves::Outcome Moves::scalar(uint64_t seed, Dice& dice) {
  const auto function =
      dice.pick<Arithmetic>({Arithmetic::add, Arithmetic::subtract, Arithmetic::multiply,
                             Arithmetic::divide, Arithmetic::sqrt});
  const RandomScalar<T> x(device_, dice), y(device_, dice);
  Layout layout;
  layout.dtype = uint32_t(dtype_of<T>);
  layout.view = {nullptr, sizeof(T), 1, 1, 1, 1, 1, 0};
  layout.bytes = 3 * sizeof(T);
  Outcome outcome{name_of("elementwise scalar", layout) + " function " +
                      std::to_string(uint32_t(function)) + " x " + x.place() + " y " + y.place() +
                      " --seed " + std::to_string(seed),
                  ""};
  Queue& queue = queue_of(device_);
  RandomBuffer to(device_, layout.bytes, dice);
  const Image before(layout.bytes, kBefore);
  Image want = before;
  oracle::store(want.data() + sizeof(T), result_of(function, x.value, y.value));
  const Image image = after<T>(queue, to.buffer, before, layout, [&] {
    x.write(queue), y.write(queue);
    trine::scalar(queue, function, x.scalar, y.scalar, layout.in(to.buffer));
  });
  forget_nans<T>(want, layout);
  outcome.wrong = difference(image, want, layout);
  return outcome;
}

/// The same product twice: with scalars of device memory, and with their values.
template <class T>
Moves::Outcome Moves::scaled_product(uint64_t seed, Dice& dice) {
  const int64_t m = dice.extent(70), n = dice.extent(70), k = dice.extent(70);
  const int64_t batch = 1 + dice.below(3);
  const bool by_columns = dice.once_in(2);
  Layout c;
  c.dtype = uint32_t(dtype_of<T>);
  c.view = {nullptr, 0, m, n, batch, 0, 0, 0};
  dice.lay_apart(c.view, by_columns ? 1 : 0, 1);
  place(c, dice, sizeof(T));
  const RandomScalar<T> alpha(device_, dice), beta(device_, dice);
  Outcome outcome{name_of("elementwise gemm", c) + " k " + std::to_string(k) + " alpha " +
                      alpha.place() + " beta " + beta.place() + " --seed " + std::to_string(seed),
                  ""};
  Queue& queue = queue_of(device_);
  const auto operand = [&](int64_t rows, int64_t cols) {
    const auto bytes = uint64_t(rows * cols * batch) * sizeof(T);
    std::vector<T> values(size_t(rows * cols * batch));
    for (T& value : values) value = T(dice.below(2001) - 1000) / T(dice.once_in(2) ? 1 : 7);
    Buffer buffer(device_, bytes);
    if (!values.empty())
      trine::copy(queue, host_vector(values.data(), dtype_of<T>, int64_t(values.size())),
                  vector(buffer, dtype_of<T>, int64_t(values.size())));
    queue.wait();
    return batched(buffer, dtype_of<T>, batch, rows, cols);
  };
  const View a = operand(m, k), b = operand(k, n);
  const Image before = random_bytes(c.bytes, dice);
  const auto product = [&](const Scalar& by, const Scalar& plus) {
    const Buffer to(device_, c.bytes);
    return after<T>(queue, to, before, c, [&] {
      alpha.write(queue), beta.write(queue);
      trine::run(queue, Gemm{.alpha = by, .beta = plus, .a = a, .b = b, .c = c.in(to)});
    });
  };
  outcome.wrong = difference(product(alpha.scalar, beta.scalar),
                             product(double(alpha.value), double(beta.value)), c);
  return outcome;
}

Moves::Outcome Moves::elementwise(uint64_t seed) {
  Dice dice(seed);
  const int64_t kind = dice.below(4);
  const auto as = [&]<class T>(T) {
    if constexpr (std::is_floating_point_v<T>)
      if (kind == 0) return scalar<T>(seed, dice);
    return kind == 1 ? scaled_product<T>(seed, dice) : axpby<T>(seed, dice);
  };
  const bool has_f64 = device_.facts().capabilities & TRINE_CAN_F64;
  switch (dice.below(3)) {
    case 0: return as(int32_t());
    case 1: return has_f64 ? as(double()) : as(int32_t());
    default: return has_f64 || kind != 0 ? as(float()) : as(int32_t());
  }
}

}  // namespace trine::conformance
