// Reading, resolving and writing the tuning tables. The file's format is persistent_file.hpp's, of
// kind "tuning"; a row is a call, a rung ("default": none beat it), both times in seconds and the
// date.
#include "tuning.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/src/runtime/persistent_file.hpp"

namespace trine {
namespace detail {

std::atomic<bool> tuning_is_on{[] {
  const char* word = std::getenv("TRINE_TUNING");
  return !(word && std::string_view(word) == "off");
}()};

namespace {

constexpr std::string_view kKind = "tuning", kDefault = "default";
constexpr int kVersion = 1;

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" \n") == std::string_view::npos;
}

std::string line_of(const Tuned& row) {
  return cat(row.call, " ", row.rung.empty() ? kDefault : row.rung, " ",
             kit::number_text(row.seconds), " ", kit::number_text(row.default_seconds), " ",
             row.date);
}

bool read_row(std::string_view line, Tuned& row) {
  row.date = take_last(line);
  const std::string_view otherwise = take_last(line), seconds = take_last(line);
  row.rung = take_last(line);
  row.call = line;
  if (!read_seconds(seconds, row.seconds) || !read_seconds(otherwise, row.default_seconds) ||
      !is_word(row.rung) || !is_word(row.date))
    return false;
  if (row.rung == kDefault) row.rung.clear();
  return true;
}

/// Whether a call that asks for the numerics `asked` may get the rung without naming it.
bool fits(uint32_t asked, uint32_t rung) {
  return rung == TRINE_REPRODUCIBLE || (rung == TRINE_FAST && asked == TRINE_FAST);
}

/// Finds the row's rung on this device, or throws the reason why there is none.
Selected resolve(const DeviceState& device, const TuningKey& call, const std::string& rung) {
  const Selected found = find_rung(device, call.get(kOperation), rung);
  if (!fits(call.get(kNumerics), found.rung->row.numerics)) {
    refuse("rung ", found.rung->row.name, " is ",
           name(static_cast<Numerics>(found.rung->row.numerics)), ", the call asks for ",
           name(static_cast<Numerics>(call.get(kNumerics))), " bits.");
  }
  return found;
}

TunedRow prepared(const DeviceState& device, const TuningKey& call, const Tuned& row) {
  TunedRow made;
  made.call = call;
  for (int i = 0; i < 4; ++i) made.logs[i] = std::log2(static_cast<float>(call.extents[i]));
  if (row.rung.empty()) return made;
  made.why = cat("tuned: ", time_text(row.seconds), " against ", time_text(row.default_seconds),
                 " of the default at ", size_text(call), " (trine sweep, ", row.date, ")");
  std::string reason = "it refuses this call";
  try {
    made.choice = resolve(device, call, row.rung);
  } catch (const Error& error) { reason = error.what(); }
  made.refused =
      cat("the saved tuning table's ", row.rung, " was refused: ", reason, "; the built-in choice");
  return made;
}

/// A hash of the calls and their rungs. A new table that makes the same choices has the same mark.
std::string mark_of(const std::vector<Tuned>& rows) {
  uint64_t hash = kit::checksum("", 0);
  bool moves = false;
  for (const Tuned& row : rows) {
    const std::string text = cat(row.call, " ", row.rung, "\n");
    hash = kit::checksum(text.data(), text.size(), hash);
    moves |= !row.rung.empty();
  }
  return moves ? hex(hash) : "none";
}

uint64_t kind_of(const TunedRow& row) { return row.call.kind; }

std::unique_ptr<TuningTable> read_table(const DeviceState& device) {
  auto table = std::make_unique<TuningTable>();
  const Saved saved = read_persistent(kKind, kVersion, saved_key(device));
  Tuning& found = table->found;
  found.path = saved.path;
  found.found = saved.found;
  found.refusal = saved.refusal;
  for (std::size_t i = 0; i < saved.rows.size(); ++i) {
    Tuned row;
    TuningKey call;
    if (!read_row(saved.rows[i], row) || !read_call(row.call, call)) {
      found.refusal = cat(saved.place_of(i), "this line is not a row: ", saved.rows[i]);
      break;
    }
    table->rows.push_back(prepared(device, call, row));
    found.rows.push_back(std::move(row));
  }
  if (!found.refusal.empty()) {
    table->rows.clear();
    found.rows.clear();
    table->refused = cat("the saved tuning table for this device was refused: ", found.refusal,
                         "; the built-in choice");
  }
  table->mark = mark_of(found.rows);
  std::ranges::stable_sort(table->rows, {}, kind_of);
  return table;
}

/// Every table of the process, and the newest of each device.
struct Tables {
  std::mutex mutex;
  std::vector<std::unique_ptr<const TuningTable>> kept;
  std::map<std::string, const TuningTable*> by_id;
};

/// The row as the file will have it; throws if that is impossible.
Tuned checked(const DeviceState& device, Tuned row) {
  TuningKey call;
  double ignored = 0;
  if (!read_call(row.call, call) || !is_word(row.date) ||
      !read_seconds(kit::number_text(row.seconds), ignored) ||
      !read_seconds(kit::number_text(row.default_seconds), ignored))
    refuse("tuning: '", line_of(row), "' is not a row.");
  if (!row.rung.empty()) {
    const Selected found = resolve(device, call, row.rung);
    row.rung = rung_text(*found.rung, found.selection.values);
  }
  return row;
}

using Lines = std::map<std::string, std::string>;  ///< of the table, by call

/// Replaces the table if `change` returns that it changed the lines. Returns the file's path, or
/// "".
template <class Change>
std::string rewrite(const DeviceState& device, Change change) {
  const PersistentKey key = saved_key(device);
  const PersistentLock lock;  // another sweep may be adding its rows
  Lines lines;
  for (const std::string& line : read_persistent(kKind, kVersion, key).rows) {
    Tuned old;
    if (read_row(line, old)) lines[old.call] = line;
  }
  if (!change(lines)) return {};
  std::vector<std::string> all;
  all.reserve(lines.size());
  for (auto& [call, line] : lines) all.push_back(std::move(line));
  std::string path = write_persistent(kKind, kVersion, key, all);
  ++tuning_generation;
  return path;
}

}  // namespace

const TuningTable& load_tuning(const DeviceState& device) {
  Tables& tables = singleton<Tables>();
  const std::lock_guard lock(tables.mutex);
  const unsigned generation = tuning_generation.load(std::memory_order_acquire);
  const TuningTable*& newest = tables.by_id[device.id];
  if (!newest || newest->generation != generation) {
    std::unique_ptr<TuningTable> table = read_table(device);
    // A file isn't found if descriptors are lacking; then it is looked for again.
    const bool is_passing = !table->found.found && registry::is_short();
    table->generation = is_passing ? 0 : generation;
    if (!is_passing || !newest || newest->generation != 0) {
      tables.kept.push_back(std::move(table));
      newest = tables.kept.back().get();
    }
  }
  device.tuning.store(newest, std::memory_order_release);
  return *newest;
}

const TunedRow* TuningTable::find(const TuningKey& asked) const {
  auto at = std::ranges::lower_bound(rows, asked.kind, {}, kind_of);
  if (at == rows.end() || kind_of(*at) != asked.kind) return nullptr;
  float logs[4];
  for (int i = 0; i < 4; ++i) logs[i] = std::log2(static_cast<float>(asked.extents[i]));
  const TunedRow* nearest = nullptr;
  float least = 0;
  for (; at != rows.end() && kind_of(*at) == asked.kind; ++at) {
    const TunedRow& row = *at;
    float sum = 0, farthest = 0;
    for (int i = 0; i < 4; ++i) {
      const float distance = std::fabs(logs[i] - row.logs[i]);
      sum += distance;
      farthest = std::max(farthest, distance);
    }
    // At most a factor of two in any extent. An extent of 0 is infinitely far from every other.
    if (!(farthest <= 1) || (nearest && sum >= least)) continue;
    nearest = &row;
    least = sum;
  }
  return nearest;
}

}  // namespace detail

Tuning tuning(const Device& device) {
  return detail::entry([&] { return detail::load_tuning(detail::Access::use(device)).found; });
}

std::string save_tuning(const Device& device, const std::vector<Tuned>& rows) {
  return detail::entry([&] {
    const detail::DeviceState& state = detail::Access::use(device);
    std::vector<Tuned> checked;
    checked.reserve(rows.size());
    for (const Tuned& row : rows) checked.push_back(detail::checked(state, row));
    detail::make_saved_folder();
    return detail::rewrite(state, [&](detail::Lines& lines) {
      for (const Tuned& row : checked) lines[row.call] = detail::line_of(row);
      return true;
    });
  });
}

bool forget_tuning(const Device& device, const std::string& call) {
  return detail::entry([&] {
    const auto erase = [&](detail::Lines& lines) { return lines.erase(call) != 0; };
    return !detail::rewrite(detail::Access::use(device), erase).empty();
  });
}

std::vector<std::string> forget_tuning() {
  return detail::entry([] {
    const detail::PersistentLock
        lock;  // a sweep that is adding its rows would write the others back
    std::vector<std::string> paths = detail::forget_persistent(detail::kKind);
    ++detail::tuning_generation;
    return paths;
  });
}

void use_tuning(bool on) { detail::tuning_is_on.store(on); }
bool uses_tuning() { return detail::tuning_is_on.load(); }

}  // namespace trine
