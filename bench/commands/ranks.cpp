// `trine ranks`: the operations over the ranks of an MPI program. That program is trine-ranks,
// which lies beside this one where there was an MPI: this one depends on none.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "bench/ranks/options.hpp"
#include "bench/ui/commands.hpp"
#include "bench/ui/error.hpp"

namespace trine::bench {
namespace {

/// The words behind `trine ranks`.
std::vector<std::string> words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> all;
  for (std::string word; std::getline(file, word, '\0');) all.push_back(word);
  return {all.begin() + std::min<std::ptrdiff_t>(2, std::ssize(all)), all.end()};
}

int ranks_over_mpi(const ranks::Options& o) {
  ranks::problems_of(o);  // refuses what there isn't
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("trine-ranks");
  if (access(program.c_str(), X_OK) != 0)
    throw Refusal(
        "trine-ranks isn't beside this program: it is built with Trine where there is an MPI "
        "(TRINE_MPI; Debian: libopenmpi-dev)");
  std::vector<std::string> all = words();
  std::string first = "trine ranks";
  std::vector<char*> arguments{first.data()};
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Refusal(fmt::format("trine-ranks doesn't start: {}", std::strerror(errno)));
}

}  // namespace

Command add_ranks(CLI::App& app) {
  auto o = std::make_shared<ranks::Options>();
  ranks::add_options(app, *o);
  return [o, &app] {
    check_options(app, operations_of(o->operations));
    return ranks_over_mpi(*o);
  };
}

}  // namespace trine::bench
