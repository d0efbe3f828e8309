// Reads the embedded goldens, and writes the file again.
#include "goldens.hpp"

#include <charconv>
#include <cstdio>
#include <unordered_map>

#include "arena.hpp"
#include "golden_digests.h"
#include "oracle/bits.hpp"

namespace trine::conformance {
namespace {

using Table = std::unordered_map<std::string_view, uint64_t>;

const Table& table() {
  static const Table digests = [] {
    Table t;
    const trine_embedded_file& file = golden_digests[0];
    std::string_view text(reinterpret_cast<const char*>(file.data), file.size);
    while (!text.empty()) {
      const size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      uint64_t digest = 0;
      if (line.size() < 18 ||
          std::from_chars(line.data(), line.data() + 16, digest, 16).ptr != line.data() + 16)
        continue;
      t.emplace(line.substr(17), digest);
    }
    return t;
  }();
  return digests;
}

}  // namespace

std::optional<uint64_t> golden(std::string_view case_name) {
  const auto found = table().find(case_name);
  if (found == table().end()) return std::nullopt;
  return found->second;
}

size_t golden_count() { return table().size(); }

uint64_t digest_of(const Case& c) {
  if (!c.far) return Arenas(c).digest();
  oracle::HostOperation host(c.plan);
  oracle::fill(host.op, c.values, c.seed);
  oracle::reference(host.op);
  const oracle::Operand output = oracle::output_of(host.op);
  return oracle::digest(output.dtype, *output.view);
}

std::string golden_file() {
  std::string text;
  for (const Case& c : all_cases()) {
    char digits[24];
    std::snprintf(digits, sizeof digits, "%016llx ", static_cast<unsigned long long>(digest_of(c)));
    text += digits + c.name + "\n";
  }
  return text;
}

}  // namespace trine::conformance
