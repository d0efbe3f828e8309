// Printing a report.
#include <algorithm>
#include <ostream>

#include "verify.hpp"

namespace trine::conformance {
namespace {

constexpr size_t kShownFailures = 50, kShownDetails = 40;

void print_counts(const std::string& kind, const std::map<std::string, int64_t>& counts,
                  std::ostream& out) {
  out << "cases by " << kind << ":\n";
  for (const auto& [name, count] : counts) out << "  " << count << "\t" << name << "\n";
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
  if (!report.skip_details.empty()) out << "skipped:\n";
  size_t shown = 0;
  for (const auto& [detail, count] : report.skip_details)
    if (shown++ < kShownDetails) out << "  " << count << "\t" << detail << "\n";
  if (shown > kShownDetails) out << "  … and " << shown - kShownDetails << " more reasons\n";
  shown = 0;
  for (const Failure& f : report.failures)
    if (shown++ < kShownFailures)
      out << "FAILED " << f.device << " " << f.rung << " | " << f.name << "\n  " << f.what << "\n";
  if (shown > kShownFailures) out << "… and " << shown - kShownFailures << " more failures\n";
  out << report.last_line() << "\n";
}

}  // namespace trine::conformance
