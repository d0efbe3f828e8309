#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/ui/table.hpp"

namespace trine::bench::report {
namespace {

/// A value of a foreign object in words, whatever its type.
Cell value_cell(const ordered_json& value) {
  if (value.is_null()) return word("-");
  if (value.is_boolean()) return word(value.get<bool>() ? "yes" : "no");
  if (value.is_number()) return plain_cell(value.get<double>());
  return word(value.is_string() ? value.get<std::string>() : value.dump());
}

Cell field(const ordered_json& object, const char* key) {
  return value_cell(object.value(key, ordered_json()));
}

std::string joined(const std::vector<std::string>& words) {
  std::vector<std::string> once;
  for (const std::string& w : words) place_of(once, w);
  return fmt::format("{}", fmt::join(once, ", "));
}

std::string range_text(const std::vector<double>& of) {
  if (of.empty()) return "-";
  const auto [low, high] = std::ranges::minmax_element(of);
  return *high <= 0 ? "-" : fmt::format("{} – {}", time_text(*low), time_text(*high));
}

std::optional<double> share(double value, double of) {
  return of > 0 ? std::optional(value / of) : std::nullopt;
}

/// Names, and in place of figures what is wrong.
std::vector<Cell> without_figures(std::vector<Cell> cells, const Table& table, const Entry& e) {
  cells.resize(table.head.size(), word("-"));
  cells.back() = word(verdict_text(e));
  for (Cell& cell : cells) cell.wrong = e.wrong();
  return cells;
}

std::vector<Cell> ladder_row(const Table& table, const Group& group, const Row& row) {
  const Entry &e = row.any(), &rated = row.rated();
  std::vector<Cell> cells{word(e.size()), word(e.rung_name.empty() ? e.requested : e.rung_name),
                          word(e.vendor() ? e.parameter_text() + " (peer)" : e.parameter_text())};
  for (const Entry* one : {row.sustained, row.single})
    if (one && !one->verified) return without_figures(std::move(cells), table, *one);
  const std::optional<double> peer = rated.peer_ratio ? rated.peer_ratio
                                     : row.single     ? row.single->peer_ratio
                                                      : std::nullopt;
  cells.insert(
      cells.end(),
      {time_cell(row.single ? row.single->kernel : std::nullopt),
       time_cell(row.sustained ? row.sustained->kernel : std::nullopt), percent_cell(rated.spread),
       word(range_text(rated.rounds)), word(range_text({rated.interval.low, rated.interval.high})),
       rate_cell(rated.rate, group.unit), ratio_cell(row.step), ratio_cell(row.cumulative),
       percent_cell(share(rated.rate, rated.roof.value)), rate_cell(rated.roof.value, group.unit),
       percent_cell(share(rated.rate, rated.peak.value_or(0))), ratio_cell(peer),
       time_cell(e.first), word(verdict_text(rated))});
  return cells;
}

}  // namespace

Table hosts_table(const Runs& runs) {
  Table table{"Hosts", {"host"}, {}};
  const auto fact = [&](const char* name, auto cell) {
    std::vector<Cell> cells{word(name)};
    for (const Host& host : runs.hosts) cells.push_back(cell(host));
    if (std::any_of(cells.begin() + 1, cells.end(), [](const Cell& c) { return !c.text.empty(); }))
      table.rows.push_back(std::move(cells));
  };
  for (const Host& host : runs.hosts)
    table.head.push_back(host.label.empty() ? "measured on" : host.label);
  fact("cpu", [](const Host& h) { return field(h.host, "cpu"); });
  fact("cores", [](const Host& h) { return word(field(h.host, "cores").text); });
  fact("system", [](const Host& h) { return field(h.host, "os"); });
  fact("gpus", [](const Host& h) {
    std::vector<std::string> gpus;
    for (const ordered_json& gpu : h.host.value("gpus", ordered_json::array()))
      gpus.push_back(field(gpu, "gpu").text + ", driver " + field(gpu, "driver").text);
    return word(joined(gpus));
  });
  fact("trine", [](const Host& h) { return word(h.version); });
  fact("date", [](const Host& h) { return word(joined(h.dates)); });
  fact("commands", [](const Host& h) { return word(joined(h.commands)); });
  fact("files", [](const Host& h) { return word(joined(h.files)); });
  fact("complete", [](const Host& h) { return word(h.partial ? "no: ended early" : "yes"); });
  return table;
}

Table devices_table(const Runs& runs) {
  Table table{"Devices",
              {"device", "name", "driver", "units", "memory", "nominal bandwidth", "nominal f32",
               "nominal f64"},
              {}};
  for (size_t h = 0; h < runs.hosts.size(); ++h)
    for (const ordered_json& backend : runs.hosts[h].backends) {
      if (const std::string reason = text_of(backend, "reason"); !reason.empty()) {
        table.rows.push_back(
            {word(runs.device(h, text_of(backend, "backend"))), word("absent: " + reason)});
        table.rows.back().resize(table.head.size(), word("-"));
      }
      for (const ordered_json& d : backend.value("devices", ordered_json::array())) {
        const auto nominal = [&](const char* key, const char* unit) {
          return rate_cell(number_of(d, key).value_or(0), unit);
        };
        const double memory = number_of(d, "memory_bytes").value_or(0);
        table.rows.push_back({word(runs.device(h, field(d, "id").text)),
                              field(d, "name"),
                              field(d, "driver"),
                              field(d, "compute_units"),
                              {.text = fmt::format("{:.1f} GiB", memory / 0x1p30), .value = memory},
                              nominal("peak_bandwidth", "B/s"),
                              nominal("peak_f32", "flop/s"),
                              nominal("peak_f64", "flop/s")});
      }
    }
  return dense(table);
}

Table unverified_table(const Runs& runs, bool skipped) {
  Table table{skipped ? "Rungs that refused" : "Results that failed their verification",
              {"problem", "size", "device", "rung", "memory", "reason"},
              {}};
  for (const Entry& e : runs.results) {
    if (e.verified || e.skipped != skipped) continue;
    std::vector<Cell> row{word(e.group()),   word(e.size()), word(e.device_name),
                          word(e.variant()), word(e.memory), word(e.failure)};
    for (Cell& cell : row) cell.wrong = !skipped;
    table.rows.push_back(row);
  }
  return dense(table);
}

Table side_by_side_table(const Group& group) {
  Table table{group.title + ", the fastest rung of each device", {"size"}, {}};
  table.head.insert(table.head.end(), group.devices.begin(), group.devices.end());
  table.head.emplace_back("by");
  const auto own = [](const Row& r) { return r.good() && !r.any().vendor(); };
  for (double size : sizes(group, own)) {
    const auto here = [&](const Row& r) { return own(r) && r.x == size; };
    const Method method = common_method(group.rows, here);
    std::vector<Cell> cells(1);
    for (const std::string& device : group.devices) {
      const Entry* entry =
          best(group, method, [&](const Row& r) { return here(r) && r.device() == device; });
      cells.push_back(word("-"));
      if (entry == nullptr) continue;
      cells[0] = word(entry->size());
      cells.back() = rate_cell(entry->rate, group.unit);
      cells.back().text.insert(0, entry->rung_name + "  ");
    }
    cells.push_back(word(name(method)));
    table.rows.push_back(cells);
  }
  return dense(table);
}

Table ladder_table(const Group& group, const std::string& device) {
  Table table{
      fmt::format("{} on {}, every rung", group.title, device),
      {"size", "rung", "parameters", "kernel", "sustained", "spread", "rounds", "interval", "rate",
       "step", "cumulative", "of roof", "roof", "of nominal", "of peer", "first call", "verified"},
      {}};
  for (const Row& row : group.rows)
    if ((row.single || row.sustained) && row.device() == device)
      table.rows.push_back(ladder_row(table, group, row));
  return dense(table);
}

Table phases_table(const Group& group) {
  Table table{fmt::format("{}, end to end from and to host memory", group.title),
              {"size", "device", "rung", "memory", "alloc", "host→dev", "kernel", "dev→host",
               "total", "copying", "first call", "spread", "verified"},
              {}};
  for (const Row& row : group.rows)
    for (const Entry* e : row.end_to_end) {
      std::vector<Cell> cells{word(e->size()), word(e->device_name), word(e->variant()),
                              word(e->memory)};
      if (!e->verified) {
        cells = without_figures(std::move(cells), table, *e);
      } else {
        const bool copies = e->in_phases() && (e->h2d || e->d2h);
        const double copying = e->h2d.value_or(0) + e->d2h.value_or(0);
        cells.insert(cells.end(),
                     {time_cell(e->alloc), time_cell(e->h2d), time_cell(e->kernel),
                      time_cell(e->d2h), time_cell(e->total),
                      percent_cell(copies ? share(copying, e->total.value_or(0)) : std::nullopt),
                      time_cell(e->first), percent_cell(e->spread), word(verdict_text(*e))});
      }
      table.rows.push_back(cells);
    }
  std::ranges::stable_sort(table.rows,
                           [](const auto& a, const auto& b) { return a[1].text < b[1].text; });
  return dense(table);
}

Table roofs_table(const Runs& runs) {
  Table table{
      "Roofs", {"device", "what", "dtype", "memory", "measured", "nominal", "of nominal"}, {}};
  for (const Extra& extra : runs.roofs) {
    const ordered_json& r = extra.value;
    const std::string unit = text_of(r, "unit");
    const double value = number_of(r, "value").value_or(0),
                 nominal = number_of(r, "nominal").value_or(0);
    const bool rate = unit != "s";
    table.rows.push_back({word(extra.device), field(r, "what"), field(r, "dtype"),
                          field(r, "memory"), rate_cell(value, unit), rate_cell(nominal, unit),
                          percent_cell(rate ? share(value, nominal) : std::nullopt)});
  }
  return dense(table);
}

Table crossings_table(const Runs& runs) {
  Table table{"Break-even",
              {"host", "operation", "dtype", "data", "faster below", "faster above", "size",
               "interval", "in words"},
              {}};
  for (const Extra& extra : runs.crossings) {
    const ordered_json& c = extra.value;
    const std::optional<double> low = number_of(c, "low"), high = number_of(c, "high");
    std::string operation = field(c, "operation").text;
    if (const std::string function = field(c, "function").text; function != "-")
      operation += " " + function;
    const bool never = c.value("never", ordered_json(false)) == true;
    table.rows.push_back(
        {word(runs.hosts[extra.host].label), word(operation), field(c, "dtype"), field(c, "memory"),
         field(c, "from"), field(c, "to"),
         c.value("sure", ordered_json(true)) == false ? word("no difference")
         : never                                      ? word("never")
                                                      : field(c, "size"),
         low && high ? word(fmt::format("{:.6g} – {:.6g}", *low, *high)) : word("-"),
         field(c, "sentence")});
  }
  return dense(table);
}

Table timelines_table(const Runs& runs) {
  Table table{"Overlap",
              {"operation", "dtype", "size", "device", "memory", "time", "slower lane alone",
               "cpu's rows", "against without", "spans"},
              {}};
  for (const Extra& extra : runs.timelines) {
    const ordered_json& t = extra.value;
    table.rows.push_back({field(t, "operation"), field(t, "dtype"), word(timeline_size(t)),
                          word(extra.device), field(t, "memory"),
                          time_cell(number_of(t, "seconds")), percent_cell(number_of(t, "share")),
                          percent_cell(number_of(t, "cpu_rows")), ratio_cell(number_of(t, "gain")),
                          plain_cell(double(t.value("spans", ordered_json::array()).size()))});
  }
  return dense(table);
}

Table sweeps_table(const Runs& runs) {
  Table table{"The fastest rung of each call, against the default",
              {"device", "call", "default", "best", "default's time", "time", "speed-up",
               "beyond doubt", "saved"},
              {}};
  for (const Extra& extra : runs.sweeps) {
    const ordered_json& s = extra.value;
    const std::optional<double> before = number_of(s, "default_seconds"),
                                after = number_of(s, "seconds");
    table.rows.push_back({word(extra.device), field(s, "call"), field(s, "default"),
                          field(s, "best"), time_cell(before), time_cell(after),
                          ratio_cell(before && after ? share(*before, *after) : std::nullopt),
                          field(s, "gain"), field(s, "saved")});
  }
  return table;
}

std::vector<Table> published_tables(const Runs& runs) {
  std::vector<Table> tables;
  for (const Extra& extra : runs.published) {
    const ordered_json& p = extra.value;
    Table table{fmt::format("Document {}, {}: {}, and today on {}", field(p, "document").text,
                            field(p, "name").text, field(p, "table").text, extra.device),
                {"case", "column", "rung"},
                {}};
    const ordered_json figures = p.value("figures", ordered_json::array());
    for (const ordered_json& figure : figures)
      for (const char* when : {", published", ", today"})
        table.head.push_back(value_cell(figure).text + when);
    table.head.emplace_back("verified");
    for (const ordered_json& row : p.value("rows", ordered_json::array())) {
      std::vector<Cell> cells{field(row, "label"), field(row, "column"), field(row, "rung")};
      for (size_t i = 0; i < figures.size(); ++i)
        for (const char* when : {"published", "today"}) {
          const ordered_json of = row.value(when, ordered_json::array());
          cells.push_back(i < of.size() ? value_cell(of[i]) : word("-"));
        }
      cells.push_back(field(row, "verdict"));
      cells[2].wrong = cells.back().wrong = cells.back().text == "WRONG";
      table.rows.push_back(std::move(cells));
    }
    if (const std::string ours = field(p, "ours").text; ours.size() > 1)
      table.note = "Not stated by the document, chosen here: " + ours + ".";
    tables.push_back(dense(std::move(table)));
  }
  return tables;
}

}  // namespace trine::bench::report
