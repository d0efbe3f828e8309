// Runs conformance on one device until it fails: `first_failure DEVICE all|reduce|transpose|gemm
// [--quick]`, or a minute of random calls: `first_failure DEVICE random`. Exit status 0: nothing
// failed; 1: something did, and it is printed; 2: it couldn't run.
#include <iostream>
#include <string>

#include "conformance/verify.hpp"

#include <trine/trine.hpp>

namespace {

int run(int argc, char** argv) {
  using namespace trine::conformance;
  Options options;
  options.devices = {argv[1]};
  options.require = {options.devices[0].substr(0, options.devices[0].find(':'))};
  options.stop_at_failure = true;
  options.quick = argc > 3 && std::string(argv[3]) == "--quick";
  if (std::string(argv[2]) == "random")
    options.random_seconds = 60;
  else if (std::string(argv[2]) != "all")
    options.operation = uint32_t(trine::parse_operation(argv[2]));
  const Report report = verify(options);
  for (const Failure& f : report.failures)
    std::cout << f.rung << " | " << f.name << " | " << f.what << "\n";
  std::cout << report.last_line() << "\n";
  if (report.cases == 0) return 2;
  return report.failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: first_failure DEVICE all|reduce|transpose|gemm|random [--quick]\n";
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "first_failure: " << error.what() << "\n";
    return 2;
  }
}
