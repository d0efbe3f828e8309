// Golden digests: the oracle's result for each case, committed, so that no host, compiler or later
// change of the oracle can change a result unseen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trine::conformance {

struct Case;

/// The committed digest of a case, by name.
std::optional<uint64_t> golden(std::string_view case_name);

/// Number of committed digests.
size_t golden_count();

/// The digest as the oracle computes it now.
uint64_t digest_of(const Case& c);

/// The file as it should be: one line for each case, sixteen hexadecimal digits and the name.
std::string golden_file();

}  // namespace trine::conformance
