// Sums that end with the first message: it carries their states.
#include <utility>

#include "call.hpp"

namespace trine::mpi {
namespace detail {
namespace {

class SumCall : public Call {
 public:
  /// Of `sum`, which all ranks have, or `root` alone.
  SumCall(MPI_Comm comm, ExactSum& sum, int root) : SumCall(comm, sum) {
    asked_.root = root;
    attempt(failure_, [&] { check_root(); });
  }
  SumCall(MPI_Comm comm, ExactSum& sum) : Call(channel_of(comm)), sum_(sum) {
    state_ = sum.state();
  }
  /// Of what `add` adds to a sum on this rank.
  template <class Add>
  SumCall(MPI_Comm comm, ExactSum& sum, Map map, Dtype dtype, Add&& add)
      : Call(channel_of(comm)), sum_(sum) {
    asked_.call = Asked::exact_sum;
    asked_.map = uint8_t(map);
    asked_.dtype = uint8_t(dtype);
    attempt(failure_, [&] { add(sum); });
    state_ = sum.state();
  }

 private:
  bool work(MPI_Request*) override { return false; }
  bool can_fail() const noexcept override { return false; }
  void finish() override {
    if (is_receiver()) sum_ = ExactSum(total());
  }

  ExactSum& sum_;
};

template <class Add>
ExactSum sum_of_all(MPI_Comm comm, Map map, Dtype dtype, Add&& add) {
  return entry([&] {
    ExactSum sum;
    SumCall(comm, sum, map, dtype, add).run();
    return sum;
  });
}

}  // namespace
}  // namespace detail

void allreduce(ExactSum& sum, MPI_Comm comm) {
  detail::entry([&] { detail::SumCall(comm, sum).run(); });
}

void reduce(ExactSum& sum, int root, MPI_Comm comm) {
  detail::entry([&] { detail::SumCall(comm, sum, detail::Asked::root_of(root)).run(); });
}

ExactSum exact_sum(const ConstHostView& part, Map map, MPI_Comm comm, const HostOptions& options) {
  return detail::sum_of_all(comm, map, part.dtype,
                            [&](ExactSum& sum) { sum.add(part, map, options); });
}

ExactSum exact_dot(const ConstHostView& x, const ConstHostView& y, MPI_Comm comm,
                   const HostOptions& options) {
  return detail::sum_of_all(comm, Map::product, x.dtype,
                            [&](ExactSum& sum) { sum.add_dot(x, y, options); });
}

ExactSum exact_sum(Queue& queue, const View& part, Map map, MPI_Comm comm) {
  return detail::sum_of_all(comm, map, part.dtype,
                            [&](ExactSum& sum) { sum.add(queue, part, map); });
}

ExactSum exact_dot(Queue& queue, const View& x, const View& y, MPI_Comm comm) {
  return detail::sum_of_all(comm, Map::product, x.dtype,
                            [&](ExactSum& sum) { sum.add_dot(queue, x, y); });
}

}  // namespace trine::mpi
