// A calibration that the caller names by its file, of this machine or another.
#include <trine/place.hpp>

#include "calibration.hpp"
#include "placement.hpp"

namespace trine {
namespace detail {

Candidate predict(const SavedCalibration& file, const Calibration& measured,
                  const AnyOperation& operation, Where where, int repeats) {
  return entry([&] {
    plan_of(operation);
    check_where(where, "predict()");
    if (repeats < 1) refuse("predict(): repeats is ", repeats, "; it is at least 1.");
    const auto time = predict(measured, work_of(operation), where, repeats);
    if (!time)
      fail(Status::unsupported, "The calibration of ", file.device(), " has no such ",
           name(operation.is.operation), ".");
    return Candidate{{},
                     time->seconds,
                     time->transfers,
                     time->low,
                     time->high,
                     true,
                     cat("calibrated on ", file.date())};
  });
}

}  // namespace detail

SavedCalibration::SavedCalibration(const std::string& path) {
  detail::entry([&] {
    std::vector<detail::PersistentKey::Line> lines;
    const detail::Saved saved = detail::read_persistent_at(path, detail::kCalibrationKind,
                                                           detail::kCalibrationVersion, lines);
    if (!saved.found) detail::fail(Status::not_found, "There is no file ", path, ".");
    if (!saved.refusal.empty()) detail::refuse(saved.refusal, ".");
    auto measured = std::make_shared<detail::Calibration>(detail::calibration_of(saved));
    date_ = measured->date.substr(0, 10);
    measured_ = std::move(measured);
    for (const detail::PersistentKey::Line& line : lines) {
      if (line.name == "host") host_ = line.value;
      if (line.name == "backend") backend_ = line.value;
      if (line.name == "device") device_ = line.value;
    }
  });
}

}  // namespace trine
