// kokkos_mdrange: the definition over Kokkos's Views, with an MDRangePolicy that cuts the matrix
// into tiles: blocked, where the cutting is the policy's and the strides are the Views'. A thread
// takes tiles that follow each other along the output's rows.
#include <array>
#include <type_traits>

#include "kokkos.hpp"
#include "transpose/rungs.hpp"

namespace trine::cpu::transpose {
namespace {

// Elements of 8 and 16 bytes may be aligned to 4 only.
template <int kSize>
using Element = std::conditional_t<
    kSize == 1, std::uint8_t,
    std::conditional_t<kSize == 2, std::uint16_t, std::array<std::uint32_t, (kSize + 3) / 4>>>;

template <class T>
using View = Kokkos::View<T***, Kokkos::LayoutStride, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;

template <class T>
View<T> view(T* memory, const Problem& p, std::int64_t batch_step, std::int64_t q_step,
             std::int64_t p_step) {
  const auto size = [](std::int64_t x) { return static_cast<std::size_t>(x); };
  return View<T>(memory, Kokkos::LayoutStride(size(p.batch), size(batch_step), size(p.q),
                                              size(q_step), size(p.p), size(p_step)));
}

template <int kSize>
void move_tiles(const Space& space, const Problem& p, std::int64_t tile) {
  using T = Element<kSize>;
  using Policy = Kokkos::MDRangePolicy<Space, Kokkos::Rank<3, Kokkos::Iterate::Right>,
                                       Kokkos::IndexType<std::int64_t>>;
  const auto in = view(reinterpret_cast<const T*>(p.in), p, p.in_b, p.in_q, p.in_p);
  const auto out = view(reinterpret_cast<T*>(p.out), p, p.out_b, p.out_q, p.out_p);
  using Triple = Kokkos::Array<std::int64_t, 3>;
  Kokkos::parallel_for(
      "kokkos_mdrange",
      Policy(space, Triple{0, 0, 0}, Triple{p.batch, p.q, p.p}, Triple{1, tile, tile}),
      KOKKOS_LAMBDA(std::int64_t b, std::int64_t y, std::int64_t x) {
        out(b, y, x) = in(b, y, x);
      });
}

}  // namespace

void run_kokkos_mdrange(const trine_transpose& op, const std::int64_t* parameters, void*,
                        Parallel& parallel) {
  const Space space = kokkos_for(parallel);
  const Problem p = problem(op);
  visit_size(p.size, [&]<int kSize>() { move_tiles<kSize>(space, p, parameters[0]); });
}

}  // namespace trine::cpu::transpose
