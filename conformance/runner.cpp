// Running cases on one device.
#include "runner.hpp"

#include <algorithm>
#include <cstring>

#include "environment.hpp"
#include "goldens.hpp"
#include "layout.hpp"
#include "oracle/bits.hpp"

#include <trine/abi.h>

namespace trine::conformance {
namespace {

/// The memory that a view's strides of 0 leave: what a copy to it has to write.
trine_view without_repeats(trine_view v) {
  if (v.row_stride == 0) v.rows = std::min<int64_t>(v.rows, 1);
  if (v.col_stride == 0) v.cols = std::min<int64_t>(v.cols, 1), v.col_stride = 1;
  return v;
}

struct Dispatch {
  Queue& queue;
  const std::vector<View>& views;
  Numerics ask;
  const std::string& rung;
  double alpha = 0,
         beta = 0;  ///< gemm's, made beforehand: what a caller's own conversions flush isn't ours

  void take_scalars(const oracle::Operation& plan) {
    const auto* const g = std::get_if<trine_gemm>(&plan);
    if (!g) return;
    alpha = oracle::scalar_value(g->dtype, g->alpha);
    beta = oracle::scalar_value(g->dtype, g->beta);
  }

  Choice operator()(const trine_reduce& r) const {
    Reduce op{Function(r.function), Map(r.map), Axis(r.axis), views.front(), views.back(), ask};
    if (op.map == Map::product) op.second = views[1];
    return trine::run(queue, op, rung);
  }
  Choice operator()(const trine_transpose&) const {
    return trine::run(queue, Transpose{views[0], views[1]}, rung);
  }
  Choice operator()(const trine_gemm& g) const {
    const Numerics numerics = g.numerics == TRINE_EXACT ? Numerics::exact : ask;
    return trine::run(
        queue, Gemm{alpha, beta, views[0], views[1], views[2], numerics, trine_continues(&g) != 0},
        rung);
  }
};

/// The rung with every combination of its parameters' values, the defaults first and unsaid.
std::vector<std::string> combinations(const RungInfo& rung) {
  std::vector<std::string> names = {rung.name};
  for (const RungInfo::Parameter& parameter : rung.parameters) {
    const size_t before = names.size();
    for (const std::string& value : parameter.values) {
      if (value == parameter.default_value) continue;
      for (size_t n = 0; n < before; ++n) {
        const char* between = names[n].find(':') == std::string::npos ? ":" : ",";
        names.push_back(names[n] + between + parameter.name + "=" + value);
      }
    }
  }
  return names;
}

std::vector<Device> opened(const std::vector<std::string>& names) {
  std::vector<Device> devices;
  devices.reserve(names.size());
  for (const std::string& name : names) devices.push_back(open(name));
  return devices;
}

}  // namespace

Runner::Runner(std::string_view device, const std::vector<std::string>& others,
               const Options& options)
    : options_(options),
      device_(open(device)),
      queue_(device_),
      has_options_(device.find('=') != std::string_view::npos && options.devices.empty()),
      moves_(device_, opened(others)) {
  for (size_t op = 0; op < std::size(ladders_); ++op)
    ladders_[op] = device_.rungs(Operation(op + 1));
}

bool Runner::wanted(const std::string& rung) const {
  return options_.rung.empty() || rung == options_.rung ||
         rung.substr(0, rung.find(':')) == options_.rung;
}

/// A device opened with options ("cpu:threads=1") splits work otherwise than the plain one. There
/// the default rung runs cases that are large enough to be split; the other cases don't run.
bool Runner::splits(const Case& c) const {
  constexpr double kLeast = 1 << 18, kMost = 1 << 24;
  const double bytes = oracle::bytes_moved(c.plan);
  return bytes >= kLeast && bytes <= kMost;
}

std::vector<Runner::Turn> Runner::turns(const Case& c) const {
  std::vector<Turn> turns;
  const std::vector<RungInfo>& ladder = ladders_[c.plan.index()];
  if (ladder.empty()) return turns;  // the backend doesn't have the operation
  if (c.tight) {
    const RungInfo& rung = ladder[c.seed % ladder.size()];
    const bool named = c.rungs == Rungs::kLadder && rung.numerics != Numerics::vendor;
    return {{named ? rung.name : "", c.fast && !named ? Numerics::fast : Numerics::reproducible}};
  }
  if (has_options_) {
    if (splits(c) && options_.rung.empty()) turns.push_back({});
    return turns;
  }
  if (options_.rung.empty()) {
    turns.push_back({});
    if (c.fast) turns.push_back({"", Numerics::fast});
  }
  if (c.rungs == Rungs::kDefault) return turns;
  for (const RungInfo& rung : ladder) {
    if (rung.numerics == Numerics::vendor) continue;
    for (const std::string& name : c.parameters ? combinations(rung) : std::vector{rung.name})
      if (wanted(name)) turns.push_back({name});
  }
  return turns;
}

int64_t Runner::runs_of(const Case& c) const { return int64_t(turns(c).size()); }

void Runner::fail(const Case& c, const std::string& rung, const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++report_.failed;
  report_.failures.push_back({device_.id(), rung, c.name, what});
}

/// A default that refuses is a defect of the library; a named rung may refuse.
void Runner::skip(const Case& c, const Turn& turn, const Error& error) {
  const auto* const g = std::get_if<trine_gemm>(&c.plan);
  const bool f64 = c.dtype == "f64" || c.name.find("->f64") != std::string::npos ||
                   (g != nullptr && trine_is_exact(g));
  const uint64_t capabilities = device_.facts().capabilities;
  const bool can =
      (capabilities & TRINE_CAN_REPRODUCE) != 0 && (!f64 || (capabilities & TRINE_CAN_F64) != 0);
  if (error.status() == Status::unsupported && turn.rung.empty() && can)
    return fail(c, "default", std::string("no rung takes it: ") + error.what());
  const std::lock_guard lock(mutex_);
  ++report_.skipped;
  ++report_.skip_reasons[!can ? "the device can't reproduce the arithmetic" : "the rung refuses"];
  ++report_.skip_details[device_.id() + " " + (turn.rung.empty() ? "default" : turn.rung) + ": " +
                         error.what()];
}

void Runner::count(const Case& c, const Choice& choice) {
  const std::string operation(name(Operation(oracle::kind_of(c.plan))));
  ++report_.classes["rung"][device_.id() + " " + operation + " " + std::string(choice.rung_name())];
  ++report_.classes["dtype"][operation + " " + c.dtype];
  ++report_.classes["axis or layout"][operation + " " + c.layout];
  ++report_.classes["values"][operation + " " + oracle::name_of(c.values)];
}

void Runner::check_choice(const Choice& choice, const Turn& turn, std::string& wrong) const {
  const std::string asked = turn.rung.substr(0, turn.rung.find(':'));
  if (choice.device.id() != device_.id())
    wrong = "ran on " + choice.device.id() + ", not where it was asked to";
  else if (!asked.empty() && choice.rung_name() != asked)
    wrong = "ran rung " + choice.rung() + ", not the one named";
  else if (asked.empty() && turn.ask == Numerics::reproducible &&
           choice.numerics != Numerics::reproducible)
    wrong = "the default rung " + choice.rung() + " is not reproducible";
}

Choice Runner::enqueue(const oracle::Operation& plan, const std::vector<View>& views,
                       const Turn& turn, bool hostile, std::string& wrong) {
  Dispatch dispatch{queue_, views, turn.ask, turn.rung};
  dispatch.take_scalars(plan);
  HostileEnvironment environment(hostile);
  Choice choice = std::visit(dispatch, plan);
  queue_.wait();
  const bool intact = environment.intact();
  environment.restore();
  if (!intact) wrong = "the caller's floating-point environment was changed";
  check_choice(choice, turn, wrong);
  return choice;
}

Runner::Outcome Runner::run_in_arenas(const Case& c, const Arenas& arenas,
                                      std::vector<Buffer>& buffers, const Turn& turn) {
  std::vector<std::vector<char>> found;
  for (size_t a = 0; a < arenas.count(); ++a) {
    found.push_back(arenas.before(a));
    copy(queue_, all_of(found[a]), all_of(buffers[a]));
  }
  queue_.wait();  // the images are about to be reused for what comes back
  std::vector<View> views;
  oracle::Operation plan = c.plan;
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(plan)) {
    const Place at = arenas.place(index++);
    views.push_back(view_in(buffers[at.arena], at.offset, *o.view, o.dtype));
  }
  Outcome outcome;
  try {
    outcome.choice = enqueue(c.plan, views, turn, c.hostile_environment, outcome.wrong);
    if (c.beside) outcome.wrong = "memory that begins beside its elements was taken";
  } catch (const Error& error) {
    if (!c.beside || error.status() != Status::invalid_argument) throw;
  }
  for (size_t a = 0; a < arenas.count(); ++a) {
    std::fill(found[a].begin(), found[a].end(), char(0x5a));
    copy(queue_, all_of(buffers[a]), all_of(found[a]));
  }
  queue_.wait();
  if (!outcome.wrong.empty()) return outcome;
  if (!c.beside) outcome.wrong = arenas.judge(found, uint32_t(outcome.choice.numerics));
  for (size_t a = 0; c.beside && a < arenas.count(); ++a)
    if (found[a] != arenas.before(a)) outcome.wrong = "a call that was refused has written";
  return outcome;
}

/// Operands that are too far apart for images: elements are copied through strided views, so
/// untouched memory stays unmapped.
Runner::Outcome Runner::run_far(const Case& c, const Turn& turn, oracle::HostOperation& host,
                                const std::vector<Buffer>& buffers) {
  std::vector<View> views;
  size_t index = 0;
  for (const oracle::Operand& o : oracle::operands(host.op)) {
    const Buffer& buffer = buffers[index++];
    views.push_back(view_in(buffer, o.view->offset, *o.view, o.dtype));
    if (!o.read) continue;
    const trine_view v = without_repeats(*o.view);
    copy(queue_, view_at(oracle::origin(v), v, o.dtype), view_in(buffer, v.offset, v, o.dtype));
  }
  Outcome outcome;
  outcome.choice = enqueue(c.plan, views, turn, c.hostile_environment, outcome.wrong);
  oracle::reference(host.op);
  const oracle::Operand output = oracle::output_of(host.op);
  std::vector<char> got(oracle::extent_bytes(*output.view, output.dtype));
  trine_view got_view = *output.view;
  got_view.memory = got.data(), got_view.offset = 0;
  copy(queue_, views.back(), view_at(got.data(), got_view, output.dtype));
  queue_.wait();
  const oracle::Difference d = oracle::check(host.op, got_view, uint32_t(outcome.choice.numerics));
  if (outcome.wrong.empty() && !d.none()) outcome.wrong = d.sentence();
  return outcome;
}

void Runner::take_turn(const Case& c, const Turn& turn, const std::function<Outcome()>& body) {
  try {
    const Outcome outcome = body();
    const std::lock_guard lock(mutex_);
    ++report_.cases;
    if (outcome.choice.device)
      count(c, outcome.choice);
    else
      ++report_.classes["refused"][device_.id() + " memory beside its elements"];
    if (!outcome.wrong.empty())
      fail(c, outcome.choice.device ? outcome.choice.rung() : "refused", outcome.wrong);
  } catch (const Error& error) {
    if (error.status() == Status::unsupported) return skip(c, turn, error);
    const std::lock_guard lock(mutex_);
    ++report_.cases;
    fail(c, turn.rung.empty() ? "default" : turn.rung,
         std::string(name(error.status())) + ": " + error.what());
    queue_ = Queue(device_);
  }
}

/// Buffers of these sizes; none when the device can't hold them, which is no fault of its own.
std::vector<Buffer> Runner::allocate(const Case& c, const std::vector<uint64_t>& sizes,
                                     size_t turns) {
  std::vector<Buffer> buffers;
  try {
    Dice dice(~c.seed);
    held_.clear();
    for (const uint64_t size : sizes) {
      if (c.beside && held_.empty())
        held_.emplace_back(device_, size);
      else if (c.tight)
        held_.emplace_back(device_, size, dice);
      buffers.push_back(c.tight ? held_.back().buffer : Buffer(device_, size));
    }
  } catch (const Error& error) {
    buffers.clear();
    const bool limit =
        error.status() == Status::unsupported || error.status() == Status::out_of_memory;
    if (!limit) {
      fail(c, "buffer", error.what());
      return buffers;
    }
    const std::lock_guard lock(mutex_);
    report_.skipped += int64_t(turns);
    report_.skip_reasons["larger than the device's memory"] += int64_t(turns);
    report_.skip_details[device_.id() + ": " + error.what()] += int64_t(turns);
  }
  return buffers;
}

void Runner::run(Case c) {
  c.beside = c.beside && RandomBuffer::any_kind(device_);
  const std::vector<Turn> all = turns(c);
  if (all.empty()) return;
  if (c.far) {
    oracle::HostOperation host(c.plan);
    oracle::fill(host.op, c.values, c.seed);
    std::vector<uint64_t> sizes;
    for (size_t o = 0; o < oracle::operands(host.op).size(); ++o) sizes.push_back(host.bytes(o));
    const std::vector<Buffer> buffers = allocate(c, sizes, all.size());
    for (const Turn& turn : all)
      if (!buffers.empty() && !stopped())
        take_turn(c, turn, [&] { return run_far(c, turn, host, buffers); });
    return;
  }
  const Arenas arenas(c);
  if (!c.tight && golden(c.name) != arenas.digest())
    fail(c, "oracle", "the reference on this host differs from the golden digest");
  std::vector<uint64_t> sizes;
  for (size_t a = 0; a < arenas.count(); ++a) sizes.push_back(arenas.before(a).size());
  std::vector<Buffer> buffers = allocate(c, sizes, all.size());
  for (const Turn& turn : all)
    if (!buffers.empty() && !stopped())
      take_turn(c, turn, [&] { return run_in_arenas(c, arenas, buffers, turn); });
}

int64_t Runner::moves() const {
  const bool all = options_.rung.empty() && options_.filter.empty() && options_.operation == 0;
  return all && !has_options_ ? Moves::kKinds * kMoves : 0;
}

void Runner::move(int64_t number) {
  move(Moves::kind_of(number), uint64_t(number / Moves::kKinds));
}

void Runner::move(Moves::Kind kind, uint64_t seed) {
  const char* const what = Moves::name(kind);
  Moves::Outcome outcome;
  try {
    outcome = moves_.make(kind, seed);
  } catch (const Error& error) {
    outcome = {what + (" --seed " + std::to_string(seed)), error.what()};
  }
  const std::lock_guard lock(mutex_);
  ++report_.cases;
  ++report_.classes["move"][device_.id() + " " + what];
  if (outcome.wrong.empty()) return;
  ++report_.failed;
  report_.failures.push_back({device_.id(), what, outcome.name, outcome.wrong});
}

void Runner::run_random(uint64_t seed) {
  // A kind of call that the filter names takes every seed, so that the calls after the cases can be
  // repeated.
  for (int kind = 0; kind < Moves::kKinds; ++kind)
    if (options_.filter == Moves::name(Moves::Kind(kind))) return move(Moves::Kind(kind), seed);
  const int64_t number = Dice(~seed).below(8);  // not the first one that the call itself draws
  const auto kind = number < 4    ? Moves::kKinds
                    : number == 4 ? Moves::kFill
                    : number == 6 ? Moves::kChain
                    : number == 7 ? Moves::kElementwise
                                  : Moves::kCopy;
  const std::string name = kind == Moves::kKinds ? "operation" : Moves::name(kind);
  if (name.find(options_.filter) == std::string::npos) return;
  if (kind == Moves::kKinds) return run(random_case(seed));
  move(kind, seed);
}

}  // namespace trine::conformance
