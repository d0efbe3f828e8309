// Long work shows where it is, and ends early without losing what it has: by Ctrl-C or a time limit,
// between two measurements.
#pragma once

#include <chrono>
#include <string>

namespace trine::bench {

/// One of these lives while a command measures. The first SIGINT or SIGTERM asks it to stop, a second
/// ends the program as ever.
class Control {
 public:
  /// `limit`: seconds from now; 0 is none.
  explicit Control(double limit = 0);
  ~Control();
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// True from when the work should end; asked between two measurements.
  bool stop();
  /// From now on the work ends, for that reason.
  void end(const std::string& why) {
    if (!partial()) why_ = why;
  }
  /// Whether stop() has said so: the results are marked partial.
  bool partial() const { return !why_.empty(); }
  /// "interrupted", "the time limit of 60 s is up"; empty when the work ended by itself. It stays what it
  /// was first, whatever comes after.
  const std::string& why() const { return why_; }
  bool interrupted() const { return interrupted_; }

  /// One line on stderr that the next one replaces; nothing where stderr is no terminal.
  void show(const std::string& text) const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double limit_;
  std::string why_;
  bool interrupted_ = false;
  bool terminal_;
};

}  // namespace trine::bench
