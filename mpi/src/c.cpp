// <trine/mpi.h>: requests, and reductions.
#include "c.hpp"

#include <new>
#include <thread>

#include "elementwise.hpp"
#include "partial_call.hpp"
#include "sum_call.hpp"

using namespace trine;
using namespace trine::mpi::detail;
using c_api::value_of, c_api::view_of;

static_assert(TRINE_MPI_ALL_RANKS == Asked::everywhere);

bool trine_mpi_request_t::test() {
  try {
    if (!request.test()) return false;
  } catch (...) {
    deliver = nullptr;
    throw;
  }
  if (deliver) std::exchange(deliver, nullptr)();
  return true;
}

void trine_mpi_request_t::wait() {
  while (!test()) std::this_thread::yield();
}

trine_mpi_request_t::~trine_mpi_request_t() {
  try {
    wait();
  } catch (...) {}  // of a call whose end nobody asked for
}

namespace trine::mpi::detail {
namespace {

/// A call that fails on this rank before it begins.
class FailedCall : public Call {
 public:
  FailedCall(MPI_Comm comm, const Failure& failure) : Call(channel_of(comm)) { failure_ = failure; }

 private:
  bool work(MPI_Request*) override { return false; }
};

/// Begins to merge a state of C's, or merges it.
template <class Value, class C>
trine_status merge(auto* given, int32_t root, MPI_Comm comm, trine_mpi_request_t** request) {
  return collective(
      comm, request,
      [&] {
        auto value = std::make_shared<Value>(of_state<Value>(given));
        return Begun<Value>{value,
                            [value, given] { std::ranges::copy(value->state(), given->state); }};
      },
      [&](Begun<Value>& begun) { begun.template make<C>(request, comm, *begun.values, root); });
}

/// The result of a distributed array, as `dot` of what was read gives it, or `any` other reduction.
trine_status result_of_all(uint32_t function, uint32_t map, uint32_t dtype, void* result,
                           MPI_Comm comm, auto&& read, auto&& dot, auto&& any) {
  const auto reduced_by = function == 0 ? Function::sum : Function(function);
  const auto mapped_by = map == 0 ? Map::identity : Map(map);
  return collective(
      comm, nullptr,
      [&] {
        if (!result) refuse("the place of the result is null.");
        if (mapped_by == Map::product && reduced_by != Function::sum)
          refuse("products of two arrays are summed, not reduced by ", name(reduced_by), ".");
        return read();
      },
      [&](const auto& values) {
        if (mapped_by != Map::product)
          return any(values, reduced_by, mapped_by)
              .result(result_dtype(reduced_by, mapped_by, Dtype(dtype)), result);
        const ExactSum sum = dot(values);
        if (Dtype(dtype) == Dtype::f32)
          *static_cast<float*>(result) = sum.round<float>();
        else
          *static_cast<double*>(result) = sum.round<double>();
      });
}

/// The part of an array, and the other factors.
template <class View>
std::pair<View, View> operands(const auto* x, const auto* y, uint32_t map) {
  if ((y != nullptr) != (map == TRINE_PRODUCT))
    refuse(y ? "y is for TRINE_PRODUCT alone." : "TRINE_PRODUCT needs y, which is null.");
  return {view_of(pointed_to(x, "x")), y ? view_of(*y) : View{}};
}

}  // namespace

void refuse_call(MPI_Comm comm, const Failure& failure, trine_mpi_request_t** request) {
  if (!request) return run<FailedCall>(comm, failure);
  std::unique_ptr<trine_mpi_request_t> begun(new (std::nothrow) trine_mpi_request_t);
  if (!begun) FailedCall(comm, failure).fail(failure);
  begun->request = begin<FailedCall>(comm, failure);
  *request = begun.release();
}

QueueOptions queue_options(const trine_mpi_queue_options_t* given) {
  if (!given) return {};
  if (given->size != 0 && given->size != sizeof *given)
    refuse("the size of the options is ", given->size, " bytes; set it to sizeof the struct.");
  if (given->reserved != 0) refuse("the reserved field of the options must be zero.");
  return {.rung = given->rung ? given->rung : "",
          .numerics = given->numerics == 0 ? Numerics::reproducible : Numerics(given->numerics),
          .continues = given->continues != 0};
}

}  // namespace trine::mpi::detail

trine_status trine_mpi_request_test(trine_mpi_request_t* request, int32_t* has_ended) {
  return guard([&] {
    auto& call = pointed_to(request, "the request");
    pointed_to(has_ended, "the place of the result") = 1;  // also where the call has failed
    *has_ended = call.test() ? 1 : 0;
  });
}
trine_status trine_mpi_request_wait(trine_mpi_request_t* request) {
  return guard([&] { pointed_to(request, "the request").wait(); });
}
void trine_mpi_request_release(trine_mpi_request_t* request) { delete request; }

trine_status trine_mpi_refuse(uint32_t status, const char* sentence, MPI_Comm comm,
                              trine_mpi_request_t** request) {
  return collective(
      comm, request,
      [&]() -> int {
        if (status == TRINE_OK) refuse("TRINE_OK is no status of a call that is refused.");
        throw Error(Status(status), sentence ? sentence : "No reason was given.");
      },
      [](int) {});
}

trine_status trine_mpi_reduce(uint32_t function, trine_host_view_t input, trine_host_view_t output,
                              int32_t root, MPI_Comm comm, const trine_options_t* options,
                              trine_mpi_request_t** request) {
  using Read = Begun<c_api::Options>;
  return collective(
      comm, request,
      [&] {
        auto read = std::make_shared<c_api::Options>(options);
        return Read{read, [read] { read->deliver(); }};
      },
      [&](Read& begun) {
        begun.make<Elementwise<OnHost>>(request, comm, Function(function), view_of(input),
                                        view_of(output), root, begun.values->host());
      });
}
trine_status trine_mpi_reduce_on_queue(uint32_t function, trine_queue_t* queue, trine_view_t input,
                                       trine_view_t output, int32_t root, MPI_Comm comm,
                                       const trine_mpi_queue_options_t* options,
                                       trine_mpi_request_t** request) {
  struct Values {
    View input, output;
    OnDevice::Options options;
  };
  return collective(
      comm, request,
      [&] {
        auto values = std::make_shared<Values>(
            view_of(input), view_of(output),
            OnDevice::Options{value_of(queue), queue_options(options), !request});
        return Begun<Values>{values, [values] {}};
      },
      [&](Begun<Values>& begun) {
        const Values& v = *begun.values;
        begun.make<Elementwise<OnDevice>>(request, comm, Function(function), v.input, v.output,
                                          root, v.options);
      });
}

trine_status trine_mpi_merge_exact_sum(trine_exact_sum_t* sum, int32_t root, MPI_Comm comm,
                                       trine_mpi_request_t** request) {
  return merge<ExactSum, SumCall>(sum, root, comm, request);
}
trine_status trine_mpi_merge_partial(trine_partial_t* partial, int32_t root, MPI_Comm comm,
                                     trine_mpi_request_t** request) {
  return merge<Partial, PartialCall>(partial, root, comm, request);
}

trine_status trine_mpi_result(uint32_t function, uint32_t map, const trine_host_view_t* x,
                              const trine_host_view_t* y, int64_t first, void* result,
                              MPI_Comm comm, const trine_options_t* options) {
  struct Values {
    std::pair<HostView, HostView> of;
    std::unique_ptr<c_api::Options> options;
  };
  return result_of_all(
      function, map, x ? x->dtype : 0, result, comm,
      [&] {
        return Values{operands<HostView>(x, y, map), std::make_unique<c_api::Options>(options)};
      },
      [&](const Values& v) {
        ExactSum sum = mpi::exact_dot(v.of.first, v.of.second, comm, v.options->host());
        v.options->deliver();
        return sum;
      },
      [&](const Values& v, Function by, Map mapped) {
        Partial partial = mpi::partial(by, v.of.first, first, mapped, comm, v.options->host());
        v.options->deliver();
        return partial;
      });
}
trine_status trine_mpi_result_on_queue(uint32_t function, uint32_t map, trine_queue_t* queue,
                                       const trine_view_t* x, const trine_view_t* y, int64_t first,
                                       void* result, MPI_Comm comm) {
  using Values = std::pair<View, View>;
  Queue used;
  return result_of_all(
      function, map, x ? x->dtype : 0, result, comm,
      [&] {
        used = value_of(queue);
        return operands<View>(x, y, map);
      },
      [&](const Values& v) { return mpi::exact_dot(used, v.first, v.second, comm); },
      [&](const Values& v, Function by, Map mapped) {
        return mpi::partial(by, used, v.first, first, mapped, comm);
      });
}
