// Which tables and pictures a report has, and in which order.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "report.hpp"

namespace trine::bench::report {
namespace {

void add(Section& section, Table table) {
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
}

void add(Section& section, const std::vector<Figure>& figures) {
  section.figures.insert(section.figures.end(), figures.begin(), figures.end());
}

void add(Model& model, Section section) {
  if (!section.tables.empty() || !section.figures.empty())
    model.sections.push_back(std::move(section));
}

void add_device(Model& model, const Group& group, const std::string& device) {
  Section section{.title = group.title + " on " + device, .level = 4, .folded = true};
  add(section, ladder(group, device));
  add(section, parameters(group, device));
  add(section, ladder_table(group, device));
  add(model, std::move(section));
}

/// The details of a group; of one that leads, the answer stands above them already.
void add_group(Model& model, const Runs& runs, const Group& group, bool leads) {
  Section section{.title = group.title + (leads ? ", in detail" : ""),
                  .text = leads ? "" : answer(runs, group),
                  .level = 3,
                  .folded = true};
  if (!leads) add(section, overview(runs, group));
  add(section, speedups(group));
  add(section, phases(group));
  add(section, side_by_side_table(group));
  add(section, phases_table(group));
  model.sections.push_back(std::move(section));
  for (const std::string& device : group.devices) add_device(model, group, device);
}

void add_operation(Model& model, const Runs& runs, const std::vector<Group>& groups,
                   const Group& leader) {
  Section section{.title = leader.title, .text = answer(runs, leader)};
  add(section, overview(runs, leader));
  model.sections.push_back(std::move(section));
  add_group(model, runs, leader, true);
  for (const Group& group : groups)
    if (group.operation == leader.operation && &group != &leader)
      add_group(model, runs, group, false);
}

/// Of the groups of each operation the one that most devices have at most sizes: the chart of the first screen.
std::vector<const Group*> leading(const std::vector<Group>& groups) {
  std::vector<const Group*> found;
  const auto extent = [&](const Group& group) {
    return group.devices.size() * sizes(group, &Row::is_default).size();
  };
  for (const Group& group : groups) {
    const auto same = std::ranges::find_if(
        found, [&](const Group* other) { return other->operation == group.operation; });
    if (same == found.end())
      found.push_back(&group);
    else if (extent(group) > extent(**same))
      *same = &group;
  }
  return found;
}

std::string summary(const Runs& runs) {
  size_t verified = 0, wrong = 0, skipped = 0;
  for (const Entry& e : runs.results) ++(e.skipped ? skipped : e.verified ? verified : wrong);
  std::string text;
  for (const Host& host : runs.hosts) {
    text += fmt::format("{}{}{}, {} cores", host.label, host.label.empty() ? "" : ": ",
                        text_of(host.host, "cpu"), text_of(host.host, "cores"));
    std::set<std::string> gpus;
    for (const ordered_json& gpu : host.host.value("gpus", ordered_json::array()))
      gpus.insert(text_of(gpu, "gpu"));
    text += fmt::format("{}{}. ", gpus.empty() ? "" : ", ", fmt::join(gpus, ", "));
  }
  text += fmt::format("{} results: {} verified", runs.results.size(), verified);
  if (wrong > 0) text += fmt::format(", {} WRONG", wrong);
  if (skipped > 0) text += fmt::format(", {} refused", skipped);
  const bool partial = std::ranges::any_of(runs.hosts, [](const Host& h) { return h.partial; });
  return text + (partial ? ". A run ended early: the results are partial." : ".");
}

}  // namespace

Model model_of(const Runs& runs) {
  Model model{.title = "Trine report", .summary = summary(runs)};
  Section wrong{.title = "Wrong results", .text = "They count for nothing below.", .alarm = true};
  add(wrong, unverified_table(runs, false));
  model.alarm = !wrong.tables.empty();
  add(model, std::move(wrong));

  const std::vector<Group> all = groups(runs);
  for (const Group* leader : leading(all)) add_operation(model, runs, all, *leader);

  const auto detail = [&](const char* title, std::vector<Figure> figures,
                          std::vector<Table> tables) {
    Section section{.title = title, .folded = true, .figures = std::move(figures)};
    for (Table& table : tables) add(section, std::move(table));
    add(model, std::move(section));
  };
  detail("Rooflines", rooflines(runs, all), {roofs_table(runs)});
  detail("Break-even", {}, {crossings_table(runs)});
  detail("Overlap of copies and kernels", timelines(runs), {timelines_table(runs)});
  detail("Sweeps", {}, {sweeps_table(runs)});
  detail("Published figures", {}, published_tables(runs));
  detail("Refused", {}, {unverified_table(runs, true)});
  Section hosts{.title = "Hosts and devices"};
  if (std::ranges::any_of(runs.hosts, [](const Host& host) { return host.files.size() > 1; }))
    hosts.text =
        "Of a case that several files of one host have, the latest counts; --apart tells them "
        "apart.";
  add(hosts, hosts_table(runs));
  add(hosts, devices_table(runs));
  add(model, std::move(hosts));
  return model;
}

}  // namespace trine::bench::report
