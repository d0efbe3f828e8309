// `trine transfers`: what moving the data costs, and what can be done about it: pageable and pinned
// memory, a pipeline of chunks over three queues, in place where memory is shared, and the cpu
// working meanwhile. Every pass is verified.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "bench/cases/cases.hpp"
#include "bench/cases/operations.hpp"
#include "bench/roofs/device_roofs.hpp"
#include "bench/timing/side_by_side.hpp"
#include "bench/transfer/modes.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/screen.hpp"
#include "bench/ui/table.hpp"

namespace trine::bench {
namespace {

struct Options {
  Measuring measuring;
  std::vector<std::string> operations, dtypes, sizes;
  std::string function = "sum", chunks = "auto";
  bool overlap_cpu = false, rates = true;
  /// 0 is auto.
  int fixed_chunks() const { return chunks == "auto" ? 0 : std::stoi(chunks); }
};

Problem problem_of(const Options& o, Operation operation, const std::string& dtype,
                   const std::string& size) {
  Problem p = bench::problem_of(operation, parse_dtype(dtype), parse_size(operation, size),
                                parse_function(o.function));
  if (describe(operation).is_vector) p.size = {p.size.rows * p.size.cols, 1, 0};
  check(p);
  check_memory(p, true);
  if (describe(operation).is_cut && p.size.rows < o.fixed_chunks())
    throw Refusal(fmt::format("{} is too small to be cut into {} chunks", to_string(p), o.chunks));
  return p;
}

Chosen<Problem> problems(const Options& o) {
  return chosen_of(o.operations, [&o](Operation operation) {
    std::vector<Problem> all;
    const std::vector<std::string> one{"f32"}, size{describe(operation).default_sizes.back()};
    for (const std::string& dtype : o.dtypes.empty() ? one : o.dtypes)
      for (const std::string& text : o.sizes.empty() ? size : o.sizes)
        all.push_back(problem_of(o, operation, dtype, text));
    return all;
  });
}

std::string mode_text(const MeasuredMode& m) {
  if (m.mode.cpu_rows != 0) return fmt::format("pipelined, cpu {:.2g}%", 100 * m.cpu_share());
  return m.mode.memory == "shared" ? "in place" : m.mode.memory;
}

std::vector<std::string> row_of(const MeasuredMode& m, const MeasuredMode* pageable) {
  const Result& r = m.result;
  std::vector<std::string> row{r.device, mode_text(m), is_wide() ? r.rung : bare(r.rung)};
  if (r.skipped) {
    row.resize(12, "-");
    row.back() = "refused";
    return row;
  }
  std::optional<double> sync;  // where phases overlap, they don't add up to the whole
  if (m.mode.memory != "pipelined")
    sync = std::max(0.0, m.pass.seconds - r.h2d.value_or(0) - *r.kernel - r.d2h.value_or(0));
  row.insert(
      row.end(),
      {m.mode.memory == "pipelined" ? std::to_string(chunks_of(m.pass)) : "-", time_text(r.alloc),
       time_text(r.h2d), time_text(r.kernel), time_text(r.d2h), time_text(sync), time_text(r.total),
       pageable ? ratio_text(*pageable->result.total / *r.total) : std::string("-"),
       verdict_text(r)});
  return row;
}

/// The verified one of that kind of memory on the device of `of`, without the cpu.
const MeasuredMode* find(const std::vector<MeasuredMode>& all, const MeasuredMode& of,
                         const std::string& memory) {
  const std::string device = of.result.device.substr(0, of.result.device.find('+'));
  for (const MeasuredMode& m : all)
    if (m.mode.memory == memory && m.result.device == device && m.result.verified) return &m;
  return nullptr;
}

/// The time of the slowest of copies in, kernel and copies out when nothing overlaps it, and which
/// of them it is.
std::pair<double, Lane> slowest_alone(const MeasuredMode& pinned) {
  std::pair<double, Lane> slowest{0, Lane::kernel};
  for (const Lane lane : {Lane::copy_in, Lane::kernel, Lane::copy_out})
    slowest = std::max(slowest, std::pair(busy(pinned.pass.spans, lane), lane));
  return slowest;
}

/// The timeline as a picture with its sentence; kept for the JSON.
void print_overlap(const MeasuredMode& m, const MeasuredMode& pinned,
                   nlohmann::ordered_json& timelines) {
  const auto [seconds, lane] = slowest_alone(pinned);
  const double share = seconds / m.pass.seconds;
  timelines.push_back(to_json(m, share));
  say("\n{}, {} in {} chunk{}, {}", m.result.device, to_string(m.result.problem), chunks_of(m.pass),
      chunks_of(m.pass) == 1 ? "" : "s", time_text(m.pass.seconds));
  for (const std::string& line : picture(m.pass, int(std::min<size_t>(72, screen_width() - 14))))
    say("  {}", line);
  if (m.mode.cpu_rows == 0) {
    say("The slower of link and kernel ('{}') takes {} alone, {:.0f} % of the pipelined time; "
        "two lanes were busy at once for {:.0f} % of it.",
        name(lane), time_text(seconds), 100 * share,
        100 * overlapped(m.pass.spans) / m.pass.seconds);
  } else {
    say("With the cpu on {:.2g} % of the rows meanwhile it is {} as fast as without{}.",
        100 * m.cpu_share(), ratio_text(m.gain), m.gain > 1 ? "" : ": no gain");
  }
}

void print_rates(const Device& device, Control& control, nlohmann::ordered_json& roofs,
                 double budget) {
  if (!has_link(device)) {
    say("\n{} computes in the host's memory: nothing is copied.", device.id());
    return;
  }
  say("\nCopies between the host and {}, by size", device.id());
  std::vector<std::vector<std::string>> rows{
      {"size", "to device", "pinned", "to host", "pinned", "both ways, pinned"}};
  LinkRates last;
  for (int power = 12; power <= 28 && !control.stop(); power += 4) {
    const uint64_t most = device.facts().max_buffer_bytes;
    if (most != 0 && uint64_t{1} << power > most) break;
    control.show(fmt::format("copies of 2^{} bytes, {}", power, device.id()));
    const std::optional<LinkRates> rates = link_rates(device, uint64_t{1} << power, budget);
    if (!rates) break;
    last = *rates;
    const auto text = [](double rate) { return rate_text(rate, "B/s"); };
    rows.push_back({fmt::format("2^{} B", power), text(last.to_device), text(last.to_device_pinned),
                    text(last.to_host), text(last.to_host_pinned), text(last.both_pinned)});
  }
  control.show("");
  print_table(rows, 1);
  if (last.bytes != 0)
    for (const DeviceRoof& roof : link_roofs(device, last)) roofs.push_back(to_json(roof));
}

void measure_problem(const Options& o, const Problem& problem, const std::vector<Device>& devices,
                     Control& control, Document& document, nlohmann::ordered_json& timelines) {
  const ModeSettings settings{o.fixed_chunks(), o.overlap_cpu, o.measuring.budget};
  const Expected expectation = expected(problem, o.measuring.seed);
  if (!expectation) return;
  std::vector<MeasuredMode> all;
  for (const Device& device : devices)
    for (MeasuredMode& m : measure_modes(settings, device, problem, expectation, control))
      all.push_back(std::move(m));
  std::vector<Result> results;
  results.reserve(all.size());
  for (const MeasuredMode& m : all) results.push_back(m.result);
  compare_digests(results);  // every way on every device has the same bits
  for (size_t i = 0; i < all.size(); ++i) all[i].result = results[i];
  document.results.insert(document.results.end(), results.begin(), results.end());
  std::vector<std::vector<std::string>> rows{{"device", "way", "rung", "chunks", "alloc", "copy in",
                                              "kernel", "copy out", "sync", "total", "vs pageable",
                                              "verified"}};
  for (const MeasuredMode& m : all) rows.push_back(row_of(m, find(all, m, "pageable")));
  control.show("");
  say("\n{}", to_string(problem));
  print_table(rows, 3, {"chunks", "alloc", "sync"});
  for (const MeasuredMode& m : all) {
    if (!m.result.failure.empty())
      say("{}: {} on {}: {}", verdict_text(m.result), mode_text(m), m.result.device,
          m.result.failure);
    const MeasuredMode* pinned = find(all, m, "pinned");
    if (pinned && m.mode.memory == "pipelined" && m.result.verified)
      print_overlap(m, *pinned, timelines);
  }
  std::fflush(stdout);
}

int transfers(const Options& o) {
  const auto [all, complete] = problems(o);
  const std::vector<Device> devices = start(o.measuring.devices, {}, {}, false);
  Control control(o.measuring.limit);
  Document document{.command = "transfers"};
  nlohmann::ordered_json roofs = nlohmann::ordered_json::array(), timelines = roofs;
  for (const Device& device : devices)
    if (o.rates && !control.stop()) print_rates(device, control, roofs, o.measuring.budget);
  for (const Problem& problem : all)
    if (!control.stop()) measure_problem(o, problem, devices, control, document, timelines);
  document.arrays["roofs"] = roofs;
  document.arrays["timelines"] = timelines;
  return finish(document, control, o.measuring.json,
                complete ? outcome_of(document.results, !roofs.empty()) : Outcome::failed);
}

}  // namespace

Command add_transfers(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("operations", o->operations, "reduce, transpose, gemm (default: all)");
  add_measuring_options(app, o->measuring);
  add_list(app, "--dtype", o->dtypes,
           "f32 f64 i32 i64 u32 u64, for transpose b8 … b128 too (default: f32)");
  add_list(app, "--size", o->sizes, "N, RxC or MxNxK; suffixes k, M, G and 2^k");
  app.add_option("--function", o->function, "reduce: sum, min or max")
      ->check(CLI::IsMember({"sum", "min", "max"}));
  app.add_option("--chunks", o->chunks,
                 "chunks of the pipeline: a number, or auto, as the library cuts a call")
      ->check(CLI::Range(1, 1024) | CLI::IsMember({"auto"}));
  app.add_flag("--overlap-cpu", o->overlap_cpu,
               "the cpu computes a part of a transpose's or gemm's rows while the device works");
  app.add_flag("!--no-rates", o->rates, "leave out the table of copy rates by size");
  return [o, &app] {
    check_options(app, operations_of(o->operations));
    return transfers(*o);
  };
}

}  // namespace trine::bench
