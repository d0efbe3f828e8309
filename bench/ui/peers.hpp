// The vendor libraries as peers: loaded from lib/trine/packs on request, each with the settings that
// show it at its best.
#pragma once

#include <string>

namespace trine::bench {

/// Loads the packs and returns a line for each: its version, or why it is absent.
std::string load_peers();

}  // namespace trine::bench
