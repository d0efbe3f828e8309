#include <fmt/format.h>
#include <fmt/ranges.h>
#include <trine/fitting.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "bench/timing/lines.hpp"
#include "bench/ui/error.hpp"
#include "receipts.hpp"

namespace trine::bench {
namespace {

using Json = nlohmann::json;

constexpr LineKind kReceipts{"TRINE_RECEIPTS", "trine_receipts", uint64_t{1} << 32};

/// Thrown for a line that can't be a receipt; each_line() names the line.
struct NoReceipt : std::exception {};
void expect(bool is_so) {
  if (!is_so) throw NoReceipt();
}

std::string digest_of(const Json& json, const char* key) {
  std::string digest = json.value(key, "");
  constexpr size_t kDigits = 32;  // a file's name, too: nothing else may come of it
  expect(digest.empty() || (digest.size() == kDigits &&
                            digest.find_first_not_of("0123456789abcdef") == std::string::npos));
  return digest;
}

/// Its elements, and the memory that they span, have fewer than 2^63 bytes.
bool fits(const ConstHostView& v) {
  using Count = detail::Fitting<int64_t>;
  const int64_t size = size_of(v.dtype);
  Count span = 1;
  for (const auto& [extent, stride] :
       {std::pair{v.rows, v.row_stride}, {v.cols, v.col_stride}, {v.batch, v.batch_stride}})
    if (extent > 1) span = span + Count(extent - 1) * stride;
  return (span * size).fits() && (Count(v.rows) * v.cols * v.batch * size).fits();
}

ReadOperand operand_of(const Json& json) {
  ReadOperand o{
      json.at("name"), digest_of(json, "digest"), digest_of(json, "before"), json.at("output"), {}};
  ConstHostView& v = o.shape;
  v.dtype = parse_dtype(json.at("dtype").get<std::string>());
  v.rows = count_of(json, "rows"), v.cols = count_of(json, "cols");
  v.batch = count_of(json, "batch");
  v.row_stride = count_of(json, "row_stride"), v.col_stride = count_of(json, "col_stride");
  v.batch_stride = count_of(json, "batch_stride");
  expect(fits(v));
  return o;
}

/// The operands, and what an operation needs of them when it runs again.
void check(const ReadCall& c) {
  expect(!c.operands.empty());
  for (const ReadOperand& o : c.operands) expect(o.is_output == (&o == &c.operands.back()));
  const size_t count = c.operands.size();
  if (c.operation == "reduce") expect(count == 2 || count == 3);
  if (c.operation == "transpose" || c.operation == "axpby") expect(count == 2);
  if (c.operation == "gemm") expect(count == 3);
  if (c.operation == "scalar") expect(count == 1);
}

ReadCall call_of(const Json& json, int64_t line) {
  ReadCall c;
  c.line = line;
  c.call = static_cast<uint64_t>(count_of(json, "call"));
  c.process = count_of(json, "process"), c.thread = count_of(json, "thread");
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
  check(c);
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
  Receipts all;
  all.path = path;
  std::map<int64_t, int64_t> processes;  // by id: the latest that began, in the order of beginnings
  int64_t begun = 0;
  all.is_torn = each_line(path, kReceipts, [&](const Json& line, bool is_head, int64_t number) {
    if (is_head) {
      all.program = line.at("program");
      processes[count_of(line, "process")] = begun++;
      return;
    }
    ReadCall call = call_of(line, number);
    call.process = processes.at(call.process);
    all.calls.push_back(std::move(call));
  });
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
