// Every call over ranks, with something wrong on one rank: all ranks throw, and no rank's output
// has changed.
#include <gmock/gmock.h>

#include <trine/mpi_sums.hpp>

#include <cstring>
#include <fstream>
#include <regex>
#include <set>

#include "errors.hpp"
#include "matrices.hpp"
#include "on_devices.hpp"

namespace {

namespace mpi = trine::mpi;
using namespace ranks;
using testing::HasSubstr;
using trine::Dtype;
using trine::Function;

/// Something wrong: a device and a rung that aren't there; a rung that takes other calls; an
/// element type and extents that the other ranks don't have; no memory; a promise that there isn't.
enum class Fault { none, device, rung, unfit_rung, dtype, shape, memory, numerics };
constexpr const char* kNames[] = {"none",  "device", "rung",   "unfit_rung",
                                  "dtype", "shape",  "memory", "numerics"};

/// Fits nothing that is asked of it below: `sequential` reduces one input.
constexpr const char* kUnfit = "sequential";

struct Faulty {
  explicit Faulty(Fault is) : fault(is) {}
  Fault fault;

  bool is(Fault other) const { return fault == other; }
  std::string_view rung() const {
    return is(Fault::rung) ? "abacus" : is(Fault::unfit_rung) ? kUnfit : "";
  }
  trine::Numerics numerics() const {
    return is(Fault::numerics) ? trine::Numerics(99) : trine::Numerics::reproducible;
  }
  trine::HostOptions host() const {
    return {.device = is(Fault::device) ? "abacus" : "cpu", .rung = rung(), .numerics = numerics()};
  }
  mpi::QueueOptions resident() const { return {.rung = rung(), .numerics = numerics()}; }
  /// Spoils a vector or a rank's part of a matrix.
  template <class V>
  void spoil(V& view) const {
    if (is(Fault::dtype)) view.dtype = Dtype::i64;
    if (is(Fault::shape) && view.rows > 0) --view.rows;
    if (!is(Fault::memory)) return;
    if constexpr (requires { view.buffer; })
      view.buffer = {};
    else
      view.data = nullptr;
  }
};

/// How a call ended, and whether its outputs are as they were.
struct Outcome {
  std::string error;
  bool is_unchanged = true;
};

/// A call with its data on a device's memory; one whose output is its input.
struct Way {
  bool is_resident, is_in_place;
};

/// Data in host memory, and a call on it: call(options).
struct OnHost {
  const Faulty& faulty;

  trine::HostView take(std::vector<double>& memory) const {
    return trine::host_vector(memory.data(), Dtype::f64, int64_t(memory.size()));
  }
  mpi::Matrix take(Part<double>& part) const { return part.matrix(Dtype::f64); }
  template <class Call>
  std::string error(Call&& call) const {
    return error_of_all([&] { call(faulty.host()); });
  }
};
/// Data in the memory of a queue's device, and a call on it: call(options, queue).
struct OnQueue {
  const Faulty& faulty;
  Resident on{"@cpu"};

  trine::View take(std::vector<double>& memory) { return on.upload(memory); }
  mpi::DeviceMatrix take(Part<double>& part) { return on.upload(part, Dtype::f64); }
  template <class Call>
  std::string error(Call&& call) {
    trine::Queue queue = faulty.is(Fault::device) ? trine::Queue() : on.queue;
    std::string text = error_of_all([&] { call(faulty.resident(), queue); });
    on.download();
    return text;
  }
};
template <class Make>
std::string error_at_place(const Faulty& faulty, const Way& way, Make&& make) {
  OnHost host{faulty};
  if (!way.is_resident) return make(host);
  OnQueue queue{faulty};
  return make(queue);
}

/// The shapes of elementwise calls.
struct Vectors {
  Function function;
  int64_t length;
};

enum class Form { all, root, begun, begun_root };

/// Calls on (queue, input, output) or (input, output).
template <Form form, class Options, class... Views>
void reduce_by(Function function, const Options& options, Views&... views) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  if constexpr (form == Form::all)
    mpi::allreduce(function, views..., comm, options);
  else if constexpr (form == Form::root)
    mpi::reduce(function, views..., 0, comm, options);
  else if constexpr (form == Form::begun)
    mpi::iallreduce(function, views..., comm, options).wait();
  else
    mpi::ireduce(function, views..., 0, comm, options).wait();
}

/// Elements of 8 bytes before and after a call.
class Kept {
 public:
  explicit Kept(std::vector<double>& memory) : memory_(memory), before_(memory) {}
  bool is_unchanged() const {
    return std::memcmp(memory_.data(), before_.data(), memory_.size() * sizeof(double)) == 0;
  }

 private:
  std::vector<double>& memory_;
  std::vector<double> before_;
};

template <Form form>
Outcome elementwise(const Faulty& faulty, const Way& way, const Vectors& vectors) {
  std::vector<double> input(size_t(vectors.length), rank() + 0.5), other(input.size(), 77);
  std::vector<double>& output = way.is_in_place ? input : other;
  const Kept kept_input(input), kept(output);
  const std::string error = error_at_place(faulty, way, [&](auto& place) {
    auto from = place.take(input), to = way.is_in_place ? from : place.take(output);
    to.dtype = result_dtype(vectors.function, trine::Map::identity, Dtype::f64);
    faulty.spoil(from);
    if (faulty.is(Fault::shape)) --to.rows;
    return place.error([&](const auto& options, auto&... queue) {
      reduce_by<form>(vectors.function, options, queue..., from, to);
    });
  });
  return {error, kept.is_unchanged() && kept_input.is_unchanged()};
}

/// A matrix whose rows are dealt out to all ranks.
Part<double> by_rows(int64_t rows, int64_t cols, Layout layout, double value) {
  const Distribution d = {.rows = rows,
                          .cols = cols,
                          .block_rows = (rows + size() - 1) / size(),
                          .block_cols = cols,
                          .grid_rows = size()};
  return {d, layout, std::vector<double>(size_t(rows * cols), value)};
}

Outcome transpose(const Faulty& faulty, const Way& way) {
  Part<double> a = by_rows(40, 30, Layout::rows, 0.5), b = by_rows(30, 40, Layout::columns, 77);
  const Kept kept(b.memory);
  const std::string error = error_at_place(faulty, way, [&](auto& place) {
    auto from = place.take(a), to = place.take(b);
    faulty.spoil(from.local);
    if (faulty.is(Fault::dtype)) from.local.dtype = Dtype::f32;
    return place.error([&](const auto& options, auto&... queue) {
      mpi::transpose(queue..., from, to, MPI_COMM_WORLD, options);
    });
  });
  return {error, kept.is_unchanged()};
}

template <int beta>
Outcome gemm(const Faulty& faulty, const Way& way) {
  Part<double> a = by_rows(20, 600, Layout::columns, 0.5);
  Part<double> b = by_rows(600, 20, Layout::columns, 0.5);
  Part<double> c = by_rows(20, 20, Layout::columns, 77);
  const Kept kept(c.memory);
  const std::string error = error_at_place(faulty, way, [&](auto& place) {
    auto left = place.take(a), right = place.take(b), to = place.take(c);
    faulty.spoil(left.local);
    return place.error([&](const auto& options, auto&... queue) {
      mpi::gemm(queue..., 1, left, right, beta, to, MPI_COMM_WORLD, options);
    });
  });
  return {error, kept.is_unchanged()};
}

/// Calls that return what the ranks have in common: a rank that throws has none.
enum class Value { exact_sum, exact_dot, partial, sum, dot, min, max, argmin, argmax, prod };

template <Value value>
Outcome returned(const Faulty& faulty, const Way& way) {
  std::vector<double> memory(100, 0.5);
  const std::span<const double> range(memory.data(), faulty.is(Fault::memory) ? 0 : 100);
  return {error_at_place(faulty, way, [&](auto& place) {
    auto x = place.take(memory);
    faulty.spoil(x);
    return place.error([&](const auto& o, auto&... queue) {
      const MPI_Comm comm = MPI_COMM_WORLD;
      constexpr trine::Map kAsIs = trine::Map::identity;
      if constexpr (sizeof...(queue) != 0) {
        if constexpr (value == Value::exact_sum) mpi::exact_sum(queue..., x, kAsIs, comm);
        if constexpr (value == Value::exact_dot) mpi::exact_dot(queue..., x, x, comm);
        if constexpr (value == Value::partial)
          mpi::partial(Function::max, queue..., x, 0, kAsIs, comm);
      } else {
        if constexpr (value == Value::exact_sum) mpi::exact_sum(x, kAsIs, comm, o);
        if constexpr (value == Value::exact_dot) mpi::exact_dot(x, x, comm, o);
        if constexpr (value == Value::partial) mpi::partial(Function::argmax, x, 0, kAsIs, comm, o);
        if constexpr (value == Value::sum) mpi::sum(range, comm, o);
        if constexpr (value == Value::dot) mpi::dot(range, range, comm, o);
        if constexpr (value == Value::min) mpi::min(range, comm, o);
        if constexpr (value == Value::max) mpi::max(range, comm, o);
        if constexpr (value == Value::argmin) mpi::argmin(range, 100 * rank(), comm, o);
        if constexpr (value == Value::argmax) mpi::argmax(range, 100 * rank(), comm, o);
        if constexpr (value == Value::prod) mpi::prod(range, 100 * rank(), comm, o);
      }
    });
  })};
}

/// Calls on a field with a mask, and on one without; `is_sum`: by sums().
template <bool is_sum>
Outcome of_fields(const Faulty& faulty, const Way& way) {
  std::vector<double> memory(100, 0.5), results(2, 77);
  const Kept kept(results);
  const std::string error = error_at_place(faulty, way, [&](auto& place) {
    auto x = place.take(memory);
    const auto mask = x;
    faulty.spoil(x);
    return place.error([&](const auto& options, auto&... queue) {
      using Fields = std::conditional_t<sizeof...(queue) == 0, mpi::Fields, mpi::DeviceFields>;
      std::vector<Fields> list = {{.values = x}, {.values = x, .mask = mask}};
      if constexpr (sizeof...(queue) != 0 && is_sum)
        mpi::sums(queue..., list, results, MPI_COMM_WORLD);
      else if constexpr (sizeof...(queue) != 0)
        mpi::reduce_fields(Function::max, queue..., list, results, MPI_COMM_WORLD);
      else if constexpr (is_sum)
        mpi::sums(list, results, MPI_COMM_WORLD, options);
      else
        mpi::reduce_fields(Function::max, list, results, MPI_COMM_WORLD, options);
    });
  });
  return {error, kept.is_unchanged()};
}

/// Calls over values, of which one rank has another kind.
template <class T, Form form>
Outcome merged(const Faulty& faulty, const Way&) {
  T value = [&] {
    if constexpr (std::is_same_v<T, trine::ExactSum>)
      return T();
    else
      return T(Function::max, faulty.is(Fault::dtype) ? Dtype::f32 : Dtype::f64);
  }();
  if constexpr (std::is_same_v<T, trine::ExactSum>) value.add(std::vector<double>{1.5});
  const T before = value;
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int root = faulty.is(Fault::shape) ? size() : 0;
  Outcome outcome;
  outcome.error = error_of_all([&] {
    if (form == Form::all && faulty.is(Fault::shape)) return mpi::reduce(value, 0, comm);
    if (form == Form::begun && faulty.is(Fault::shape)) return mpi::ireduce(value, 0, comm).wait();
    if constexpr (form == Form::all) mpi::allreduce(value, comm);
    if constexpr (form == Form::root) mpi::reduce(value, root, comm);
    if constexpr (form == Form::begun) mpi::iallreduce(value, comm).wait();
    if constexpr (form == Form::begun_root) mpi::ireduce(value, root, comm).wait();
  });
  outcome.is_unchanged = value.state() == before.state();
  return outcome;
}

struct Call {
  const char* name;
  std::function<Outcome(const Faulty&, const Way&)> make;
  std::vector<Way> ways;
  std::vector<Fault> faults;
};

const std::vector<Fault> kOfPlaces = {Fault::device, Fault::rung,   Fault::dtype,
                                      Fault::shape,  Fault::memory, Fault::numerics};
const std::vector<Way> kApart = {{false, false}, {true, false}};

void add_elementwise(std::vector<Call>& all) {
  const std::vector<Way> also_in_place = {
      {false, false}, {true, false}, {false, true}, {true, true}};
  const auto add = [&](const char* name, auto call) {
    const auto of = [call](const Vectors& vectors) {
      return [=](const Faulty& faulty, const Way& way) { return call(faulty, way, vectors); };
    };
    all.push_back({name, of({Function::argmax, 1000}), also_in_place, kOfPlaces});
    for (const int64_t length : {int64_t{1}, int64_t{1000}})
      all.push_back({name, of({Function::sum, length}), also_in_place, kOfPlaces});
  };
  add("allreduce", elementwise<Form::all>);
  add("reduce", elementwise<Form::root>);
  add("iallreduce", elementwise<Form::begun>);
  add("ireduce", elementwise<Form::begun_root>);
}

template <class T>
void add_merged(std::vector<Call>& all, const std::vector<Fault>& faults) {
  all.push_back({"allreduce", merged<T, Form::all>, {{}}, faults});
  all.push_back({"reduce", merged<T, Form::root>, {{}}, faults});
  all.push_back({"iallreduce", merged<T, Form::begun>, {{}}, faults});
  all.push_back({"ireduce", merged<T, Form::begun_root>, {{}}, faults});
}

/// All calls over ranks.
std::vector<Call> calls() {
  std::vector<Call> all;
  add_elementwise(all);
  add_merged<trine::ExactSum>(all, {Fault::shape});
  add_merged<trine::Partial>(all, {Fault::shape, Fault::dtype});
  all.push_back({"transpose", transpose, kApart, kOfPlaces});
  all.push_back({"gemm", gemm<0>, kApart, kOfPlaces});
  all.push_back({"gemm", gemm<1>, kApart, kOfPlaces});
  const std::vector<Fault> parts = {Fault::device, Fault::dtype, Fault::memory};
  all.push_back({"exact_sum", returned<Value::exact_sum>, kApart, parts});
  all.push_back({"exact_dot", returned<Value::exact_dot>, kApart, parts});
  all.push_back({"partial", returned<Value::partial>, kApart, parts});
  const std::vector<Fault> places = {Fault::device, Fault::rung, Fault::numerics};
  for (const Fault fault : {Fault::device, Fault::dtype, Fault::shape, Fault::memory}) {
    all.push_back({"sums", of_fields<true>, kApart, {fault}});
    all.push_back({"reduce_fields", of_fields<false>, kApart, {fault}});
  }
  all.push_back({"sums", of_fields<true>, {{}}, places});
  std::vector<Fault> places_and_unfit = places;
  places_and_unfit.push_back(Fault::unfit_rung);
  const std::vector<Way> host = {{}};
  all.push_back({"sum", returned<Value::sum>, host, places});
  all.push_back({"dot", returned<Value::dot>, host, places_and_unfit});
  all.push_back({"min", returned<Value::min>, host, places});
  all.push_back({"max", returned<Value::max>, host, places});
  all.push_back({"argmin", returned<Value::argmin>, host, places});
  all.push_back({"argmax", returned<Value::argmax>, host, places});
  all.push_back({"prod", returned<Value::prod>, host, places});
  return all;
}

TEST(Refusals, OnOneRankReachAllBeforeAnythingIsWritten) {
  for (const Call& call : calls())
    for (const Way& way : call.ways)
      for (const Fault fault : call.faults)
        for (const int at : {0, size() - 1}) {
          if (size() == 1 && at != 0) continue;
          if (size() == 1 && (fault == Fault::dtype || fault == Fault::shape)) continue;  // agrees
          const Outcome outcome = call.make(Faulty(rank() == at ? fault : Fault::none), way);
          const std::string who = std::string(call.name) + ", " + kNames[int(fault)] + " on rank " +
                                  std::to_string(at) + (way.is_resident ? ", resident" : "") +
                                  (way.is_in_place ? ", in place" : "") + ": " + outcome.error;
          EXPECT_TRUE(outcome.is_unchanged) << who;
          EXPECT_NE(outcome.error, "nothing") << who;
          if (fault == Fault::dtype || fault == Fault::shape) continue;  // ranks that differ, too
          EXPECT_THAT(outcome.error, HasSubstr(": On rank " + std::to_string(at) + ": ")) << who;
          const bool is_named =
              fault == Fault::rung || (fault == Fault::device && !way.is_resident);
          EXPECT_THAT(outcome.error, HasSubstr(is_named ? "abacus" : ""));
        }
}

TEST(Refusals, NoneWithoutAFault) {
  for (const Call& call : calls())
    for (const Way& way : call.ways)
      EXPECT_EQ(call.make(Faulty(Fault::none), way).error, "nothing") << call.name;
}

/// The functions of the headers that have a communicator.
TEST(Refusals, TheListHasAllCalls) {
  std::set<std::string> declared, listed = {"matrix"};  // which no rank waits in
  for (const char* const header : {"mpi.hpp", "mpi_matrix.hpp", "mpi_sums.hpp"}) {
    std::ifstream file(std::string(TRINE_TEST_HEADERS "/") + header);
    std::string text, line;
    while (std::getline(file, line))
      if (line.find("///") == std::string::npos) text += line + "\n";
    const std::regex call(R"((\w+)\(([^()]*|[^()]*\(\)[^()]*)MPI_Comm comm)");
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at)
      declared.insert((*at)[1]);
  }
  for (const Call& call : calls()) listed.insert(call.name);
  EXPECT_EQ(declared, listed);
}

}  // namespace
