#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/ui/error.hpp"
#include "receipts.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;

ReadOperand operand_of(const Json& json) {
  ReadOperand o{
      json.at("name"), json.value("digest", ""), json.value("before", ""), json.at("output"), {}};
  ConstHostView& v = o.shape;
  v.dtype = parse_dtype(json.at("dtype").get<std::string>());
  v.rows = json.at("rows"), v.cols = json.at("cols"), v.batch = json.at("batch");
  v.row_stride = json.at("row_stride"), v.col_stride = json.at("col_stride");
  v.batch_stride = json.at("batch_stride");
  return o;
}

ReadCall call_of(const Json& json, int64_t line) {
  ReadCall c;
  c.line = line;
  c.call = json.at("call");
  c.process = json.at("process"), c.thread = json.at("thread");
  c.operation = json.at("operation");
  for (const auto& [key, text] : {std::pair{"function", &c.function},
                                  {"map", &c.map},
                                  {"axis", &c.axis},
                                  {"numerics", &c.numerics},
                                  {"alpha", &c.alpha},
                                  {"beta", &c.beta},
                                  {"device", &c.device},
                                  {"rung", &c.rung},
                                  {"promise", &c.promise},
                                  {"why", &c.why}})
    *text = json.value(key, "");
  c.continues = json.value("continues", false);
  for (const Json& operand : json.at("operands")) c.operands.push_back(operand_of(operand));
  if (c.operands.empty() || !c.operands.back().is_output) throw Refusal("no output");
  return c;
}

}  // namespace

std::string ReadCall::text() const {
  std::vector<std::string> words{operation};
  for (const std::string* word : {&function, &map, &axis})
    if (!word->empty() && *word != "identity") words.push_back(*word);
  if (numerics != "reproducible" && !numerics.empty()) words.push_back(numerics);
  if (continues) words.emplace_back("continued");
  for (const ReadOperand& o : operands) {
    const auto& v = o.shape;
    words.push_back(fmt::format(
        "{}{}x{}", &o == &operands[0] ? fmt::format("{} ", name(v.dtype)) : "", v.rows, v.cols));
    if (v.batch != 1) words.back() += fmt::format("x{}", v.batch);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string ReadCall::inputs() const {
  std::string text = alpha + " " + beta;
  for (const ReadOperand& o : operands) text += " " + (o.is_output ? o.before : o.digest);
  return text;
}

Receipts read_receipts(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Refusal(fmt::format("{}: can't be read", path));
  Receipts all;
  all.path = path;
  int64_t number = 0, torn = 0;          // torn: a line that is none, or 0
  std::map<int64_t, int64_t> processes;  // by id: the latest that began, in the order of beginnings
  int64_t begun = 0;
  for (std::string text; std::getline(file, text);) {
    ++number;
    if (text.empty()) continue;
    Json line = Json::parse(text, nullptr, false);
    const bool is_head = line.is_object() && line.contains("trine_receipts");
    // A program, or the disk, may end within a line; then the file does, or another program begins.
    const auto refuse = [&](int64_t which) {
      throw Refusal(fmt::format("{}:{}: not a line of TRINE_RECEIPTS", path, which));
    };
    if (torn != 0 && !is_head) refuse(torn);
    if (torn != 0) all.is_torn = true;
    torn = line.is_discarded() ? number : 0;
    if (torn != 0) continue;
    try {
      if (is_head) {
        if (line.at("trine_receipts") != 1)
          throw Refusal(fmt::format("{}: written by a later version of Trine", path));
        all.program = line.at("program");
        processes[line.at("process")] = begun++;
      } else {
        ReadCall call = call_of(line, number);
        call.process = processes.at(call.process);
        all.calls.push_back(std::move(call));
      }
    } catch (const Refusal&) { throw; } catch (const std::exception&) {
      refuse(number);
    }
  }
  all.is_torn |= torn != 0;
  if (begun == 0 || all.calls.empty()) throw Refusal(fmt::format("{}: has no receipts", path));
  std::map<int64_t, std::set<int64_t>> threads;
  for (const ReadCall& c : all.calls) threads[c.process].insert(c.thread);
  all.processes = int(threads.size());
  for (const auto& [process, its] : threads) all.threads = std::max(all.threads, int(its.size()));
  std::ranges::stable_sort(all.calls, {},
                           [](const ReadCall& c) { return std::pair(c.process, c.call); });
  return all;
}

Alignment compare_receipts(const Receipts& a, const Receipts& b) {
  Alignment found;
  found.by_inputs = a.threads > 1 || b.threads > 1 ||
                    !std::ranges::equal(a.calls, b.calls, {}, &ReadCall::text, &ReadCall::text);
  if (!found.by_inputs) {
    for (size_t i = 0; i < a.calls.size(); ++i) found.pairs.push_back({&a.calls[i], &b.calls[i]});
  } else {
    // Those that were given the same first; the rest, of one shape, in order.
    std::vector<const ReadCall*> partner(a.calls.size());
    std::set<const ReadCall*> used;
    const auto pair_by = [&](auto key) {
      std::map<std::string, std::vector<const ReadCall*>> left;
      for (auto c = b.calls.rbegin(); c != b.calls.rend(); ++c)
        if (!used.contains(&*c)) left[key(*c)].push_back(&*c);
      for (size_t i = 0; i < a.calls.size(); ++i) {
        const auto same = left.find(key(a.calls[i]));
        if (partner[i] || same == left.end() || same->second.empty()) continue;
        used.insert(partner[i] = same->second.back());
        same->second.pop_back();
      }
    };
    pair_by([](const ReadCall& c) { return c.text() + "\n" + c.inputs(); });
    pair_by([](const ReadCall& c) { return c.text(); });
    for (size_t i = 0; i < a.calls.size(); ++i) {
      if (partner[i])
        found.pairs.push_back({&a.calls[i], partner[i]});
      else
        found.only_a.push_back(&a.calls[i]);
    }
    for (const ReadCall& c : b.calls)
      if (!used.contains(&c)) found.only_b.push_back(&c);
  }
  for (const Alignment::Pair& pair : found.pairs) {
    if (pair.a->output().empty() || pair.b->output().empty()) {
      ++found.without_digests;
    } else if (pair.a->inputs() != pair.b->inputs()) {
      if (!found.input) found.input = pair;
    } else if (pair.a->output() != pair.b->output() && !found.output) {
      found.output = pair;
    }
  }
  return found;
}

std::string differing_inputs(const Alignment::Pair& pair) {
  std::vector<std::string> names;
  if (pair.a->alpha != pair.b->alpha) names.emplace_back("`alpha`");
  if (pair.a->beta != pair.b->beta) names.emplace_back("`beta`");
  for (size_t i = 0; i < pair.a->operands.size(); ++i) {
    const ReadOperand &x = pair.a->operands[i], &y = pair.b->operands[i];
    if (x.is_output ? x.before != y.before : x.digest != y.digest)
      names.push_back("`" + x.name + "`");
  }
  return fmt::format("{} {}", fmt::join(names, ", "), names.size() == 1 ? "differs" : "differ");
}

}  // namespace trine::bench
