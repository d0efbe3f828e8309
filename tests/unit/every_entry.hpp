// Every function that the library exports, by list, with a call of it: what has to hold of each is tested of each.
// check_entries.py holds the list against the library. entry_points.hpp has those whose results are looked at.
#pragma once

#include <trine/trine.hpp>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace trine::testing {

/// What the calls of a test over all of them work on.
struct Operands {
  explicit Operands(const std::string& id, const std::string& its_other = "cpu")
      : name(id), device(open(id)), another(its_other) {}
  std::string name;
  Device device;
  std::string another;  ///< a device that is opened
  Queue queue{device};
  std::vector<float> values = std::vector<float>(64, 1.0f), result = std::vector<float>(64);
  View x = vector(Buffer(device, 256), Dtype::f32, 64),
       one = vector(Buffer(device, 4), Dtype::f32, 1);
  View square = row_major(Buffer(device, 256), Dtype::f32, 8, 8),
       turned = row_major(Buffer(device, 256), Dtype::f32, 8, 8),
       product = row_major(Buffer(device, 256), Dtype::f32, 8, 8);
  ConstHostView host = host_vector(values.data(), Dtype::f32, 64);
  ConstHostView host_square = host_row_major(values.data(), Dtype::f32, 8, 8);
  HostView out = host_row_major(result.data(), Dtype::f32, 8, 8),
           host_one = host_vector(result.data(), Dtype::f32, 1);
  Reduce reduce{.input = x, .output = one};
  Transpose transpose{.input = square, .output = turned};
  Gemm gemm{.a = square, .b = turned, .c = product};
  HostOptions on{.device = name};
};

struct Entry {
  const char* name;  ///< as the library exports it; check_entries.py holds the list against that
  std::function<void(Operands&)> call;
};

inline const std::vector<Entry>& every_entry() {
  static const std::vector<Entry> all = {
      {"backends", [](Operands&) { backends(); }},
      {"devices", [](Operands&) { devices(); }},
      {"search_path", [](Operands&) { search_path(); }},
      {"load_packs", [](Operands&) { load_packs("/nowhere/at/all"); }},
      {"open", [](Operands& o) { open(o.another), open("no such device"); }},
      {"Device::facts", [](Operands& o) { o.device.facts(), Device().facts(); }},
      {"Device::id", [](Operands& o) { o.device.id(), Device().id(); }},
      {"Device::backend", [](Operands& o) { o.device.backend(), Device().backend(); }},
      {"Device::rungs", [](Operands& o) { o.device.rungs(Operation::gemm); }},
      {"Device::native", [](Operands& o) { o.device.native(), Device().native(); }},
      {"Queue::Queue", [](Operands& o) { Queue queue(o.device); }},
      {"Queue::adopt", [](Operands& o) { Queue::adopt(o.device, nullptr); }},
      {"Queue::device", [](Operands& o) { o.queue.device(), Queue().device(); }},
      {"Queue::native", [](Operands& o) { o.queue.native(), Queue().native(); }},
      {"Queue::flush", [](Operands& o) { o.queue.flush(); }},
      {"Queue::wait",
       [](Operands& o) { o.queue.wait(), o.queue.wait(o.queue.record()), Queue().wait(); }},
      {"Queue::done", [](Operands& o) { o.queue.done(); }},
      {"Queue::record", [](Operands& o) { o.queue.record(); }},
      {"Event::done", [](Operands& o) { o.queue.record().done(); }},
      {"Event::wait", [](Operands& o) { o.queue.record().wait(); }},
      {"elapsed", [](Operands& o) { elapsed(o.queue.record(), o.queue.record()); }},
      {"Buffer::Buffer", [](Operands& o) { Buffer buffer(o.device, 64); }},
      {"Buffer::adopt", [](Operands& o) { Buffer::adopt(o.device, nullptr, 64); }},
      {"Buffer::wrap", [](Operands& o) { Buffer::wrap(o.device, o.values.data(), 64); }},
      {"Buffer::device", [](Operands& o) { o.x.buffer.device(), Buffer().device(); }},
      {"Buffer::kind", [](Operands& o) { o.x.buffer.kind(), Buffer().kind(); }},
      {"Buffer::bytes", [](Operands& o) { o.x.buffer.bytes(), Buffer().bytes(); }},
      {"Buffer::native", [](Operands& o) { o.x.buffer.native(), Buffer().native(); }},
      {"Buffer::host", [](Operands& o) { o.x.buffer.host(), Buffer().host(); }},
      {"copy",
       [](Operands& o) { copy(o.queue, o.host, o.x), copy(o.queue, o.x, o.x), o.queue.wait(); }},
      {"fill", [](Operands& o) { fill(o.queue, o.x, o.values.data()), o.queue.wait(); }},
      {"axpby", [](Operands& o) { axpby(o.queue, 2, o.square, 1, o.turned); }},
      {"scalar", [](Operands& o) { scalar(o.queue, Arithmetic::add, 2.0, 3.0, o.one); }},
      {"run",
       [](Operands& o) {
         run(o.queue, o.reduce), run(o.queue, o.transpose), run(o.queue, o.gemm), o.queue.wait();
       }},
      {"choose",
       [](Operands& o) {
         choose(o.device, o.reduce), choose(o.device, o.transpose), choose(o.device, o.gemm, "no");
       }},
      {"Choice::rung", [](Operands& o) { choose(o.device, o.reduce).rung(); }},
      {"Choice::sentence", [](Operands& o) { choose(o.device, o.reduce).sentence(); }},
      {"Choice::pack", [](Operands& o) { choose(o.device, o.reduce).pack(); }},
      {"Choice::rung_name", [](Operands& o) { choose(o.device, o.reduce).rung_name(); }},
      {"reduce",
       [](Operands& o) {
         reduce(Function::sum, Map::identity, Axis::all, o.host, o.host_one, o.on);
       }},
      {"dot", [](Operands& o) { dot(o.host, o.host, o.host_one, Axis::all, o.on); }},
      {"norm", [](Operands& o) { norm(o.host, o.on); }},
      {"transpose", [](Operands& o) { transpose(o.host_square, o.out, o.on); }},
      {"gemm", [](Operands& o) { gemm(1, o.host_square, o.host_square, 0, o.out, o.on); }},
      {"digest", [](Operands& o) { digest(o.host); }},
      {"Receipt::json",
       [](Operands& o) {
         Receipt receipt;
         HostOptions on = o.on;
         on.receipt = &receipt;
         reduce(Function::sum, Map::identity, Axis::all, o.host, o.host_one, on);
         receipt.json();
       }},
      {"release_idle", [](Operands&) { release_idle(); }},
      {"place",
       [](Operands& o) {
         place(o.reduce, Where::host, 1, std::array{o.device}), place(o.gemm, Where::host, 0);
       }},
      {"roofs", [](Operands& o) { roofs(o.device); }},
      {"calibration", [](Operands& o) { calibration(o.device); }},
      {"calibrate",
       [](Operands& o) { calibrate(std::array{o.device}, {.rounds = 0, .proceed = {}}); }},
      {"break_even",
       [](Operands& o) {
         break_even(Operation::gemm, Function::sum, Dtype::f32, Where::host, o.device, Device());
       }},
      {"SavedCalibration::SavedCalibration",
       [](Operands&) { SavedCalibration file("/nowhere/at/all"); }},
      {"tuning", [](Operands& o) { tuning(o.device); }},
      {"tuning_key",
       [](Operands& o) { tuning_key(o.reduce), tuning_key(o.transpose), tuning_key(o.gemm); }},
      {"save_tuning", [](Operands& o) { save_tuning(o.device, {}); }},
      {"forget_tuning",
       [](Operands& o) { forget_tuning(o.device, "no such call"), forget_tuning(); }},
      {"use_tuning", [](Operands&) { use_tuning(true); }},
      {"uses_tuning", [](Operands&) { uses_tuning(); }},
      {"parse_dtype", [](Operands&) { parse_dtype("no such thing at all"); }},
      {"parse_operation", [](Operands&) { parse_operation("no such thing at all"); }},
      {"parse_function", [](Operands&) { parse_function("no such thing at all"); }},
      {"parse_map", [](Operands&) { parse_map("no such thing at all"); }},
      {"parse_axis", [](Operands&) { parse_axis("no such thing at all"); }},
      {"ExactSum::ExactSum", [](Operands&) { ExactSum sum(ExactSum::State{~uint64_t{0}}); }},
      {"ExactSum::add",
       [](Operands& o) {
         ExactSum sum;
         sum.add(o.host, Map::identity, o.on), sum.add(o.queue, o.x);
       }},
      {"ExactSum::add_dot",
       [](Operands& o) {
         ExactSum sum;
         sum.add_dot(o.host, o.host, o.on), sum.add_dot(o.queue, o.x, o.x);
       }},
      {"ExactSum::merge",
       [](Operands&) {
         ExactSum sum;
         sum.merge(sum);
       }},
      {"Partial::Partial", [](Operands&) { Partial(Function::sum, Dtype::b128); }},
      {"Partial::add",
       [](Operands& o) {
         Partial sum(Function::max, Dtype::f32);
         sum.add(o.host, 0, o.on), sum.add(o.queue, o.x, 64);
       }},
      {"Partial::merge",
       [](Operands&) {
         Partial(Function::max, Dtype::f32).merge(Partial(Function::min, Dtype::f32));
       }},
      {"Partial::result",
       [](Operands& o) { Partial(Function::max, Dtype::f32).result(Dtype::b8, o.result.data()); }},
  };
  return all;
}

/// Calls each of them, and whatever of it is refused; says which let out what is no Error. `after` says what else is
/// wrong once one was called.
template <class After>
std::string wrong_in_every_entry(const std::string& device, After&& after) {
  std::string wrong;
  Operands operands(device);
  for (const Entry& entry : every_entry()) {
    try {
      entry.call(operands);
    } catch (const Error&) {
      // a device can't do all, and some of the calls are wrong
    } catch (const std::exception& error) {
      wrong += std::string(entry.name) + ": " + error.what() + "; ";
    }
    if (const std::string said = after(); !said.empty())
      wrong += std::string(entry.name) + ": " + said + "; ";
  }
  return wrong;
}

}  // namespace trine::testing
