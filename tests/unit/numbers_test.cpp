// Numbers that name nothing, at every place of both APIs that takes an enumerator. The headers prove that the lists
// have all functions.
#include <trine/trine.h>

#include <functional>
#include <map>

#include "fixture.hpp"
#include "headers.hpp"

namespace trine::testing {
namespace {

constexpr uint32_t kWrong[] = {99, UINT32_MAX};  // 0 stands for a default in C

/// The functions of C with an enumerator among their arguments, a call of each for each of these.
std::multimap<std::string, std::function<trine_status(uint32_t)>> calls_of_c(
    const trine_device_t* device, trine_queue_t* queue, const trine_buffer_t* buffer) {
  static float values[16], out[16];
  static trine_exact_sum_t sum;
  static trine_partial_t partial;
  trine_partial_init(&partial, TRINE_MAX, TRINE_IDENTITY, TRINE_F32);
  const trine_host_view_t x = trine_host_vector(values, TRINE_F32, 16);
  const trine_host_view_t one = trine_host_vector(out, TRINE_F32, 1);
  const trine_view_t there = trine_vector(buffer, TRINE_F32, 16, 0);
  const trine_view_t result = trine_vector(buffer, TRINE_F32, 1, 64);
  trine_reduce_t reduce{};
  reduce.input = there, reduce.output = result;
  trine_transpose_t turn{};
  turn.input = turn.output = trine_row_major(nullptr, TRINE_F32, 2, 2, 0);
  trine_gemm_t gemm{};
  gemm.alpha = 1, gemm.a = gemm.b = gemm.c = turn.input;
  const auto placed = [](auto place, auto operation) {
    return [=](uint32_t where) {
      const trine_placement_t* made = nullptr;
      return place(&operation, where, 1, nullptr, 0, &made);
    };
  };
  const auto even = [=](uint32_t operation, uint32_t function, uint32_t dtype, uint32_t where) {
    const trine_crossing_t* const* made = nullptr;
    size_t count = 0;
    return trine_list_break_even(operation, function, dtype, where, device, device, &made, &count);
  };
  const auto with = [=](auto change) {
    return [=](uint32_t wrong) {
      trine_host_view_t from = x, to = one;
      trine_options_t options{};
      options.device = "cpu";
      uint32_t numbers[] = {TRINE_SUM, TRINE_IDENTITY, TRINE_ALL};
      change(numbers, from, to, options, wrong);
      return trine_host_reduce(numbers[0], numbers[1], numbers[2], from, to, &options);
    };
  };
  const auto chosen = [=](auto member) {
    return [=](uint32_t wrong) {
      trine_reduce_t operation = reduce;
      operation.*member = wrong;
      const trine_choice_t* made = nullptr;
      return trine_choose_reduce(device, &operation, nullptr, &made);
    };
  };
  return {
      {"trine_device_list_rungs",
       [=](uint32_t wrong) {
         const trine_rung_info_t* const* made = nullptr;
         size_t count = 0;
         return trine_device_list_rungs(device, wrong, &made, &count);
       }},
      {"trine_buffer_allocate",
       [=](uint32_t wrong) {
         trine_buffer_t* made = nullptr;
         return trine_buffer_allocate(device, 4, wrong, &made);
       }},
      {"trine_exact_sum_add",
       [=](uint32_t wrong) { return trine_exact_sum_add(&sum, wrong, x, nullptr); }},
      {"trine_exact_sum_add_on_queue",
       [=](uint32_t wrong) { return trine_exact_sum_add_on_queue(&sum, queue, wrong, there); }},
      {"trine_partial_init",
       [=](uint32_t wrong) { return trine_partial_init(&partial, wrong, TRINE_ABS, TRINE_F32); }},
      {"trine_partial_init",
       [=](uint32_t wrong) { return trine_partial_init(&partial, TRINE_MAX, wrong, TRINE_F32); }},
      {"trine_partial_init",
       [=](uint32_t wrong) { return trine_partial_init(&partial, TRINE_MAX, TRINE_ABS, wrong); }},
      {"trine_partial_result",
       [=](uint32_t wrong) { return trine_partial_result(&partial, wrong, out); }},
      {"trine_host_reduce", with([](auto& n, auto&, auto&, auto&, auto w) { n[0] = w; })},
      {"trine_host_reduce", with([](auto& n, auto&, auto&, auto&, auto w) { n[1] = w; })},
      {"trine_host_reduce", with([](auto& n, auto&, auto&, auto&, auto w) { n[2] = w; })},
      {"trine_host_reduce", with([](auto&, auto& in, auto&, auto&, auto w) { in.dtype = w; })},
      {"trine_host_reduce", with([](auto&, auto&, auto& to, auto&, auto w) { to.dtype = w; })},
      {"trine_host_reduce", with([](auto&, auto&, auto&, auto& o, auto w) { o.numerics = w; })},
      {"trine_host_dot", [=](uint32_t wrong) { return trine_host_dot(x, x, one, wrong, nullptr); }},
      {"trine_run_dot",
       [=](uint32_t wrong) {
         return trine_run_dot(queue, there, there, result, wrong, nullptr, nullptr);
       }},
      {"trine_run_scalar",
       [=](uint32_t wrong) { return trine_run_scalar(queue, wrong, {}, {}, result); }},
      {"trine_place_reduce", placed(trine_place_reduce, reduce)},
      {"trine_place_transpose", placed(trine_place_transpose, turn)},
      {"trine_place_gemm", placed(trine_place_gemm, gemm)},
      {"trine_list_break_even",
       [=](uint32_t wrong) { return even(wrong, 0, TRINE_F32, TRINE_WHERE_HOST); }},
      {"trine_list_break_even",
       [=](uint32_t wrong) { return even(TRINE_REDUCE, wrong, TRINE_F32, TRINE_WHERE_HOST); }},
      {"trine_list_break_even",
       [=](uint32_t wrong) { return even(TRINE_GEMM, 0, wrong, TRINE_WHERE_HOST); }},
      {"trine_list_break_even",
       [=](uint32_t wrong) { return even(TRINE_GEMM, 0, TRINE_F32, wrong); }},
      {"trine_choose_reduce", chosen(&trine_reduce_t::function)},
      {"trine_choose_reduce", chosen(&trine_reduce_t::map)},
      {"trine_choose_reduce", chosen(&trine_reduce_t::axis)},
      {"trine_choose_reduce", chosen(&trine_reduce_t::numerics)},
      {"trine_host_transpose",
       [=](uint32_t wrong) {
         trine_options_t options{};
         options.numerics = wrong, options.device = "cpu";
         return trine_host_transpose(trine_host_row_major(values, TRINE_F32, 2, 3),
                                     trine_host_row_major(out, TRINE_F32, 3, 2), &options);
       }},
      {"trine_host_digest",
       [=](uint32_t wrong) {
         const char* made = nullptr;
         return trine_host_digest(trine_host_vector(values, wrong, 4), &made);
       }},
      {"trine_fill",
       [=](uint32_t wrong) {
         trine_view_t view = there;
         view.dtype = wrong;
         return trine_fill(queue, view, values);
       }},
      {"trine_copy_to_host",
       [=](uint32_t wrong) {
         trine_view_t from = there;
         trine_host_view_t to = x;
         from.dtype = to.dtype = wrong;
         return trine_copy_to_host(queue, from, to);
       }},
  };
}

TEST(Numbers, ThatNameNothingAreRefusedByEachFunctionOfC) {
  trine_device_t* device = nullptr;
  trine_queue_t* queue = nullptr;
  trine_buffer_t* buffer = nullptr;
  ASSERT_EQ(trine_device_open("cpu", &device), TRINE_OK);
  ASSERT_EQ(trine_queue_create(device, &queue), TRINE_OK);
  ASSERT_EQ(trine_buffer_allocate(device, 128, 0, &buffer), TRINE_OK);
  Names listed;
  for (const auto& [name, call] : calls_of_c(device, queue, buffer)) {
    listed.insert(name);
    for (const uint32_t wrong : kWrong)
      EXPECT_EQ(call(wrong), TRINE_INVALID_ARGUMENT) << name << " of " << wrong;
  }
  EXPECT_EQ(trine_queue_wait(queue), TRINE_OK);
  // Names of numbers have "unknown", and views are checked where they are used.
  const Names others = found_in(
      c_headers(),
      R"((trine_\w+_name|trine_result_dtype|trine_(?:host_)?(?:(?:row|col)_major|vector|batched))\()");
  for (
      const std::string& name : found_in(
          c_headers(),
          R"((trine_\w+)\([^()]*\buint32_t (?:status|function|map|axis|dtype|operation|numerics|where|kind)\b)"))
    EXPECT_TRUE(listed.contains(name) || others.contains(name)) << name << " isn't in the list";
  trine_buffer_release(buffer);
  trine_queue_release(queue);
  trine_device_close(device);
}

/// The functions of C++ likewise.
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

TEST(Numbers, ThatNameNothingAreRefusedByEachFunctionOfCpp) {
  Names listed;
  for (const auto& [name, call] : calls_of_cpp(Queue(open("cpu")))) {
    listed.insert(name);
    for (const uint32_t wrong : {0u, kWrong[0], kWrong[1]})
      EXPECT_EQ(trine::name(refusal_of([&] { call(wrong); }).status), "invalid_argument")
          << name << " of " << wrong;
  }
  // name() has "unknown"; result_dtype() never fails; views are checked where they are used; predict() has a test with
  // its file; what the library calls itself.
  const Names others = {"name",        "result_dtype",   "size_of",      "row_major",
                        "col_major",   "vector",         "batched",      "host_row_major",
                        "host_vector", "host_col_major", "host_batched", "predict",
                        "Error",       "reduce_span"};
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
