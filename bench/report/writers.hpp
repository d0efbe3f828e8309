// What a report is written as: the whole model, Markdown of its tables, CSV of the results, the page.
#pragma once

#include <ostream>

#include "model.hpp"
#include "runs.hpp"

namespace trine::bench::report {

Model model_of(const Runs& runs);

/// One row a result, the columns of docs/report.md. Figures that aren't verified are left out.
void write_csv(std::ostream& out, const Runs& runs);
void write_markdown(std::ostream& out, const Model& model);
/// Throws Refusal where this program was built without Chart.js.
std::string page(const Model& model);

}  // namespace trine::bench::report
