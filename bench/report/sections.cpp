// Which tables and pictures a report has, and in which order.
#include <fmt/format.h>

#include <algorithm>

#include "figures.hpp"
#include "tables.hpp"
#include "writers.hpp"

namespace trine::bench::report {
namespace {

void add(Section& section, Table table) {
  if (!table.rows.empty()) section.tables.push_back(std::move(table));
}

void add(Section& section, std::vector<Figure> figures) {
  for (Figure& figure : figures) section.figures.push_back(std::move(figure));
}

void add(Model& model, Section section) {
  if (!section.tables.empty() || !section.figures.empty())
    model.sections.push_back(std::move(section));
}

/// Rungs by the dozen: more pictures than anyone looks at are there to be opened.
constexpr size_t kOpenPictures = 4;

void add_device(Model& model, const Document& document, const Group& group,
                const std::string& device, Palette& palette, size_t& pictures) {
  Section section{.title = group.title + " on " + device, .text = {}, .level = 3};
  add(section, ladder(document, group, device, palette));
  for (Figure& figure : parameters(document, group, device, palette)) {
    figure.folded = ++pictures > kOpenPictures;
    section.figures.push_back(std::move(figure));
  }
  add(section, ladder_table(document, group, device));
  add(model, std::move(section));
}

void add_group(Model& model, const Document& document, const Group& group, Palette& palette) {
  Section section{.title = group.title, .text = {}};
  const std::vector<std::string> names = devices(document, group);
  add(section, overview(document, group, palette));
  add(section, speedups(document, group, palette));
  add(section, phases(document, group));
  add(section, side_by_side_table(document, group));
  add(section, phases_table(document, group));
  model.sections.push_back(std::move(section));
  size_t pictures = 0;
  for (const std::string& name : names) add_device(model, document, group, name, palette, pictures);
}

std::string summary(const Document& document) {
  size_t verified = 0, wrong = 0, skipped = 0;
  for (const Entry& e : document.results) ++(e.skipped ? skipped : e.verified ? verified : wrong);
  std::string text = fmt::format("{} results: {} verified", document.results.size(), verified);
  if (wrong > 0) text += fmt::format(", {} WRONG", wrong);
  if (skipped > 0) text += fmt::format(", {} refused", skipped);
  const bool partial = std::any_of(document.hosts.begin(), document.hosts.end(),
                                   [](const Host& h) { return h.partial; });
  return text + (partial ? ". A run ended early: the results are partial." : ".");
}

/// Devices keep their colours whatever is drawn of them first.
Palette palette_of(const Document& document) {
  Palette palette;
  for (const Entry& e : document.results) palette.devices.of(document.device(e.host, e.device));
  return palette;
}

}  // namespace

Model model_of(const Document& document) {
  Model model{.title = "Trine report", .summary = summary(document), .sections = {}};
  Palette palette = palette_of(document);
  Section wrong{.title = "Wrong results", .text = "They count for nothing below.", .alarm = true};
  add(wrong, failures_table(document));
  model.alarm = !wrong.tables.empty();
  Section hosts{.title = "Hosts and devices", .text = {}};
  add(hosts, hosts_table(document));
  add(hosts, devices_table(document));
  add(model, std::move(wrong));
  add(model, std::move(hosts));

  const std::vector<Group> all = groups(document);
  for (const Group& group : all) add_group(model, document, group, palette);

  Section roofs{.title = "Rooflines", .text = {}};
  add(roofs, rooflines(document, all, palette));
  add(roofs, roofs_table(document));
  Section crossings{.title = "Where one device overtakes another", .text = {}};
  add(crossings, crossings_table(document));
  Section overlap{.title = "Overlap of copies and kernels", .text = {}};
  add(overlap, timelines(document));
  add(overlap, timelines_table(document));
  Section swept{.title = "Sweeps", .text = {}};
  add(swept, sweeps_table(document));
  Section published{.title = "Published figures", .text = {}};
  for (Table& table : published_tables(document)) add(published, std::move(table));
  Section refused{.title = "Refused", .text = {}};
  add(refused, refusals_table(document));
  for (Section* section : {&roofs, &crossings, &overlap, &swept, &published, &refused})
    add(model, std::move(*section));
  return model;
}

}  // namespace trine::bench::report
