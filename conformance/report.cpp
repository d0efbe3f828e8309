#include "report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace trine::conformance {
namespace {

constexpr size_t kShownOfEach = 3, kShownDetails = 40;

void print_counts(const std::string& kind, const std::map<std::string, int64_t>& counts,
                  std::ostream& out) {
  out << "cases by " << kind << ":\n";
  for (const auto& [name, count] : counts) out << std::setw(10) << count << "  " << name << "\n";
}

void print_skips(const Report& report, std::ostream& out) {
  if (report.skip_details.empty()) return;
  out << "skipped:\n";
  size_t shown = 0;
  for (const auto& [detail, count] : report.skip_details)
    if (shown++ < kShownDetails) out << std::setw(10) << count << "  " << detail << "\n";
  if (shown > kShownDetails) out << "  … and " << shown - kShownDetails << " more reasons\n";
}

/// The first few failures of each device and rung: one defect fails hundreds of cases alike.
void print_failures(const Report& report, std::ostream& out) {
  std::map<std::string, size_t> seen;
  for (const Failure& f : report.failures) {
    const size_t nth = ++seen[f.device + " " + f.rung.substr(0, f.rung.find(':'))];
    if (nth <= kShownOfEach)
      out << "FAILED " << f.device << " " << f.rung << " | " << f.name << "\n  " << f.what << "\n";
  }
  for (const auto& [where, count] : seen)
    if (count > kShownOfEach) out << "  … " << count << " failures of " << where << "\n";
}

}  // namespace

std::string Report::last_line() const {
  std::string why;
  for (const auto& [reason, count] : skip_reasons) {
    if (!why.empty()) why += ", ";
    why += reason + ": " + std::to_string(count);
  }
  return "verify: " + std::to_string(cases) + " cases, " + std::to_string(failed) + " failed, " +
         std::to_string(skipped) + " skipped" + (why.empty() ? "" : " (" + why + ")");
}

void print(const Report& report, std::ostream& out) {
  for (const auto& [kind, counts] : report.classes) print_counts(kind, counts, out);
  print_skips(report, out);
  print_failures(report, out);
  out << report.last_line() << "\n";
}

}  // namespace trine::conformance
