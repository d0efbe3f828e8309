// Every function that the library exports, with a call of it: a promise about all of them is tested
// on this list. check_entries.py compares the list with the library.
#pragma once

#include <trine/trine.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace trine::testing {

/// 0, 1, 2, 0, 1, 2 …: sums and products of these are exact.
inline std::vector<float> small_numbers(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(i % 3);
  return values;
}

/// c = 2 a b + 3 c for n x n matrices of ones is 2 n + 3.
inline bool multiplies(const HostOptions& on, int64_t n = 200) {
  const std::vector<double> a(size_t(n * n), 1.0);
  std::vector<double> c(size_t(n * n), 1.0);
  gemm<double>(n, n, n, 2, a.data(), a.data(), 3, c.data(), on);
  return c == std::vector<double>(size_t(n * n), double(2 * n + 3));
}

/// The data of the calls: `count` small numbers, and side x side ones. The default is enough work
/// for threads.
struct Operands {
  explicit Operands(const std::string& id, int64_t its_count = 3 << 16, int64_t its_side = 200)
      : name(id), count(its_count), side(its_side), device(open(id)) {
    copy(queue, host, x);
    copy(queue, host_square, square);
    copy(queue, host_square, turned);
    queue.wait();
  }
  std::string name;
  int64_t count, side;
  Device device;
  std::string another = "cpu";  ///< a device that is opened
  Queue queue{device};
  std::vector<float> values = small_numbers(size_t(count)),
                     ones = std::vector<float>(size_t(side * side), 1.0f),
                     result = std::vector<float>(size_t(side * side));
  View x = vector(Buffer::of<float>(device, count), Dtype::f32, count),
       one = vector(Buffer::of<float>(device, 1), Dtype::f32, 1);
  View square = matrix(), turned = matrix(), product = matrix();
  ConstHostView host = host_vector(std::as_const(values).data(), Dtype::f32, count);
  ConstHostView host_square = host_row_major(std::as_const(ones).data(), Dtype::f32, side, side);
  HostView out = host_row_major(result.data(), Dtype::f32, side, side),
           host_one = host_vector(result.data(), Dtype::f32, 1);
  Reduce reduce{.input = x, .output = one};
  Transpose transpose{.input = square, .output = turned};
  Gemm gemm{.a = square, .b = turned, .c = product};
  HostOptions on{.device = name};

  View matrix() const {
    return row_major(Buffer::of<float>(device, side * side), Dtype::f32, side, side);
  }
  float total() const { return float(count / 3 * 3 + (count % 3 == 2)); }
  float squares() const { return float(count / 3 * 5 + (count % 3 == 2)); }
  float first_of(View view) {
    view.rows = view.cols = 1;
    float value = -1;
    copy(queue, view, host_vector(&value, Dtype::f32, 1));
    queue.wait();
    return value;
  }
};

struct Entry {
  const char* name;  ///< as the library exports it
  /// Calls it where that is right; whether the answer is right. May be empty.
  std::function<bool(Operands&)> is_right;
  /// Calls it where that is wrong. May be empty.
  std::function<void(Operands&)> is_refused = {};
};

inline const std::vector<Entry>& every_entry() {
  using O = Operands;
  static const std::vector<Entry> all = {
      {"backends", [](O&) { return !backends().empty(); }},
      {"devices", [](O&) { return !devices().empty(); }},
      {"search_path", [](O&) { return !search_path().empty(); }},
      {"load_packs", [](O&) { return load_packs("/nowhere/at/all").size() == 1; }},
      {"open", [](O& o) { return bool(open(o.another)); }, [](O&) { open("no such device"); }},
      {"Device::facts", [](O& o) { return o.device.facts().compute_units > 0; },
       [](O&) { Device().facts(); }},
      {"Device::id", [](O& o) { return o.device.id() == o.name; }, [](O&) { Device().id(); }},
      {"Device::backend", [](O& o) { return o.name.starts_with(o.device.backend()); },
       [](O&) { Device().backend(); }},
      {"Device::rungs", [](O& o) { return !o.device.rungs(Operation::gemm).empty(); }},
      {"Device::native", [](O& o) { return o.device.native(), true; },
       [](O&) { Device().native(); }},
      {"Queue::Queue", [](O& o) { return bool(Queue(o.device)); }},
      {"Queue::adopt", {}, [](O& o) { Queue::adopt(o.device, nullptr); }},
      {"Queue::device", [](O& o) { return o.queue.device() == o.device; },
       [](O&) { Queue().device(); }},
      {"Queue::native", [](O& o) { return o.queue.native(), true; }, [](O&) { Queue().native(); }},
      {"Queue::flush", [](O& o) { return o.queue.flush(), true; }},
      {"Queue::wait", [](O& o) { return o.queue.wait(), o.queue.wait(o.queue.record()), true; },
       [](O&) { Queue().wait(); }},
      {"Queue::done", [](O& o) { return o.queue.wait(), o.queue.done(); }},
      {"Queue::record", [](O& o) { return o.queue.record().wait(), true; }},
      {"Event::done", [](O& o) { return o.queue.record().done(), true; }},
      {"Event::wait", [](O& o) { return o.queue.record().wait(), true; }},
      {"elapsed",
       [](O& o) {
         const Event start = o.queue.record(), stop = o.queue.record();
         stop.wait();
         return elapsed(start, stop) >= 0;
       }},
      {"Buffer::Buffer", [](O& o) { return Buffer(o.device, 64).bytes() == 64; }},
      {"Buffer::adopt", {}, [](O& o) { Buffer::adopt(o.device, nullptr, 64); }},
      {"Buffer::wrap",
       [](O& o) { return Buffer::wrap(o.device, o.values.data(), 64).bytes() == 64; }},
      {"Buffer::device", [](O& o) { return o.x.buffer.device() == o.device; },
       [](O&) { Buffer().device(); }},
      {"Buffer::kind", [](O& o) { return o.x.buffer.kind() == Memory::device; },
       [](O&) { Buffer().kind(); }},
      {"Buffer::bytes", [](O& o) { return o.x.buffer.bytes() == uint64_t(4 * o.count); },
       [](O&) { Buffer().bytes(); }},
      {"Buffer::native", [](O& o) { return o.x.buffer.native() != nullptr; },
       [](O&) { Buffer().native(); }},
      {"Buffer::host", [](O& o) { return o.x.buffer.host(), true; }, [](O&) { Buffer().host(); }},
      {"copy", [](O& o) { return copy(o.queue, o.square, o.turned), o.first_of(o.turned) == 1; },
       [](O& o) { copy(o.queue, o.x, o.x); }},
      {"fill",
       [](O& o) {
         const float three = 3;
         fill(o.queue, o.product, &three);
         return o.first_of(o.product) == 3;
       }},
      {"axpby",
       [](O& o) { return axpby(o.queue, 2, o.square, 0, o.product), o.first_of(o.product) == 2; }},
      {"scalar",
       [](O& o) {
         scalar(o.queue, Arithmetic::add, 2.0, 3.0, o.one);
         return o.first_of(o.one) == 5;
       }},
      {"run",
       [](O& o) {
         run(o.queue, o.reduce), run(o.queue, o.transpose), run(o.queue, o.gemm);
         return o.first_of(o.one) == o.total() && o.first_of(o.product) == float(o.side);
       }},
      {"choose", [](O& o) { return !choose(o.device, o.transpose).rung().empty(); },
       [](O& o) { choose(o.device, o.gemm, "no"); }},
      {"Choice::rung", [](O& o) { return !choose(o.device, o.reduce).rung().empty(); }},
      {"Choice::sentence", [](O& o) { return !choose(o.device, o.reduce).sentence().empty(); }},
      {"Choice::pack", [](O& o) { return choose(o.device, o.reduce).pack().empty(); }},
      {"Choice::rung_name", [](O& o) { return !choose(o.device, o.reduce).rung_name().empty(); }},
      {"reduce",
       [](O& o) {
         trine::reduce(Function::sum, Map::identity, Axis::all, o.host, o.host_one, o.on);
         return o.result[0] == o.total();
       }},
      {"dot",
       [](O& o) {
         dot(o.host, o.host, o.host_one, Axis::all, o.on);
         return o.result[0] == o.squares();
       }},
      {"norm", [](O& o) { return norm(o.host_square, o.on) == double(o.side); }},
      {"transpose",
       [](O& o) { return trine::transpose(o.host_square, o.out, o.on), o.result == o.ones; }},
      {"gemm",
       [](O& o) {
         trine::gemm(1, o.host_square, o.host_square, 0, o.out, o.on);
         return std::ranges::count(o.result, float(o.side)) == o.side * o.side;
       }},
      {"digest", [](O& o) { return digest(o.host).size() == 32; }},
      {"Receipt::json",
       [](O& o) {
         Receipt receipt;
         HostOptions on = o.on;
         on.receipt = &receipt;
         trine::reduce(Function::sum, Map::identity, Axis::all, o.host, o.host_one, on);
         return !receipt.json().empty();
       }},
      {"release_idle", [](O&) { return release_idle(), true; }},
      {"place",
       [](O& o) { return bool(place(o.reduce, Where::host, 1, std::array{o.device}).device); },
       [](O& o) { place(o.gemm, Where::host, 0); }},
      {"roofs", [](O& o) { return roofs(o.device).copy > 0; }},
      {"calibration", [](O& o) { return !calibration(o.device).empty(); }},
      {"calibrate",
       {},
       [](O& o) { calibrate(std::array{o.device}, {.rounds = 0, .proceed = {}}); }},
      {"break_even",
       {},
       [](O& o) {
         break_even(Operation::gemm, Function::sum, Dtype::f32, Where::host, o.device, Device());
       }},
      {"SavedCalibration::SavedCalibration",
       {},
       [](O&) { SavedCalibration file("/nowhere/at/all"); }},
      {"tuning", [](O& o) { return tuning(o.device).rows.empty(); }},
      {"tuning_key",
       [](O& o) {
         return !tuning_key(o.reduce).empty() && !tuning_key(o.transpose).empty() &&
                !tuning_key(o.gemm).empty();
       }},
      {"save_tuning", {}, [](O& o) { save_tuning(o.device, {}); }},
      {"forget_tuning", {}, [](O& o) { forget_tuning(o.device, "no such call"), forget_tuning(); }},
      {"use_tuning", [](O&) { return use_tuning(true), uses_tuning(); }},
      {"uses_tuning", [](O&) { return uses_tuning(), true; }},
      {"parse_dtype", {}, [](O&) { parse_dtype("no such thing at all"); }},
      {"parse_operation", {}, [](O&) { parse_operation("no such thing at all"); }},
      {"parse_function", {}, [](O&) { parse_function("no such thing at all"); }},
      {"parse_map", {}, [](O&) { parse_map("no such thing at all"); }},
      {"parse_axis", {}, [](O&) { parse_axis("no such thing at all"); }},
      {"parse_numerics", {}, [](O&) { parse_numerics("no such thing at all"); }},
      {"ExactSum::ExactSum", {}, [](O&) { ExactSum sum(ExactSum::State{~uint64_t{0}}); }},
      {"ExactSum::add",
       [](O& o) {
         ExactSum sum;
         sum.add(o.host, Map::identity, o.on), sum.add(o.queue, o.x);
         return sum.round<float>() == 2 * o.total();
       }},
      {"ExactSum::add_dot",
       [](O& o) {
         ExactSum sum;
         sum.add_dot(o.host, o.host, o.on), sum.add_dot(o.queue, o.x, o.x);
         return sum.round<float>() == 2 * o.squares();
       }},
      {"ExactSum::merge",
       [](O&) {
         ExactSum sum;
         sum.merge(sum);
         return sum == ExactSum();
       }},
      {"Partial::Partial", {}, [](O&) { Partial(Function::sum, Dtype::b128); }},
      {"Partial::add",
       [](O& o) {
         Partial largest(Function::argmax, Dtype::f32);
         largest.add(o.host, 0, o.on), largest.add(o.queue, o.x, o.count);
         return largest.result<int64_t>() == 2;
       }},
      {"Partial::merge",
       {},
       [](O&) { Partial(Function::max, Dtype::f32).merge(Partial(Function::min, Dtype::f32)); }},
      {"Partial::result",
       {},
       [](O& o) { Partial(Function::max, Dtype::f32).result(Dtype::b8, o.result.data()); }},
  };
  return all;
}

/// Calls one of them in both ways. Returns the sentence about a wrong answer, about an error where
/// the call is right (the device may lack what it asks for), or about an exception that is no
/// Error.
inline std::string wrong_in(const Entry& entry, Operands& operands) {
  const std::string name = entry.name;
  try {
    if (entry.is_right && !entry.is_right(operands)) return name + " is wrong; ";
  } catch (const Error& error) {
    if (error.status() != Status::unsupported) return name + ": " + error.what() + "; ";
  } catch (const std::exception& error) { return name + ": " + error.what() + "; "; }
  try {
    if (entry.is_refused) entry.is_refused(operands);
  } catch (const Error&) {
  } catch (const std::exception& error) { return name + ": " + error.what() + "; "; }
  return "";
}

/// Calls all of them. `after` says what else is wrong once one was called.
template <class After>
std::string wrong_in_every_entry(const std::string& device, After&& after) {
  std::string wrong;
  Operands operands(device);
  for (const Entry& entry : every_entry()) {
    wrong += wrong_in(entry, operands);
    if (const std::string said = after(); !said.empty())
      wrong += std::string(entry.name) + ": " + said + "; ";
  }
  return wrong;
}

}  // namespace trine::testing
