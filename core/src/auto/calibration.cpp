#include "calibration.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/src/call/tuning.hpp"

namespace trine::detail {
std::string_view memory_word(Where where) {
  switch (where) {
    case Where::host: return "pageable";
    case Where::host_pinned: return "pinned";
    case Where::host_pipelined: return "pipelined";
    default: return "resident";
  }
}

const Grid* Calibration::table(int call_class, Where where) const {
  if (call_class == kNoClass) return nullptr;
  const Tables& all = tables[static_cast<std::size_t>(call_class)];
  if (const std::optional<Grid>& wanted = all[index_of(where)]) return &*wanted;
  if (where == Where::host) return nullptr;
  return table(call_class, where == Where::host_pipelined ? Where::host_pinned : Where::host);
}

namespace {

std::string number(double value) {
  return kit::number_text(value, std::chars_format::scientific, 3);
}

/// The extents of a point as text, "33x9x1".
std::string size_text(const Grid& grid, std::size_t point) {
  const std::vector<double> extents = grid.extents(point);
  return join(std::vector<int64_t>(extents.begin(), extents.end()), "x");
}

/// The place of each row, by its words before the figures: "reduce sum f32 all pageable 17".
using Places = std::map<std::string, std::pair<Grid*, std::size_t>, std::less<>>;

Places places_in(Calibration& calibration) {
  Places places;
  for (std::size_t c = 0; c < call_classes().size(); ++c)
    for (const Where where : kWheres) {
      const CallClass& kind = call_classes()[c];
      Grid& grid = calibration.tables[c][index_of(where)].emplace(kind.extents);
      for (std::size_t point = 0; point < grid.size(); ++point)
        places[cat(kind.words, " ", memory_word(where), " ", size_text(grid, point))] = {&grid,
                                                                                         point};
    }
  return places;
}

void take_row(const Places& places, std::string_view row, const std::string& where) {
  std::string_view place_words = row;
  const std::string_view high = take_last(place_words), low = take_last(place_words),
                         seconds = take_last(place_words);
  Estimate measured;
  if (!read_seconds(seconds, measured.seconds) || !read_seconds(low, measured.low) ||
      !read_seconds(high, measured.high) || measured.low > measured.seconds ||
      measured.high < measured.seconds)
    refuse(where, "'", row, "' must end with three times: median, lowest, highest");
  const auto place = places.find(place_words);
  if (place == places.end()) refuse(where, "'", row, "' is not a point of this version's grid");
  const auto& [grid, point] = place->second;
  if (grid->has(point)) refuse(where, "'", row, "' occurs twice");
  grid->set(point, measured);
}

}  // namespace

std::vector<std::string> rows_of(const Calibration& measured) {
  std::vector<std::string> rows{cat("date ", measured.date)};
  for (std::size_t c = 0; c < call_classes().size(); ++c)
    for (const Where where : kWheres) {
      const std::optional<Grid>& grid = measured.tables[c][index_of(where)];
      for (std::size_t point = 0; grid && point < grid->size(); ++point) {
        if (!grid->has(point)) continue;
        const Estimate time = grid->measured(point);
        rows.push_back(cat(call_classes()[c].words, " ", memory_word(where), " ",
                           size_text(*grid, point), " ", number(time.seconds), " ",
                           number(std::min(time.low, time.seconds)), " ",
                           number(std::max(time.high, time.seconds))));
      }
    }
  return rows;
}

Calibration calibration_of(const Saved& saved) {
  const std::vector<std::string>& rows = saved.rows;
  constexpr std::string_view kDate = "date ";
  Calibration calibration;
  if (rows.empty() || !rows[0].starts_with(kDate) || rows[0].size() == kDate.size())
    refuse(saved.place_of(0), "it has no date");
  calibration.date = rows[0].substr(kDate.size());
  const Places places = places_in(calibration);
  for (std::size_t i = 1; i < rows.size(); ++i) take_row(places, rows[i], saved.place_of(i));
  for (Calibration::Tables& tables : calibration.tables)
    for (std::optional<Grid>& grid : tables)
      if (!grid->complete()) grid.reset();
  return calibration;
}

namespace {

/// By device id, so that a device opened again isn't read again.
struct Memory {
  struct Entry {
    Known known;
    std::string tuning;  ///< the mark under which it holds
  };
  std::mutex mutex;
  std::map<std::string, Entry, std::less<>> by_id;
};

}  // namespace

PersistentKey calibration_key(const DeviceState& device) {
  PersistentKey key = saved_key(device);
  key.add("tuning", tuning_mark(device), false);
  return key;
}

Known read_calibration(const PersistentKey& key) {
  const Saved saved = read_persistent(kCalibrationKind, kCalibrationVersion, key);
  if (!saved.found) return {};
  if (!saved.refusal.empty())
    return {nullptr, cat(saved.refusal, " (`trine calibrate` measures it again)")};
  try {
    return {std::make_shared<const Calibration>(calibration_of(saved)), {}};
  } catch (const Error& error) { return {nullptr, error.what()}; }
}

Known known_of(const Device& device) {
  const DeviceState& state = Access::some(device);
  Memory& memory = singleton<Memory>();
  const std::lock_guard lock(memory.mutex);
  std::string tuning = tuning_mark(state);
  const auto found = memory.by_id.find(state.id);
  if (found != memory.by_id.end() && found->second.tuning == tuning) return found->second.known;
  Known known = read_calibration(calibration_key(state));
  if (known.calibration || !registry::is_short()) memory.by_id[state.id] = {known, tuning};
  return known;
}

std::string words_of(const Known& known) {
  if (known.calibration) return cat("calibrated on ", known.calibration->date.substr(0, 10));
  return cat("not calibrated", known.refusal.empty() ? "" : ", because of ", known.refusal);
}

void learn(const Device& device, std::shared_ptr<const Calibration> calibration) {
  Memory& memory = singleton<Memory>();
  const std::lock_guard lock(memory.mutex);
  const DeviceState& state = Access::some(device);
  memory.by_id[state.id] = {{std::move(calibration), {}}, tuning_mark(state)};
}

}  // namespace trine::detail

namespace trine {

std::string calibration(const Device& device) {
  return detail::entry([&] { return detail::words_of(detail::known_of(device)); });
}

}  // namespace trine
