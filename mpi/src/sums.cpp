// Sums of ExactSums and of distributed arrays.
#include "sum_call.hpp"

namespace trine::mpi {
namespace detail {
namespace {

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

void allreduce(ExactSum& sum, MPI_Comm comm) { detail::run<detail::SumCall>(comm, sum); }

void reduce(ExactSum& sum, int root, MPI_Comm comm) {
  detail::run<detail::SumCall>(comm, sum, detail::Asked::root_of(root));
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
