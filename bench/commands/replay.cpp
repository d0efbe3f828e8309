// `trine replay`: the first call at which two programs' receipts differ, or a program's calls once
// more on a device.
#include <fmt/format.h>

#include <cstdlib>

#include "bench/receipts/receipts.hpp"
#include "bench/timing/json.hpp"
#include "bench/timing/lines.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"
#include "bench/ui/screen.hpp"

namespace trine::bench {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string device, rung, json;
};
using Json = nlohmann::ordered_json;

std::string who(const ReadCall& c) {
  return fmt::format("call {} ({}, line {})", c.call, c.text(), c.line);
}

Json json_of(const Receipts& file, const ReadCall& c) {
  return {{"file", file.path},     {"line", c.line},     {"call", c.call},
          {"operation", c.text()}, {"device", c.device}, {"rung", c.rung}};
}

/// May the bits of calls with equal inputs differ?
const char* promise_of(const ReadCall& c) {
  return c.promise == "reproducible" ? "" : ", which doesn't promise equal bits";
}

/// A file grows, so a second run into it looks like a program of more processes.
void say_more_processes(const Receipts& more, const Receipts& fewer) {
  if (more.processes > fewer.processes)
    say("{} holds the calls of {} processes, {} those of {}: was it written twice? Remove it "
        "before "
        "a run.",
        more.path, more.processes, fewer.path, fewer.processes);
}

int compare(const Options& o) {
  const Receipts a = read_receipts(o.files[0]), b = read_receipts(o.files[1]);
  const Alignment found = compare_receipts(a, b);
  for (const Receipts* file : {&a, &b})
    if (file->is_torn) say_torn(file->path);
  say_more_processes(a, b), say_more_processes(b, a);
  if (found.by_inputs)
    say("The calls aren't in one order, or come from several threads: they are paired by shape and "
        "inputs.");
  if (found.output) {
    const auto& [x, y] = *found.output;
    say("First different result: {}, from equal inputs: {} by {}{}; {} by {}{}.", who(*x),
        x->device, x->rung, promise_of(*x), y->device, y->rung, promise_of(*y));
  }
  if (found.input) {
    const auto& [x, y] = *found.input;
    say("First different inputs: {}: {}. If no earlier call differs, the program itself computed "
        "or "
        "read something else.",
        who(*x), differing_inputs(*found.input));
  }
  if (!found.only_a.empty())
    say("{} calls only in {}, first {}.", found.only_a.size(), a.path, who(*found.only_a[0]));
  if (!found.only_b.empty())
    say("{} calls only in {}, first {}.", found.only_b.size(), b.path, who(*found.only_b[0]));
  if (found.without_digests > 0)
    say("{} pairs of calls have no digests to compare.", found.without_digests);
  if (found.equal()) say("{} calls: equal.", found.pairs.size());
  if (!o.json.empty()) {
    const auto pair = [&](const std::optional<Alignment::Pair>& p) {
      return p ? Json::array({json_of(a, *p->a), json_of(b, *p->b)}) : Json();
    };
    write_json(o.json, {{"schema", 1},
                        {"equal", found.equal()},
                        {"paired_by", found.by_inputs ? "inputs" : "order"},
                        {"pairs", found.pairs.size()},
                        {"without_digests", found.without_digests},
                        {"only", {found.only_a.size(), found.only_b.size()}},
                        {"first_other_result", pair(found.output)},
                        {"first_other_inputs", pair(found.input)}});
  }
  return found.equal() ? kExitGood : kExitFailed;
}

int again(const Options& o) {
  const Receipts file = read_receipts(o.files[0]);
  if (file.is_torn) say_torn(file.path);
  constexpr int kMostShown = 10;
  int equal = 0, differ = 0, not_run = 0;
  Json calls = Json::array();
  for (const ReadCall& call : file.calls) {
    Again result = run_again(call, file.path + ".kept", o.device, o.rung);
    if (result.sentence.ends_with('.')) result.sentence.pop_back();
    const bool differs = result.outcome == Again::Outcome::differs;
    const bool runs = result.outcome != Again::Outcome::not_run;
    int& count = result.outcome == Again::Outcome::equal ? equal : differs ? differ : not_run;
    if (++count <= kMostShown && differs)
      say("{} differs: {}. Then: {} by {}{}. Now: {}", who(call), result.sentence, call.device,
          call.rung, promise_of(call), result.rung);
    else if (!runs && count <= kMostShown)
      say("{} wasn't run: {}.", who(call), result.sentence);
    Json row = json_of(file, call);
    row["outcome"] = runs ? differs ? "differs" : "equal" : "not_run";
    row["now"] = result.rung, row["sentence"] = result.sentence;
    calls.push_back(row);
  }
  if (differ > kMostShown || not_run > kMostShown)
    say("The first {} of each kind are shown; --json FILE has all.", kMostShown);
  say("{} of {} calls are equal on {}; different: {}, not run: {}.", equal, file.calls.size(),
      o.device, differ, not_run);
  if (!o.json.empty())
    write_json(o.json, {{"schema", 1}, {"equal", differ + not_run == 0}, {"calls", calls}});
  return differ > 0 ? kExitFailed : not_run > 0 ? kExitRefused : kExitGood;
}

int replay(const Options& o) {
  unsetenv("TRINE_RECEIPTS");  // calls that are run again leave none
  if (!o.json.empty()) check_writable(o.json);
  if (o.files.size() == 2 && !(o.device + o.rung).empty())
    throw Refusal("two files are compared; --device and --rung run the calls of one again");
  if (o.files.size() == 2) return compare(o);
  if (o.device.empty())
    throw Refusal("a second file compares the two; --device DEVICE runs the calls of one again");
  if (o.device != "auto") open(o.device);  // a wrong name is refused at once
  return again(o);
}

}  // namespace

Command add_replay(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("files", o->files,
                 "receipts (TRINE_RECEIPTS): two to compare, or one to run again")
      ->type_name("FILE")
      ->required()
      ->expected(1, 2);
  app.add_option("--device", o->device,
                 "run the calls of one file here, from what TRINE_RECEIPTS_KEEP kept in FILE.kept");
  app.add_option("--rung", o->rung, "with --device: by this rung")->needs("--device");
  app.add_option("--json", o->json, "also write the outcome as JSON")->type_name("FILE");
  return [o] { return replay(*o); };
}

}  // namespace trine::bench
