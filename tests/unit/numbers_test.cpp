// Numbers that name nothing, at every place that takes an enumerator. The headers prove that the
// list has all functions. C's functions call these; c/errors_test.c looks at their conversions.
#include <functional>
#include <map>

#include "fixture.hpp"
#include "headers.hpp"

namespace trine::testing {
namespace {

/// The functions with an enumerator among their arguments, and for each enumerator a call.
std::multimap<std::string, std::function<void(uint32_t)>> calls_of_cpp(const Queue& on) {
  static std::vector<float> values(16), out(16);
  static Queue queue = on;
  const Device device = queue.device();
  const ConstHostView x = host_vector(values.data(), Dtype::f32, 16);
  const HostView one = host_vector(out.data(), Dtype::f32, 1);
  const View there = vector({device, 64}, Dtype::f32, 16),
             result = vector({device, 4}, Dtype::f32, 1);
  const Reduce sum{.input = there, .output = result};
  const View square = row_major({}, Dtype::f32, 2, 2);
  const Gemm product{.a = square, .b = square, .c = square};
  const Transpose turn{square, square};
  const auto changed = [=](auto change, auto call) {
    return [=](uint32_t wrong) {
      Reduce op = sum;
      change(op, wrong);
      call(op);
    };
  };
  std::multimap<std::string, std::function<void(uint32_t)>> all = {
      {"rungs", [=](uint32_t w) { device.rungs(Operation(w)); }},
      {"Buffer", [=](uint32_t w) { Buffer(device, 4, Memory(w)); }},
      {"of", [=](uint32_t w) { Buffer::of<float>(device, 4, Memory(w)); }},
      {"scalar", [=](uint32_t w) { scalar(queue, Arithmetic(w), 1, 1, result); }},
      {"reduce", [=](uint32_t w) { reduce(Function(w), Map::identity, Axis::all, x, one); }},
      {"reduce", [=](uint32_t w) { reduce(Function::sum, Map(w), Axis::all, x, one); }},
      {"reduce", [=](uint32_t w) { reduce(Function::sum, Map::identity, Axis(w), x, one); }},
      {"dot", [=](uint32_t w) { dot(x, x, one, Axis(w)); }},
      {"dot", [=](uint32_t w) { dot(queue, there, there, result, Axis(w)); }},
      {"sum", [=](uint32_t w) { trine::sum(values, Map(w)); }},
      {"sum", [=](uint32_t w) { trine::sum(values, {.device = "cpu", .numerics = Numerics(w)}); }},
      {"add", [=](uint32_t w) { ExactSum().add(x, Map(w)); }},
      {"add", [=](uint32_t w) { ExactSum().add(values, Map(w)); }},
      {"add", [=](uint32_t w) { ExactSum().add(queue, there, Map(w)); }},
      {"Partial", [](uint32_t w) { Partial(Function(w), Dtype::f32); }},
      {"Partial", [](uint32_t w) { Partial(Function::max, Dtype(w)); }},
      {"Partial", [](uint32_t w) { Partial(Function::max, Dtype::f32, Map(w)); }},
      {"result",
       [=](uint32_t w) { Partial(Function::max, Dtype::f32).result(Dtype(w), out.data()); }},
      {"break_even",
       [=](uint32_t w) { break_even(Operation::gemm, {}, Dtype::f32, Where(w), device, device); }},
      {"break_even",
       [=](uint32_t w) { break_even(Operation(w), {}, Dtype::f32, Where::host, device, device); }},
      {"break_even",
       [=](uint32_t w) { break_even(Operation::gemm, {}, Dtype(w), Where::host, device, device); }},
      {"norm", [=](uint32_t w) { norm(host_vector(values.data(), Dtype(w), 4)); }},
      {"place", [=](uint32_t w) { place(sum, Where(w)); }},
      {"place", [=](uint32_t w) { place(product, Where(w)); }},
      {"place", [=](uint32_t w) { place(turn, Where(w)); }},
      {"transpose",
       [=](uint32_t w) {
         trine::transpose(2, 2, values.data(), out.data(),
                          {.device = "cpu", .numerics = Numerics(w)});
       }},
      {"gemm", [=](uint32_t w) {
         trine::gemm(2, 2, 2, values.data(), values.data(), out.data(), {.numerics = Numerics(w)});
       }}};
  const auto run_it = [](const Reduce& op) { run(queue, op); };
  const auto choose_it = [=](const Reduce& op) { choose(device, op); };
  const auto place_it = [](const Reduce& op) { place(op, Where::host); };
  const auto key_of_it = [](const Reduce& op) { tuning_key(op); };
  const auto add = [&](auto change) {
    all.insert({{"run", changed(change, run_it)},
                {"choose", changed(change, choose_it)},
                {"place", changed(change, place_it)},
                {"tuning_key", changed(change, key_of_it)}});
  };
  add([](Reduce& op, uint32_t w) { op.function = Function(w); });
  add([](Reduce& op, uint32_t w) { op.map = Map(w); });
  add([](Reduce& op, uint32_t w) { op.axis = Axis(w); });
  add([](Reduce& op, uint32_t w) { op.numerics = Numerics(w); });
  add([](Reduce& op, uint32_t w) { op.input.dtype = Dtype(w); });
  add([](Reduce& op, uint32_t w) { op.output.dtype = Dtype(w); });
  return all;
}

TEST(Numbers, ThatNameNothingAreRefusedByEachFunction) {
  Names listed;
  for (const auto& [name, call] : calls_of_cpp(Queue(open("cpu")))) {
    listed.insert(name);
    for (const uint32_t wrong : {0u, 99u, UINT32_MAX})
      EXPECT_EQ(trine::name(refusal_of([&] { call(wrong); }).status), "invalid_argument")
          << name << " of " << wrong;
  }
  // name() has "unknown"; result_dtype() and canonical() never fail; views are checked where they
  // are used; the test of predict() is with its file; the library alone calls the last two.
  const Names others = {"name",        "result_dtype",   "size_of",      "row_major",
                        "col_major",   "vector",         "batched",      "host_row_major",
                        "host_vector", "host_col_major", "host_batched", "predict",
                        "canonical",   "Error",          "reduce_all"};
  const std::string headers =
      text_of({"core/include/trine/", "types", "device", "queue", "buffer", "operations",
               "elementwise", "place", "host", "exact_sum", "partial", "tuning", "receipt"},
              ".hpp");
  for (
      const std::string& name : found_in(
          headers,
          R"(\b(\w+)\((?:[^()]|\(\))*\b(?:Dtype|Operation|Function|Map|Axis|Numerics|Where|Memory|Arithmetic|Status)(?: \w+|[,)]))"))
    EXPECT_TRUE(listed.contains(name) || others.contains(name)) << name << " isn't in the list";
}

}  // namespace
}  // namespace trine::testing
