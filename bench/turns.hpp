// Runs of several builds that take turns: while one measures a case, the others sleep, and then it is theirs.
// What the machine does meanwhile happens to all of them alike, so `trine gate` compares them pair by pair.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "control.hpp"

namespace trine::bench {

/// One run's place among those that share a file. A run that ends or dies is left out from then on.
class Turns {
 public:
  /// Joins the runs that name `path`, a file that is made where there is none, and returns when it is this
  /// one's turn. Throws Refusal where `of` runs have joined already or don't join within `patience` seconds.
  /// `control` outlives this; where it says stop, nobody is waited for.
  Turns(const std::string& path, int of, Control& control, double patience = 60);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Lets all others have their turn, and returns when it is this one's again.
  void next();

  /// {"id": "00c5…", "of": 2, "place": 0}: runs of one id had their turns together.
  nlohmann::ordered_json to_json() const;

 private:
  void join();
  bool await(bool (Turns::*come)(), double patience);
  bool all_joined();
  bool has_begun();
  bool is_mine();

  std::string path_;
  Control& control_;
  int file_, of_, place_ = -1;
  uint64_t id_ = 0;
};

}  // namespace trine::bench
