// `trine report`: what one or several runs measured, as one page with pictures, as Markdown, as CSV.

#include <cstdio>
#include <iostream>
#include <sstream>

#include "bench/report/report.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"
#include "bench/ui/output.hpp"

namespace trine::bench {
namespace {

struct ReportOptions {
  std::vector<std::string> files;
  std::string html, csv, markdown;
  bool apart = false;
};

/// To the file of that name; "-" is the standard output.
void put(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (!(std::cout << text << std::flush)) throw Refusal("the standard output can't be written");
  } else if (!path.empty()) {
    write_whole(path, [&](std::ostream& file) { file << text; });
  }
}

int write_report(const ReportOptions& o) {
  if (o.html.empty() && o.csv.empty() && o.markdown.empty())
    throw Refusal("name an output: --html FILE, --csv FILE or --markdown FILE (- prints it)");
  if (o.csv == "-" && o.markdown == "-") throw Refusal("--csv - and --markdown - would mix");
  for (const std::string& path : {o.html, o.csv, o.markdown})
    if (!path.empty() && path != "-") check_writable(path);

  const report::Runs runs = report::read(o.files, o.apart);
  const report::Model model = report::model_of(runs);
  std::ostringstream csv, markdown;
  if (!o.csv.empty()) report::write_csv(csv, runs);
  if (!o.markdown.empty()) report::write_markdown(markdown, model);
  const std::string html = o.html.empty() ? std::string() : report::page(model);
  put(o.html, html);
  put(o.csv, csv.str());
  put(o.markdown, markdown.str());
  if (!o.html.empty() && o.html != "-")
    std::fprintf(stderr, "%s: %s\n", o.html.c_str(), model.summary.c_str());
  return kExitGood;
}

}  // namespace

Command add_report(CLI::App& app) {
  auto o = std::make_shared<ReportOptions>();
  app.add_option("files", o->files,
                 "files that --json of other commands wrote, from one or several hosts")
      ->required()
      ->type_name("FILE");
  app.add_option("--html", o->html, "one page that contains everything and needs no network")
      ->type_name("FILE");
  app.add_option("--csv", o->csv, "one row per result; - prints it")->type_name("FILE");
  app.add_option("--markdown", o->markdown, "the tables; - prints them")->type_name("FILE");
  app.add_flag(
      "--apart", o->apart,
      "treat each file as a host of its own, e.g. before and after a change on one machine");
  return [o] { return write_report(*o); };
}

}  // namespace trine::bench
