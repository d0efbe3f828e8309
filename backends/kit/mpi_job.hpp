// An MPI launcher's facts about this process: the ranks of the job on this node share its cores and
// its GPUs. They are read from the environment, so that they are known before MPI_Init, and to
// programs and backends that don't know MPI.
#pragma once

#include <cstdlib>

namespace trine::kit {

/// A rank's number among those of its node, and how many these are; 0 of 1 without a launcher that
/// is known.
struct PlaceOnNode {
  int rank = 0, ranks = 1;
};

/// The number of a node in a list by nodes: "4(x2),3" is 4, 4, 3. Behind its end, the last.
inline int number_of_node(const char* list, int node) {
  for (;;) {
    char* end = nullptr;
    const auto number = static_cast<int>(std::strtol(list, &end, 10));
    const bool is_repeated = end[0] == '(' && end[1] == 'x';
    node -= is_repeated ? static_cast<int>(std::strtol(end + 2, &end, 10)) : 1;
    if (*end == ')') ++end;
    if (node < 0 || *end != ',') return number;
    list = end + 1;
  }
}

inline PlaceOnNode place_on_node() {
  // Slurm last: its variables are also there where it starts another launcher. It lists all of a
  // step's nodes.
  constexpr const char* kNames[][2] = {
      {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},  // Open MPI
      {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},                        // MPICH, Intel MPI
      {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},    // MVAPICH
      {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},                      // Cray
      {"SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"}};
  for (const auto& [rank_name, ranks_name] : kNames) {
    const char *const rank = std::getenv(rank_name), *const ranks = std::getenv(ranks_name);
    if (!rank || !ranks) continue;
    const char* const node = std::getenv("SLURM_NODEID");
    const PlaceOnNode place{std::atoi(rank), number_of_node(ranks, node ? std::atoi(node) : 0)};
    if (place.rank >= 0 && place.ranks >= 1) return place;
  }
  return {};
}

}  // namespace trine::kit
